// Any bad input: exit code 2, nothing on standard output, one clear line on standard error that names the file and the
// place. Never a crash, a hang or a stack of exceptions.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "network/network_io.hpp"
#include "run_program.hpp"
#include "solvers/solver.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

void check_refused(const std::string& arguments, const std::string& must_name) {
    const Run result = run_program(arguments);
    INFO(arguments << "\n" << result.err);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(result.err.rfind("certicone: ", 0) == 0);
    CHECK(result.err.size() < 1200);
    CHECK(result.err.find(must_name) != std::string::npos);
}

const std::string good =
    R"({"format":"soc-icnn/1","name":"n","input_dim":2,"layers":[{"W":[[1,2],[3,4]],"b":[0,1]},{"W":[[1,1]],"U":[[0.5,1]],"b":[0]}],)"
    R"("c":[1],"v":[0,0],"b0":0,"quadratic":[{"alpha":1,"B":[[1,0]],"e":[0]}],"conic":[{"lambda":1,"A":[[0,1]],"d":[1]}]})";

std::string with(const std::string& what, const std::string& by) { return replaced(good, what, by); }

}  // namespace

TEST_CASE("the network that the bad ones are made from is good") {
    const ScratchFolder folder;
    CHECK(run_program("inspect " + file_with(folder, "n.json", good)).code == 0);
}

TEST_CASE("bad networks") {
    const ScratchFolder folder;
    int number = 0;
    const auto refuse = [&](const std::string& content, const std::string& must_name) {
        const std::string path = file_with(folder, fmt::format("bad{}.json", number++), content);
        check_refused("inspect " + path, must_name);
        check_refused("inspect " + path, path);
    };
    refuse("", "empty");
    refuse(good.substr(0, good.size() / 2), "line 1");
    refuse(std::string("\x00\x01\xff\xfe binary \x00", 12), "bad");
    refuse("[1,2,3]", "object");
    refuse("nonsense", "line 1");
    refuse(with("soc-icnn/1", "soc-icnn/2"), "soc-icnn/2");
    refuse(with(R"("format":"soc-icnn/1",)", ""), "format");
    refuse(with(R"("c":[1],)", ""), "c");
    refuse(with(R"("c":[1])", R"("c":"one")"), "c");
    refuse(with("[3,4]", "[3]"), "layers[0].W");
    refuse(with("[3,4]", R"([3,"x"])"), "layers[0].W");
    refuse(with("[0.5,1]", "[-0.25,1]"), "layers[1].U[0][0] = -0.25");
    refuse(with(R"("c":[1])", R"("c":[-1])"), "c[0] = -1");
    refuse(with(R"("alpha":1)", R"("alpha":0)"), "quadratic[0].alpha = 0");
    refuse(with(R"("lambda":1)", R"("lambda":-2)"), "conic[0].lambda = -2");
    refuse(with("[3,4]", "[3,1e999]"), "line 1");
    refuse(with("[3,4]", "[3,NaN]"), "line 1");
    refuse(with("[3,4]", "[3,Infinity]"), "line 1");
    refuse(with(R"("U":[[0.5,1]],)", ""), "layers[1]");
    refuse(with(R"("b":[0,1])", R"("b":[0,1,2])"), "layers[0].b");
    refuse(with(R"("input_dim":2)", R"("input_dim":3)"), "layers[0].W");
    refuse(with(R"("v":[0,0])", R"("v":[0])"), "v");
    refuse(with(R"("b0":0)", R"("b0":0,"typo":1)"), "typo");
    refuse(std::string(200000, '['), "bad");
}

TEST_CASE("missing files, folders and unreadable arguments") {
    const ScratchFolder folder;
    check_refused("inspect " + (folder / "absent.json").string(), "absent.json");
    check_refused("inspect " + (folder / "").string(), "director");
    check_refused("inspect", "NETWORK");
    check_refused("", "subcommand");
    check_refused("frobnicate", "frobnicate");
    check_refused("inspect --wrong " + paper + "exp3.network.json", "wrong");
    check_refused("readout " + paper + "exp3.network.json", "--points");
}

TEST_CASE("bad points") {
    const ScratchFolder folder;
    int number = 0;
    const auto refuse = [&](const std::string& content, const std::string& must_name) {
        const std::string path = file_with(folder, fmt::format("p{}", number++), content);
        check_refused("readout " + paper + "exp3.network.json --points " + path, must_name);
        check_refused("readout " + paper + "exp3.network.json --points " + path, path);
        check_refused("certify " + paper + "exp3.network.json --points " + path, must_name);
    };
    refuse("", "empty");
    refuse(R"({"points":[]})", "point");
    refuse(R"({"points":[[1,2,3]]})", "3");
    refuse(R"({"points":[[1,2],[1]]})", "1");
    refuse(R"({"points":[[1,"a"]]})", "points");
    refuse(R"({"points":[[1,null]]})", "points");
    refuse(R"({"punkte":[[1,2]]})", "points");
    refuse("1,2\n3\n", "line 2");
    refuse("1,nan\n", "line 1");
    refuse("1,1e999\n", "line 1");
    refuse("a,b\nc,d\n", "line 2");
    refuse(std::string("\x93NUMPY\x01\x00", 8), "p");
    refuse("1e308,1e308\n", "overflow");
    check_refused("readout " + paper + "exp3.network.json --points " + paper + "exp3.points.json --directions " +
                      paper + "exp2.points.json",
                  "directions");
}

TEST_CASE("safetensors headers that lie") {
    const ScratchFolder folder;
    const std::string good_file = (folder / "good.safetensors").string();
    write_safetensors(read_network(paper + "exp3.network.json"), good_file);
    REQUIRE(run_program("inspect " + good_file).code == 0);
    const std::string bytes = read_file(good_file);
    const auto with_length = [&](std::uint64_t length) {
        std::string changed = bytes;
        std::memcpy(changed.data(), &length, 8);
        return changed;
    };
    int number = 0;
    const auto refuse = [&](const std::string& content) {
        const std::string path = file_with(folder, fmt::format("lie{}.safetensors", number++), content);
        check_refused("inspect " + path, path);
    };
    refuse(with_length(0));
    refuse(with_length(7));
    refuse(with_length(bytes.size()));
    refuse(with_length(~std::uint64_t{0}));
    refuse(bytes.substr(0, 5));
    refuse(bytes.substr(0, bytes.size() - 1));
    refuse(bytes + "x");
    refuse(replaced(bytes, "[3, 2]", "[9, 2]"));
}

TEST_CASE("bad options of certify") {
    const std::string network = "certify " + paper + "exp3.network.json ";
    check_refused(network + "--solver nosuch", "certicone: no solver is called 'nosuch'");
    check_refused(network + "--sample -3", "sample");
    check_refused(network + "--sample 0", "--sample 0 leaves no point");
    check_refused(network + paper + "../paper/exp3.network.json", "is given twice");
    check_refused(network + "--sample 3 --points " + paper + "exp3.points.json", "--sample");
    check_refused(network + "--eps -1", "eps");
    check_refused(network + "--eps nan", "eps");
    check_refused(network + "--level heroic", "heroic");
    check_refused(network + paper + "exp2.network.json --json -", "--json");
}
