#include <doctest/doctest.h>
#include <sys/stat.h>

#include <limits>

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
