// certicone-check CERTIFICATE NETWORK
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "verify/check/check.hpp"

namespace {

/// False for anything but a regular file that can be read, of at most 2 GiB: no larger one is checked.
bool read(const char* path, std::string& bytes) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > 0x7FFFFFFF)
        return false;
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    return file.good() || file.eof();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: certicone-check CERTIFICATE NETWORK\n"
                     "Exit codes: 0 verified, 1 refuted, 2 wrong usage or a file that cannot be read.\n";
        return 2;
    }
    std::string certificate, network;
    for (const auto& [path, bytes] : {std::pair{argv[1], &certificate}, std::pair{argv[2], &network}})
        if (!read(path, *bytes)) {
            std::cerr << "certicone-check: cannot read " << path << '\n';
            return 2;
        }
    const certicone::check::Verdict verdict = certicone::check::check(certificate, network);
    if (!verdict.certificate) {
        std::cerr << "certicone-check: " << argv[1] << " is a network, expected a certificate\n";
        return 2;
    }
    if (!(std::cout << certicone::check::text(verdict) << std::endl)) {
        std::cerr << "certicone-check: cannot write to standard output\n";
        return 2;
    }
    return verdict.verified ? 0 : 1;
}
