#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <random>
#include <sstream>

#include "certificate_samples.hpp"
#include "paper_data.hpp"
#include "run_program.hpp"
#include "skip.hpp"
#include "verify/certify.hpp"
#include "verify/check/check.hpp"
#include "verify/sessions.hpp"

using namespace certicone;
using namespace certicone::test;
using verify::CertifyOptions;
using verify::Level;

namespace {

/// Runs the separate program.
Run run_checker(const std::string& arguments) {
    return run_command(std::string(CERTICONE_CHECK_BINARY) + " " + arguments);
}

/// Runs the one in Python.
Run run_python_checker(const std::string& arguments) {
    return run_command("python3 " + std::string(CERTICONE_TESTS_DIR) + "/certificate_checker.py " + arguments);
}

}  // namespace

TEST_CASE("samples with every kind of claim are verified, at any precision") {
    for (const slong bits : {2, 3, 17, 53, 64, 500})
        for (const bool degenerate : {false, true}) {
            const Sample s = sample(11, degenerate, bits);
            const check::Verdict verdict = check::check(s.certificate, s.network);
            CHECK_MESSAGE(verdict.verified, check::text(verdict));
            CHECK(verdict.claims == (degenerate ? 6 : 11));
        }
}

TEST_CASE("the paper's networks and the suite: certificates written at the level exact are verified") {
    std::vector<std::string> networks;
    for (const char* folder : {"/paper", "/suite"})
        for (const auto& entry : std::filesystem::directory_iterator(std::string(CERTICONE_DATA_DIR) + folder))
            if (entry.path().string().ends_with(".network.json")) networks.push_back(entry.path().string());
    REQUIRE(networks.size() == 47);
    for (const std::string& path : networks) {
        CAPTURE(path);
        const std::string bytes = read_file(path), stem = path.substr(0, path.size() - 13);
        const Network network = parse_network(bytes, path);
        const bool queries = !std::filesystem::exists(stem + ".points.json");
        Matrix points = read_points(stem + (queries ? ".queries.json" : ".points.json"), network.input_dim);
        if (points.cols() > 30) points = points.leftCols(10).eval();
        CertifyOptions options;
        options.level = Level::Exact;
        options.certificate = true;
        options.solvers.clear();
        std::vector<std::string> parts;
        for (const verify::PointReport& report : verify::certify(network, points, options)) {
            parts.push_back(report.certificate);
            for (const verify::Finding& finding : report.findings) {
                CAPTURE(finding.id);
                CAPTURE(finding.where);
                CAPTURE(finding.figure);
                CAPTURE(finding.bound);
                if (finding.level != "numeric") CHECK(finding.outcome == verify::Outcome::Passed);
                if (finding.level == "exact") CHECK(finding.figure == 0.0);
            }
        }
        const check::Verdict verdict = check::check(verify::certificate(sha256(bytes), 64, parts), bytes);
        CHECK_MESSAGE(verdict.verified, check::text(verdict));
        CHECK(verdict.points == static_cast<std::size_t>(points.cols()));
    }
}

TEST_CASE("solvers' answers become enclosures of f(x) that shrink with the gap and are verified") {
    if (!usable("scs")) return;
    const solvers::Backend& scs = solvers::backend("scs");
    Random random(5);
    double total[3] = {};
    for (int round = 0; round < 2000; ++round) {
        const Network network = random_network(random_shape(random), random);
        const Vector x = random_vector(network.input_dim, random);
        const ExactPoint point = exact_point(network, x);
        const Enclosure exact = enclose_value(point, 200);
        std::vector<std::string> claims;
        int k = 0;
        for (const double tolerance : {1e-4, 1e-6, 1e-9}) {
            solvers::Settings settings;
            settings.eps_abs = settings.eps_rel = tolerance;
            verify::ValueFunctionSession session(network, scs, settings);
            const Multipliers xi = repair_exactly(network, session.solve(x).xi);
            const Enclosure psi = enclose_psi(network, x, xi, 64);
            // f(x) ∈ [psi.lower, value.upper]: it holds the exact value.
            REQUIRE(!(psi.lower > exact.lower));
            const Enclosure value = enclose_value(point, 64);
            REQUIRE(!(value.lower > exact.lower));
            REQUIRE(!(value.upper < exact.upper));
            total[k++] += (value.upper - psi.lower).to_double() / (1.0 + std::abs(exact.lower.to_double()));
            if (round % 20 == 0) claims.push_back(verify::multiplier_claim(point, xi, 64));
        }
        if (round % 20 != 0) continue;
        const std::string bytes = to_json(network);
        const check::Verdict verdict = check::check(
            verify::certificate(sha256(bytes), 64, std::vector{verify::certificate_point(x, claims)}), bytes);
        CHECK_MESSAGE(verdict.verified, check::text(verdict));
    }
    MESSAGE(fmt::format("mean width of the enclosures by SCS at 1e-4, 1e-6, 1e-9: {:.1e} {:.1e} {:.1e}",
                        total[0] / 2000, total[1] / 2000, total[2] / 2000));
    CHECK(total[1] < 0.1 * total[0]);
    CHECK(total[2] < 0.1 * total[1]);
    CHECK(total[2] / 2000 < 1e-7);
}

