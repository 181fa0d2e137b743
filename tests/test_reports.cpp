// The reports: what they say, that they stream, and that they are whole or not there.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

#include "json_schema.hpp"
#include "network/network_io.hpp"
#include "random_networks.hpp"
#include "run_program.hpp"
#include "verify/certify.hpp"
#include "verify/environment.hpp"
#include "verify/parallel.hpp"
#include "verify/report_json.hpp"
#include "verify/report_junit.hpp"
#include "verify/report_markdown.hpp"
#include "verify/report_table.hpp"
#include "xml_tree.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;
using nlohmann::json;

namespace {

const std::string schema_file = std::string(CERTICONE_DATA_DIR) + "/../docs/report.schema.json";

NetworkHeader header_of(const std::string& name) {
    return {name, std::string(64, 'a'), "some.csv", std::string(64, 'b'), {{"certicone", "0"}, {"cpu", "a|b <c>"}}};
}

/// Network "one": a point without trouble, a degenerate one with a failed and a skipped check. Network "two": no points.
/// Network "three": seven failures of a kind.
template <class R, class... Arguments>
std::string rendered(const Arguments&... arguments) {
    std::ostringstream out;
    R report(out, arguments...);
    const auto network = [&](const std::string& name, const std::vector<PointReport>& points) {
        Summary summary;
        report.begin_network(header_of(name));
        for (const PointReport& point : points) {
            summary.add(point);
            report.point(point);
        }
        report.end_network(summary, 1.5);
    };
    const Finding good = judged("theorem1.slope", "closed form", 1e-16, 1e-15, "nu[0][1]", "rounding");
    const Finding better = judged("theorem1.slope", "closed form", 0.0, 0.0, "nu[0][0]", "rounding");
    const Finding bad = judged("theorem1.slope", "scs", 2e-3, 1e-9, "p<0> & \"r\"", "its gap");
    const Finding missing = skipped("theorem3.psd", "scs", "no | licence\n\x01\xFF");
    network("one",
            {{0, vector({0.1, -0.0}), {}, {}, {good}}, {1, vector({1, 2}), {{0, 3}}, {1}, {better, bad, missing}}});
    if constexpr (std::is_same_v<R, JsonReport>) return out.str();  // it holds one network
    network("two", {});
    std::vector<PointReport> many;
    for (Index j = 0; j < 7; ++j)
        many.push_back({j, vector({1}), {}, {}, {failed("theorem2.directional", "scs", fmt::format("reason {}", j))}});
    network("th\033ree", many);
    report.finish();
    return out.str();
}

std::size_t count_of(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        ++count;
    return count;
}

/// Counts how many of its kind there are.
struct Counted {
    static inline std::atomic<Index> alive{0}, most{0};
    Index index = -1;

    explicit Counted(Index i) : index(i) { born(); }
    Counted(Counted&& other) noexcept : index(other.index) { born(); }
    Counted& operator=(Counted&&) = default;
    ~Counted() { --alive; }

