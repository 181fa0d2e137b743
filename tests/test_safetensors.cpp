#include <doctest/doctest.h>

#include <limits>

#include "file_helpers.hpp"
#include "network/network_io.hpp"
#include "network/raw_numbers.hpp"
#include "support/file.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

const std::filesystem::path exp3 = std::filesystem::path(CERTICONE_DATA_DIR) / "paper/exp3.network.json";

/// One unit on one input: f(x) = 3 max(2x + 1, 0) − x + 0.5, one tensor after another.
const std::string small_header = R"({"layers.0.W":{"dtype":"F64","shape":[1,1],"data_offsets":[0,8]},)"
                                 R"("layers.0.b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
                                 R"("c":{"dtype":"F16","shape":[1],"data_offsets":[12,14]},)"
                                 R"("v":{"dtype":"BF16","shape":[1],"data_offsets":[14,16]},)"
                                 R"("b0":{"dtype":"F64","shape":[],"data_offsets":[16,24]}})";
const std::string small_data = raw<double>({2.0}) + raw<float>({1.0f}) + raw<std::uint16_t>({0x4200}) +
                               raw<std::uint16_t>({0xBF80}) + raw<double>({0.5});

std::string header_error(std::string_view from, std::string_view to) {
    const std::string bytes = safetensors_bytes(replaced(small_header, from, to), small_data);
    return input_error([&] { parse_safetensors(bytes, "n.safetensors"); });
}

}  // namespace

TEST_CASE("safetensors: the header is padded so that the data is aligned") {
    const ScratchFolder folder;
    write_safetensors(read_network(exp3), folder / "n.safetensors");
    const std::string bytes = read_file(folder / "n.safetensors");
    const auto length = load_raw<std::uint64_t>(bytes.data());
    CHECK(length % 8 == 0);
    CHECK(contains(bytes.substr(0, 200), R"({"__metadata__":{"format":"soc-icnn/1","name":"exp3"},)"
                                         R"("layers.0.W":{"dtype":"F64","shape":[3, 2],"data_offsets":[0,48]},)"));
    CHECK(load_raw<double>(bytes.data() + 8 + length + 8) == 0.3);  // row by row: W[0][1]
}

TEST_CASE("safetensors: F64, F32, F16 and BF16 are read exactly") {
    const Network network = parse_safetensors(safetensors_bytes(small_header, small_data), "a/small.safetensors");
    CHECK(network.name == "small");
    CHECK(network.input_dim == 1);
    CHECK(network.layers[0].W(0, 0) == 2.0);
    CHECK(network.layers[0].b(0) == 1.0);
    CHECK(network.c(0) == 3.0);
    CHECK(network.v(0) == -1.0);
    CHECK(network.b0 == 0.5);

    CHECK(half_to_double(0x0001) == 0x1p-24);
    CHECK(half_to_double(0x03FF) == 1023 * 0x1p-24);
    CHECK(half_to_double(0x0400) == 0x1p-14);
    CHECK(half_to_double(0x7BFF) == 65504.0);
    CHECK(half_to_double(0x3555) == 0x1.554p-2);
    CHECK(same_bits(half_to_double(0x8000), -0.0));
    CHECK(half_to_double(0xFC00) == -std::numeric_limits<double>::infinity());
    CHECK(std::isnan(half_to_double(0x7E00)));
    CHECK(bfloat16_to_double(0x0001) == 0x1p-133);
    CHECK(bfloat16_to_double(0xC049) == -3.140625);
    CHECK(std::isnan(bfloat16_to_double(0x7FC0)));
}

TEST_CASE("safetensors: metadata") {
    const auto with = [](const std::string& metadata) {
        return safetensors_bytes("{\"__metadata__\":" + metadata + "," + small_header.substr(1), small_data);
    };
    CHECK(parse_safetensors(with(R"({"format":"pt"})"), "n").b0 == 0.5);
    CHECK(parse_safetensors(with(R"({"format":"soc-icnn/1","name":"N","more":"x"})"), "n").name == "N");
    CHECK(input_error([&] { parse_safetensors(with(R"({"format":"soc-icnn/2"})"), "n"); }) ==
          "n: metadata format is \"soc-icnn/2\", expected \"soc-icnn/1\"");
    CHECK(contains(input_error([&] { parse_safetensors(with("3"), "n"); }), "__metadata__ is a number"));
    CHECK(
        contains(input_error([&] { parse_safetensors(with(R"({"name":3})"), "n"); }), "__metadata__.name is a number"));
}

