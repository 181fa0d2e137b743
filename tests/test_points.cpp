#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "file_helpers.hpp"
#include "network/points.hpp"
#include "support/file.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

const std::filesystem::path paper = std::filesystem::path(CERTICONE_DATA_DIR) / "paper";

Matrix points(const std::string& bytes, Index dim) { return parse_points(bytes, "p", dim); }

std::string error(const std::string& bytes, Index dim, PointKind kind = PointKind::points) {
    return input_error([&] { parse_points(bytes, "p", dim, kind); });
}

Matrix matrix(std::initializer_list<std::initializer_list<double>> rows) { return Matrix(rows); }

/// As numpy.save writes it.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += static_cast<char>(version);
    bytes += '\0';
    const std::string padded = header + std::string((64 - (header.size() + 11) % 64) % 64, ' ') + "\n";
    const int width = version == 1 ? 16 : 32;
    for (int shift = 0; shift < width; shift += 8)
        bytes += static_cast<char>(padded.size() >> shift & 0xFF);
    return bytes + padded + data;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data, bool fortran = false) {
    return npy(
        "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }",
        data);
}

}  // namespace

TEST_CASE("points: JSON") {
    CHECK(points(R"({"points": [[1, 2], [3, 4], [5, 6]]})", 2) == matrix({{1, 3, 5}, {2, 4, 6}}));
    CHECK(points(R"({"beta": 10, "queries": [[1, 2]]})", 2) == matrix({{1}, {2}}));
    CHECK(parse_points(R"( {"x": {}, "directions": [[0.5, 0]], "points": 3})", "p", 2, PointKind::directions) ==
          matrix({{0.5}, {0}}));
    CHECK(points("\xEF\xBB\xBF{\"points\": [[1]]}", 1) == matrix({{1}}));

    CHECK(error(R"({"points": [[1, 2], [3]]})", 2) == "p: points: point 1 has 1 entries, expected 2");
    CHECK(error(R"({"points": [[1, 2], [3, "x"]]})", 2) == "p: points[1][1] is a string, expected a number");
    CHECK(error(R"({"points": [1, 2]})", 2) == "p: points[0] is a number, expected an array of numbers");
    CHECK(error(R"({"points": []})", 2) == "p: no points in it");
    CHECK(error(R"({"directions": []})", 2, PointKind::directions) == "p: no directions in it");
    CHECK(error(R"({"directions": [[1, 2]]})", 2) == "p: missing key \"points\"");
    CHECK(error(R"({"queries": [[1, 2]]})", 2, PointKind::directions) == "p: missing key \"directions\"");
    CHECK(error("[[1, 2]]", 2) == "p: the top level is an array, expected an object");
    CHECK(error(R"({"points": [[1, 1e999]]})", 2) == "p: line 1, column 17: number out of range: 1e999");
    CHECK(contains(error(R"({"points": [[1, NaN]]})", 2), "p: line 1, column 17: "));
}

TEST_CASE("points: CSV") {
    const Matrix expected = matrix({{1, -3}, {2.5, 4e-3}});
    CHECK(points("1,2.5\n-3,4e-3\n", 2) == expected);
    CHECK(points("1 , 2.5\r\n-3,\t4e-3", 2) == expected);
    CHECK(points("1;2.5\n-3;4e-3\n", 2) == expected);
    CHECK(points("  1 \t 2.5  \n\n-3\t4e-3\n", 2) == expected);
    CHECK(points("# made by hand\n\nx, y\n+1,2.5 # the first\n-3,4e-3\n", 2) == expected);
    CHECK(points("\xEF\xBB\xBF\"x\",\"y\"\n1,2.5\n-3,4e-3\n", 2) == expected);
    CHECK(points("7\n8\n9\n", 1) == matrix({{7, 8, 9}}));
    CHECK(points("5e-324,-0\n", 2)(0, 0) == 5e-324);

    CHECK(error("1,2\n3\n", 2) == "p: line 2: point 1 has 1 entries, expected 2");
    CHECK(error("1,2,3\n", 2) == "p: line 1: point 0 has 3 entries, expected 2");
    CHECK(error("1,2\n\n3,x\n", 2) == "p: line 3: field 2 is 'x', expected a number");
    CHECK(error("1,2\nx,y\n", 2) == "p: line 2: field 1 is 'x', expected a number");
    CHECK(error("1.O,2\n", 2) == "p: line 1: field 1 is '1.O', expected a number");
    CHECK(error("1,\n", 2) == "p: line 1: field 2 is '', expected a number");
    CHECK(error("1,,2\n", 2) == "p: line 1: field 2 is '', expected a number");
    CHECK(error("1,5;2\n", 2) == "p: line 1: field 1 is '1,5', expected a number");
    CHECK(error("1,nan\n", 2) == "p: line 1: field 2 is 'nan', must be finite");
    CHECK(error("-inf,1\n", 2) == "p: line 1: field 1 is '-inf', must be finite");
    CHECK(error("1,1e999\n", 2) == "p: line 1: field 2 is '1e999', out of range of a double");
    CHECK(error("1,0x10\n", 2) == "p: line 1: field 2 is '0x10', expected a number");
    CHECK(error("x,y\n", 2) == "p: no points in it");
    CHECK(error("# only a comment\n", 2) == "p: no points in it");
    CHECK(error("", 2) == "p: empty file");
    CHECK(error(" \n \r\n", 2) == "p: empty file");
    CHECK(contains(error(std::string("1,2\n\0", 5), 2), "binary file"));
    CHECK(contains(error("1," + std::string(100000, 'x'), 2), "xxx..."));
}

