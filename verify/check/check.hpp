// The checker of certificates (docs/certificate.md): the trusted base. It shares no code with what it checks but SHA-256, and
// needs GMP alone.
#pragma once

#include <string>
#include <string_view>

namespace certicone::check {

struct Verdict {
    bool verified = false;
    bool certificate = true;             ///< false: what was given as one is a network
    std::string place, reason;           ///< where and why it is refuted
    std::size_t points = 0, claims = 0;  ///< read so far
};

/// `certificate` and `network` are the bytes of the two files. Whatever they are, there is an answer.
Verdict check(std::string_view certificate, std::string_view network);

/// Throws nothing: empty where certificates can speak of the network of these bytes, else the place and what is wrong there.
std::string unfit(std::string_view network);

/// "verified: 250 points, 1750 claims" or "refuted: certificate.points[3]: …"
std::string text(const Verdict& verdict);

}  // namespace certicone::check
