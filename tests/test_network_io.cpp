#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "file_helpers.hpp"
#include "network/json_tree.hpp"
#include "network/network_io.hpp"
#include "support/file.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

const std::filesystem::path paper = std::filesystem::path(CERTICONE_DATA_DIR) / "paper";

Network random_network(std::mt19937_64& random) {
    const auto size = [&] { return static_cast<Index>(1 + random() % 4); };
    const auto matrix = [&](Index rows, Index cols) -> Matrix {
        return Matrix::NullaryExpr(rows, cols, [&] { return any_double(random); });
    };
    const auto vector = [&](Index rows) -> Vector { return matrix(rows, 1); };
    Network network;
    network.name = "a \"quoted\" name\nwith \xC3\xBC";
    network.input_dim = size();
    for (Index l = 0, before = 0, depth = size(); l < depth; ++l) {
        const Index units = size();
        network.layers.push_back({matrix(units, network.input_dim), Matrix(), vector(units)});
        if (l > 0) network.layers.back().U = matrix(units, before).cwiseAbs();
        before = units;
    }
    network.c = vector(network.layers.back().units()).cwiseAbs();
    network.v = vector(network.input_dim);
    network.b0 = any_double(random);
    for (std::size_t h = random() % 3; h > 0; --h) {
        const Index rows = size();
        const double alpha = 1e-320 + std::abs(any_double(random)) / 2;
        network.quadratic.push_back({alpha, matrix(rows, network.input_dim), vector(rows)});
    }
    for (std::size_t g = random() % 3; g > 0; --g) {
        const Index rows = size();
        network.conic.push_back({std::abs(any_double(random)), matrix(rows, network.input_dim), vector(rows)});
    }
    return network;
}

using test::same_bits;

bool same_bits(const Matrix& a, const Matrix& b) {
    if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
    return a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0;
}

bool same_bits(const Network& a, const Network& b) {
    bool same = a.name == b.name && a.input_dim == b.input_dim && a.layers.size() == b.layers.size() &&
                a.quadratic.size() == b.quadratic.size() && a.conic.size() == b.conic.size() && same_bits(a.b0, b.b0) &&
                same_bits(Matrix(a.c), Matrix(b.c)) && same_bits(Matrix(a.v), Matrix(b.v));
    for (std::size_t l = 0; same && l < a.layers.size(); ++l) {
        const Layer &x = a.layers[l], &y = b.layers[l];
        same = same_bits(x.W, y.W) && same_bits(x.U, y.U) && same_bits(Matrix(x.b), Matrix(y.b));
    }
    for (std::size_t h = 0; same && h < a.quadratic.size(); ++h) {
        const Quadratic &x = a.quadratic[h], &y = b.quadratic[h];
        same = same_bits(x.alpha, y.alpha) && same_bits(x.B, y.B) && same_bits(Matrix(x.e), Matrix(y.e));
    }
    for (std::size_t g = 0; same && g < a.conic.size(); ++g) {
        const Conic &x = a.conic[g], &y = b.conic[g];
        same = same_bits(x.lambda, y.lambda) && same_bits(x.A, y.A) && same_bits(Matrix(x.d), Matrix(y.d));
    }
    return same;
}

const std::string small_json = R"({"format": "soc-icnn/1", "input_dim": 2,
 "layers": [{"W": [[1, 2], [3, 4], [5, 6]], "b": [0, 0, 1e-3]}, {"W": [[1, -1]], "U": [[0.5, 0, 0.25]], "b": [-1]}],
 "c": [2], "v": [0, 1], "b0": -4.5,
 "quadratic": [{"alpha": 2, "B": [[1, 0]], "e": [3]}], "conic": [{"lambda": 0, "A": [[0, 1], [1, 1]], "d": [1, 2]}]})";

/// The error for the small network with one piece of text replaced.
std::string json_error(std::string_view from, std::string_view to) {
    return input_error([&] { parse_network_json(replaced(small_json, from, to), "n.json"); });
}

std::string text_error(std::string_view text) {
    return input_error([&] { parse_network_json(text, "n.json"); });
}

}  // namespace

