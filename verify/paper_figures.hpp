// The figures of the paper's appendix (Tables app_exp1 … app_exp4), as printed.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace certicone::verify {

struct Printed {
    std::string_view text;

    double value() const {
        double value = 0.0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }
    int decimals() const {
        const auto point = text.find('.');
        if (point == text.npos) return 0;
        const auto end = text.find('e');
        return static_cast<int>((end == text.npos ? text.size() : end) - point) - 1;
    }
    bool scientific() const { return text.find('e') != text.npos; }
    /// Half a unit of the last printed digit: how far the number behind the text may be from value().
    double half_unit() const {
        int exponent = 0;
        if (scientific()) {
            const auto at = text.find('e') + 1;
            std::from_chars(text.data() + at, text.data() + text.size(), exponent);
        }
        return 0.5 * std::pow(10.0, exponent - decimals());
    }
};

namespace paper {

/// Table app_exp1_exact_readout.
inline constexpr struct {
    Printed trials{"250"}, retained{"1.0000"}, gradient_error{"4.75e-15"}, relative_gradient_error{"1.37e-16"},
        cosine{"1.000000000000"}, milliseconds{"10.36"};
} exp1;

/// Tables app_exp2_local_formula and app_exp2_local_quad.
inline constexpr struct {
    Printed trials{"100"}, gradient_error{"2.76e-15"}, relative_gradient_error{"1.21e-16"}, hessian_error{"6.72e-16"},
        relative_hessian_error{"1.57e-16"}, smallest_eigenvalue_formula{"3.32e-1"},
        smallest_eigenvalue_autodiff{"3.32e-1"};
    struct Row {
        Printed radius, retained, error;
    };
    std::array<Row, 3> radii{{{{"1e-4"}, {"1.000"}, {"1.34e-14"}},
                              {{"3e-4"}, {"1.000"}, {"2.92e-13"}},
                              {{"1e-3"}, {"1.000"}, {"1.18e-11"}}}};
} exp2;

/// Table app_exp3_degeneracy.
inline constexpr struct {
    Printed directions{"1000"}, mean_error{"1.17e-8"}, largest_error{"1.53e-8"}, canonical_gap{"1.000"},
        violation{"0.00"}, margin{"9.59e-2"};
} exp3;

/// Tables app_exp4_whitebox_inference (its methods in this order) and app_exp4_readout_diagnostic.
inline constexpr struct {
    struct Row {
        std::string_view method;
        Printed gap, gradient_norm, iterations, milliseconds, backtracks;
    };
    std::array<Row, 5> methods{{
        {"WhiteBox-GD", {"1.2e-5"}, {"2.01e-1"}, {"458.6"}, {"3998.5"}, {"8403.2"}},
        {"WhiteBox-Newton", {"8.6e-5"}, {"1.46e-1"}, {"30.1"}, {"228.2"}, {"438.2"}},
        {"Torch-GD", {"1.2e-5"}, {"2.01e-1"}, {"484.9"}, {"4823.5"}, {"9125.6"}},
        {"Torch-Newton", {"8.6e-5"}, {"1.46e-1"}, {"30.1"}, {"394.0"}, {"437.3"}},
        {"Torch-LBFGS", {"1.2e-4"}, {"1.13e-1"}, {"29.3"}, {"32.6"}, {"0.0"}},
    }};
    Printed gradient_error{"4.44e-16"}, relative_gradient_error{"1.55e-4"}, hessian_error{"3.09e-15"},
        relative_hessian_error{"9.22e-17"}, relu_margin{"3.05e-3"}, conic_residual{"1.54"};
} exp4;

}  // namespace paper

}  // namespace certicone::verify
