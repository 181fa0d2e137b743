#include "formats/scs_binary.hpp"

#include <cstdint>

#include "conic/rotated_rows.hpp"

namespace certicone::formats {

namespace {

void put_bytes(std::string& bytes, const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
}

void put(std::string& bytes, Index value) {
    const auto integer = static_cast<std::int32_t>(value);
    put_bytes(bytes, &integer, sizeof integer);
}

void put(std::string& bytes, double value) { put_bytes(bytes, &value, sizeof value); }

void put(std::string& bytes, const Vector& vector) {
    put_bytes(bytes, vector.data(), static_cast<std::size_t>(vector.size()) * sizeof(double));
}

void put(std::string& bytes, const conic::SparseMatrix& matrix) {
    static_assert(sizeof(conic::SparseMatrix::StorageIndex) == sizeof(std::int32_t));
    const auto count = static_cast<std::size_t>(matrix.nonZeros());
    put(bytes, matrix.rows());
    put(bytes, matrix.cols());
    put_bytes(bytes, matrix.outerIndexPtr(), static_cast<std::size_t>(matrix.cols() + 1) * sizeof(std::int32_t));
    put_bytes(bytes, matrix.valuePtr(), count * sizeof(double));
    put_bytes(bytes, matrix.innerIndexPtr(), count * sizeof(std::int32_t));
}

}  // namespace

std::string to_scs_binary(const conic::ConicProgram& program) {
    conic::validate(program);
    const conic::RotatedRows rows(program);
    const conic::SparseMatrix A = rows.map(program.A);
    conic::SparseMatrix P = program.P.triangularView<Eigen::Upper>();
    P.makeCompressed();

    std::string bytes;
    for (const std::uint32_t header : {std::uint32_t{4}, std::uint32_t{8}, std::uint32_t{scs_binary_version.size()}})
        put_bytes(bytes, &header, sizeof header);
    bytes += scs_binary_version;

    put(bytes, rows.zero());
    put(bytes, rows.nonnegative());
    put(bytes, Index{0});  // no box cone
    put(bytes, static_cast<Index>(rows.second_order().size()));
    for (const int size : rows.second_order())
        put(bytes, Index{size});
    for (int absent = 0; absent < 4; ++absent)  // semidefinite, exponential, dual exponential, power
        put(bytes, Index{0});

    put(bytes, A.rows());
    put(bytes, A.cols());
    put(bytes, rows.map(program.b));
    put(bytes, program.c);
    put(bytes, A);
    put(bytes, Index{P.nonZeros() > 0});
    if (P.nonZeros() > 0) put(bytes, P);

    put(bytes, Index{1});        // normalize
    put(bytes, 0.1);             // scale
    put(bytes, 1e-6);            // rho_x
    put(bytes, Index{100'000});  // max_iters
    put(bytes, 1e-9);            // eps_abs
    put(bytes, 1e-9);            // eps_rel
    put(bytes, 1e-7);            // eps_infeas
    put(bytes, 1.5);             // alpha
    put(bytes, Index{0});        // verbose
    put(bytes, Index{0});        // warm_start
    put(bytes, Index{10});       // acceleration_lookback
    put(bytes, Index{10});       // acceleration_interval
    put(bytes, Index{1});        // adaptive_scale
    return bytes;
}

}  // namespace certicone::formats