TEST_CASE("safetensors: lies are caught") {
    const std::string good = safetensors_bytes(small_header, small_data);
    const auto error = [](const std::string& bytes) {
        return input_error([&] { parse_safetensors(bytes, "n.safetensors"); });
    };
    CHECK(contains(error(""), "truncated"));
    CHECK(contains(error("1234567"), "truncated"));
    CHECK(contains(error(std::string(8, '\xFF') + "{}"),
                   "header of 18446744073709551615 bytes claimed, but only 2 follow"));
    CHECK(contains(error(good.substr(0, 100)), "bytes claimed"));
    CHECK(contains(error(std::string(8, '\0')), "does not begin with '{'"));
    CHECK(contains(error(safetensors_bytes(" {}", "")), "does not begin with '{'"));
    CHECK(contains(error(safetensors_bytes("[]", "")), "does not begin with '{'"));
    CHECK(contains(error(safetensors_bytes("{]", "")), "n.safetensors: safetensors header: line 1, column 2: "));
    CHECK(contains(error(safetensors_bytes("{\"c\":1}", "")), "c is a number, expected an object"));
    CHECK(contains(error(safetensors_bytes("{}", "")), "missing tensor layers.0.W"));
    CHECK(contains(error(good.substr(0, good.size() - 1)),
                   "tensor b0 has data_offsets [16, 24], expected 0 <= begin <= end <= 23"));
    CHECK(contains(error(good + "x"), "the tensors end at byte 24 of the data, but it has 25"));

    CHECK(contains(header_error("[16,24]", "[24,16]"), "tensor b0 has data_offsets [24, 16]"));
    CHECK(contains(header_error("[16,24]", "[16,1e300]"), "tensor b0 has data_offsets"));
    CHECK(contains(header_error("[16,24]", "[-1,7]"), "tensor b0 has data_offsets"));
    CHECK(contains(header_error("[16,24]", "[16.5,24]"), "tensor b0 has data_offsets"));
    CHECK(contains(header_error("[16,24]", "[16]"), "tensor b0 has data_offsets [16]"));
    CHECK(contains(header_error("[16,24]", "[14,22]"),
                   "tensor b0 begins at byte 14 of the data, overlapping another one"));
    CHECK(contains(header_error("[12,14]", "[10,12]"), "overlapping"));
    CHECK(contains(header_error(R"("c":{"dtype":"F16","shape":[1],"data_offsets":[12,14]},)", ""), "after a hole"));
    CHECK(
        contains(header_error("[1,1]", "[1,2]"), "tensor layers.0.W holds 8 bytes, which is not F64 of shape [1, 2]"));
    CHECK(contains(header_error("[1,1]", "[4294967296,4294967296]"), "holds 8 bytes"));
    CHECK(contains(header_error("[1,1]", "[2147483648,2147483648,4,1]"), "holds 8 bytes"));
    CHECK(contains(header_error("[1,1]", "[1e300,1]"), "extent 1e+300"));
    CHECK(contains(header_error("[1,1]", "[-1,-1]"), "extent -1"));
    CHECK(contains(header_error("[1,1]", "[1.5,1]"), "extent 1.5"));
    CHECK(contains(header_error("[1,1]", "\"1\""), "layers.0.W.shape is a string"));
    CHECK(contains(header_error("[1,1]", "[1]"), "tensor layers.0.W has shape [1], expected a matrix"));
    CHECK(contains(header_error("\"F16\",\"shape\":[1]", "\"F16\",\"shape\":[]"),
                   "tensor c has shape [], expected a vector"));
    CHECK(contains(header_error("\"shape\":[],", "\"shape\":[1,1],"), "tensor b0 has shape [1, 1], expected a number"));
    CHECK(contains(header_error("\"F16\"", "\"I16\""), "tensor c has dtype I16, expected F64"));
    CHECK(contains(header_error("\"dtype\":\"F16\"", "\"type\":\"F16\""), "unknown key \"type\" in c"));
    CHECK(contains(header_error("\"dtype\":\"F16\",", ""), "missing key \"dtype\" in c"));
    CHECK(contains(header_error("\"layers.0.b\"", "\"layers.0.a\""), "missing tensor layers.0.b"));
    CHECK(contains(header_error("\"c\"", "\"cc\""), "missing tensor c"));
    CHECK(contains(header_error("\"layers.0.W\"", "\"layers.1.W\""), "missing tensor layers.0.W"));
    CHECK(contains(header_error("\"v\"", "\"c\""), "duplicate key \"c\""));

    const auto extra = [&](const std::string& name, const std::string& shape = "[0]") {
        const std::string opened = small_header.substr(0, small_header.size() - 1);
        const std::string entry = "\"" + name + R"(":{"dtype":"F64","shape":)" + shape + R"(,"data_offsets":[24,24]})";
        return error(safetensors_bytes(opened + "," + entry + "}", small_data));
    };
    CHECK(contains(extra("extra"), "unknown tensor extra"));
    CHECK(contains(extra("layers.0.X"), "unknown tensor layers.0.X"));
    CHECK(contains(extra("layers.00.W"), "unknown tensor layers.00.W"));
    CHECK(contains(extra("layers.x.W"), "unknown tensor layers.x.W"));
    CHECK(contains(extra("layers.2.W"), "tensor layers.2.W found, but no layers.1"));
    CHECK(contains(extra("quadratic.1.B"), "tensor quadratic.1.B found, but no quadratic.0"));
    CHECK(contains(extra("layers.0.U"), "layers.0.U must be absent"));
    CHECK(contains(extra("layers.1.W", "[1000000000000000, 0]"), "missing tensor layers.1.U"));
    CHECK(contains(extra("conic.0.lambda", "[1, 0]"), "conic.0.lambda has shape [1, 0]"));
    CHECK(contains(input_error([&] {
                       std::string bytes = good;
                       bytes[bytes.size() - 1] = '\x7F';
                       bytes[bytes.size() - 2] = '\xF0';
                       parse_safetensors(bytes, "n");
                   }),
                   "n: b0 = inf, must be finite"));
}