  private:
    static void born() {
        const Index now = ++alive;
        for (Index seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
    }
};

}  // namespace

TEST_CASE("in_order: every index once and in order, and few items wait, whatever the number of threads") {
    for (const Index threads : {1, 2, 7, 16}) {
        Counted::most = 0;
        std::vector<Index> taken;
        const Index chunk = 4;
        in_order<Counted>(
            1001, chunk, threads,
            [&](Index begin, Index end, const auto& give) {
                CHECK(begin % chunk == 0);
                if (begin % (3 * chunk) == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
                for (Index j = begin; j < end; ++j)
                    give(Counted(j));
            },
            [&](Counted item) { taken.push_back(item.index); }, [](Index j) { return Counted(j); });
        REQUIRE(taken.size() == 1001);
        for (std::size_t k = 0; k < taken.size(); ++k)
            REQUIRE(taken[k] == static_cast<Index>(k));
        CHECK(Counted::alive == 0);
        CHECK(Counted::most <= 2 * threads * chunk + 3 * threads);  // and what each thread has in its hands
    }
    in_order<int>(
        0, 4, 3, [](Index, Index, const auto&) { FAIL("nothing to do"); }, [](int) { FAIL("nothing"); },
        [](Index) { return 0; });
}

TEST_CASE("in_order: a first chunk that takes long holds the others back") {
    // Without a bound the other threads would finish everything while chunk 0 sleeps.
    std::atomic<Index> begun{0};
    in_order<int>(
        400, 1, 4,
        [&](Index begin, Index, const auto& give) {
            ++begun;
            if (begin == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                CHECK(begun <= 8);
            }
            give(0);
        },
        [](int) {}, [](Index) { return 0; });
    CHECK(begun == 400);
}

TEST_CASE("in_order: the first error in order is thrown, and what came before has been taken") {
    for (const Index threads : {1, 3, 8}) {
        std::vector<Index> taken;
        const auto take = [&](Index j) { taken.push_back(j); };
        const auto work = [](Index begin, Index end, const auto& give) {
            for (Index j = begin; j < end; ++j) {
                if (j >= 37) throw std::runtime_error("index " + std::to_string(j));
                give(j);
            }
        };
        const auto none = [](Index) { return Index{-1}; };
        CHECK_THROWS_WITH(in_order<Index>(500, 5, threads, work, take, none), "index 37");
        CHECK(taken.size() == 37);

        Index calls = 0;
        const auto refuse = [&](Index) {
            if (++calls == 10) throw std::runtime_error("full");
        };
        const auto easy = [](Index begin, Index end, const auto& give) {
            for (Index j = begin; j < end; ++j)
                give(j);
        };
        CHECK_THROWS_WITH(in_order<Index>(500, 5, threads, easy, refuse, none), "full");
        CHECK(calls == 10);
    }
}

TEST_CASE("certify streams in order, and collects the same") {
    const Network network = read_network(paper + "exp3.network.json");
    const Matrix points = sample_points(network.input_dim, 70, 5);
    CertifyOptions options;
    options.threads = 8;
    const std::vector<PointReport> all = certify(network, points, options);
    REQUIRE(all.size() == 70);
    std::size_t next = 0;
    certify(network, points, options, [&](const PointReport& point) {
        REQUIRE(point.index == static_cast<Index>(next));
        REQUIRE(point.findings.size() == all[next].findings.size());
        for (std::size_t k = 0; k < point.findings.size(); ++k) {
            CHECK(point.findings[k].id == all[next].findings[k].id);
            CHECK(format_double(point.findings[k].figure) == format_double(all[next].findings[k].figure));
        }
        ++next;
    });
    CHECK(next == 70);
}

TEST_CASE("JSON: what was not judged is null, text is UTF-8, numbers read back") {
    const std::string text = rendered<JsonReport>();
    const json report = json::parse(text);
    CHECK(report["summary"] ==
          json::parse(R"({"points":2,"examined":2,"checks":4,"passed":2,"failed":1,"skipped":1,"accuracy":{"f":null,
              "nu":null,"p":null,"r":null,"gradient":null,"hessian":null,"directional":null}})"));
    CHECK(std::signbit(report["points"][0]["x"][1].get<double>()));
    CHECK(report["points"][1]["degenerate"] == json::parse(R"({"relu":[[0,3]],"conic":[1]})"));
    const json& missing = report["points"][1]["checks"][2];
    CHECK(missing["status"] == "skipped");
    CHECK(missing["figure"].is_null());
    CHECK(missing["bound"].is_null());
    CHECK(missing["reason"] == "no | licence\n\x01\xEF\xBF\xBD");
    CHECK(report["points"][1]["checks"][1]["figure"] == 2e-3);
    CHECK(report["environment"]["points_sha256"] == std::string(64, 'b'));

    std::ostringstream out;
    JsonReport empty(out);
    empty.begin_network(header_of("none"));
    empty.end_network({}, 0.0);
    empty.finish();
    CHECK(json::parse(out.str())["points"] == json::array());
}

TEST_CASE("JUnit: well-formed, a suite a network, a case a check, counts in the head") {
    const XmlElement root = XmlReader::read(rendered<JunitReport>());
    CHECK(root.name == "testsuites");
    REQUIRE(root.children.size() == 3);
    for (const XmlElement& suite : root.children) {
        std::map<std::string, int> count{{"tests", 0}, {"failure", 0}, {"skipped", 0}};
        for (const XmlElement& child : suite.children) {
            if (child.name == "properties") continue;
            REQUIRE(child.name == "testcase");
            CHECK(child.attributes.at("classname") == suite.attributes.at("name"));
            ++count["tests"];
            for (const XmlElement& result : child.children)
                ++count[result.name];
        }
        CHECK(suite.attributes.at("tests") == std::to_string(count["tests"]));
        CHECK(suite.attributes.at("failures") == std::to_string(count["failure"]));
        CHECK(suite.attributes.at("skipped") == std::to_string(count["skipped"]));
    }
    CHECK(root.children[1].attributes.at("tests") == "0");
    CHECK(root.children[2].attributes.at("name") == "th ree");
    const std::vector<XmlElement>& cases = root.children[0].children;
    REQUIRE(cases.size() == 5);
    CHECK(cases[3].attributes.at("name") == "theorem1.slope scs point 1 (numeric)");
    CHECK(cases[3].children[0].name == "failure");
    CHECK(cases[3].children[0].attributes.at("message") == "2.000e-03 > 1.000e-09 at p<0> & \"r\"; its gap");
    CHECK(cases[4].children[0].attributes.at("message") == "no | licence  ?");
    CHECK(xml_escaped("a\xEF\xBF\xBF\xEF\xBF\xBD\t&") == "a?\xEF\xBF\xBD &amp;");
}

TEST_CASE("the test's XML reader refuses what is not well-formed") {
    const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    CHECK(XmlReader::read(head + "<a b=\"&lt;\"><c/></a>\n").children.size() == 1);
    for (const char* bad : {"", "<a>", "<a></b>", "<a b=\"<\"/>", "<a b=\"&x;\"/>", "<a b=\"\x01\"/>", "<a/><a/>",
                            "<a b=\"1\" b=\"2\"/>", "<a>text</a>", "<a b=1/>"})
        CHECK_THROWS_AS_MESSAGE(XmlReader::read(head + bad), std::runtime_error, bad);
}

TEST_CASE("Markdown: verdict first, a row a check, what did not pass, nothing that breaks a table") {
    const std::string text = rendered<MarkdownReport>();
    CHECK(
        text.starts_with("## Certicone: NOT CERTIFIED\n\n9 points (1 degenerate), 11 checks: 2 passed, 8 failed, "
                         "1 skipped\n"));
    CHECK(contains(text,
                   "\n| one | 2 | theorem1.slope | closed form | numeric | 2 | 0 | 0 | 1.0e-16 ≤ 1.0e-15 at point 0, "
                   "nu\\[0\\]\\[1\\] |\n"));
    CHECK(contains(text, "2.0e-03 \\> 1.0e-09 at point 1, p\\<0\\> \\& "));
    CHECK(contains(text, "- **skipped** one point 1: theorem3.psd (scs): no \\| licence  ?\n"));
    CHECK(count_of(text, "theorem2.directional (scs): reason") == 5);
    CHECK(contains(text, "- th ree 2 more failed: theorem2.directional (scs)\n"));
    CHECK(count_of(text, "<details") == 2);
    CHECK(count_of(text, "</details>") == 2);
    CHECK(contains(text, "| cpu | a\\|b \\<c\\> |\n"));
    CHECK(contains(text, "| one | sha256 " + std::string(64, 'a') + "; points: some.csv, sha256 "));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('|')) continue;
        const std::size_t bars = count_of(line, "|") - count_of(line, "\\|");
        CHECK_MESSAGE((bars == 10 || bars == 3), line);
    }
    CHECK(markdown_escaped("*a_[b](c) `d` \\") == "\\*a\\_\\[b\\](c) \\`d\\` \\\\");
}

