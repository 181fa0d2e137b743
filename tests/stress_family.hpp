// Random networks of every kind that a certificate may meet, for the stress run of `certify`: 1 to 34 inputs, 1 to 6 layers,
// up to two modules of each kind, with four points each. Draws are the same on every platform (support/draws.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "network/network.hpp"
#include "support/draws.hpp"

namespace certicone::test {

struct StressMember {
    Network network;
    Matrix points;
};

class StressFamily {
  public:
    /// What `member` of the family is like follows from its number: kinds take turns.
    static StressMember member(std::uint64_t number) { return StressFamily(number).draw(); }

    /// Scales far outside any use, down to denormal numbers and up to overflow.
    static StressMember extreme_member(std::uint64_t number) {
        StressFamily family(number + 0x5EED'0000'0000ULL);
        StressMember member = family.draw();
        static constexpr double digits[] = {20.0, 40.0, 100.0, 320.0};
        const double most = digits[number / kKinds % 4];
        family.rescale(member.network, most);
        member.network.name += ", extreme";
        for (Index j = 0; j < member.points.cols(); ++j)
            member.points.col(j) *= family.power(j % 2 == 0 ? 10.0 : most);
        member.points = member.points.unaryExpr(&bounded);
        validate(member.network);
        return member;
    }

  private:
    enum Kind { Gaussian, Float32, Dyadic, NearKink, Narrow, Parallel, Scaled, Bare, kKinds };

    explicit StressFamily(std::uint64_t number)
        : number_(number), random_(number), kind_(static_cast<Kind>(number % kKinds)) {}

    StressMember draw() {
        StressMember member{shaped(), {}};
        Network& network = member.network;
        const double zeros = chance(0.5) ? uniform(0.0, 0.7) : 0.0;
        for (Matrix* block : blocks(network))
            for (double& entry : block->reshaped())
                if (chance(zeros)) entry = 0.0;
        if (kind_ == Parallel) make_parallel(network);
        if (kind_ == Scaled) rescale(network, 7.0);
        if (kind_ == Bare) make_bare(network);
        if (kind_ != Dyadic && chance(0.3)) rescale(network, 3.0);
        if (kind_ == Float32) for_each_number(network, [](double& entry) { entry = static_cast<float>(entry); });
        member.points = draw_points(network.input_dim);
        if (kind_ == Dyadic || kind_ == NearKink) move_kinks(network, member.points.col(0));
        validate(network);
        return member;
    }

    // ---- shapes ------------------------------------------------------------------------------------------------------

    Network shaped() {
        static constexpr const char* names[] = {"gaussian", "float32",  "dyadic", "near a kink",
                                                "narrow",   "parallel", "scaled", "bare"};
        Network network;
        network.name = "stress " + std::to_string(number_) + ", " + names[kind_];
        const bool narrow = kind_ == Narrow;
        const Index d0 = network.input_dim = narrow ? index(1, 2) : chance(0.2) ? index(1, 34) : index(1, 10);
        const double scale = std::pow(10.0, kind_ == Gaussian || kind_ == Float32 ? uniform(-3.0, 3.0) : 0.0);
        const Index depth = index(1, 6), widest = narrow ? 3 : chance(0.2) ? 40 : 12;
        for (Index l = 0; l < depth; ++l) {
            const Index width = index(1, widest);
            Layer layer{scale * matrix(width, d0), Matrix(), scale * matrix(width, 1)};
            if (l > 0) layer.U = positive(width, network.layers.back().units());
            network.layers.push_back(std::move(layer));
        }
        network.c = positive(network.layers.back().units(), 1);
        network.v = matrix(d0, 1);
        network.b0 = entry();
        for (Index k = index(0, 2); k > 0; --k) {
            const Index rows = narrow ? 1 : index(1, d0 + 1);
            network.quadratic.push_back({weight(), scale * matrix(rows, d0), scale * matrix(rows, 1)});
        }
        for (Index k = index(0, 2); k > 0; --k) {
            const Index rows = narrow ? 1 : index(1, d0 + 1);
            network.conic.push_back({weight(), scale * matrix(rows, d0), scale * matrix(rows, 1)});
        }
        return network;
    }

    Matrix draw_points(Index d0) {
        Matrix points(d0, 4);
        static constexpr double sizes[] = {1.0, 100.0, 1e-6, 1e6};
        for (Index j = 0; j < 4; ++j)
            points.col(j) =
                (kind_ == Dyadic ? 1.0 : sizes[(j + static_cast<Index>(number_ / kKinds)) % 4]) * matrix(d0, 1);
        if (chance(0.1)) points.col(3).setZero();
        return points;
    }

    /// Mx, summed from left to right: the family must not depend on a BLAS.
    static Vector product(const Matrix& M, const Vector& x) {
        Vector result = Vector::Zero(M.rows());
        for (Index j = 0; j < M.cols(); ++j)
            for (Index i = 0; i < M.rows(); ++i)
                result(i) += M(i, j) * x(j);
        return result;
    }

    /// Offsets such that units of every layer and residuals vanish at x: exactly where all numbers are small dyadics, up to
    /// rounding elsewhere.
    void move_kinks(Network& network, const Vector& x) {
        Vector z;
        for (Layer& layer : network.layers) {
            Vector rest = product(layer.W, x);
            if (z.size() > 0) rest += product(layer.U, z);
            for (Index i = 0; i < rest.size(); ++i)
                if (chance(0.4)) layer.b(i) = -rest(i);
            z = (rest + layer.b).cwiseMax(0.0);
        }
        for (Conic& module : network.conic)
            if (chance(0.5)) module.d = -product(module.A, x);
        for (Quadratic& module : network.quadratic)
            if (chance(0.5)) module.e = -product(module.B, x);
    }