TEST_CASE("the command writes a certificate, both checkers verify it") {
    const ScratchFolder folder;
    const std::string network = paper + "exp3.network.json", where = folder.path.string();
    const Run run = run_program("certify " + network + " --level exact --certificate " + where + " --json -");
    CHECK(run.code == 0);
    CHECK(contains(run.out, "\"class\":\"exact\""));
    CHECK(contains(run.out, "\"class\":\"rigorous\""));
    const std::string certificate = where + "/exp3.certificate.json";
    const Run ours = run_program("check " + certificate + " --network " + network);
    CHECK(ours.code == 0);
    CHECK(ours.out == run_checker(certificate + " " + network).out);
    CHECK(contains(ours.out, "verified: 1 points, "));

    const Run other = run_program("check " + certificate + " --network " + paper + "exp2.network.json");
    CHECK(other.code == 1);
    CHECK(contains(other.out, "refuted: certificate.network"));
    CHECK(run_checker(certificate + " " + paper + "exp2.network.json").code == 1);
    CHECK(run_program("check " + certificate + " --network " + where + "/none").code == 2);
    CHECK(run_checker(certificate).code == 2);
    CHECK(run_checker(certificate + " " + where).code == 2);
    CHECK(run_program("certify " + network + " --certificate " + where + "/none").code == 2);
    CHECK(run_program("certify " + network + " --certificate " + where + " --tolerance 1e-9").code == 2);
    CHECK(run_program("certify " + network + " --bits 1").code == 2);
}

TEST_CASE("a network in safetensors is certified as it is: both checkers read it, and no other file is written") {
    const ScratchFolder folder;
    const std::string file = folder / "net.safetensors", where = folder.path.string();
    write_safetensors(paper_data(2).network, file);
    write_file_atomically(folder / "net.network.json", "mine");
    const Run run = run_program("certify " + file + " --sample 2 --solver none --referee none --certificate " + where);
    CHECK(run.code == 0);
    CHECK(contains(run.out, "wrote " + where + "/net.certificate.json of " + file + "\n"));
    CHECK(read_file(folder / "net.network.json") == "mine");
    CHECK(folder.files() == 3);
    const std::string certificate = where + "/net.certificate.json ";
    const Run ours = run_checker(certificate + file);
    CHECK(ours.code == 0);
    CHECK(contains(ours.out, "verified: 2 points, "));
    CHECK(run_program("check " + certificate + "--network " + file).out == ours.out);
    CHECK(run_python_checker(certificate + file).out == ours.out);

    write_safetensors(paper_data(4).network, file);
    CHECK(run_checker(certificate + file).code == 1);
    const std::string queries = file_with(folder, "q.csv", "0,0,0,0,0,0,0,0,0,0\n");
    CHECK(
        run_program("infer " + file + " --queries " + queries + " --beta 2 --certificate " + where + "/i.json").code ==
        0);
    CHECK(run_checker(where + "/i.json " + file).code == 0);
    CHECK(run_python_checker(where + "/i.json " + file).code == 0);
}