TEST_CASE("safetensors: an empty matrix of huge extent costs nothing") {
    const std::string header = R"({"layers.0.W":{"dtype":"F64","shape":[9000000000000000,0],"data_offsets":[0,0]},)"
                               R"("layers.0.b":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},)"
                               R"("c":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},)"
                               R"("v":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},)"
                               R"("b0":{"dtype":"F64","shape":[],"data_offsets":[0,8]}})";
    CHECK(contains(input_error([&] { parse_safetensors(safetensors_bytes(header, std::string(8, '\0')), "n"); }),
                   "input_dim = 0, must be >= 1"));
}

TEST_CASE("safetensors: the content tells, whatever the low byte of the header length, '{' and blanks included") {
    for (std::size_t padding = 0; padding < 256; ++padding) {
        const std::string bytes = safetensors_bytes(small_header + std::string(padding, ' '), small_data);
        REQUIRE(parse_network(bytes, "n").b0 == 0.5);
    }
}

TEST_CASE("safetensors: damaged files are refused or read, never worse") {
    const auto read = [](const std::string& bytes) { parse_network(bytes, "n.safetensors"); };
    const std::string good = safetensors_bytes(small_header, small_data);
    fuzz(good, 4000, read);
    const ScratchFolder folder;
    write_safetensors(read_network(exp3), folder / "n");
    fuzz(read_file(folder / "n"), 4000, read);
    for (std::size_t length = 0; length < good.size(); ++length) {
        CHECK_THROWS_AS(parse_network(good.substr(0, length), "n.safetensors"), InputError);
    }
}