    /// Rows that are equal, opposite or multiples of each other, units and modules that are there twice.
    void make_parallel(Network& network) {
        const auto repeat = [&](Matrix& M, Vector& offset) {
            for (Index i = 1; i < M.rows(); ++i) {
                if (!chance(0.6)) continue;
                const double factor = chance(0.3) ? entry() : chance(0.5) ? 1.0 : -1.0;
                M.row(i) = factor * M.row(0);
                offset(i) = chance(0.8) ? factor * offset(0) : offset(i);
            }
        };
        for (Layer& layer : network.layers) {
            repeat(layer.W, layer.b);
            for (Index i = 1; i < layer.U.rows(); ++i)
                if (chance(0.5)) layer.U.row(i) = layer.U.row(0);
        }
        for (Quadratic& module : network.quadratic)
            repeat(module.B, module.e);
        for (Conic& module : network.conic)
            repeat(module.A, module.d);
        if (network.quadratic.size() == 1 && chance(0.5)) network.quadratic.push_back(network.quadratic.front());
        if (network.conic.size() == 1 && chance(0.5)) network.conic.push_back(network.conic.front());
    }

    /// Rows, columns and blocks of zeros.
    void make_bare(Network& network) {
        for (Layer& layer : network.layers) {
            const Index i = index(0, layer.units() - 1);
            layer.W.row(i).setZero();
            if (chance(0.7)) layer.b(i) = 0.0;
            if (layer.U.size() > 0 && chance(0.5)) layer.U.row(i).setZero();
            if (layer.U.size() > 0 && chance(0.3)) layer.U.col(index(0, layer.U.cols() - 1)).setZero();
            if (chance(0.2)) layer.b.setZero();
        }
        if (chance(0.2)) network.c.setZero();
        if (chance(0.3)) network.v.setZero();
        if (chance(0.3)) network.b0 = 0.0;
        for (Quadratic& module : network.quadratic) {
            if (chance(0.3)) module.B.row(index(0, module.B.rows() - 1)).setZero();
            if (chance(0.2)) module.B.setZero();
            if (chance(0.3)) module.e.setZero();
        }
        for (Conic& module : network.conic) {
            if (chance(0.3)) module.A.row(index(0, module.A.rows() - 1)).setZero();
            if (chance(0.2)) module.A.setZero();
            if (chance(0.3)) module.d.setZero();
            if (chance(0.3)) module.lambda = 0.0;
        }
    }

    /// Every block times its own power of ten, 10^±`digits` at most.
    void rescale(Network& network, double digits) {
        for (Matrix* block : blocks(network))
            *block *= power(digits);
        for (Layer& layer : network.layers)
            layer.b *= power(digits);
        network.c *= power(digits);
        network.v *= power(digits);
        network.b0 *= power(digits);
        for (Quadratic& module : network.quadratic) {
            module.alpha = std::max(module.alpha * power(digits), std::numeric_limits<double>::denorm_min());
            module.e *= power(digits);
        }
        for (Conic& module : network.conic) {
            module.lambda *= power(digits);
            module.d *= power(digits);
        }
        for_each_number(network, [](double& entry) { entry = bounded(entry); });
    }

    /// What overflows becomes 1e308, and 0·∞ stays 0.
    static double bounded(double entry) {
        return std::isnan(entry) ? 0.0 : std::isfinite(entry) ? entry : std::copysign(1e308, entry);
    }

    static std::vector<Matrix*> blocks(Network& network) {
        std::vector<Matrix*> all;
        for (Layer& layer : network.layers) {
            all.push_back(&layer.W);
            if (layer.U.size() > 0) all.push_back(&layer.U);
        }
        for (Quadratic& module : network.quadratic)
            all.push_back(&module.B);
        for (Conic& module : network.conic)
            all.push_back(&module.A);
        return all;
    }

    template <class Change>
    static void for_each_number(Network& network, Change change) {
        for (Matrix* block : blocks(network))
            for (double& entry : block->reshaped())
                change(entry);
        for (Layer& layer : network.layers)
            for (double& entry : layer.b)
                change(entry);
        for (Vector* vector : {&network.c, &network.v})
            for (double& entry : *vector)
                change(entry);
        change(network.b0);
        for (Quadratic& module : network.quadratic) {
            change(module.alpha);
            for (double& entry : module.e)
                change(entry);
        }
        for (Conic& module : network.conic) {
            change(module.lambda);
            for (double& entry : module.d)
                change(entry);
        }
    }

    // ---- draws -------------------------------------------------------------------------------------------------------

    double uniform(double low, double high) { return low + (high - low) * draw_uniform(random_); }
    bool chance(double probability) { return draw_uniform(random_) < probability; }
    Index index(Index first, Index last) {
        return first + static_cast<Index>(random_() % static_cast<std::uint64_t>(last - first + 1));
    }
    double power(double digits) { return std::pow(10.0, uniform(-digits, digits)); }
    /// Dyadic: a multiple of 1/4 in [−2, 2], whose products and sums are exact.
    double entry() { return kind_ == Dyadic ? 0.25 * static_cast<double>(index(-8, 8)) : draw_normal(random_); }
    double weight() { return kind_ == Dyadic ? std::ldexp(1.0, static_cast<int>(index(-2, 1))) : uniform(0.1, 1.1); }
    Matrix matrix(Index rows, Index columns) {
        return Matrix::NullaryExpr(rows, columns, [&] { return entry(); });
    }
    Matrix positive(Index rows, Index columns) {
        return Matrix::NullaryExpr(rows, columns,
                                   [&] { return kind_ == Dyadic ? std::abs(entry()) : uniform(0.0, 1.0); });
    }

    std::uint64_t number_;
    Generator random_;
    Kind kind_;
};

}  // namespace certicone::test
