#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <limits>
#include <vector>

#include "file_helpers.hpp"
#include "network/json_tree.hpp"
#include "support/file.hpp"

using namespace certicone;
using namespace certicone::test;

TEST_CASE("files: reading refuses what is no regular file") {
    const ScratchFolder folder;
    CHECK(contains(input_error([&] { read_file(folder / "absent.json"); }), "absent.json: no such file"));
    CHECK(contains(input_error([&] { read_file(folder.path); }), "is a directory"));
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    CHECK(contains(input_error([&] { read_file(folder / "pipe"); }), "is not a regular file"));
    CHECK(contains(input_error([&] { read_file("/dev/null"); }), "is not a regular file"));
    CHECK(contains(input_error([&] { read_file(folder / "new\nline"); }), "new line: no such file"));

    const std::string content("a\0b\r\n\xFF", 6);
    write_file_atomically(folder / "some", content);
    CHECK(read_file(folder / "some") == content);
    write_file_atomically(folder / "empty", "");
    CHECK(read_file(folder / "empty").empty());
}

TEST_CASE("files: writing is all or nothing") {
    const ScratchFolder folder;
    const auto path = folder / "report.json";
    {
        AtomicFile file(path);
        file.stream() << "half";
        CHECK_FALSE(std::filesystem::exists(path));
    }
    CHECK(folder.files() == 0);

    write_file_atomically(path, "first");
    CHECK_THROWS_AS(write_file_atomically(path, [](std::ostream&) { throw std::runtime_error("stop"); }),
                    std::runtime_error);
    CHECK(read_file(path) == "first");
    write_file_atomically(path, [](std::ostream& stream) { stream << "second"; });
    CHECK(read_file(path) == "second");
    CHECK(folder.files() == 1);

    std::filesystem::create_symlink(path, folder / "link");
    write_file_atomically(folder / "link", "third");
    CHECK(std::filesystem::is_symlink(folder / "link"));
    CHECK(read_file(path) == "third");

    CHECK(contains(input_error([&] { write_file_atomically(folder / "no" / "such", "x"); }), "such: cannot write"));
    CHECK(contains(input_error([&] { write_file_atomically(folder.path, "x"); }), "is a directory"));
    CHECK(contains(input_error([&] { write_file_atomically("", "x"); }), "empty"));
}

namespace {

/// A process of its own that opens `path` for writing, writes half and ends by SIGKILL, or waits for it where `wait` is set.
pid_t begin_to_write(const std::filesystem::path& path, bool wait) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        AtomicFile file(path);
        file.stream() << "half" << std::flush;
        if (::write(ready[1], "x", 1) != 1) ::_exit(1);
        if (!wait) ::kill(::getpid(), SIGKILL);
        while (true)
            ::pause();
    }
    char byte = 0;
    CHECK(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
    if (!wait) CHECK(::waitpid(child, nullptr, 0) == child);
    return child;
}

void end(pid_t child) {
    ::kill(child, SIGKILL);
    CHECK(::waitpid(child, nullptr, 0) == child);
}

}  // namespace

TEST_CASE("files: what a killed process left behind is removed by the next, what a living one writes is not") {
    const ScratchFolder folder;
    const auto path = folder / "report.json";
    begin_to_write(path, false);
    CHECK(folder.files() == 1);
    write_file_atomically(path, "whole");
    CHECK(folder.files() == 1);
    CHECK(read_file(path) == "whole");

    // Two at the same time, one dies, this process writes, then the other dies too.
    const pid_t first = begin_to_write(path, true), second = begin_to_write(path, true);
    CHECK(folder.files() == 3);
    end(first);
    write_file_atomically(path, "meanwhile");
    CHECK(read_file(path) == "meanwhile");
    CHECK(folder.files() == 2);  // that of the living one is there
    end(second);
    write_file_atomically(path, "after");
    CHECK(folder.files() == 1);

    // Not ours: another name, a folder.
    write_file_atomically(folder / "report.json.certicone-tmp-x", "mine");
    std::filesystem::create_directory(folder / "report.json.certicone-tmp-0");
    write_file_atomically(path, "again");
    CHECK(folder.files() == 3);
    CHECK(read_file(path) == "again");
}

