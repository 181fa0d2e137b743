#include "formats/ptf.hpp"

#include <cmath>

#include "support/file.hpp"

namespace certicone::formats {

namespace {

const char* cone_word(conic::Cone cone) {
    switch (cone) {
        case conic::Cone::Zero: return "ZERO";
        case conic::Cone::Nonnegative: return "POSITIVE";
        case conic::Cone::SecondOrder: return "QUAD";
        case conic::Cone::RotatedSecondOrder: return "RQUAD";
    }
    return "?";
}

/// In quotes, which no name may hold.
std::string quoted(std::string name) {
    for (char& c : name)
        if (c == '\'' || static_cast<unsigned char>(c) < 0x20) c = '_';
    return '\'' + name + '\'';
}

/// " + 2.5" or " - 2.5".
void append_signed(std::string& text, double value) {
    text += std::signbit(value) ? " - " : " + ";
    append_double(text, std::abs(value));
}

void append_term(std::string& text, double coefficient, const std::string& name) {
    append_signed(text, coefficient);
    text += ' ' + name;
}

std::string row_name(const conic::Block& block, Index k) { return quoted(block.name + '[' + std::to_string(k) + ']'); }

void append_solution(std::string& text, const Instance& instance, const std::vector<std::string>& names) {
    const conic::ConicProgram& program = instance.program;
    const Vector s = program.b - program.A * instance.x;
    text +=
        "Solutions\n    Solution interior\n        SolutionStatus optimal optimal\n        ProblemStatus feasible "
        "feasible\n        Objective ";
    append_double(text, program.c.dot(instance.x) + program.c0);
    text += ' ';
    append_double(text, program.c0 - program.b.dot(instance.y));
    text += "\n        Variables\n";
    for (std::size_t j = 0; j < names.size(); ++j) {
        text += "            " + names[j] + " [unknown] ";
        append_double(text, instance.x(static_cast<Index>(j)));
        text += " 0 0\n";
    }
    text += "        Constraints\n";
    for (const conic::Block& block : program.blocks) {
        text += "            " + quoted(block.name) + '\n';
        for (Index k = 0; k < block.size; ++k) {
            text += "                " + row_name(block, k) + " [unknown] ";
            append_double(text, s(block.begin + k));
            text += ' ';
            append_double(text, instance.y(block.begin + k));
            text += '\n';
        }
    }
}

}  // namespace

std::string to_ptf(const Instance& instance) {
    require_linear(instance);
    const conic::ConicProgram& program = instance.program;
    std::vector<std::string> names = column_names(program);
    for (std::string& name : names)
        name = quoted(std::move(name));
    std::string text = "Task " + quoted(instance.name) + "\nObjective\n    Minimize";
    for (Index j = 0; j < program.columns(); ++j)
        if (program.c(j) != 0.0) append_term(text, program.c(j), names[static_cast<std::size_t>(j)]);
    append_signed(text, program.c0);
    text += "\nConstraints\n";
    const auto rows = negated_rows(program);
    for (const conic::Block& block : program.blocks) {
        text += "    " + quoted(block.name) + " [" + cone_word(block.cone) + '(' + std::to_string(block.size) + ")]\n";
        for (Index k = 0; k < block.size; ++k) {
            const Index row = block.begin + k;
            text += "        " + row_name(block, k) + ':';
            for (Eigen::SparseMatrix<double, Eigen::RowMajor, int>::InnerIterator it(rows, row); it; ++it)
                append_term(text, it.value(), names[static_cast<std::size_t>(it.col())]);
            append_signed(text, program.b(row));
            text += '\n';
        }
    }
    text += "Variables\n";
    for (const std::string& name : names)
        text += "    " + name + '\n';
    if (instance.x.size() > 0 && instance.y.size() > 0) append_solution(text, instance, names);
    return text;
}

}  // namespace certicone::formats