TEST_CASE("table: the check closest to its bound, five of a kind, the verdict last, colour only when asked for") {
    const std::string text = rendered<TableReport>(false);
    CHECK_FALSE(contains(text, "\033"));
    CHECK(contains(
        text,
        "one           2  theorem1.slope        closed form  numeric        2      0       0   1.0e-16 <= 1.0e-15 "
        "at point 0, nu[0][1]\n"));
    CHECK(contains(text, "2.0e-03 > 1.0e-09 at point 1"));
    CHECK(
        contains(text, "failed: one point 1: theorem1.slope (scs): 2.000e-03 > 1.000e-09 at p<0> & \"r\"; its gap\n"));
    CHECK(contains(text, "skipped: one point 1: theorem3.psd (scs): no | licence"));
    CHECK(count_of(text, "theorem2.directional (scs): reason") == 5);
    CHECK(contains(text, "\n2 failed more: theorem2.directional (scs), 7 in all; --json has them\n"));
    CHECK(text.ends_with(
        "\nNOT CERTIFIED: 9 points (1 degenerate), 11 checks: 2 passed, 8 failed, 1 skipped in 4.5 s\n"));

    std::string coloured = rendered<TableReport>(true);
    CHECK(contains(coloured, "\033[31mNOT CERTIFIED\033[0m: 9 points"));
    std::string plain;
    for (std::size_t at = 0; at < coloured.size(); ++at) {
        if (coloured[at] == '\033')
            at = coloured.find('m', at);
        else
            plain += coloured[at];
    }
    CHECK(plain == text);
}

