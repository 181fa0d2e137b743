#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

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
    const ScratchFolder folder;
    const std::string out = folder / "out", err = folder / "err";
    const int status =
        std::system((std::string(CERTICONE_CHECK_BINARY) + " " + arguments + " >" + out + " 2>" + err).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out), read_file(err)};
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

TEST_CASE("a network in safetensors is certified through its JSON form") {
    const ScratchFolder folder;
    const std::string file = folder / "net.safetensors", where = folder.path.string();
    write_safetensors(paper_data(2).network, file);
    CHECK(run_program("certify " + file + " --sample 2 --solver none --referee none --certificate " + where).code == 0);
    CHECK(run_checker(where + "/net.certificate.json " + where + "/net.network.json").code == 0);
    CHECK(run_checker(where + "/net.certificate.json " + file).code == 1);
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
