// What is fuzzed: every reader, by a function of the bytes of a file. Any bytes give a value or one line that says what is wrong
// (InputError); anything else that is thrown, and any property below that does not hold, is a finding.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/cbf.hpp"
#include "inference/queries.hpp"
#include "network/network_io.hpp"
#include "network/npy.hpp"
#include "network/points.hpp"
#include "network/safetensors.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/gzip.hpp"
#include "support/sha256.hpp"
#include "verify/check/check.hpp"
#include "verify/check/safetensors.hpp"

namespace certicone::fuzz {

inline void demand(bool holds, const char* what) {
    if (holds) return;
    std::cerr << "does not hold: " << what << std::endl;
    std::abort();
}

/// Calls `read`; its InputError must be one line that names the source.
template <class Read>
bool accepted(const Read& read) {
    try {
        read();
        return true;
    } catch (const InputError& error) {
        const std::string_view message = error.what();
        demand(message.starts_with("file: "), "a message begins with the source");
        demand(message.find_first_of("\n\r") == message.npos && message.size() < 1000, "a message is one line");
        return false;
    }
}

/// As numbers: the integer -0 of JSON is 0 for one reader and -0.0 for the other.
template <class Entries>
bool same_entries(const Entries& ours, const check::Doubles& theirs) {
    if (static_cast<std::size_t>(ours.size()) != theirs.size()) return false;
    for (Index i = 0; i < ours.size(); ++i)
        if (ours.data()[i] != theirs[static_cast<std::size_t>(i)]) return false;
    return true;
}

inline bool same_matrix(const Matrix& ours, const check::Matrix& theirs) {
    return static_cast<std::size_t>(ours.rows()) == theirs.rows &&
           same_entries(Matrix(ours.transpose()), theirs.entries);
}

/// Field by field.
inline bool same_network(const Network& ours, const check::Network& theirs) {
    bool same = static_cast<std::size_t>(ours.input_dim) == theirs.inputs &&
                ours.layers.size() == theirs.layers.size() && ours.quadratic.size() == theirs.quadratic.size() &&
                ours.conic.size() == theirs.conic.size() && same_entries(ours.c, theirs.c) &&
                same_entries(ours.v, theirs.v) && ours.b0 == theirs.b0;
    for (std::size_t l = 0; same && l < ours.layers.size(); ++l)
        same = same_matrix(ours.layers[l].W, theirs.layers[l].W) && same_matrix(ours.layers[l].U, theirs.layers[l].U) &&
               same_entries(ours.layers[l].b, theirs.layers[l].b);
    for (std::size_t h = 0; same && h < ours.quadratic.size(); ++h)
        same = ours.quadratic[h].alpha == theirs.quadratic[h].weight &&
               same_matrix(ours.quadratic[h].B, theirs.quadratic[h].M) &&
               same_entries(ours.quadratic[h].e, theirs.quadratic[h].o);
    for (std::size_t g = 0; same && g < ours.conic.size(); ++g)
        same = ours.conic[g].lambda == theirs.conic[g].weight && same_matrix(ours.conic[g].A, theirs.conic[g].M) &&
               same_entries(ours.conic[g].d, theirs.conic[g].o);
    return same;
}

/// What a certificate speaks of is what everything else computes with: both readers see the same network in the same bytes.
template <class CheckerReads>
void compare_with_checker(const Network& network, std::string_view bytes, const CheckerReads& read) {
    try {
        demand(same_network(network, read(bytes)), "the checker reads the same network");
    } catch (const check::Refuted&) {  // it may ask for more
    }
}

/// What was read can be written, and reads back as it was, in both formats and by the checker.
inline void network_json(std::string_view bytes) {
    Network network;
    if (!accepted([&] { network = parse_network_json(bytes, "file"); })) return;
    demand(violations(network).empty(), "what is read is a network");
    compare_with_checker(network, bytes, check::read_network);
    const std::string written = to_json(network);
    demand(to_json(parse_network_json(written, "file")) == written, "what is written reads back");
    demand(same_network(network, check::read_network(written)), "the checker reads what is written");
}

inline void safetensors(std::string_view bytes) {
    Network network;
    if (!accepted([&] { network = parse_safetensors(bytes, "file"); })) return;
    demand(violations(network).empty(), "what is read is a network");
    if (check::is_safetensors(bytes)) compare_with_checker(network, bytes, check::read_safetensors);
}

/// Any network file, as the checker reads it.
inline void checker_network(std::string_view bytes) {
    const std::string why = check::unfit(bytes);
    demand(why.empty() || why.starts_with("network"), "a refusal names the place");
}

inline void npy(std::string_view bytes) {
    accepted([&] {
        const NpyArray array = parse_npy(bytes, "file");
        std::size_t count = 1;
        for (const std::uint64_t extent : array.shape)
            count *= extent;
        demand(count == array.values.size(), "as many values as the shape says");
    });
}

/// Points and directions of either dimension, in any of the three formats.
inline void points(std::string_view bytes) {
    for (const PointKind kind : {PointKind::points, PointKind::directions})
        for (const Index dimension : {1, 2, 3})
            accepted([&] {
                const Matrix read = parse_points(bytes, "file", dimension, kind);
                demand(read.rows() == dimension && read.cols() > 0 && read.allFinite(),
                       "finite points of the dimension");
            });
}

inline void queries(std::string_view bytes) {
    Network network;
    network.input_dim = 2;
    network.v = Vector::Zero(2);
    for (const std::optional<double> beta : {std::optional<double>{}, std::optional{2.0}})
        accepted([&] {
            const InferenceQueries read = parse_queries(bytes, "file", network, beta);
            const InferenceProblem problem = read.at(0);
            demand(problem.Q == problem.Q.transpose() && problem.Q.allFinite(), "a symmetric Q");
            demand(problem.C.rows() == problem.h.size() && problem.C.cols() == 2, "as many h as rows of C");
            demand(problem.q.size() == 2 && problem.y.size() == 2, "vectors of the dimension");
        });
}

inline void cbf(std::string_view bytes) {
    accepted([&] {
        const formats::CbfModel model = is_gzip(bytes) ? formats::parse_cbf(gunzip(bytes, "file", 1 << 20), "file")
                                                       : formats::parse_cbf(bytes, "file");
        conic::validate(model.program);
        demand(model.program.rows() > 0, "a program with rows");
        demand(model.multipliers(Vector::Zero(model.program.rows())).size() == static_cast<Index>(model.row.size()),
               "a multiplier a row");
    });
}

inline void gzip(std::string_view bytes) {
    accepted([&] { gunzip(bytes, "file", 1 << 20); });
    demand(gunzip(certicone::gzip(bytes), "file", bytes.size() + 1) == bytes, "what is packed unpacks");
}

/// The network that the seeds of `certificate` speak of.
inline constexpr std::string_view certified_network =
    R"({"format":"soc-icnn/1","input_dim":2,"layers":[{"W":[[1,2],[-3,0.5]],"b":[0,1]},{"W":[[1,1]],"U":[[0.5,1]],"b":[-0.25]}],)"
    R"("c":[1],"v":[0,-1],"b0":0.1,"quadratic":[{"alpha":3,"B":[[1,0.1]],"e":[0]}],"conic":[{"lambda":1,"A":[[0,1]],"d":[1]}]})";

/// Any answer is right but that a certificate is verified that speaks of another network.
inline void certificate(std::string_view bytes) {
    const check::Verdict verdict = check::check(bytes, certified_network);
    demand(!check::text(verdict).empty(), "an answer");
    demand(!verdict.verified || bytes.find(sha256(certified_network)) != bytes.npos,
           "only certificates of the network");
    demand(!verdict.verified || verdict.certificate, "what is verified is a certificate");
}

struct Target {
    const char* name;
    void (*read)(std::string_view);
};
inline constexpr Target targets[] = {{"network_json", network_json},
                                     {"safetensors", safetensors},
                                     {"checker_network", checker_network},
                                     {"npy", npy},
                                     {"points", points},
                                     {"queries", queries},
                                     {"cbf", cbf},
                                     {"gzip", gzip},
                                     {"certificate", certificate}};

}  // namespace certicone::fuzz
