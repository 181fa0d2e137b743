// The seeds of the fuzzer (tests/fuzz), and what it once found, go through the same functions here: no clang is needed.
#include <doctest/doctest.h>

#include <set>

#include "file_helpers.hpp"
#include "fuzz/targets.hpp"

using namespace certicone;
using namespace certicone::test;

TEST_CASE("every seed of every fuzz target gives a value or one line") {
    const std::filesystem::path seeds = std::filesystem::path(CERTICONE_TESTS_DIR) / "fuzz/seeds";
    std::set<std::string> folders, targets;
    for (const auto& folder : std::filesystem::directory_iterator(seeds))
        folders.insert(folder.path().filename().string());
    for (const fuzz::Target& target : fuzz::targets) {
        targets.insert(target.name);
        REQUIRE(folders.contains(target.name));
        int read = 0;
        for (const auto& seed : std::filesystem::directory_iterator(seeds / target.name)) {
            INFO(seed.path().string());
            const std::string bytes = read_file(seed.path());
            target.read(bytes);
            // Every way of cutting it short, and each byte changed.
            for (std::size_t k = 0; k < bytes.size(); k += 1 + bytes.size() / 200) {
                target.read(bytes.substr(0, k));
                std::string changed = bytes;
                changed[k] = static_cast<char>(changed[k] ^ 1 << k % 8);
                target.read(changed);
            }
            ++read;
        }
        CHECK(read > 0);
    }
    CHECK(folders == targets);
}

TEST_CASE("seeds are read: those of the readers are accepted, and certificates are verified") {
    const std::filesystem::path seeds = std::filesystem::path(CERTICONE_TESTS_DIR) / "fuzz/seeds";
    const auto each = [&](const char* target, const auto& read) {
        for (const auto& seed : std::filesystem::directory_iterator(seeds / target)) {
            INFO(seed.path().string());
            read(read_file(seed.path()), seed.path().string());
        }
    };
    const auto parse = [](const std::string& bytes, const std::string& path) {
        if (!contains(path, "reference.json")) CHECK_NOTHROW(parse_network(bytes, path));
    };
    each("network_json", parse);
    each("safetensors", parse);
    each("checker_network", [](const std::string& bytes, const std::string&) { CHECK(check::unfit(bytes).empty()); });
    each("npy", [](const std::string& bytes, const std::string& path) { CHECK_NOTHROW(parse_npy(bytes, path)); });
    each("certificate", [](const std::string& bytes, const std::string&) {
        CHECK(check::check(bytes, fuzz::certified_network).verified);
    });
    each("cbf", [](const std::string& bytes, const std::string& path) {
        CHECK_NOTHROW(formats::parse_cbf(is_gzip(bytes) ? gunzip(bytes, path) : bytes, path));
    });
}