TEST_CASE("no points, no verdict") {
    std::ostringstream out;
    TableReport(out, false).finish();
    CHECK(contains(out.str(), "nothing was checked: 0 points"));
}

TEST_CASE("'certified' is for runs in which everything was examined") {
    Summary summary;
    summary.points = summary.examined = 2;
    summary.checks = summary.passed = 5;
    CHECK(verdict(summary) == "certified");
    CHECK(verdict(summary, 1) == "interrupted");
    CHECK(what_is_missing(summary, 0).empty());
    CHECK(what_is_missing(summary, 1) == "1 network was not begun");
    summary.examined = 1;
    CHECK(verdict(summary) == "interrupted");
    CHECK(what_is_missing(summary, 2) == "1 of 2 points were examined, 2 networks were not begun");
    summary.failed = 1;
    CHECK(verdict(summary) == "NOT CERTIFIED");

    PointReport begun{0, vector({1}), {}, {}, {judged("theorem1.slope", "scs", 0.0, 1.0, "", "")}};
    PointReport not_begun = not_examined(1, vector({2}), {}, "interrupted");
    Summary of_points;
    of_points.add(begun);
    of_points.add(not_begun);
    CHECK(of_points.examined == 1);
    const auto text_of = [&](auto&& report, std::ostringstream& out) {
        report.begin_network(header_of("one"));
        report.point(begun);
        report.point(not_begun);
        report.end_network(of_points, 1.0);
        report.finish(3);
        return out.str();
    };
    std::ostringstream table, markdown, junit;
    const std::string in_table = text_of(TableReport(table, false), table);
    CHECK(contains(in_table, "\ninterrupted: 1 of 2 points were examined, 3 networks were not begun\n"));
    CHECK(contains(in_table, "\ninterrupted: 2 points"));
    CHECK_FALSE(contains(in_table, "certified"));
    const std::string in_markdown = text_of(MarkdownReport(markdown), markdown);
    CHECK(in_markdown.starts_with("## Certicone: interrupted\n"));
    CHECK_FALSE(contains(in_markdown, "certified"));
    const XmlElement root = XmlReader::read(text_of(JunitReport(junit), junit));
    REQUIRE(root.children.size() == 2);
    CHECK(root.children[1].attributes.at("skipped") == "1");
    CHECK(root.children[1].children[0].children[0].attributes.at("message") ==
          "interrupted: 3 networks were not begun");
}

TEST_CASE("JUnit: no two cases of a network share a name, at any level, whatever could not be judged") {
    const std::string base = "certify " + paper + "exp3.network.json --junit - ";
    for (const std::string& options :
         std::vector<std::string>{"--level exact", "--level rigorous --solver scs --eps 1e-30", "--solver scs,highs"}) {
        CAPTURE(options);
        const XmlElement root = XmlReader::read(run_program(base + options).out);
        REQUIRE(root.children.size() == 1);
        std::set<std::string> names;
        for (const XmlElement& child : root.children[0].children)
            if (child.name == "testcase")
                CHECK_MESSAGE(names.insert(child.attributes.at("name")).second, child.attributes.at("name"));
    }
    // What was to be proved and could not be says so.
    const Run refused = run_program(base + "--level rigorous --solver scs --eps 1e-30");
    CHECK(contains(refused.out, "name=\"theorem1.strong_duality scs point 0 (rigorous)\"><skipped "));
}

TEST_CASE("networks of one name are told apart, and none is taken twice") {
    const ScratchFolder folder;
    const std::string twin = file_with(folder, "twin.network.json", read_file(paper + "exp3.network.json"));
    const std::string both = "certify " + paper + "exp3.network.json " + twin + " --sample 1 ";
    const XmlElement root = XmlReader::read(run_program(both + "--junit -").out);
    REQUIRE(root.children.size() == 2);
    CHECK(root.children[0].attributes.at("name") == "exp3");
    CHECK(root.children[1].attributes.at("name") == "exp3 (" + twin + ")");
    CHECK(contains(run_program(both).out, "\nexp3 (" + twin.substr(0, 10)));
    const Run twice = run_program("certify " + twin + " " + folder.path.string() + "/./twin.network.json");
    CHECK(twice.code == 2);
    CHECK(contains(twice.err, "twin.network.json: is given twice"));
}