TEST_CASE("files: processes that write the same name at the same time each write it whole") {
    const ScratchFolder folder;
    const auto path = folder / "report.json";
    std::vector<pid_t> children;
    for (int k = 0; k < 4; ++k) {
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            try {
                for (int round = 0; round < 500; ++round)
                    write_file_atomically(path, std::string(10000, static_cast<char>('a' + k)));
            } catch (const std::exception&) {
                ::_exit(1);
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        CHECK(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    const std::string content = read_file(path);
    CHECK(content == std::string(10000, content[0]));
    CHECK(folder.files() == 1);
}

TEST_CASE("files: a name that nobody asked for is written once") {
    const ScratchFolder folder;
    write_new_file(folder / "a", "x");
    write_new_file(folder / "a", "x");
    CHECK(contains(input_error([&] { write_new_file(folder / "a", "y"); }), "a: is there already"));
    CHECK(read_file(folder / "a") == "x");
    std::filesystem::create_symlink("nowhere", folder / "link");
    CHECK(contains(input_error([&] { write_new_file(folder / "link", "x"); }), "link: is there already"));
    CHECK(contains(input_error([&] { write_new_file(folder.path, "x"); }), "is there already"));
}

TEST_CASE("files: what is long is screened by its beginning") {
    const ScratchFolder folder;
    const std::size_t size = std::size_t{5} << 20;
    std::string content(size, 'x');
    content.back() = 'y';
    write_file_atomically(folder / "long", content);
    std::vector<std::size_t> seen;
    CHECK(read_file(folder / "long", [&](std::string_view beginning, std::uintmax_t whole) {
              seen.push_back(beginning.size());
              CHECK(whole == size);
          }) == content);
    CHECK(seen == std::vector<std::size_t>{1 << 20, 2 << 20, 4 << 20});
    CHECK_THROWS_AS(read_file(folder / "long", [](auto, auto) { throw InputError("no"); }), InputError);
    write_file_atomically(folder / "short", "xyz");
    CHECK(read_file(folder / "short", [](auto, auto) { FAIL("screened"); }) == "xyz");
}

TEST_CASE("files: devices are written to, not replaced") {
    write_file_atomically("/dev/null", "x");
    CHECK(std::filesystem::is_character_file("/dev/null"));
    if (std::filesystem::exists("/dev/full")) {
        CHECK(contains(input_error([] { write_file_atomically("/dev/full", "x"); }),
                       "/dev/full: cannot write: No space"));
    }
}

TEST_CASE("format_double: shortest text that reads back") {
    CHECK(format_double(0.1) == "0.1");
    CHECK(format_double(1.0) == "1");
    CHECK(format_double(0.0) == "0");
    CHECK(format_double(-0.0) == "-0.0");
    CHECK(format_double(5e-324) == "5e-324");
    CHECK(format_double(1e308) == "1e+308");
    CHECK(format_double(std::nan("")) == "nan");
    CHECK(format_double(-std::nan("")) == "nan");
    CHECK(format_double(-std::numeric_limits<double>::infinity()) == "-inf");
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        const double value = any_double(random);
        const JsonValue read = parse_json(format_double(value), "");
        REQUIRE(same_bits(std::get<double>(read.data), value));
    }
}

TEST_CASE("one_line: control characters, ill-formed UTF-8 and length") {
    CHECK(one_line("a\nb\tc\x7F") == "a b c ");
    CHECK(one_line("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80") ==
          "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
    CHECK(one_line("\xFF\xC3x\xED\xA0\x80\xC0\x80") == "??x?????");
    CHECK(one_line("\xC2\x9B[31m") == " [31m");
    CHECK(one_line(std::string(500, 'x'), 10) == "xxxxxxxxxx...");
    CHECK(one_line("\xC3\xBC\xC3\xBC", 3) == "\xC3\xBC...");
}
