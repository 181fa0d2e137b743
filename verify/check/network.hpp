// The network of a certificate: soc-icnn/1 in JSON (docs/formats.md), with all that is demanded of it.
#pragma once

#include "verify/check/dyadic.hpp"

namespace certicone::check {

using Doubles = std::vector<double>;

struct Matrix {
    std::size_t rows = 0, cols = 0;
    Doubles entries;  ///< row by row

    double operator()(std::size_t i, std::size_t j) const { return entries[i * cols + j]; }
};

struct Layer {
    Matrix W, U;  ///< U is empty in the first layer
    Doubles b;
};

/// α/2‖Mx + o‖² or λ‖Mx + o‖.
struct Module {
    double weight = 0.0;
    Matrix M;
    Doubles o;
};

struct Network {
    std::size_t inputs = 0;
    std::vector<Layer> layers;
    Doubles c, v;
    double b0 = 0.0;
    std::vector<Module> quadratic, conic;
};

inline Doubles read_doubles(const Value& list, std::size_t size, bool nonnegative = false) {
    Doubles result;
    for (const Value& item : list.items(size)) {
        result.push_back(item.decimal());
        if (nonnegative && result.back() < 0.0) item.refute("must not be negative");
    }
    return result;
}

inline Matrix read_matrix(const Value& list, std::size_t cols, bool nonnegative = false) {
    Matrix result{0, cols, {}};
    for (const Value& row : list.items()) {
        const Doubles entries = read_doubles(row, cols, nonnegative);
        result.entries.insert(result.entries.end(), entries.begin(), entries.end());
        ++result.rows;
    }
    if (result.rows == 0) list.refute("must have rows");
    return result;
}

inline Network read_network(std::string_view bytes) {
    const Json json(bytes, "network");
    const Value root(json);
    const std::vector<Value> members =
        root.members({"format", "input_dim", "layers", "c", "v", "b0"}, {"quadratic", "conic", "name", "reference"});
    if (members[0].string() != "soc-icnn/1") members[0].refute("is not soc-icnn/1");
    if (!members[8].is(root)) members[8].string();
    Network network;
    network.inputs = members[1].integer();
    if (network.inputs == 0) members[1].refute("must be at least 1");
    std::size_t units = 0;
    for (const Value& item : members[2].items()) {
        const bool first = network.layers.empty();
        const std::vector<Value> parts = first ? item.members({"W", "b"}) : item.members({"W", "b", "U"});
        Layer& layer = network.layers.emplace_back();
        layer.W = read_matrix(parts[0], network.inputs);
        layer.b = read_doubles(parts[1], layer.W.rows);
        if (!first) layer.U = read_matrix(parts[2], units, true);
        units = layer.W.rows;
        if (!first && layer.U.rows != units) parts[2].refute("must have as many rows as W");
    }
    if (network.layers.empty()) members[2].refute("must have a layer");
    network.c = read_doubles(members[3], units, true);
    network.v = read_doubles(members[4], network.inputs);
    network.b0 = members[5].decimal();
    const auto read_modules = [&](const Value& list, std::initializer_list<std::string_view> keys, bool positive) {
        std::vector<Module> result;
        if (list.is(root)) return result;
        for (const Value& item : list.items()) {
            const std::vector<Value> parts = item.members(keys);
            const double weight = parts[0].decimal();
            if (weight < 0.0 || (positive && weight == 0.0)) parts[0].refute("is not allowed");
            Matrix M = read_matrix(parts[1], network.inputs);
            Doubles o = read_doubles(parts[2], M.rows);
            result.push_back({weight, std::move(M), std::move(o)});
        }
        return result;
    };
    network.quadratic = read_modules(members[6], {"alpha", "B", "e"}, true);
    network.conic = read_modules(members[7], {"lambda", "A", "d"}, false);
    if (!members[9].is(root)) {
        const std::vector<Value> parts = members[9].members({"points", "values"}), points = parts[0].items();
        for (const Value& point : points)
            read_doubles(point, network.inputs);
        read_doubles(parts[1], points.size());
    }
    return network;
}

}  // namespace certicone::check