TEST_CASE("network JSON: what was written in it") {
    const Network network = parse_network_json(small_json, "some/folder/tiny.json");
    CHECK(network.name == "tiny");
    CHECK(network.input_dim == 2);
    REQUIRE(network.layers.size() == 2);
    CHECK(network.layers[0].W(2, 0) == 5);
    CHECK(network.layers[0].U.size() == 0);
    CHECK(network.layers[0].b(2) == 1e-3);
    CHECK(network.layers[1].U(0, 2) == 0.25);
    CHECK(network.b0 == -4.5);
    CHECK(network.v(1) == 1);
    REQUIRE(network.quadratic.size() == 1);
    CHECK(network.quadratic[0].e(0) == 3);
    CHECK(network.conic[0].A(1, 0) == 1);

    const Network plain = parse_network_json(R"({"format": "soc-icnn/1", "name": "p", "input_dim": 1,
        "layers": [{"W": [[1]], "b": [0]}], "c": [1], "v": [0], "b0": 0})",
                                             "");
    CHECK(plain.name == "p");
    CHECK(plain.quadratic.empty());
    CHECK(plain.conic.empty());
}

TEST_CASE("network JSON: what is wrong is named") {
    CHECK(json_error("\"format\": \"soc-icnn/1\", ", "") == "n.json: missing key \"format\", expected \"soc-icnn/1\"");
    CHECK(json_error("soc-icnn/1", "soc-icnn/2") == "n.json: format is \"soc-icnn/2\", expected \"soc-icnn/1\"");
    CHECK(json_error("\"soc-icnn/1\"", "1") == "n.json: format is a number, expected a string");
    CHECK(json_error("[3, 4]", "[3]") == "n.json: layers[0].W[1] has 1 entries, but row 0 has 2");
    CHECK(json_error("[3, 4]", "[3, \"4\"]") == "n.json: layers[0].W[1][1] is a string, expected a number");
    CHECK(json_error("[3, 4]", "7") == "n.json: layers[0].W[1] is a number, expected an array of numbers");
    CHECK(json_error("[[1, 2], [3, 4], [5, 6]]", "{}") ==
          "n.json: layers[0].W is an object, expected an array of arrays of numbers");
    CHECK(json_error("[0, 0, 1e-3]", "[0, null, 1]") == "n.json: layers[0].b[1] is null, expected a number");
    CHECK(json_error("\"b0\": -4.5", "\"b0\": [1]") == "n.json: b0 is an array, expected a number");
    CHECK(json_error("\"b0\": -4.5", "\"b1\": 1") == "n.json: unknown key \"b1\"");
    CHECK(json_error(", \"b0\": -4.5", "") == "n.json: missing key \"b0\"");
    CHECK(json_error("\"alpha\"", "\"Alpha\"") == "n.json: unknown key \"Alpha\" in quadratic[0]");
    CHECK(json_error("\"alpha\": 2, ", "") == "n.json: missing key \"alpha\" in quadratic[0]");
    CHECK(contains(json_error("\"W\": [[1, 2]", "\"U\": [[1]], \"W\": [[1, 2]"), "n.json: layers[0].U must be absent"));
    CHECK(json_error("\"U\": [[0.5, 0, 0.25]], ", "") == "n.json: missing key \"U\" in layers[1]");
    CHECK(json_error("0.5, 0, 0.25", "0.5, -0.25, 0") == "n.json: layers[1].U[0][1] = -0.25, must be >= 0");
    CHECK(json_error("\"alpha\": 2", "\"alpha\": 0") == "n.json: quadratic[0].alpha = 0, must be > 0");
    CHECK(json_error("\"lambda\": 0", "\"lambda\": -1") == "n.json: conic[0].lambda = -1, must be >= 0");
    CHECK(json_error("\"input_dim\": 2", "\"input_dim\": 3") ==
          "n.json: layers[0].W is 3x2, expected 3x3 (and 4 more)");
    CHECK(json_error("\"input_dim\": 2", "\"input_dim\": 2.5") == "n.json: input_dim = 2.5, expected an integer >= 0");
    CHECK(json_error("\"input_dim\": 2", "\"input_dim\": -2") == "n.json: input_dim = -2, expected an integer >= 0");
    CHECK(contains(json_error("\"input_dim\": 2", "\"input_dim\": 1e15"), "expected 3x1000000000000000"));
    CHECK(contains(json_error("\"input_dim\": 2", "\"input_dim\": 1e300"), "expected an integer"));
    CHECK(json_error("-4.5", "1e999") == "n.json: line 3, column 31: number out of range: 1e999");
    CHECK(text_error("[1]") == "n.json: the top level is an array, expected an object");
    CHECK(contains(json_error("\"v\"", "\"" + std::string(100000, 'v') + "\""), "unknown key \"vvv"));
    CHECK(contains(json_error("\"v\"", "\"a\\nb\\u0000\""), "unknown key \"a b \""));
}

