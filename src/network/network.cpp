#include "network/network.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "support/file.hpp"

namespace certicone {

namespace {

enum class Sign { any, nonnegative, positive };

std::string indexed(const std::string& name, Index index) { return name + "[" + std::to_string(index) + "]"; }

std::string extent(Index rows, Index cols) { return std::to_string(rows) + "x" + std::to_string(cols); }

class Findings {
  public:
    explicit Findings(std::size_t limit) : limit_(limit) {}

    bool full() const { return lines_.size() >= limit_; }
    std::vector<std::string> take() { return std::move(lines_); }

    void add(std::string line) {
        if (!full()) lines_.push_back(std::move(line));
    }

    void check(const std::string& name, double value, Sign sign) {
        if (!std::isfinite(value)) {
            add(name + " = " + format_double(value) + ", must be finite");
        } else if (sign == Sign::nonnegative && value < 0) {
            add(name + " = " + format_double(value) + ", must be >= 0");
        } else if (sign == Sign::positive && value <= 0) {
            add(name + " = " + format_double(value) + ", must be > 0");
        }
    }

    void check(const std::string& name, const Matrix& matrix, Index rows, Index cols, Sign sign = Sign::any) {
        if (matrix.rows() != rows || matrix.cols() != cols) {
            const bool transposed = matrix.rows() == cols && matrix.cols() == rows;
            add(name + " is " + extent(matrix.rows(), matrix.cols()) + ", expected " + extent(rows, cols) +
                (transposed ? ": it is transposed" : ""));
            return;
        }
        if (clean(matrix, sign)) return;
        for (Index i = 0; i < rows && !full(); ++i) {
            for (Index j = 0; j < cols && !full(); ++j) {
                check(indexed(indexed(name, i), j), matrix(i, j), sign);
            }
        }
    }

    void check(const std::string& name, const Vector& vector, Index size, Sign sign = Sign::any) {
        if (vector.size() != size) {
            add(name + " has " + std::to_string(vector.size()) + " entries, expected " + std::to_string(size));
            return;
        }
        if (clean(vector, sign)) return;
        for (Index i = 0; i < size && !full(); ++i)
            check(indexed(name, i), vector(i), sign);
    }

  private:
    /// One fast pass; names are made only when something is wrong. Comparisons with NaN are false.
    template <class Entries>
    static bool clean(const Entries& entries, Sign sign) {
        const double* values = entries.data();
        const double lowest = sign == Sign::any ? std::numeric_limits<double>::lowest() : 0.0;
        bool all = true;
        for (Index k = 0; k < entries.size(); ++k) {
            all &= values[k] >= lowest && values[k] <= std::numeric_limits<double>::max();
        }
        return all;
    }

    std::size_t limit_;
    std::vector<std::string> lines_;
};

/// How many rows there are to be: those of the matrix, or of its offset where the matrix is not made for the inputs.
Index expected_rows(const Matrix& matrix, const Vector& offset, Index input_dim) {
    return matrix.cols() == input_dim ? matrix.rows() : offset.size();
}

void check_module(Findings& findings, const std::string& name, const char* matrix_name, const Matrix& matrix,
                  const char* offset_name, const Vector& offset, Index input_dim) {
    if (matrix.rows() == 0) findings.add(name + "." + matrix_name + " has no rows, must have at least 1");
    const Index rows = expected_rows(matrix, offset, input_dim);
    findings.check(name + "." + matrix_name, matrix, rows, input_dim);
    findings.check(name + "." + offset_name, offset, rows);
}

}  // namespace

std::vector<std::string> violations(const Network& network, std::size_t limit) {
    Findings findings(limit);
    const Index d0 = network.input_dim;
    if (d0 < 1) findings.add("input_dim = " + std::to_string(d0) + ", must be >= 1");
    if (network.layers.empty()) findings.add("layers is empty, must have at least 1 layer");

    Index units = 0;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        const std::string name = indexed("layers", static_cast<Index>(l));
        const Index before = std::exchange(units, expected_rows(layer.W, layer.b, d0));
        if (layer.units() == 0) findings.add(name + " has no units (W has no rows), must have at least 1");
        findings.check(name + ".W", layer.W, units, d0);
        if (l > 0) {
            findings.check(name + ".U", layer.U, units, before, Sign::nonnegative);
        } else if (layer.U.rows() != 0 || layer.U.cols() != 0) {
            findings.add(name + ".U is " + extent(layer.U.rows(), layer.U.cols()) +
                         ", must be absent: nothing comes before the first layer");
        }
        findings.check(name + ".b", layer.b, units);
    }
    if (!network.layers.empty()) findings.check("c", network.c, units, Sign::nonnegative);
    findings.check("v", network.v, d0);
    findings.check("b0", network.b0, Sign::any);

    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        const std::string name = indexed("quadratic", static_cast<Index>(h));
        findings.check(name + ".alpha", module.alpha, Sign::positive);
        check_module(findings, name, "B", module.B, "e", module.e, d0);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        const std::string name = indexed("conic", static_cast<Index>(g));
        findings.check(name + ".lambda", module.lambda, Sign::nonnegative);
        check_module(findings, name, "A", module.A, "d", module.d, d0);
    }
    return findings.take();
}

void validate(const Network& network, const std::string& source) {
    constexpr std::size_t limit = 100;
    const std::vector<std::string> found = violations(network, limit);
    if (found.empty()) return;
    std::string line = found.front();
    if (found.size() > 1) {
        line += found.size() == limit ? " (and at least " : " (and ";
        line += std::to_string(found.size() - 1) + " more)";
    }
    fail_input(source, line);
}

Index total_units(const Network& network) {
    Index units = 0;
    for (const Layer& layer : network.layers)
        units += layer.units();
    return units;
}

Index parameter_count(const Network& network) {
    Index count = network.c.size() + network.v.size() + 1;
    for (const Layer& layer : network.layers)
        count += layer.W.size() + layer.U.size() + layer.b.size();
    for (const Quadratic& module : network.quadratic)
        count += 1 + module.B.size() + module.e.size();
    for (const Conic& module : network.conic)
        count += 1 + module.A.size() + module.d.size();
    return count;
}

}  // namespace certicone