TEST_CASE("certificates replace nothing but certificates of the same network") {
    const ScratchFolder folder;
    const auto certify = [&](const std::string& networks, const std::string& where) {
        return run_program("certify " + networks + " --sample 1 --solver none --referee none --certificate " + where);
    };
    const auto copy = [&](const char* place, int experiment) {
        std::filesystem::create_directories((folder / place).parent_path());
        write_file_atomically(folder / place, to_json(paper_data(experiment).network));
        return (folder / place).string();
    };
    const std::string a = copy("a/net.network.json", 2), b = copy("b/net.network.json", 4), out = folder / "out";
    std::filesystem::create_directory(out);
    const std::string certificate = out + "/net.certificate.json";

    const Run both = certify(a + " " + b, out);
    CHECK(both.code == 2);
    CHECK(both.out.empty());
    CHECK(contains(both.err, b + ": its certificate and that of " + a + " would both be " + certificate));
    CHECK_FALSE(std::filesystem::exists(certificate));

    REQUIRE(certify(a, out).code == 0);
    const std::string first = read_file(certificate);
    const Run other = certify(b, out);
    CHECK(other.code == 2);
    CHECK(other.out.empty());
    CHECK(contains(other.err, certificate + ": is there already and no certificate of " + b));
    CHECK(read_file(certificate) == first);
    CHECK(certify(a + " --bits 70", out).code == 0);  // the same network again
    CHECK(read_file(certificate) != first);

    write_file_atomically(certificate, "notes");
    CHECK(certify(a, out).code == 2);
    CHECK(read_file(certificate) == "notes");
}

TEST_CASE("a network that no checker reads gets no certificate: said before the work") {
    const ScratchFolder folder;
    // A decimal that rounds to zero is refused by the checkers, and read as zero by everything else.
    const std::string network = file_with(
        folder, "n.json",
        R"({"format":"soc-icnn/1","input_dim":1,"layers":[{"W":[[1]],"b":[1e-400]}],"c":[1],"v":[0],"b0":0})");
    CHECK(run_program("inspect " + network).code == 0);
    const Run run = run_program("certify " + network + " --solver none --certificate " + folder.path.string());
    CHECK(run.code == 2);
    CHECK(run.out.empty());
    CHECK(contains(run.err, "certificates cannot speak of it: network.layers[0].b[0]: expected a number in range"));
    const Run infer = run_program("infer " + network + " --queries " + file_with(folder, "q.csv", "0\n") +
                                  " --beta 1 --certificate " + (folder / "c.json").string());
    CHECK(infer.code == 2);
    CHECK(infer.out.empty());
    CHECK(folder.files() == 2);
}

TEST_CASE("reference values in a network are read by the checkers, and must fit it") {
    const Sample s = sample(3, true);
    const auto with = [&](const std::string& reference) {
        std::string network = s.network;
        network.insert(network.rfind('}'), ",\"reference\":" + reference);
        const std::string certificate = replaced(s.certificate, sha256(s.network), sha256(network));
        const ScratchFolder folder;
        const std::string files = file_with(folder, "c.json", certificate) + " " + file_with(folder, "n.json", network);
        const check::Verdict verdict = check::check(certificate, network);
        CHECK(run_python_checker(files).code == (verdict.verified ? 0 : 1));
        return verdict;
    };
    CHECK(with(R"({"points":[[1,2,3],[0,0,0]],"values":[1.5,-2e-3]})").verified);
    CHECK(with(R"({"values":[],"points":[]})").verified);
    CHECK(check::text(with(R"({"points":[[1,2]],"values":[1]})")) ==
          "refuted: network.reference.points[0]: expected 3 items");
    CHECK(check::text(with(R"({"points":[[1,2,3]],"values":[1,2]})")) ==
          "refuted: network.reference.values: expected 1 items");
    CHECK(check::text(with(R"({"points":[[1,2,3]]})")) == "refuted: network.reference: lacks the key values");
    CHECK_FALSE(with(R"({"points":[[1,2,"x"]],"values":[1]})").verified);
    CHECK_FALSE(with(R"({"points":[],"values":[],"more":0})").verified);
    CHECK_FALSE(with("null").verified);
}

