// Certification as a whole: threads, interrupts, the paper's networks.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "network/network_io.hpp"
#include "network/points.hpp"
#include "run_program.hpp"
#include "verify/certify.hpp"
#include "verify/parallel.hpp"
#include "verify/report_json.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;
using nlohmann::json;

namespace {

std::string as_text(std::vector<PointReport> points) {
    NetworkReport report;
    report.points = std::move(points);
    std::ostringstream out;
    write_json(out, report);
    return out.str();
}

}  // namespace

TEST_CASE("every chunk is done once, whatever the number of threads, and the first error is thrown") {
    for (const Index threads : {1, 2, 7}) {
        std::vector<std::atomic<int>> seen(101);
        in_chunks(101, 10, threads, [&](Index begin, Index end) {
            CHECK(end - begin <= 10);
            for (Index i = begin; i < end; ++i)
                ++seen[static_cast<std::size_t>(i)];
        });
        for (const auto& count : seen)
            CHECK(count == 1);
        CHECK_THROWS_WITH(in_chunks(50, 1, threads,
                                    [](Index begin, Index) {
                                        if (begin >= 3) throw std::runtime_error("chunk " + std::to_string(begin));
                                    }),
                          "chunk 3");
    }
    in_chunks(0, 10, 4, [](Index, Index) { FAIL("there is nothing to do"); });
}

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

TEST_CASE("certify certifies all 381 points of the paper's networks with SCS") {
    const Run run = run_program("certify " + paper + "exp1.network.json " + paper + "exp2.network.json " + paper +
                                "exp3.network.json " + paper + "exp4.network.json");
    INFO(run.out);
    CHECK(run.code == 0);
    CHECK(contains(run.out, "certified: 381 points (1 degenerate), 1143 checks: 1143 passed, 0 failed, 0 skipped"));
}

TEST_CASE("an interrupted run reports what is finished and leaves nothing half-written") {
    for (const char* name : {"INT", "TERM"}) {
        const ScratchFolder folder;
        const std::string out = folder / "report.json", err = folder / "err";
        const int status =
            std::system(("timeout --preserve-status -s " + std::string(name) + " 1.5 " CERTICONE_BINARY " certify " +
                         paper + "exp1.network.json --sample 5000 --json " + out + " >/dev/null 2>" + err)
                            .c_str());
        CHECK(WEXITSTATUS(status) == 128 + (std::string(name) == "INT" ? SIGINT : SIGTERM));
        CHECK(read_file(err) == "certicone: interrupted; finished points are reported, the others are skipped\n");
        CHECK(folder.files() == 2);
        const json report = json::parse(read_file(out));
        std::size_t finished = 0, unfinished = 0;
        for (const json& point : report["points"]) {
            REQUIRE(point["checks"].size() == 3);
            const bool skipped = point["checks"][0]["status"] == "skipped";
            ++(skipped ? unfinished : finished);
            for (const json& check : point["checks"]) {
                CHECK(check["status"] == (skipped ? "skipped" : "passed"));
                if (skipped) CHECK(check["reason"] == "interrupted");
            }
        }
        CHECK(finished > 0);
        CHECK(unfinished > 0);
        CHECK(finished + unfinished == 5000);
        CHECK(report["summary"]["skipped"] == 3 * unfinished);
    }
}
