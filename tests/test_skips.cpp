// That nothing which was left out hides a failure: CTest runs this program as it runs every test, on cases that leave
// something out and pass, leave something out and fail, or miss in CI what must be there.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "run_program.hpp"
#include "skip.hpp"

using namespace certicone;
using namespace certicone::test;

TEST_CASE("skips: leaves something out and passes" * doctest::skip()) { left_out("the moon", "not in reach", false); }

TEST_CASE("skips: leaves something out and fails" * doctest::skip()) {
    left_out("the moon", "not in reach", false);
    CHECK(1 == 2);
}

TEST_CASE("skips: leaves out what CI must have" * doctest::skip()) { left_out("the moon", "not in reach", true); }

TEST_CASE(
    "a test that leaves something out is skipped, one that fails as well is red, and so is one that CI must have") {
    const ScratchFolder folder;
    std::string project;
    const auto add = [&](const std::string& name, const std::string& environment, const std::string& test_case) {
        project += fmt::format(
            "add_test({0} \"/usr/bin/env\" {1} \"{2}\" \"--no-skip\" \"--test-case={3}\")\n"
            "set_tests_properties({0} PROPERTIES SKIP_RETURN_CODE {4})\n",
            name, environment, CERTICONE_TESTS_BINARY, test_case, kSkipped);
    };
    add("passes", "\"-u\" \"CI\"", "skips: leaves something out and passes");
    add("fails", "\"-u\" \"CI\"", "skips: leaves something out and fails");
    add("by_hand", "\"-u\" \"CI\"", "skips: leaves out what CI must have");
    add("in_ci", "\"CI=1\"", "skips: leaves out what CI must have");
    file_with(folder, "CTestTestfile.cmake", project);
    const std::string out = (folder / "out").string();
    const int status =
        std::system(fmt::format("'{}' --test-dir '{}' >'{}' 2>&1", CERTICONE_CTEST, folder.path.string(), out).c_str());
    const std::string text = read_file(out);
    INFO(text);
    CHECK(WEXITSTATUS(status) == 8);  // CTest's code for tests that failed
    const auto line_of = [&](const std::string& name) {
        const std::size_t begin = text.find(": " + name + " ..");
        return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
    };
    CHECK(contains(line_of("passes"), "***Skipped"));
    CHECK(contains(line_of("fails"), "***Failed"));
    CHECK(contains(line_of("by_hand"), "***Skipped"));
    CHECK(contains(line_of("in_ci"), "***Failed"));
}

TEST_CASE("every test of this build is skipped by its exit code, none by what it prints") {
    const std::string tests = read_file(std::string(CERTICONE_BUILD_DIR) + "/CTestTestfile.cmake");
    CHECK_FALSE(contains(tests, "SKIP_REGULAR_EXPRESSION"));
    const auto count = [&](const std::string& word) {
        std::size_t found = 0;
        for (std::size_t at = tests.find(word); at != std::string::npos; at = tests.find(word, at + 1))
            ++found;
        return found;
    };
    CHECK(count("add_test(") > 50);
    CHECK(count(fmt::format("SKIP_RETURN_CODE \"{}\"", kSkipped)) == count("add_test("));
}

TEST_CASE("in CI every solver that `make deps` installs is there, and the referee") {
    for (const char* solver : {"scs", "clarabel", "highs", "osqp"})
        usable(solver);
    referee_usable();
}