namespace {

/// A small network in safetensors; `kind` of all numbers.
struct Tensors {
    std::string header, data;
    void add(const std::string& name, const std::string& kind, const std::string& shape, const std::string& bytes) {
        header += (header.empty() ? "{\"" : ",\"") + name + "\":{\"dtype\":\"" + kind + "\",\"shape\":" + shape +
                  ",\"data_offsets\":[" + std::to_string(data.size()) + "," +
                  std::to_string(data.size() + bytes.size()) + "]}";
        data += bytes;
    }
    std::string bytes() const { return safetensors_bytes(header + "}", data); }
};

Tensors small_tensors(const std::string& kind, const std::function<std::string(double)>& number) {
    Tensors file;
    const auto numbers = [&](std::initializer_list<double> values) {
        std::string bytes;
        for (const double value : values)
            bytes += number(value);
        return bytes;
    };
    file.add("layers.0.W", kind, "[2,2]", numbers({1, 2, -3, 0.5}));
    file.add("layers.0.b", kind, "[2]", numbers({0, 0.25}));
    file.add("layers.1.W", kind, "[1,2]", numbers({1, -1}));
    file.add("layers.1.U", kind, "[1,2]", numbers({0.5, 1}));
    file.add("layers.1.b", kind, "[1]", numbers({-0.125}));
    file.add("c", kind, "[1]", numbers({2}));
    file.add("v", kind, "[2]", numbers({0, -1}));
    file.add("b0", kind, "[]", numbers({0.1875}));
    file.add("quadratic.0.alpha", kind, "[1]", numbers({3}));
    file.add("quadratic.0.B", kind, "[1,2]", numbers({1, 0.5}));
    file.add("quadratic.0.e", kind, "[1]", numbers({-0x1p-14}));
    file.add("conic.0.lambda", kind, "[]", numbers({1}));
    file.add("conic.0.A", kind, "[1,2]", numbers({0, 1}));
    file.add("conic.0.d", kind, "[1]", numbers({1.5}));
    return file;
}

std::string double_bytes(double value) { return raw({value}); }

/// What both checkers say of a certificate of f at the origin for these bytes.
check::Verdict verdict_of(const std::string& network, const Network& meant) {
    const ScratchFolder folder;
    const ExactPoint point = exact_point(meant, Vector::Zero(meant.input_dim));
    const std::vector<std::string> claims{verify::value_claim(point, 64), verify::subgradient_claim(point, 64)};
    const std::string certificate = verify::certificate(
        sha256(network), 64, std::vector{verify::certificate_point(Vector::Zero(meant.input_dim), claims)});
    const check::Verdict verdict = check::check(certificate, network);
    const Run python =
        run_python_checker(file_with(folder, "c.json", certificate) + " " + file_with(folder, "n", network));
    CHECK_MESSAGE(python.code == (verdict.verified ? 0 : 1), check::text(verdict) << " / " << python.out);
    return verdict;
}

}  // namespace

