// Ctrl-C and SIGTERM: the program stops within two seconds whatever it is computing, and reports what is finished.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "json_schema.hpp"
#include "network/network_io.hpp"
#include "random_networks.hpp"
#include "run_program.hpp"
#include "verify/parallel.hpp"
#include "xml_tree.hpp"

extern char** environ;

using namespace certicone;
using namespace certicone::test;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

/// The program running by itself, with files for its output.
class Running {
  public:
    Running(const ScratchFolder& folder, const std::string& arguments)
        : out_(folder / "out"), err_(folder / "err"), words_{CERTICONE_BINARY} {
        std::istringstream stream(arguments);
        for (std::string word; stream >> word;)
            words_.push_back(word);
        std::vector<char*> argv;
        for (std::string& word : words_)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        // OpenBLAS starts threads of its own unless it is told not to: here they are counted.
        std::string one_blas_thread = "OPENBLAS_NUM_THREADS=1";
        std::vector<char*> environment{one_blas_thread.data()};
        for (char** variable = environ; *variable; ++variable)
            if (!std::string_view(*variable).starts_with("OPENBLAS_NUM_THREADS=")) environment.push_back(*variable);
        environment.push_back(nullptr);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, 1, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawn_file_actions_addopen(&files, 2, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        REQUIRE(posix_spawn(&pid_, CERTICONE_BINARY, &files, nullptr, argv.data(), environment.data()) == 0);
        posix_spawn_file_actions_destroy(&files);
    }
    ~Running() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    void send(int number) const { REQUIRE(::kill(pid_, number) == 0); }

    /// Waits until the program has this many threads: reading is done by one beside the first, work by as many as it got.
    void wait_for_threads(std::ptrdiff_t threads) const {
        const std::filesystem::path tasks = "/proc/" + std::to_string(pid_) + "/task";
        const auto start = Clock::now();
        while (std::distance(std::filesystem::directory_iterator(tasks), std::filesystem::directory_iterator()) <
               threads) {
            REQUIRE(Clock::now() - start < std::chrono::minutes(2));
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    /// The exit status of waitpid, once it has ended.
    int wait() {
        int status = 0;
        REQUIRE(::waitpid(pid_, &status, 0) == pid_);
        pid_ = 0;
        return status;
    }

    std::string out() const { return read_file(out_); }
    std::string err() const { return read_file(err_); }

  private:
    std::string out_, err_;
    std::vector<std::string> words_;
    pid_t pid_ = 0;
};

/// Widths 512×3 on 784 inputs: a single point's Hessian by automatic differentiation takes longer than anybody waits.
std::string large_network(const ScratchFolder& folder) {
    Random random(784);
    Network network = random_network({784, {512, 512, 512}, {20}, {20}, 0.05}, random);
    network.name = "large";
    return file_with(folder, "large.network.json", to_json(network));
}

std::string points_file(const ScratchFolder& folder, const std::string& key, Index count) {
    Random random(3);
    json points = json::array();
    for (Index j = 0; j < count; ++j) {
        const Vector x = random_vector(784, random);
        points.push_back(std::vector<double>(x.begin(), x.end()));
    }
    return file_with(folder, key + ".json", json{{key, points}, {"beta", 1.0}}.dump());
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Two seconds are promised (and printed here) on a machine that does nothing else; other tests may run beside this one.
constexpr double kGenerous = 10.0;

}  // namespace

TEST_CASE("SIGTERM while the first points of a large network are examined: the reports are there, and say so") {
    const ScratchFolder folder;
    const std::string network = large_network(folder);
    const std::string second = file_with(folder, "second.network.json", read_file(paper + "exp3.network.json"));
    {
        Running program(folder, "certify " + network + " --sample 40 --threads 2 --json " + (folder / "j").string() +
                                    " --junit " + (folder / "x").string() + " --markdown " + (folder / "m").string());
        program.wait_for_threads(3);
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        const auto start = Clock::now();
        program.send(SIGTERM);
        const int status = program.wait();
        const double seconds = seconds_since(start);
        MESSAGE("certify stopped after " << seconds << " s");
        CHECK(seconds < kGenerous);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 128 + SIGTERM);
        CHECK(program.err() == "certicone: interrupted; finished points are reported, the others are skipped\n");
        CHECK(contains(program.out(), "\ninterrupted: 0 of 40 points were examined\n"));
        CHECK(contains(program.out(), "\ninterrupted: 40 points"));
        CHECK_FALSE(contains(program.out(), "certified"));
    }
    const json report = json::parse(read_file(folder / "j"));
    CHECK(violation(report, json::parse(read_file(std::string(CERTICONE_DATA_DIR) + "/../docs/report.schema.json"))) ==
          "");
    REQUIRE(report["points"].size() == 40);
    for (const json& point : report["points"])
        for (const json& check : point["checks"]) {
            CHECK(check["status"] == "skipped");
            CHECK(check["reason"] == "interrupted");
        }
    CHECK(report["summary"]["points"] == 40);
    CHECK(report["summary"]["examined"] == 0);
    CHECK(XmlReader::read(read_file(folder / "x")).children.size() == 1);
    CHECK(contains(read_file(folder / "m"), "## Certicone: interrupted\n"));

    // A network before it is finished and reported; one after it is named as missing.
    Running program(folder, "certify " + second + " " + network + " " + paper +
                                "exp2.network.json --sample 40 --threads 2 --junit " + (folder / "x").string());
    program.wait_for_threads(3);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    program.send(SIGINT);
    const int status = program.wait();
    CHECK(WEXITSTATUS(status) == 128 + SIGINT);
    CHECK(contains(program.out(), "exp3 "));
    CHECK(contains(program.out(), "not begun"));
    CHECK_FALSE(contains(program.out(), "\ncertified: "));
    const XmlElement root = XmlReader::read(read_file(folder / "x"));
    CHECK(root.children.back().attributes.at("name") == "not begun");
}

TEST_CASE("a second signal ends the program at once") {
    const ScratchFolder folder;
    Running program(folder, "certify " + large_network(folder) + " --sample 40 --threads 2");
    program.wait_for_threads(3);
    program.send(SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto start = Clock::now();
    program.send(SIGTERM);
    const int status = program.wait();
    MESSAGE("ended after " << seconds_since(start) << " s");
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGTERM);
    CHECK(program.out().empty());
}

TEST_CASE("SIGTERM in infer, readout and compare: what is finished is reported, the rest is skipped") {
    const ScratchFolder folder;
    const std::string network = large_network(folder);
    const std::string queries = points_file(folder, "queries", 400), points = points_file(folder, "points", 400);
    for (const std::string& command :
         std::vector<std::string>{"infer " + network + " --threads 2 --queries " + queries,
                                  "infer " + network + " --method socp --queries " + queries,
                                  "readout " + network + " --hessian --points " + points,
                                  "compare " + network + " --solver scs --points " + points}) {
        CAPTURE(command);
        const std::string out = (folder / "report.json").string();
        Running program(folder, command + " --json " + out);
        program.wait_for_threads(2);
        std::this_thread::sleep_for(std::chrono::milliseconds(3000));
        const auto start = Clock::now();
        program.send(SIGTERM);
        const int status = program.wait();
        const double seconds = seconds_since(start);
        const std::string name = command.substr(0, command.find(' '));
        MESSAGE(name << " stopped after " << seconds << " s");
        CHECK(seconds < kGenerous);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 128 + SIGTERM);
        if (contains(program.err(), "nothing to report")) {  // a slow machine was still reading
            CHECK_FALSE(std::filesystem::exists(out));
            continue;
        }
        const json report = json::parse(read_file(out));
        const json& entries = report[name == "infer" ? "queries" : "points"];
        REQUIRE(entries.size() == 400);
        CHECK(entries.back()["skipped"] == "interrupted");
        CHECK(entries.back().contains(name == "infer" ? "y" : "x"));
        std::filesystem::remove(out);
    }
}

TEST_CASE("an interrupt before there is anything to report leaves no report") {
    const ScratchFolder folder;
    const std::string network = large_network(folder), out = (folder / "r").string();
    Running program(folder, "certify " + network + " --json " + out);
    program.wait_for_threads(2);  // it reads
    program.send(SIGTERM);
    const int status = program.wait();
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + SIGTERM);
    if (contains(program.err(), "nothing to report"))
        CHECK_FALSE(std::filesystem::exists(out));
    else
        CHECK(json::parse(read_file(out))["summary"]["examined"] == 0);  // reading took no time at all
}

TEST_CASE("in_order after an interrupt: what is finished is taken in its place, and something stands for the rest") {
    struct Shared {
        std::atomic<bool> released{false};
        std::atomic<int> busy{0};
    };
    const auto shared = std::make_shared<Shared>();
    const verify::InterruptGuard guard;
    std::vector<Index> taken;
    const auto start = Clock::now();
    std::thread sender([&] {
        while (shared->busy == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::raise(SIGTERM);
    });
    verify::in_order<Index>(
        40, 1, 2,
        [shared](Index j, Index, const auto& give) {
            if (j == 1) {  // never ends while anybody waits for it
                ++shared->busy;
                while (!shared->released)
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                --shared->busy;
            }
            give(j);
        },
        [&](Index j) { taken.push_back(j); }, [](Index j) { return -j; });
    sender.join();
    CHECK(seconds_since(start) < kGenerous);
    REQUIRE(taken.size() == 40);
    CHECK(taken[0] == 0);
    CHECK(taken[1] == -1);
    CHECK(taken[2] == 2);  // finished after the one that never ends
    CHECK(taken[39] == -39);
    CHECK(shared->busy == 1);
    shared->released = true;  // what it owns is still there
    while (shared->busy != 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
