// Malformed CBF files: exit code 2, one line that names the file's line, and no memory to speak of.
#include <sys/resource.h>

#include "formats/cbf.hpp"
#include "run_program.hpp"
#include "support/gzip.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

// A valid instance with all blocks; lines are numbered by hand in the cases below.
const std::string kValid =
    "# a comment\n"                              //  1
    "VER\n3\n\n"                                 //  2-4
    "OBJSENSE\nMIN\n\n"                          //  5-7
    "VAR\n3 2\nL+ 1\nF 2\n\n"                    //  8-12
    "CON\n5 2\nL= 2\nQ 3\n\n"                    // 13-17
    "OBJACOORD\n2\n0 1\n1 2.5\n\n"               // 18-22
    "OBJBCOORD\n-1\n\n"                          // 23-25
    "ACOORD\n4\n0 1 1\n1 2 1\n2 0 1\n3 1 1\n\n"  // 26-32
    "BCOORD\n2\n0 -1\n4 0.5\n";                  // 33-36

struct Case {
    const char* what;
    std::string text;
    std::string line;      ///< "line 9"
    std::string expected;  ///< part of the message
};

std::string with(std::string_view from, std::string_view to) { return replaced(kValid, from, to); }
std::string cut_after(std::string_view part) { return kValid.substr(0, kValid.find(part) + part.size()); }