TEST_CASE("points: .npy") {
    const Matrix expected = matrix({{1, 3, 5}, {2, 4, 6}});
    CHECK(points(npy("<f8", "(3, 2)", raw<double>({1, 2, 3, 4, 5, 6})), 2) == expected);
    CHECK(points(npy(">f8", "(3, 2)", raw<double>({1, 2, 3, 4, 5, 6}, true)), 2) == expected);
    CHECK(points(npy("<f4", "(3, 2)", raw<float>({1, 2, 3, 4, 5, 6})), 2) == expected);
    CHECK(points(npy(">f4", "(3, 2)", raw<float>({1, 2, 3, 4, 5, 6}, true)), 2) == expected);
    CHECK(points(npy("<i8", "(3, 2)", raw<std::int64_t>({1, 2, 3, 4, 5, 6})), 2) == expected);
    CHECK(points(npy(">i4", "(3, 2)", raw<std::int32_t>({1, 2, 3, 4, 5, 6}, true)), 2) == expected);
    CHECK(points(npy("<i4", "(1,2)", raw<std::int32_t>({-1, 2})), 2) == matrix({{-1}, {2}}));
    CHECK(points(npy("<f8", "(3, 2)", raw<double>({1, 3, 5, 2, 4, 6}), true), 2) == expected);
    CHECK(points(npy("<f8", "(2,)", raw<double>({1, 2})), 2) == matrix({{1}, {2}}));
    CHECK(points(npy("<f8", "(3,)", raw<double>({1, 2, 3})), 1) == matrix({{1, 2, 3}}));
    CHECK(points(npy("<f8", "(3,)", raw<double>({1, 2, 3}), true), 1) == matrix({{1, 2, 3}}));
    const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
    CHECK(points(npy(header, raw<double>({1, 2}), 2), 2) == matrix({{1}, {2}}));
    CHECK(points(npy(header, raw<double>({1, 2}), 3), 2) == matrix({{1}, {2}}));
    CHECK(points(npy("{\"shape\":(1,2),\"descr\":\"<f8\",\"fortran_order\":False}", raw<double>({1, 2})), 2) ==
          matrix({{1}, {2}}));
}

