#include "formats/cbf.hpp"
#include "support/file.hpp"

namespace certicone::formats {

namespace {

const char* cone_word(conic::Cone cone) {
    switch (cone) {
        case conic::Cone::Zero: return "L=";
        case conic::Cone::Nonnegative: return "L+";
        case conic::Cone::SecondOrder: return "Q";
        case conic::Cone::RotatedSecondOrder: return "QR";
    }
    return "?";
}

void append_entry(std::string& text, Index first, double value) {
    text += std::to_string(first) + ' ';
    append_double(text, value);
    text += '\n';
}

/// "KEYWORD count" and "index value" for the entries that are not zero.
void append_vector(std::string& text, const char* keyword, const Vector& vector) {
    const Index count = (vector.array() != 0.0).count();
    if (count == 0) return;
    text += std::string("\n") + keyword + '\n' + std::to_string(count) + '\n';
    for (Index i = 0; i < vector.size(); ++i)
        if (vector(i) != 0.0) append_entry(text, i, vector(i));
}

}  // namespace

std::string to_cbf(const Instance& instance) {
    require_linear(instance);
    const conic::ConicProgram& program = instance.program;
    std::string text = "# " + one_line(instance.name) + ", written by certicone\n";
    for (const conic::Columns& columns : program.variables)
        text += "# columns from " + std::to_string(columns.begin) + ": " + columns.name + '\n';
    for (const conic::Block& block : program.blocks)
        text += "# rows from " + std::to_string(block.begin) + ": " + block.name + '\n';
    text += "VER\n3\n\nOBJSENSE\nMIN\n\nVAR\n" + std::to_string(program.columns()) + " 1\nF " +
            std::to_string(program.columns()) + "\n\nCON\n" + std::to_string(program.rows()) + ' ' +
            std::to_string(program.blocks.size()) + '\n';
    for (const conic::Block& block : program.blocks)
        text += std::string(cone_word(block.cone)) + ' ' + std::to_string(block.size) + '\n';
    append_vector(text, "OBJACOORD", program.c);
    if (program.c0 != 0.0) text += "\nOBJBCOORD\n" + format_double(program.c0) + '\n';
    const auto rows = negated_rows(program);
    if (rows.nonZeros() > 0) {
        text += "\nACOORD\n" + std::to_string(rows.nonZeros()) + '\n';
        for (Index i = 0; i < rows.outerSize(); ++i) {
            const std::string row = std::to_string(i) + ' ';
            for (Eigen::SparseMatrix<double, Eigen::RowMajor, int>::InnerIterator it(rows, i); it; ++it) {
                text += row;
                append_entry(text, it.col(), it.value());
            }
        }
    }
    append_vector(text, "BCOORD", program.b);
    return text;
}

}  // namespace certicone::formats
