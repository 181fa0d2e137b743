// Any bad input: exit code 2, nothing on standard output, one clear line on standard error that names the file and the
// place. Never a crash, a hang or a stack of exceptions.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>

#include "network/network_io.hpp"
#include "run_program.hpp"
#include "skip.hpp"
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

TEST_CASE("6 GB of zeros are refused by their beginning: 400 MB of memory are enough, and no time") {
    const ScratchFolder folder;
    const auto zeros = [&](const char* name) {
        const std::string path = folder / name;
        file_with(folder, name, "");
        std::filesystem::resize_file(path, std::uintmax_t{6} << 30);  // sparse: no room on the disk
        return path;
    };
    const std::string net = paper + "exp3.network.json", plain = zeros("zeros"), tensors = zeros("zeros.safetensors");
    for (const std::string& arguments :
         {"inspect " + plain, "inspect " + tensors, "certify " + plain, "readout " + net + " --points " + plain,
          "certify " + net + " --points " + plain, "infer " + net + " --queries " + plain + " --beta 1",
          "solve " + plain, "check " + plain + " --network " + net, "check " + net + " --network " + plain,
          "compare " + net + " --solver scs --points " + plain, "export " + net + " --output x --points " + plain}) {
        const auto start = std::chrono::steady_clock::now();
        const Run run = run_command("ulimit -v 400000; " CERTICONE_BINARY " " + arguments);
        INFO(arguments << "\n" << run.err);
        CHECK(run.code == 2);
        CHECK(contains(run.err, ": "));
        CHECK(contains(run.err, folder.path.string()));
        CHECK_FALSE(contains(run.err, "memory"));
        CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
    }
    CHECK(run_command("ulimit -v 400000; " CERTICONE_CHECK_BINARY " " + plain + " " + net).code == 2);
    // A header that claims to be long: zeros inside it are seen as soon as they are read.
    const std::string claimed = zeros("claimed.safetensors");
    {
        std::fstream file(claimed, std::ios::in | std::ios::out | std::ios::binary);
        file.write("\0\0\0\x40\1\0\0\0{", 9);
    }
    const Run run = run_command("ulimit -v 400000; " CERTICONE_BINARY " inspect " + claimed);
    CHECK(run.code == 2);
    CHECK(contains(run.err, "safetensors header: line 1, column 2: NUL byte"));
}

TEST_CASE("networks of other people's formats get a pointer to the converter") {
    const ScratchFolder folder;
    const auto refuse = [&](const std::string& name, const std::string& content, const std::string& must_name) {
        check_refused("inspect " + file_with(folder, name, content), must_name);
    };
    const std::string pointer = "torch checkpoints are not read; data/convert_torch.py makes a network file of one";
    refuse("model.pt", "PK\x03\x04 and so on", pointer);
    refuse("model.bin", "PK\x03\x04 and so on", pointer);
    refuse("old.pth", "\x80\x02.", pointer);
    refuse("model.onnx", "\x08\x07\x12", "ONNX is not read; data/convert_torch.py");
    const std::string good_file = (folder / "good.safetensors").string();
    write_safetensors(read_network(paper + "exp3.network.json"), good_file);
    const std::string bytes = read_file(good_file);
    for (const std::string prefix : {"model.", "module.", "_orig_mod.", "model._orig_mod."}) {
        std::string header = bytes.substr(8);
        std::size_t length = 0;
        std::memcpy(&length, bytes.data(), 8);
        header.resize(length);
        for (const char* name : {"layers.0.W", "layers.0.b", "\"c\"", "\"v\"", "\"b0\"", "quadratic.0.alpha",
                                 "quadratic.0.B", "quadratic.0.e", "conic.0.lambda", "conic.0.A", "conic.0.d"}) {
            const std::size_t at = header.find(name);
            REQUIRE(at != std::string::npos);
            header.insert(at + (header[at] == '"' ? 1 : 0), prefix);
        }
        refuse("prefixed.safetensors", safetensors_bytes(header, bytes.substr(8 + length)),
               "missing tensor layers.0.W, but there is " + prefix +
                   "layers.0.W: names must stand without a prefix (data/convert_torch.py converts checkpoints)");
    }
    refuse(
        "other.safetensors",
        safetensors_bytes(R"({"backbone.W_in.weight":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", "12345678"),
        "missing tensor layers.0.W, but there is backbone.W_in.weight (data/convert_torch.py converts checkpoints)");
}

