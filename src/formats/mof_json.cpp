#include "formats/mof_json.hpp"

#include <utility>

#include "network/json_tree.hpp"
#include "support/file.hpp"

namespace certicone::formats {

namespace {

const char* set_name(conic::Cone cone) {
    switch (cone) {
        case conic::Cone::Zero: return "Zeros";
        case conic::Cone::Nonnegative: return "Nonnegatives";
        case conic::Cone::SecondOrder: return "SecondOrderCone";
        case conic::Cone::RotatedSecondOrder: return "RotatedSecondOrderCone";
    }
    return "?";
}

/// A list with `write(k)` for each of its elements.
template <class Write>
void append_list(std::string& text, Index count, Write write) {
    text += '[';
    for (Index k = 0; k < count; ++k) {
        if (k > 0) text += ',';
        write(k);
    }
    text += ']';
}

void append_numbers(std::string& text, const Vector& numbers) {
    append_list(text, numbers.size(), [&](Index k) { append_double(text, numbers(k)); });
}

void append_term(std::string& text, double coefficient, const std::string& quoted_name) {
    text += "{\"coefficient\":";
    append_double(text, coefficient);
    text += ",\"variable\":" + quoted_name + '}';
}

}  // namespace

std::string to_mof_json(const Instance& instance) {
    require_linear(instance);
    const conic::ConicProgram& program = instance.program;
    std::vector<std::string> names = column_names(program);
    for (std::string& name : names)
        name = json_string(name);

    std::string text =
        "{\"name\":" + json_string(instance.name) + ",\"version\":{\"major\":1,\"minor\":7},\n\"variables\":";
    append_list(text, program.columns(), [&](Index j) {
        text += "{\"name\":" + names[static_cast<std::size_t>(j)];
        if (instance.x.size() > 0) {
            text += ",\"primal_start\":";
            append_double(text, instance.x(j));
        }
        text += '}';
    });
    text += ",\n\"objective\":{\"sense\":\"min\",\"function\":{\"type\":\"ScalarAffineFunction\",\"terms\":[";
    const char* comma = "";
    for (Index j = 0; j < program.columns(); ++j) {
        if (program.c(j) == 0.0) continue;
        text += std::exchange(comma, ",");
        append_term(text, program.c(j), names[static_cast<std::size_t>(j)]);
    }
    text += "],\"constant\":";
    append_double(text, program.c0);
    text += "}},\n\"constraints\":";
    const auto rows = negated_rows(program);
    const Vector s = instance.x.size() > 0 ? Vector(program.b - program.A * instance.x) : Vector();
    append_list(text, static_cast<Index>(program.blocks.size()), [&](Index number) {
        const conic::Block& block = program.blocks[static_cast<std::size_t>(number)];
        text +=
            "\n{\"name\":" + json_string(block.name) + ",\"function\":{\"type\":\"VectorAffineFunction\",\"terms\":[";
        const char* separator = "";
        for (Index k = 0; k < block.size; ++k)
            for (Eigen::SparseMatrix<double, Eigen::RowMajor, int>::InnerIterator it(rows, block.begin + k); it; ++it) {
                text += std::exchange(separator, ",");
                text += "{\"output_index\":" + std::to_string(k + 1) + ",\"scalar_term\":";
                append_term(text, it.value(), names[static_cast<std::size_t>(it.col())]);
                text += '}';
            }
        text += "],\"constants\":";
        append_numbers(text, program.b.segment(block.begin, block.size));
        text += std::string("},\"set\":{\"type\":\"") + set_name(block.cone) +
                "\",\"dimension\":" + std::to_string(block.size) + '}';
        if (s.size() > 0) {
            text += ",\"primal_start\":";
            append_numbers(text, s.segment(block.begin, block.size));
        }
        if (instance.y.size() > 0) {
            text += ",\"dual_start\":";
            append_numbers(text, instance.y.segment(block.begin, block.size));
        }
        text += '}';
    });
    text += "}\n";
    return text;
}

}  // namespace certicone::formats