TEST_CASE("both checkers read safetensors: every dtype, and nothing that is not exactly the format") {
    const Tensors doubles = small_tensors("F64", double_bytes);
    const Network meant = parse_safetensors(doubles.bytes(), "n");
    CHECK(verdict_of(doubles.bytes(), meant).verified);
    CHECK(verdict_of(small_tensors("F32", [](double x) { return raw({static_cast<float>(x)}); }).bytes(), meant)
              .verified);
    const auto upper_half = [](double x) { return raw({static_cast<float>(x)}).substr(2); };
    CHECK(verdict_of(small_tensors("BF16", upper_half).bytes(), meant).verified);
    const auto half = [](double x) {  // of numbers that binary16 has, 2⁻¹⁴ the least normal one
        int exponent = 0;
        const double fraction = std::frexp(std::abs(x), &exponent);
        const int bits = x == 0.0 ? 0 : (exponent + 14) << 10 | static_cast<int>(std::ldexp(fraction, 11) - 1024.0);
        return raw({static_cast<std::uint16_t>(bits | (x < 0.0 ? 0x8000 : 0))});
    };
    CHECK(verdict_of(small_tensors("F16", half).bytes(), meant).verified);

    const auto changed = [&](const std::string& from, const std::string& to) {
        Tensors file = doubles;
        file.header = replaced(file.header, from, to);
        return file.bytes();
    };
    const auto refuted = [&](const std::string& bytes, const std::string& why) {
        const std::string text = check::text(verdict_of(bytes, meant));
        CHECK_MESSAGE(contains(text, why), text);
    };
    refuted(changed("F64", "F65"), "network.layers.0.W.dtype: is not F64, F32, F16 or BF16");
    refuted(changed("[0,32]", "[8,40]"), "overlap or leave a hole");
    refuted(changed("[0,32]", "[0,24]"), "do not fit the shape");
    refuted(changed("[0,32]", "[32,0]"), "do not fit the shape");
    refuted(changed("\"shape\":[2,2]", "\"shape\":[4]"), "is no matrix of 2 columns");
    refuted(changed("\"shape\":[2,2]", "\"shape\":[1,2,2]"), "more than two dimensions");
    refuted(changed("\"shape\":[2,2]", "\"shape\":[4,1]"), "is no matrix of 2 columns");
    refuted(changed("\"shape\":[2,2]", "\"shape\":[2,2.0]"), "expected an integer");
    refuted(changed("\"b0\"", "\"b1\""), "lacks the tensor b0");
    refuted(changed("conic.0.d", "conic.0.e"), "lacks the tensor conic.0.d");
    refuted(changed("layers.1.U", "layers.1.\\u0055"), "lacks the tensor layers.1.U");
    refuted(changed("\"c\"", "\"v\""), "stands here twice");
    refuted(changed("conic.0.lambda", "conic.1.lambda"), "lacks the tensor conic.0.lambda");
    refuted(changed("\"dtype\"", "\"more\":0,\"dtype\""), "is not known here");
    Tensors more = doubles;
    more.add("extra", "F64", "[1]", double_bytes(1.0));
    refuted(more.bytes(), "network.extra: this tensor is not known here");
    refuted(doubles.bytes() + "x", "do not end where the file does");
    refuted(doubles.bytes().substr(0, doubles.bytes().size() - 8), "do not fit the shape");
    refuted(safetensors_bytes(doubles.header + "}", "").substr(0, 40), "is shorter than its header");
    refuted(small_tensors("F64", [](double x) { return double_bytes(x == 0.5 ? -0.5 : x); }).bytes(),
            "must not be negative");
    refuted(small_tensors("F64", [](double x) { return double_bytes(x == 0.25 ? std::nan("") : x); }).bytes(),
            "must be finite");
    refuted(small_tensors("F16", [&](double x) { return x == 0.25 ? std::string("\x00\x7c", 2) : half(x); }).bytes(),
            "must be finite");
    refuted(small_tensors("F64", [](double x) { return double_bytes(x == 0.25 ? 0.5 : x); }).bytes(),
            "is not the value that follows");

    const auto metadata = [&](const std::string& text) {
        return changed("{\"layers.0.W\"", "{\"__metadata__\":" + text + ",\"layers.0.W\"");
    };
    CHECK(verdict_of(metadata(R"({"format":"soc-icnn/1","name":"a \"b\" \u00e4"})"), meant).verified);
    CHECK(verdict_of(metadata(R"({"format":"pt","config":"{\"a\": [1]}"})"), meant).verified);
    refuted(metadata(R"({"format":"tf"})"), "is not soc-icnn/1");
    refuted(metadata(R"({"a":1})"), "expected a string");
    refuted(metadata(R"({"a":"1","a":"2"})"), "stands here twice");
    refuted(metadata(R"({"\u0061":"1"})"), "has an escape");
    refuted(metadata("[]"), "expected an object");

    Tensors referenced = doubles;
    referenced.add("reference.points", "F64", "[1,2]", raw({1.0, 2.0}));
    refuted(referenced.bytes(), "lacks the tensor reference.values");
    referenced.add("reference.values", "F64", "[1]", double_bytes(7.0));
    CHECK(verdict_of(referenced.bytes(), meant).verified);
}

TEST_CASE("both checkers give the same answer to damaged safetensors files") {
    const ScratchFolder folder;
    const Tensors good = small_tensors("F64", double_bytes);
    const std::string header = replaced(good.header + "}", "{", R"({"__metadata__":{"format":"pt","a":"\n"},)");
    const Network meant = parse_safetensors(good.bytes(), "n");
    const Vector origin = Vector::Zero(meant.input_dim);
    const std::vector<std::string> claims{verify::value_claim(exact_point(meant, origin), 64)};
    const std::string point = verify::certificate_point(origin, claims);
    std::mt19937 random(20261118);
    const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
    constexpr std::string_view telling = "{}[]\",:0123456789-. \\acdefF";
    std::string list;
    std::vector<bool> verified;
    for (int k = 0; k < 1500; ++k) {
        std::string text = header, data = good.data;
        const std::size_t at = below(text.size());
        if (k % 4 == 0) text[at] = telling[below(telling.size())];
        if (k % 4 == 1) text.erase(at, 1 + below(3));
        if (k % 4 == 2) text.insert(at, 1, telling[below(telling.size())]);
        if (k % 4 == 3) data[below(data.size())] ^= static_cast<char>(1 << below(8));
        std::string network = safetensors_bytes(text, data);
        if (k % 10 == 0) network.resize(below(network.size()));
        const std::string certificate = verify::certificate(sha256(network), 64, std::vector{point});
        verified.push_back(check::check(certificate, network).verified);
        list += file_with(folder, fmt::format("c{}", k), certificate) + "\t" +
                file_with(folder, fmt::format("n{}", k), network) + "\n";
    }
    const Run python = run_python_checker("--list " + file_with(folder, "list", list));
    std::istringstream answers(python.out);
    std::string answer;
    std::size_t count = 0, agreed = 0;
    while (std::getline(answers, answer)) {
        CHECK_MESSAGE(answer.starts_with("verified") == verified.at(count), "file " << count << ": " << answer);
        agreed += verified.at(count++) ? 1 : 0;
    }
    CHECK(count == verified.size());
    CHECK(agreed > 0);  // blanks, metadata, a number that no claim rests on
    CHECK(agreed < count / 2);
}

TEST_CASE("a network where a certificate is expected is wrong usage, not a refuted certificate") {
    const ScratchFolder folder;
    const std::string json = paper + "exp3.network.json", tensors = folder / "n.safetensors";
    write_safetensors(paper_data(3).network, tensors);
    const std::string other = file_with(folder, "c.json", "{\"format\":\"certicone-certificate/2\"}");
    for (const std::string& wrong : {json, tensors}) {
        for (const Run& run : {run_checker(wrong + " " + json), run_program("check " + wrong + " --network " + json)}) {
            CHECK(run.code == 2);
            CHECK(run.out.empty());
            CHECK(contains(run.err, wrong));
            CHECK(contains(run.err, "is a network, expected a certificate"));
        }
        CHECK(run_python_checker(wrong + " " + json).code == 2);
    }
    CHECK(run_checker(other + " " + json).code == 1);
    CHECK(run_python_checker(other + " " + json).code == 1);
}

TEST_CASE("the exact and rigorous checks can fail: wrong closed forms are caught") {
    const auto [network, points] = paper_data(2);
    CertifyOptions options;
    options.level = Level::Exact;
    options.solvers.clear();
    const auto caught = [&, &net = network, x = Matrix(points.leftCols(1))](
                            const verify::Subject& subject, const std::string& id, const std::string& level) {
        const std::vector<verify::PointReport> reports = verify::certify(net, x, options, subject);
        for (const verify::Finding& finding : reports.front().findings)
            if (finding.id == id && finding.level == level && finding.outcome == verify::Outcome::Failed) return true;
        return false;
    };
    CHECK_FALSE(caught({}, "lemma1.complementarity", "exact"));
    verify::Subject subject;
    subject.evaluate = [](const Network& net, const Vector& x, double tolerance) {
        LocalState state = evaluate(net, x, tolerance);
        state.pattern.sign[0](0) = static_cast<std::int8_t>(-state.pattern.sign[0](0));
        return state;
    };
    CHECK(caught(subject, "lemma1.complementarity", "exact"));
    subject = {};
    subject.canonical_selector = [](const Network& net, const LocalState& state) {
        Multipliers xi = canonical_selector(net, state);
        xi.r[0] *= 1.0 - 1e-6;
        return xi;
    };
    CHECK(caught(subject, "theorem1.strong_duality", "rigorous"));
    CHECK(caught(subject, "theorem2.subgradient", "rigorous"));
    subject = {};
    subject.directional_derivative = [](const Network& net, const LocalState& state, const Vector& d) {
        return directional_derivative(net, state, d) * (1.0 + 1e-7);
    };
    CHECK(caught(subject, "theorem2.directional", "rigorous"));
    subject = {};
    subject.hessian = [](const Curvature& curvature, const LocalState& state) {
        return Matrix(curvature.hessian(state) * (1.0 + 1e-9));
    };
    CHECK(caught(subject, "theorem3.hessian", "rigorous"));
    subject = {};
    subject.branch_radius = [](const Curvature& curvature, const LocalState& state) {
        BranchRadius radius = curvature.branch_radius(state);
        radius.relu *= 1.0 + 1e-9;
        return radius;
    };
    CHECK(caught(subject, "theorem3.branch", "rigorous"));
    subject = {};
    subject.evaluate = [](const Network& net, const Vector& x, double tolerance) {
        LocalState state = evaluate(net, x, tolerance);
        state.value *= 1.0 + 1e-9;
        return state;
    };
    CHECK(caught(subject, "theorem1.strong_duality", "rigorous"));
}
