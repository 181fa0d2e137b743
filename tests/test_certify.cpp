// Certification as a whole: threads, interrupts, the paper's networks.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "network/network_io.hpp"
#include "network/points.hpp"
#include "run_program.hpp"
#include "verify/certify.hpp"
#include "verify/report_json.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;
using nlohmann::json;

namespace {

std::string as_text(const std::vector<PointReport>& points) {
    std::ostringstream out;
    JsonReport report(out);
    report.begin_network({});
    for (const PointReport& point : points)
        report.point(point);
    report.end_network({}, 0.0);
    return out.str();
}

}  // namespace

TEST_CASE("results do not depend on the number of threads, digit for digit") {
    const Network network = read_network(paper + "exp4.network.json");
    const Matrix points = sample_points(network.input_dim, 50, 3);
    CertifyOptions options;
    options.threads = 1;
    const std::string one = as_text(certify(network, points, options));
    for (const Index threads : {2, 3, 8}) {
        options.threads = threads;
        CHECK(as_text(certify(network, points, options)) == one);
    }
}

TEST_CASE("certify certifies all 381 points of the paper's networks with the default solvers") {
    const Run run = run_program("certify " + paper + "exp1.network.json " + paper + "exp2.network.json " + paper +
                                "exp3.network.json " + paper + "exp4.network.json");
    INFO(run.out);
    CHECK(run.code == 0);
    CHECK(contains(run.out, "\ncertified: 381 points (1 degenerate), "));
    CHECK(contains(run.out, " passed, 0 failed, "));
}

TEST_CASE("an interrupted run reports what is finished and leaves nothing half-written") {
    for (const char* name : {"INT", "TERM"}) {
        const ScratchFolder folder;
        const std::string out = folder / "report.json", err = folder / "err";
        const int status = std::system(
            ("timeout --preserve-status -s " + std::string(name) + " 1.5 " CERTICONE_BINARY " certify " + paper +
             "exp2.network.json --referee none --sample 5000 --json " + out + " >/dev/null 2>" + err)
                .c_str());
        CHECK(WEXITSTATUS(status) == 128 + (std::string(name) == "INT" ? SIGINT : SIGTERM));
        CHECK(read_file(err) == "certicone: interrupted; finished points are reported, the others are skipped\n");
        CHECK(folder.files() == 2);
        const json report = json::parse(read_file(out));
        std::size_t finished = 0, unfinished = 0, checks = 0, skipped = 0;
        for (const json& point : report["points"]) {
            REQUIRE_FALSE(point["checks"].empty());
            const bool cut_off = point["checks"][0]["reason"] == "interrupted";
            ++(cut_off ? unfinished : finished);
            for (const json& check : point["checks"]) {
                CHECK((check["reason"] == "interrupted") == cut_off);
                CHECK(check["status"] != "failed");
                if (cut_off) CHECK(check["status"] == "skipped");
                ++checks;
                if (check["status"] == "skipped") ++skipped;
            }
        }
        CHECK(finished > 0);
        CHECK(unfinished > 0);
        CHECK(finished + unfinished == 5000);
        CHECK(report["summary"]["checks"] == checks);
        CHECK(report["summary"]["skipped"] == skipped);
    }
}