TEST_CASE("network files: round trips keep every bit") {
    const ScratchFolder folder;
    std::mt19937_64 random(7);
    for (int i = 0; i < 200; ++i) {
        const Network network = random_network(random);
        REQUIRE(violations(network).empty());
        REQUIRE(same_bits(parse_network_json(to_json(network), ""), network));
        write_safetensors(network, folder / "n.safetensors");
        const Network read = read_network(folder / "n.safetensors");
        REQUIRE(same_bits(read, network));
        REQUIRE(to_json(read) == to_json(network));
        write_network_json(read, folder / "n.json");
        REQUIRE(same_bits(read_network(folder / "n.json"), network));
    }
}

TEST_CASE("network files: the format is told by content, except for the extension .safetensors") {
    const ScratchFolder folder;
    const Network network = parse_network_json(small_json, "tiny.json");
    write_safetensors(network, folder / "weights.bin");
    CHECK(same_bits(read_network(folder / "weights.bin"), network));
    write_file_atomically(folder / "weights.safetensors", small_json);
    CHECK(contains(input_error([&] { read_network(folder / "weights.safetensors"); }), "safetensors header of"));
    write_file_atomically(folder / "empty.safetensors", "");
    CHECK(contains(input_error([&] { read_network(folder / "empty.safetensors"); }), "empty file"));
    write_file_atomically(folder / "bom.json", "\xEF\xBB\xBF" + small_json);
    CHECK(read_network(folder / "bom.json").name == "bom");
}

TEST_CASE("network files: nothing is written that could not be read") {
    const ScratchFolder folder;
    Network network = parse_network_json(small_json, "tiny.json");
    network.b0 = std::nan("");
    CHECK(contains(input_error([&] { write_network_json(network, folder / "n.json"); }), "b0 = nan"));
    CHECK(contains(input_error([&] { write_safetensors(network, folder / "n"); }), "b0 = nan"));
    CHECK(folder.files() == 0);
}

TEST_CASE("network files: the paper's networks") {
    const auto exp1 = read_network(paper / "exp1.network.json");
    CHECK(exp1.name == "exp1");
    CHECK(exp1.input_dim == 20);
    for (const char* name : {"exp1", "exp2", "exp3", "exp4"}) {
        const Network network = read_network(paper / (std::string(name) + ".network.json"));
        CHECK(network.name == name);
        CHECK(same_bits(parse_network_json(to_json(network), ""), network));
    }
    const auto exp3 = read_network(paper / "exp3.network.json");
    CHECK(exp3.layers[0].W(0, 1) == 0.3);
    CHECK(exp3.conic[0].lambda == 1.3);
    const std::string source = "exp2.perturbations.json";
    const JsonValue perturbations = parse_json(read_file(paper / source), source);
    CHECK(JsonPlace(perturbations, source).at("sets").items()[0].at("radius").number() == 1e-4);
}

TEST_CASE("network JSON: damaged files are refused or read, never worse") {
    fuzz(small_json, 4000, [](const std::string& text) { parse_network(text, "n.json"); });
    for (std::size_t length = 0; length < small_json.size(); ++length) {
        CHECK_THROWS_AS(parse_network(small_json.substr(0, length), "n.json"), InputError);
    }
}