TEST_CASE("strict: skipped has failed, the reason stays") {
    PointReport point;
    point.findings = {judged("theorem1.slope", "scs", 0.0, 0.0, "", ""), skipped("theorem3.psd", "scs", "no licence")};
    fail_skipped(point);
    CHECK(point.findings[0].outcome == Outcome::Passed);
    CHECK(point.findings[1].outcome == Outcome::Failed);
    CHECK(explanation(point.findings[1]) == "no licence");
    Summary summary;
    summary.add(point);
    CHECK(summary.failed == 1);
    CHECK(summary.skipped == 0);

    const std::string base = "certify " + paper + "exp3.network.json --json - ";
    const Run lenient = run_program(base), strict = run_program(base + "--strict");
    const json before = json::parse(lenient.out)["summary"], after = json::parse(strict.out)["summary"];
    CHECK(after["skipped"] == 0);
    CHECK(after["failed"] == before["failed"].get<int>() + before["skipped"].get<int>());
    CHECK(strict.code == (after["failed"] == 0 ? 0 : 1));
    CHECK(json::parse(strict.out)["environment"]["strict"] == "yes");
}

TEST_CASE("a report's file is there when it is complete, and not before") {
    const ScratchFolder folder;
    const std::string path = folder / "report.json";
    {
        Output output(path);
        output.stream() << "half";
        CHECK_FALSE(std::filesystem::exists(path));
    }
    CHECK(folder.files() == 0);
    Output output(path);
    output.stream() << "whole";
    output.commit();
    CHECK(read_file(path) == "whole");

    Spool spool;
    const std::string long_text(300'000, 'x');
    spool.stream() << long_text;
    std::ostringstream copy;
    spool.copy_to(copy);
    CHECK(copy.str() == long_text);
}

TEST_CASE("a run that ends in an error leaves no report, not even half of one") {
    const ScratchFolder folder, reports;
    std::string points;
    for (int k = 0; k < 40; ++k)
        points += "1,0\n";
    const std::string bad = file_with(folder, "bad.csv", points + "1e308,1e308\n");
    const std::string base = "certify " + paper + "exp3.network.json --points " + bad;
    const Run files = run_program(base + " --json " + (reports / "a").string() + " --junit " +
                                  (reports / "b").string() + " --markdown " + (reports / "c").string());
    CHECK(files.code == 2);
    CHECK(contains(files.err, "bad.csv: point 40: "));
    CHECK(files.out.empty());
    CHECK(reports.files() == 0);
    for (const char* option : {" --json -", " --junit -", " --markdown -"}) {
        const Run run = run_program(base + option);
        CHECK(run.code == 2);
        CHECK(run.out.empty());
    }
}

TEST_CASE("where reports cannot go is said before any work") {
    const ScratchFolder folder;
    const std::string base = "certify " + paper + "exp1.network.json --sample 100000 ";  // would take an hour
    for (const char* option : {"--json ", "--junit ", "--markdown "}) {
        const Run run = run_program(base + option + (folder / "no/such").string());
        CHECK(run.code == 2);
        CHECK(contains(run.err, "no/such: cannot write"));
    }
    CHECK(contains(run_program(base + "--json - --markdown -").err, "standard output: two reports cannot go there"));
    CHECK(contains(run_program(base + "--json x --junit x").err, "x: two reports cannot go there"));
}

TEST_CASE("reports on standard output stand alone; two runs give the same bytes, with any number of threads") {
    const std::string networks = paper + "exp3.network.json " + paper + "exp4.network.json";
    const std::string base = "certify " + networks + " --sample 20 --seed 3 ";
    const Run junit = run_program(base + "--junit - --threads 1"), markdown = run_program(base + "--markdown -");
    CHECK(junit.code == 0);
    CHECK(XmlReader::read(junit.out).children.size() == 2);
    CHECK(markdown.out.starts_with("## Certicone: certified\n"));
    CHECK(run_program(base + "--junit - --threads 3").out == junit.out);
    CHECK(run_program(base + "--markdown - --threads 3").out == markdown.out);
    const std::string one = "certify " + paper + "exp4.network.json --sample 40 --json - --threads ";
    CHECK(run_program(one + "1").out == run_program(one + "4").out);

    const ScratchFolder folder;
    const Run files =
        run_program(base + "--junit " + (folder / "j").string() + " --markdown " + (folder / "m").string());
    CHECK(contains(files.out, "\ncertified: 40 points"));  // the table stays on standard output
    CHECK_FALSE(contains(files.out, "\033"));
    CHECK(read_file(folder / "j") == junit.out);
    CHECK(read_file(folder / "m") == markdown.out);
    CHECK(folder.files() == 2);
}

TEST_CASE("the environment names what a result depends on, and no path of this machine") {
    CertifyOptions options;
    options.seed = 12;
    options.settings.eps_abs = 1e-7;
    std::map<std::string, std::string> entries;
    for (const auto& [key, value] : environment(options)) {
        CHECK_MESSAGE(entries.emplace(key, value).second, key);
        CHECK_MESSAGE(!value.empty(), key);
        CHECK_FALSE(contains(value, std::filesystem::path(CERTICONE_DATA_DIR).parent_path().string()));
    }
    for (const char* key :
         {"compiler", "flags", "cpu", "eigen", "fmt", "nlohmann_json", "cli11", "flint", "blas", "blas_kernel", "scs"})
        CHECK_MESSAGE(entries.contains(key), key);
    CHECK(entries["certicone"] == CERTICONE_VERSION);
    CHECK(entries["seed"] == "12");
    CHECK(entries["solver_tolerance"] == "1e-07");
    CHECK(contains(entries["flags"], "-ffp-contract=off"));
}

TEST_CASE("docs/report.schema.json accepts real reports and refuses damaged ones") {
    const json schema = json::parse(read_file(schema_file));
    json report;
    for (const char* options : {"exp3.network.json", "exp4.network.json --sample 3 --strict"}) {
        report = json::parse(run_program("certify " + paper + options + " --json -").out);
        CHECK(violation(report, schema) == "");
    }
    report = json::parse(run_program("certify " + paper + "exp3.network.json --json -").out);
    const auto refused = [&](const char* pointer, const json& value) {
        json damaged = report;
        damaged[json::json_pointer(pointer)] = value;
        CHECK_MESSAGE(violation(damaged, schema) != "", pointer << " = " << value);
    };
    refused("/format", "certicone-report/2");
    refused("/extra", 1);
    refused("/network/sha256", "abc");
    refused("/network/name", nullptr);
    refused("/environment/seed", 7);
    refused("/environment/scs", 3.2);
    refused("/environment/strict", "perhaps");
    refused("/summary/failed", -1);
    refused("/summary/points", 0.5);
    refused("/summary/examined", -1);
    refused("/summary/accuracy/f", "1e-9");
    refused("/summary/accuracy/p", -1.0);
    refused("/summary/accuracy/volume", 0.0);
    refused("/points", json::object());
    refused("/points/0/index", "0");
    refused("/points/0/x/0", nullptr);
    refused("/points/0/degenerate/relu/0", {0});
    refused("/points/0/degenerate/relu/0/1", -1);
    refused("/points/0/degenerate/conic/0", 0.25);
    refused("/points/0/checks/0/id", "theorem4.wishful");
    refused("/points/0/checks/0/status", "maybe");
    refused("/points/0/checks/0/class", "solid");
    refused("/points/0/checks/0/figure", "1e-16");
    refused("/points/0/checks/0/note", "");
    const auto required = [&](const char* pointer) {  // every key of the object there must be missed
        for (const auto& [key, unused] : report[json::json_pointer(pointer)].items()) {
            json damaged = report;
            damaged[json::json_pointer(pointer)].erase(key);
            CHECK_MESSAGE(violation(damaged, schema) != "", pointer << " without " << key);
        }
    };
    for (const char* pointer :
         {"", "/network", "/summary", "/summary/accuracy", "/points/0", "/points/0/degenerate", "/points/0/checks/0"})
        required(pointer);
    json damaged = report;
    damaged["environment"].erase("points_sha256");
    CHECK(violation(damaged, schema) == "/environment: required \"points_sha256\"");
    CHECK_THROWS(violation(1, {{"maximum", 3}}));  // a rule this validator would not enforce
}