std::vector<Case> cases() {
    return {
        {"empty", "", "line 0", "begins with VER"},
        {"only comments", "# nothing\n# here\n", "line 2", "begins with VER"},
        {"no VER first", kValid.substr(kValid.find("OBJSENSE")), "line 1", "comes before VER"},
        {"VER cut short", cut_after("VER\n"), "line 2", "ends inside VER"},
        {"version 0", with("VER\n3", "VER\n0"), "line 3", "version 0"},
        {"version 99", with("VER\n3", "VER\n99"), "line 3", "version 99"},
        {"version not a number", with("VER\n3", "VER\nthree"), "line 3", "expected an integer"},
        {"OBJSENSE cut short", cut_after("OBJSENSE\n"), "line 5", "ends inside OBJSENSE"},
        {"unknown sense", with("MIN", "SUP"), "line 6", "expected MIN or MAX"},
        {"no OBJSENSE", with("OBJSENSE\nMIN\n", "\n\n"), "line 36", "without OBJSENSE"},
        {"no VAR", cut_after("MIN\n"), "line 6", "without VAR"},
        {"VAR cut short before its size", cut_after("VAR\n"), "line 8", "ends inside VAR"},
        {"VAR cut short in its cones", cut_after("L+ 1\n"), "line 10", "ends inside VAR: expected cone 2 of 2"},
        {"VAR without the number of cones", with("VAR\n3 2", "VAR\n3"), "line 9", "the number of cones"},
        {"too many on the VAR line", with("VAR\n3 2", "VAR\n3 2 1"), "line 9", "too much"},
        {"cones hold fewer than VAR", with("F 2", "F 1"), "line 11", "hold 2 variables, expected 3"},
        {"cones hold more than VAR", with("F 2", "F 5"), "line 11", "a cone of size 5"},
        {"cone of size 0", with("L+ 1", "L+ 0"), "line 10", "a cone of size 0"},
        {"cone of negative size", with("L+ 1", "L+ -1"), "line 10", "a cone of size -1"},
        {"more cones than variables", with("VAR\n3 2", "VAR\n3 9"), "line 9", "9 cones for 3"},
        {"negative number of variables", with("VAR\n3 2", "VAR\n-3 2"), "line 9", "-3 variables"},
        {"huge number of variables", with("VAR\n3 2", "VAR\n2000000000 2"), "line 9", "2000000000 variables"},
        {"a number of variables beyond 64 bits", with("VAR\n3 2", "VAR\n99999999999999999999 2"), "line 9",
         "expected an integer"},
        {"unknown cone", with("L+ 1", "EXP 1"), "line 10", "cone 'EXP'"},
        {"a power cone", with("Q 3", "@0:POW 3"), "line 16", "cone '@0:POW'"},
        {"lower-case cone", with("Q 3", "q 3"), "line 16", "cone 'q'"},
        {"a rotated cone of one row", with("CON\n5 2\nL= 2\nQ 3", "CON\n5 3\nL= 2\nQ 2\nQR 1"), "line 17", "size 1"},
        {"VAR twice", with("\nCON\n", "\nVAR\n"), "line 13", "VAR is there twice"},
        {"CON cut short before its size", cut_after("CON\n"), "line 13", "ends inside CON"},
        {"CON cut short in its cones", cut_after("L= 2\n"), "line 15", "ends inside CON: expected cone 2 of 2"},
        {"huge number of rows", with("CON\n5 2", "CON\n4000000000 2"), "line 14", "4000000000 rows"},
        {"wrong number of rows", with("CON\n5 2", "CON\n7 2"), "line 16", "hold 5 rows, expected 7"},
        {"ACOORD before CON", with("CON\n5 2\nL= 2\nQ 3\n", "ACOORD\n0\n\n\n"), "line 13", "ACOORD comes before CON"},
        {"BCOORD before CON", with("CON\n5 2\nL= 2\nQ 3\n", "BCOORD\n0\n\n\n"), "line 13", "BCOORD comes before CON"},
        {"OBJACOORD before VAR", with("VAR\n3 2\nL+ 1\nF 2\n", "OBJACOORD\n0\n\n\n"), "line 8", "comes before VAR"},
        {"OBJACOORD cut short before its count", cut_after("OBJACOORD\n"), "line 18", "ends inside OBJACOORD"},
        {"OBJACOORD cut short", cut_after("2\n0 1\n"), "line 20", "ends inside OBJACOORD: expected entry 2 of 2"},
        {"OBJBCOORD cut short", cut_after("OBJBCOORD\n"), "line 23", "ends inside OBJBCOORD"},
        {"ACOORD cut short before its count", cut_after("ACOORD\n4").substr(0, kValid.find("ACOORD\n4") + 7), "line 26",
         "ends inside ACOORD"},
        {"ACOORD cut short", cut_after("1 2 1\n"), "line 29", "ends inside ACOORD: expected entry 3 of 4"},
        {"ACOORD cut inside a line", cut_after("1 2 1\n2 0"), "line 30", "the end of the line"},
        {"BCOORD cut short", cut_after("0 -1\n"), "line 35", "ends inside BCOORD: expected entry 2 of 2"},
        {"more entries than announced", with("ACOORD\n4", "ACOORD\n3"), "line 31", "too much"},
        {"a count of entries that is huge", with("ACOORD\n4", "ACOORD\n4000000000000"), "line 33",
         "expected an integer"},
        {"a negative count", with("ACOORD\n4", "ACOORD\n-4"), "line 27", "-4 entries"},
        {"negative row", with("0 1 1\n1 2", "-1 1 1\n1 2"), "line 28", "row -1 is out of range"},
        {"negative column", with("2 0 1\n", "2 -1 1\n"), "line 30", "column -1 is out of range"},
        {"row out of range", with("3 1 1\n", "5 1 1\n"), "line 31", "row 5 is out of range, expected 0 to 4"},
        {"column out of range", with("3 1 1\n", "3 3 1\n"), "line 31", "column 3 is out of range, expected 0 to 2"},
        {"entry twice", with("1 2 1\n", "0 1 7\n"), "line 29", "row 0, column 1 was given on line 28 already"},
        {"objective twice", with("1 2.5\n", "0 2.5\n"), "line 21", "column 0 was given on line 20"},
        {"b twice", with("4 0.5\n", "0 0.5\n"), "line 36", "row 0 was given on line 35"},
        {"NaN", with("1 2 1\n", "1 2 nan\n"), "line 29", "expected a finite number"},
        {"infinity", with("4 0.5", "4 inf"), "line 36", "expected a finite number"},
        {"a number beyond doubles", with("4 0.5", "4 1e999"), "line 36", "expected a number"},
        {"not a number", with("4 0.5", "4 half"), "line 36", "expected a number"},
        {"a fractional index", with("2 0 1\n", "2.5 0 1\n"), "line 30", "expected an integer"},
        {"NaN in the constant", with("OBJBCOORD\n-1", "OBJBCOORD\nNaN"), "line 24", "finite"},
        {"unknown block", with("OBJBCOORD\n-1\n", "PSDVAR\n1\n"), "line 23", "'PSDVAR' is not a block"},
        {"integer variables", with("OBJBCOORD\n-1\n", "INT\n1\n"), "line 23", "integer variables"},
        {"a keyword with more behind it", with("OBJBCOORD\n", "OBJBCOORD 1\n"), "line 23", "too much"},
        {"no constraints at all", "VER\n1\nOBJSENSE\nMAX\nVAR\n2 1\nF 2\n", "line 7", "no constraints"},
        {"binary", std::string("VER\n\x00\x01\xff\n", 8), "line 2", "binary file, expected CBF text"},
    };
}

}  // namespace

