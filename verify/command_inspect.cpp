#include <fmt/ostream.h>

#include <iostream>

#include "network/network_io.hpp"
#include "support/sha256.hpp"
#include "verify/commands.hpp"

namespace certicone::verify {

namespace {

double share_of_zeros(const Matrix& matrix) {
    return matrix.size() == 0
               ? 0.0
               : static_cast<double>((matrix.array() == 0.0).count()) / static_cast<double>(matrix.size());
}

int inspect(const std::string& path) {
    const std::string bytes = read_network_bytes(path);
    const Network network = parse_network(bytes, path);
    std::ostream& out = std::cout;
    fmt::print(out, "network      {}\n", network.name);
    fmt::print(out, "file         {} ({} bytes)\n", path, bytes.size());
    fmt::print(out, "sha256       {}\n", sha256(bytes));
    fmt::print(out, "input        {}\n", network.input_dim);
    fmt::print(out, "units        {} in {} layer{}\n", total_units(network), network.layers.size(),
               network.layers.size() == 1 ? "" : "s");
    fmt::print(out, "parameters   {}\n", parameter_count(network));
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        fmt::print(out, "layers[{}]    {} units, W {}x{}", l, layer.units(), layer.W.rows(), layer.W.cols());
        if (l > 0)
            fmt::print(out, ", U {}x{} in [{:.3g}, {:.3g}], {:.0f} % zero", layer.U.rows(), layer.U.cols(),
                       layer.U.minCoeff(), layer.U.maxCoeff(), 100.0 * share_of_zeros(layer.U));
        fmt::print(out, "\n");
    }
    fmt::print(out, "c            in [{:.3g}, {:.3g}]\n", network.c.minCoeff(), network.c.maxCoeff());
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        fmt::print(out, "quadratic[{}] alpha {:.6g}, B {}x{}\n", h, network.quadratic[h].alpha,
                   network.quadratic[h].B.rows(), network.quadratic[h].B.cols());
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        fmt::print(out, "conic[{}]     lambda {:.6g}, A {}x{}\n", g, network.conic[g].lambda, network.conic[g].A.rows(),
                   network.conic[g].A.cols());
    fmt::print(out, "convex       yes: U >= 0, c >= 0, alpha > 0, lambda >= 0 hold in every entry\n");
    return kExitCertified;
}

}  // namespace

Command add_inspect(CLI::App& app) {
    auto path = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("inspect", "Sizes, modules, convexity and sha256 of a network");
    command->add_option("NETWORK", *path, "network file: JSON (soc-icnn/1) or safetensors")->required();
    command->footer("Example:\n  certicone inspect data/paper/exp1.network.json");
    return [path] { return inspect(*path); };
}

}  // namespace certicone::verify