TEST_CASE("points: .npy files that are wrong") {
    const std::string two = raw<double>({1, 2});
    CHECK(error(npy("<f8", "(2, 1)", two), 2) == "p: point 0 has 1 entries, expected 2");
    CHECK(error(npy("<f8", "(2,)", two), 3) == "p: point 0 has 2 entries, expected 3");
    CHECK(error(npy("<f8", "(1, 1, 2)", two), 2) == "p: array of 3 dimensions, expected N x 2");
    CHECK(contains(error(npy("<f8", "(1, 1, 2)", two, true), 2), "3 dimensions"));
    CHECK(contains(error(npy("<f8", "()", raw<double>({1})), 1), "array of 0 dimensions"));
    CHECK(error(npy("<f8", "(0, 2)", ""), 2) == "p: no points in it");
    CHECK(error(npy("<f8", "(1, 2)", raw<double>({1, std::nan("")})), 2) ==
          "p: point 0, entry 1 is nan, must be finite");
    CHECK(error(npy("<f4", "(2, 1)", raw<float>({1, -INFINITY})), 1) == "p: point 1, entry 0 is -inf, must be finite");
    CHECK(contains(error(npy("|O", "(1, 2)", two), 2), ".npy dtype '|O', expected"));
    CHECK(contains(error(npy("<c16", "(1,)", two), 2), ".npy dtype '<c16'"));
    CHECK(contains(error(npy("f8", "(1, 2)", two), 2), ".npy dtype 'f8'"));
    CHECK(contains(error(npy("", "(1, 2)", two), 2), ".npy dtype ''"));
    CHECK(contains(error(npy("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2,), }", two), 2),
                   "structured"));
    CHECK(contains(error(npy("<f8", "(1, 3)", two), 3), ".npy data has 16 bytes"));
    CHECK(contains(error(npy("<f8", "(1, 1)", two), 1), ".npy data has 16 bytes"));
    CHECK(contains(error(npy("<f8", "(1, 2)", two + "x"), 2), ".npy data has 17 bytes"));
    CHECK(contains(error(npy("<f8", "(4294967296, 4294967296)", two), 2), ".npy data has 16 bytes"));
    CHECK(contains(error(npy("<f8", "(2305843009213693952, 1)", ""), 1), ".npy data has 0 bytes"));
    CHECK(contains(error(npy("<f8", "(99999999999999999999, 2)", two), 2), "shape"));
    CHECK(contains(error(npy("<f8", "(-1, 2)", two), 2), "shape"));
    CHECK(contains(error(npy("<f8", "[1, 2]", two), 2), "expected '('"));
    CHECK(contains(error(npy("<f8", "(9000000000000000, 0)", ""), 2), "point 0 has 0 entries"));
    CHECK(contains(error(npy("{'descr': '<f8', 'shape': (1, 2)}", two), 2), "is missing"));
    CHECK(contains(error(npy("{'descr': '<f8', 'descr': '<f8'}", two), 2), "unexpected key 'descr'"));
    CHECK(contains(error(npy("{'descr': '<f8', 'other': 1}", two), 2), "unexpected key 'other'"));
    CHECK(contains(error(npy("{'descr': '<f8', 'fortran_order': 0, 'shape': (1, 2)}", two), 2),
                   "neither True nor False"));
    CHECK(contains(error(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)} x", two), 2),
                   "after the dictionary"));
    CHECK(contains(error(npy("{'descr': '<f8", two), 2), "unterminated"));
    CHECK(contains(error(npy("{}", two, 9), 2), "version 9"));
    const std::string good = npy("<f8", "(1, 2)", two);
    for (std::size_t length = 6; length < good.size(); ++length) {
        CHECK_THROWS_AS(points(good.substr(0, length), 2), InputError);
    }
}

TEST_CASE("points: the paper's") {
    CHECK(read_points(paper / "exp1.points.json", 20).cols() == 250);
    CHECK(read_points(paper / "exp2.points.json", 10).cols() == 100);
    CHECK(read_points(paper / "exp3.points.json", 2) == Matrix::Zero(2, 1));
    CHECK(read_points(paper / "exp4.queries.json", 10).cols() == 30);
    const Matrix directions = read_points(paper / "exp3.draws.json", 2, PointKind::directions);
    CHECK(directions(0, 0) == 0.9860168416675379);
    CHECK(directions(1, 1) == 0.5003127985542987);
    CHECK(contains(input_error([] { read_points(paper / "exp1.points.json", 10); }),
                   "exp1.points.json: points: point 0 has 20 entries, expected 10"));
    CHECK(contains(input_error([] { read_points(paper / "exp2.perturbations.json", 10); }), "missing key \"points\""));
    CHECK(contains(input_error([] { read_points(paper, 10); }), "is a directory"));
    CHECK(contains(input_error([] { read_points(paper / "absent.csv", 10); }), "absent.csv: no such file"));
}

TEST_CASE("points: damaged files are refused or read, never worse") {
    const auto read = [](const std::string& bytes) { parse_points(bytes, "p", 2); };
    fuzz(R"({"points": [[1.5, 2e-3], [3, 4], [-5, 6]], "more": [1, "x", null]})", 4000, read);
    fuzz("# points\nx,y\n1.5,2e-3\n3;4\n-5 6\n", 4000, read);
    fuzz(npy("<f8", "(3, 2)", raw<double>({1, 2, 3, 4, 5, 6})), 4000, read);
    fuzz(npy(">i4", "(3, 2)", raw<std::int32_t>({1, 2, 3, 4, 5, 6}), true), 4000, read);
}
