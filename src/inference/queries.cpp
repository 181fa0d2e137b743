#include "inference/queries.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "network/json_tree.hpp"
#include "network/points.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace certicone {

namespace {

Vector read_vector(const JsonPlace& place, Index size) {
    const std::span<const double> numbers = place.numbers();
    if (numbers.size() != static_cast<std::size_t>(size))
        place.fail(place.path() + " has " + std::to_string(numbers.size()) + " entries, expected " +
                   std::to_string(size));
    return Eigen::Map<const Vector>(numbers.data(), size);
}

Matrix read_matrix(const JsonPlace& place, Index columns) {
    const std::vector<std::span<const double>> rows = place.rows();
    Matrix matrix(static_cast<Index>(rows.size()), columns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].size() != static_cast<std::size_t>(columns))
            place.fail(place.path() + "[" + std::to_string(i) + "] has " + std::to_string(rows[i].size()) +
                       " entries, expected " + std::to_string(columns));
        matrix.row(static_cast<Index>(i)) = Eigen::Map<const Vector>(rows[i].data(), columns).transpose();
    }
    return matrix;
}

double checked_beta(double beta, const std::string& source) {
    if (!(beta > 0.0) || !std::isfinite(beta))
        fail_input(source, "beta is " + format_double(beta) + ", expected a number > 0");
    return beta;
}

Matrix read_Q(const JsonPlace& place, Index d0) {
    const Matrix Q = read_matrix(place, d0);
    if (Q.rows() != d0)
        place.fail(place.path() + " has " + std::to_string(Q.rows()) + " rows, expected " + std::to_string(d0));
    for (Index j = 0; j < d0; ++j)
        for (Index i = 0; i < j; ++i)
            if (Q(i, j) != Q(j, i))
                place.fail(place.path() + "[" + std::to_string(i) + "][" + std::to_string(j) +
                           "] = " + format_double(Q(i, j)) + " but [" + std::to_string(j) + "][" + std::to_string(i) +
                           "] = " + format_double(Q(j, i)) + ", expected a symmetric matrix");
    const Vector eigenvalues = Eigen::SelfAdjointEigenSolver<Matrix>(Q, Eigen::EigenvaluesOnly).eigenvalues();
    const double rounding = static_cast<double>(d0) * 0x1p-50 * eigenvalues.cwiseAbs().maxCoeff();
    if (eigenvalues(0) < -rounding)
        place.fail(place.path() + " has the eigenvalue " + format_double(eigenvalues(0)) +
                   ", expected a positive semidefinite matrix");
    return Q;
}

/// Appends the rows sign·x_j ≤ sign·bound_j.
void add_bounds(const JsonPlace& place, double sign, InferenceProblem& problem) {
    const Index d0 = problem.network->input_dim;
    const std::vector<std::optional<double>> bounds = place.numbers_or_nulls();
    if (bounds.size() != static_cast<std::size_t>(d0))
        place.fail(place.path() + " has " + std::to_string(bounds.size()) + " entries, expected " + std::to_string(d0));
    for (Index j = 0; j < d0; ++j) {
        const auto& bound = bounds[static_cast<std::size_t>(j)];
        if (!bound) continue;
        const Index row = problem.C.rows();
        problem.C.conservativeResize(row + 1, d0);
        problem.C.row(row).setZero();
        problem.C(row, j) = sign;
        problem.h.conservativeResize(row + 1);
        problem.h(row) = sign * *bound;
    }
}

}  // namespace

InferenceQueries read_queries(const std::filesystem::path& path, const Network& network, std::optional<double> beta) {
    return parse_queries(read_points_bytes(path), path.string(), network, beta);
}

InferenceQueries parse_queries(std::string_view bytes, const std::string& source, const Network& network,
                               std::optional<double> beta) {
    const Index d0 = network.input_dim;
    InferenceQueries result;
    result.queries = parse_points(bytes, source, d0);
    if (beta) checked_beta(*beta, "--beta");
    const std::size_t first = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    const bool json = bytes[first] == '{';
    const JsonValue tree = json ? parse_json(bytes, source) : JsonValue{};
    const JsonPlace root(tree, source);
    if (!json || !root.find("queries")) {
        if (!beta) fail_input(source, "no beta in it, expected {\"beta\": …, \"queries\": …} or --beta");
        result.problem = proximity(network, *beta, Vector::Zero(d0));
        return result;
    }
    root.allow_only({"beta", "queries", "Q", "q", "lower", "upper", "C", "h"});
    const auto file_beta = root.find("beta");
    const auto Q = root.find("Q");
    if (Q && (beta || file_beta)) root.fail("both beta and Q, expected one of them");
    if (!Q && !beta && !file_beta) root.fail("missing key \"beta\" (or \"Q\")");
    result.problem = proximity(network,
                               Q      ? 1.0
                               : beta ? *beta
                                      : checked_beta(file_beta->number(), source),
                               Vector::Zero(d0));
    InferenceProblem& problem = result.problem;
    if (Q) problem.Q = read_Q(*Q, d0);
    if (const auto q = root.find("q")) problem.q = read_vector(*q, d0);
    const auto C = root.find("C"), h = root.find("h");
    if (C.has_value() != h.has_value()) root.fail(C ? "C without h" : "h without C");
    if (C) {
        problem.C = read_matrix(*C, d0);
        problem.h = read_vector(*h, problem.C.rows());
    }
    if (const auto upper = root.find("upper")) add_bounds(*upper, 1.0, problem);
    if (const auto lower = root.find("lower")) add_bounds(*lower, -1.0, problem);
    return result;
}

}  // namespace certicone