TEST_CASE("malformed files end with exit code 2 and one line with the line number") {
    CHECK_NOTHROW(formats::parse_cbf(kValid, "valid"));
    const ScratchFolder folder;
    const std::vector<Case> list = cases();
    CHECK(list.size() >= 40);
    for (const Case& malformed : list) {
        CAPTURE(malformed.what);
        const std::string file = file_with(folder, "malformed.cbf", malformed.text);
        const Run run = run_program("solve " + file);
        CHECK(run.code == 2);
        CHECK(run.out.empty());
        CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
        CHECK_MESSAGE(contains(run.err, file + ": " + malformed.line + ": "), run.err);
        CHECK_MESSAGE(contains(run.err, malformed.expected), run.err);
    }
}

TEST_CASE("every cut and any damage is refused or read") {
    for (std::size_t length = 0; length < kValid.size(); ++length) {
        try {
            formats::parse_cbf(kValid.substr(0, length), "cut");
        } catch (const InputError& error) {
            CHECK(contains(error.what(), "cut: line "));
        }
    }
    fuzz(kValid, 4000, [](const std::string& text) { formats::parse_cbf(text, "fuzz"); });
    fuzz(gzip(kValid), 2000, [](const std::string& bytes) { formats::parse_cbf(gunzip(bytes, "fuzz"), "fuzz"); });
}

TEST_CASE("dimensions that a file of this size cannot fill take no memory") {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    for (const char* size : {"100001", "2000000000", "9223372036854775807"})
        input_error([&] {
            formats::parse_cbf("VER\n3\nOBJSENSE\nMIN\nVAR\n" + std::string(size) + " 1\nL+ " + size + "\n", "huge");
        });
    input_error([&] { formats::parse_cbf(with("ACOORD\n4", "ACOORD\n9223372036854775807"), "huge"); });
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 16 * 1024);  // kB
}

TEST_CASE("compressed files that are cut short, damaged or too large") {
    const std::string packed = gzip(kValid);
    CHECK(gunzip(packed, "x") == kValid);
    CHECK(gunzip(packed + packed, "x") == kValid + kValid);
    CHECK(contains(input_error([&] { gunzip(packed.substr(0, packed.size() / 2), "x"); }), "cut short"));
    std::string damaged = packed;
    damaged[packed.size() - 6] = static_cast<char>(damaged[packed.size() - 6] ^ 1);  // its check sum
    CHECK(contains(input_error([&] { gunzip(damaged, "x"); }), "not a valid gzip file"));
    const std::string bomb = gzip(std::string(std::size_t{1} << 24, '0'));
    CHECK(bomb.size() < 20000);
    CHECK(contains(input_error([&] { gunzip(bomb, "x", std::size_t{1} << 20); }), "limit"));
    const ScratchFolder folder;
    const Run run = run_program("solve " + file_with(folder, "cut.cbf.gz", packed.substr(0, 40)));
    CHECK(run.code == 2);
    CHECK(contains(run.err, "cut short"));
}
