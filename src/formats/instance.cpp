#include "formats/instance.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace certicone::formats {

std::vector<std::string> column_names(const conic::ConicProgram& program) {
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(program.columns()));
    for (const conic::Columns& columns : program.variables)
        for (Index k = 0; k < columns.size; ++k)
            names.push_back(fmt::format("{}[{}]", columns.name, k));
    return names;
}

void require_linear(const Instance& instance) {
    const conic::ConicProgram& program = instance.program;
    conic::validate(program);
    if (program.P.nonZeros() > 0)
        throw InputError("this format has linear objectives only: move the quadratic one into a cone first");
    if ((instance.x.size() != 0 && instance.x.size() != program.columns()) ||
        (instance.y.size() != 0 && instance.y.size() != program.rows()))
        throw InputError("the known pair does not have the program's sizes");
}

Eigen::SparseMatrix<double, Eigen::RowMajor, int> negated_rows(const conic::ConicProgram& program) {
    Eigen::SparseMatrix<double, Eigen::RowMajor, int> rows = -program.A;
    rows.makeCompressed();
    return rows;
}

}  // namespace certicone::formats
