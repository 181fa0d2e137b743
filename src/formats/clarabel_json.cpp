#include "formats/clarabel_json.hpp"

#include "conic/rotated_rows.hpp"
#include "support/file.hpp"

namespace certicone::formats {

namespace {

template <class Entries, class Write>
void write_list(std::ostream& out, const Entries* entries, Index count, Write write) {
    out << '[';
    for (Index k = 0; k < count; ++k) {
        if (k > 0) out << ',';
        write(entries[k]);
    }
    out << ']';
}

void write_numbers(std::ostream& out, const double* entries, Index count) {
    write_list(out, entries, count, [&](double number) { out << format_double(number); });
}

void write_matrix(std::ostream& out, const conic::SparseMatrix& matrix) {
    const auto integer = [&](int number) { out << number; };
    out << "{\"m\":" << matrix.rows() << ",\"n\":" << matrix.cols() << ",\"colptr\":";
    write_list(out, matrix.outerIndexPtr(), matrix.cols() + 1, integer);
    out << ",\"rowval\":";
    write_list(out, matrix.innerIndexPtr(), matrix.nonZeros(), integer);
    out << ",\"nzval\":";
    write_numbers(out, matrix.valuePtr(), matrix.nonZeros());
    out << '}';
}

}  // namespace

void write_clarabel_json(std::ostream& out, const conic::ConicProgram& program) {
    const conic::RotatedRows rows(program);
    conic::SparseMatrix P = program.P.triangularView<Eigen::Upper>();
    P.makeCompressed();
    const Vector b = rows.map(program.b);
    out << "{\"P\":";
    write_matrix(out, P);
    out << ",\"q\":";
    write_numbers(out, program.c.data(), program.c.size());
    out << ",\"A\":";
    write_matrix(out, rows.map(program.A));
    out << ",\"b\":";
    write_numbers(out, b.data(), b.size());
    out << ",\"cones\":[";
    const char* comma = "";
    const auto cone = [&](const char* name, Index size) {
        if (size == 0) return;
        out << comma << "{\"" << name << "\":" << size << '}';
        comma = ",";
    };
    cone("ZeroConeT", rows.zero());
    cone("NonnegativeConeT", rows.nonnegative());
    for (const int size : rows.second_order())
        cone("SecondOrderConeT", size);
    out << "]}\n";
}

}  // namespace certicone::formats