TEST_CASE("a transposed matrix is told what was expected") {
    const ScratchFolder folder;
    int number = 0;
    const auto refuse = [&](const std::string& content, const std::string& must_name) {
        check_refused("inspect " + file_with(folder, fmt::format("t{}.json", number++), content), must_name);
    };
    refuse(
        R"({"format":"soc-icnn/1","input_dim":2,"layers":[{"W":[[1,2,3],[4,5,6]],"b":[0,0,0]}],"c":[1,1,1],"v":[0,0],"b0":0})",
        "layers[0].W is 2x3, expected 3x2: it is transposed");
    refuse(with(R"("U":[[0.5,1]])", R"("U":[[0.5],[1]])"), "layers[1].U is 2x1, expected 1x2: it is transposed");
    refuse(with(R"("B":[[1,0]])", R"("B":[[1],[0]])"), "quadratic[0].B is 2x1, expected 1x2: it is transposed");
    refuse(with(R"("A":[[0,1]])", R"("A":[[0],[1]])"), "conic[0].A is 2x1, expected 1x2: it is transposed");
    refuse(with("[[1,2],[3,4]]", "[[1,2,3],[3,4,5]]"), "layers[0].W is 2x3, expected 2x2\n");
}

TEST_CASE("solve and compare name what is wrong, not what is beside it") {
    const ScratchFolder folder;
    const std::string network = paper + "exp3.network.json", points = paper + "exp3.points.json";
    const Run binary = run_program("solve " + file_with(folder, "picture.png", "\x89PNG\r\n\x1a\n\xff\xfe"));
    CHECK(binary.err ==
          "certicone: " + (folder / "picture.png").string() + ": line 2: binary file, expected CBF text\n");
    CHECK(binary.code == 2);
    if (!solvers::backend("highs").enabled().ready) {
        MESSAGE("highs skipped: " << solvers::backend("highs").enabled().reason);
        return;
    }
    const std::string socp = "infer " + network + " --method socp --solver highs --queries " + points + " --beta 1";
    check_refused(socp, "certicone: solver 'highs' does not support the rotated second-order cone of block");
    check_refused(socp, "as in 'highs+clarabel', it takes what no cone touches");
    const std::string far = file_with(folder, "far.csv", "1e308,1e308\n");
    check_refused("compare " + network + " --solver scs --points " + far, far + ": point 0: ");
}

TEST_CASE("a full device behind standard output is an error of every command") {
    if (!std::filesystem::exists("/dev/full")) {
        MESSAGE("skipped: no /dev/full");
        return;
    }
    const ScratchFolder folder;
    const std::string network = paper + "exp3.network.json", points = " --points " + paper + "exp3.points.json ";
    const std::string where = folder.path.string();
    REQUIRE(run_program("certify " + network + " --certificate " + where).code == 0);
    REQUIRE(run_program("export " + network + points + "--output " + where).code == 0);
    const std::string certificate = where + "/exp3.certificate.json";
    for (const std::string& arguments :
         {"inspect " + network, "readout " + network + points, "readout " + network + points + "--json -",
          "certify " + network, "certify " + network + " --json -", "compare " + network + points + "--solver scs",
          "compare " + network + points + "--solver scs --json -",
          "infer " + network + " --beta 1 --queries " + paper + "exp3.points.json",
          "infer " + network + " --beta 1 --json - --queries " + paper + "exp3.points.json",
          std::string("reproduce exp3"), std::string("reproduce exp3 --json -"),
          "export " + network + points + "--output " + where, "solve " + where + "/exp3.value.0.cbf",
          "solve " + where + "/exp3.value.0.cbf --json -", "check " + certificate + " --network " + network,
          std::string("solvers"), std::string("--version"), std::string("certify --help")}) {
        const Run run = run_command(CERTICONE_BINARY " " + arguments + " >/dev/full");
        INFO(arguments << "\n" << run.err);
        CHECK(run.code == 2);
        CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
        CHECK(contains(run.err, "standard output"));
    }
    CHECK(run_command(CERTICONE_CHECK_BINARY " " + certificate + " " + network + " >/dev/full").code == 2);
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
