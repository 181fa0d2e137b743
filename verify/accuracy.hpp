// To what accuracy a point was certified: the largest bound of each quantity that the checks speak of, relative to the
// scale of that quantity (docs/certification.md, "Accuracy").
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace certicone::verify {

enum class Quantity { Value, Nu, P, R, Gradient, Hessian, Directional };
inline constexpr std::size_t kQuantities = 7;
/// "f", "nu", "p", "r", "gradient", "hessian", "directional": the keys in reports.
std::string_view to_string(Quantity quantity);

class Accuracy {
  public:
    /// One more bound. Nothing is relative to a scale of 0: it is not counted.
    void offer(Quantity quantity, double bound, double scale);
    void add(const Accuracy& other);
    /// None where nothing was said of the quantity.
    std::optional<double> of(Quantity quantity) const { return largest_[static_cast<std::size_t>(quantity)]; }

  private:
    std::array<std::optional<double>, kQuantities> largest_;
};

/// What a solver leaves open of f, of the gap and of f' may be no more, where the user asks for nothing else: 2Nε, the bound
/// of an answer in scaled units, for the default tolerance ε = 1e-9 and programs of N = 50,000 rows and columns.
inline constexpr double kFloor = 1e-4;

/// "f to 3.1e-09, nu to 4.0e-15"; empty where nothing was said.
std::string in_words(const Accuracy& accuracy);

}  // namespace certicone::verify
