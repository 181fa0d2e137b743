#include <doctest/doctest.h>

#include "file_helpers.hpp"
#include "network/json_tree.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

std::string text_error(std::string_view text) {
    return input_error([&] { parse_json(text, "n.json"); });
}

}  // namespace

TEST_CASE("parse_json: the tree") {
    const JsonValue tree =
        parse_json(R"({"a": [1, -2.5, 1e3], "b": [1, [2], "x"], "c": [], "d": {"e": null, "f": true}})", "");
    const std::string source = "s";
    const JsonPlace root(tree, source);
    CHECK(root.at("a").numbers().size() == 3);
    CHECK(root.at("a").numbers()[1] == -2.5);
    CHECK(root.at("b").items().size() == 3);
    CHECK(root.at("b").items()[1].numbers()[0] == 2);
    CHECK(root.at("b").items()[2].text() == "x");
    CHECK(root.at("c").numbers().empty());
    CHECK(root.at("c").items().empty());
    CHECK(root.at("c").rows().empty());
    CHECK_FALSE(root.find("g"));
    CHECK(root.members().size() == 4);
    CHECK(input_error([&] { root.at("g"); }) == "s: missing key \"g\"");
    CHECK(input_error([&] { root.at("d").at("e").number(); }) == "s: d.e is null, expected a number");
    CHECK(input_error([&] { root.at("d").at("f").text(); }) == "s: d.f is a boolean, expected a string");
    CHECK(input_error([&] { root.at("b").numbers(); }) == "s: b[1] is an array, expected a number");
    CHECK(input_error([&] { root.at("b").rows(); }) == "s: b[0] is a number, expected an array of numbers");
    CHECK(input_error([&] { root.number(); }) == "s: the top level is an object, expected a number");
    CHECK(std::get<double>(parse_json(" 3 ", "").data) == 3);
    CHECK(std::get<double>(parse_json("18446744073709551615", "").data) == 0x1p64);
    CHECK(parse_json("\xEF\xBB\xBF[1]", "").data.index() == 4);
}

TEST_CASE("parse_json: one clear line for whatever is no JSON") {
    CHECK(text_error("") == "n.json: empty file");
    CHECK(text_error(" \n\t ") == "n.json: empty file");
    CHECK(contains(text_error("{\"a\": [1, 2"), "n.json: line 1, column 12: "));
    CHECK(contains(text_error("{\"a\": [1, 2"), "unexpected end of input"));
    CHECK(contains(text_error("{\n\"a\": x}"), "n.json: line 2, column 6: "));
    CHECK(contains(text_error("{\"a\": NaN}"), "line 1, column 7: "));
    CHECK(contains(text_error("{\"a\": Infinity}"), "line 1, column 7: "));
    CHECK(contains(text_error("{\"a\": -Infinity}"), "line 1, column 8: "));
    CHECK(text_error("{\"a\": [1,\n 1e999]}") == "n.json: line 2, column 2: number out of range: 1e999");
    CHECK(
        contains(text_error("{\"a\": 1" + std::string(400, '0') + "}"), "line 1, column 7: number out of range: 1000"));
    CHECK(contains(text_error("{} {}"), "line 1, column 4: "));
    CHECK(contains(text_error("{\"a\": 1, \"a\": 2}"), "line 1, column 12: duplicate key \"a\""));
    CHECK(contains(text_error("\"\xC3(\""), "line 1, column 3: "));
    CHECK(contains(text_error(std::string("{}\0{}", 5)), "line 1, column 3: NUL byte"));
    CHECK(contains(text_error("\x7F"
                              "ELF\x02\x01"),
                   "line 1, column 1: "));
    CHECK(contains(text_error("\"a\nb\""), "line 1, column 3: "));
    CHECK(contains(text_error("\"" + std::string(100000, 'x')), "..."));
    CHECK(contains(text_error(std::string(1000000, '[')), "line 1, column 65: nested deeper than 64 levels"));
    CHECK_NOTHROW(parse_json(std::string(64, '[') + std::string(64, ']'), ""));
    std::string objects;
    for (int i = 0; i < 100000; ++i)
        objects += "{\"a\":";
    CHECK(contains(text_error(objects), "nested deeper"));
}
