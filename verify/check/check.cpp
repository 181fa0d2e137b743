#include "verify/check/check.hpp"

#include <new>
#include <optional>
#include <tuple>

#include "support/sha256.hpp"
#include "verify/check/point.hpp"
#include "verify/check/safetensors.hpp"

namespace certicone::check {

namespace {

Numbers vector(const Value& list, std::size_t size) {
    Numbers result;
    for (const Value& item : list.items(size))
        result.emplace_back(number_as_double(item));
    return result;
}

void expect(const Value& claimed, const Dyadic& computed) {
    const Dyadic x = number(claimed), y = computed.normal();
    if (x.m != y.m || x.e != y.e) claimed.refute("is not the value that follows from the network");
}

void expect(const Value& lower, const Value& upper, const Enclosure& computed) {
    expect(lower, computed.lower);
    expect(upper, computed.upper);
}

void expect(const Value& claimed, const Enclosure& computed) {
    const std::vector<Value> ends = claimed.items(2);
    expect(ends[0], ends[1], computed);
}

void expect_indices(const Value& claimed, const std::vector<std::size_t>& computed) {
    const std::vector<Value> found = claimed.items(computed.size());
    for (std::size_t k = 0; k < found.size(); ++k)
        if (found[k].integer() != computed[k]) found[k].refute("is not the one");
}

// ---- the kinds of claims ---------------------------------------------------------------------------------------------

void check_value(const Point& point, const Value& claim) {
    const auto parts = claim.members({"kind", "lower", "upper"});
    expect(parts[1], parts[2], point.f);
}

void check_canonical(const Point& point, const Value& claim) {
    const auto parts = claim.members({"kind", "signs", "zero_residuals", "gap"});
    const std::vector<Value> signs = parts[1].items(point.a.size());
    for (std::size_t l = 0; l < signs.size(); ++l) {
        std::string pattern;
        for (const Dyadic& entry : point.a[l])
            pattern += "-0+"[entry.sign() + 1];
        if (signs[l].string() != pattern) signs[l].refute("are not the signs of the preactivations");
    }
    std::vector<std::size_t> zeros;
    for (std::size_t g = 0; g < point.u.size(); ++g)
        if (point.uu[g].sign() == 0) zeros.push_back(g);
    expect_indices(parts[2], zeros);
    const Dyadic gap =
        dot(exact(point.network.c), point.activation(signs.size() - 1)) - point.relu_support(point.nu, point.x);
    if (!point.in_box(point.nu) || gap.sign() != 0) claim.refute("the canonical selector is not optimal");
    expect(parts[3], gap);
}

/// A ξ that is feasible.
Multipliers multipliers(const Point& point, const Value& nu, const Value& p, const Value& r) {
    const auto read = [](const Value& list, const Blocks& shape) {
        Blocks blocks;
        const std::vector<Value> items = list.items(shape.size());
        for (std::size_t k = 0; k < shape.size(); ++k)
            blocks.push_back(vector(items[k], shape[k].size()));
        return blocks;
    };
    Multipliers xi{read(nu, point.a), read(p, point.q), read(r, point.u)};
    if (!point.in_box(xi.nu)) nu.refute("is not feasible");
    for (std::size_t g = 0; g < xi.r.size(); ++g) {
        const Dyadic lambda = point.network.conic[g].weight;
        if (compare(dot(xi.r[g], xi.r[g]), lambda * lambda) > 0) r.refute("is not feasible");
    }
    return xi;
}

void check_multiplier(const Point& point, const Value& claim) {
    const auto parts = claim.members({"kind", "nu", "p", "r", "lower", "upper", "gap"});
    const Enclosure psi = point.psi(multipliers(point, parts[1], parts[2], parts[3]), point.x);
    expect(parts[4], parts[5], psi);
    expect(parts[6], point.f.upper - psi.lower);
}

void check_inference(const Point& point, const Value& claim) {
    const auto parts = claim.members({"kind", "nu", "p", "r", "lower", "upper", "gap", "y", "beta"});
    const Multipliers xi = multipliers(point, parts[1], parts[2], parts[3]);
    const Numbers y = vector(parts[7], point.x.size());
    const Dyadic beta = number_as_double(parts[8]);
    if (beta.sign() <= 0) parts[8].refute("is not positive");
    Numbers slope = point.readout(xi.nu, xi.p, false), step = point.x;
    for (std::size_t g = 0; g < xi.r.size(); ++g)
        slope = plus_transposed(std::move(slope), point.network.conic[g].M, xi.r[g]);
    for (std::size_t j = 0; j < y.size(); ++j)
        step[j] -= y[j];
    const Dyadic lower = point.psi(xi, y).lower - point.quotient(dot(slope, slope), beta.shifted(1)).upper;
    const Dyadic upper = point.f.upper + (beta * dot(step, step)).shifted(-1);
    expect(parts[4], parts[5], {lower, upper});
    expect(parts[6], upper - lower);
}

void check_subgradient(const Point& point, const Value& claim) {
    const auto parts = claim.members({"kind", "g"});
    const Numbers slope = point.readout(point.nu, point.q, true);
    Blocks w;  // λAᵀu
    for (std::size_t g = 0; g < point.u.size(); ++g) {
        const Module& module = point.network.conic[g];
        w.push_back(plus_transposed(Numbers(slope.size()), module.M, point.u[g], module.weight));
    }
    const std::vector<Value> entries = parts[1].items(slope.size());
    for (std::size_t j = 0; j < slope.size(); ++j) {
        Enclosure entry{slope[j], slope[j]};
        for (std::size_t g = 0; g < w.size(); ++g)
            if (point.uu[g].sign() != 0) entry += root(w[g][j].sign(), w[g][j] * w[g][j], point.uu[g], point.bits);
        expect(entries[j], entry);
    }
}

void check_directional(const Point& point, const Value& claim) {
    const auto parts = claim.members({"kind", "d", "lower", "upper"});
    const Network& network = point.network;
    const Numbers d = vector(parts[1], point.x.size());
    Numbers moving;  // ż of the layer before
    for (std::size_t l = 0; l < point.a.size(); ++l) {
        Numbers next = plus_product(Numbers(point.a[l].size()), network.layers[l].W, d);
        if (l > 0) next = plus_product(std::move(next), network.layers[l].U, moving);
        for (std::size_t i = 0; i < next.size(); ++i)
            if (const int sign = point.a[l][i].sign(); sign < 0 || (sign == 0 && next[i].sign() < 0))
                next[i] = Dyadic();
        moving = std::move(next);
    }
    Dyadic linear = dot(exact(network.v), d) + dot(exact(network.c), moving);
    for (std::size_t h = 0; h < point.q.size(); ++h) {
        const Module& module = network.quadratic[h];
        linear += module.weight * dot(point.q[h], plus_product(Numbers(module.M.rows), module.M, d));
    }
    Enclosure sum{linear, linear};
    for (std::size_t g = 0; g < point.u.size(); ++g) {
        const Module& module = network.conic[g];
        const Numbers along = plus_product(Numbers(module.M.rows), module.M, d);
        const bool kink = point.uu[g].sign() == 0;
        const Dyadic sigma = module.weight * dot(point.u[g], along), lambda = module.weight;
        sum += kink ? root(1, lambda * lambda * dot(along, along), 1.0, point.bits)
                    : root(sigma.sign(), sigma * sigma, point.uu[g], point.bits);
    }
    expect(parts[2], parts[3], sum);
}

void check_uniqueness(const Point& point, const Value& claim) {
    const auto parts = claim.members({"kind", "units", "modules"});
    const Blocks largest = point.select(0);
    std::vector<std::vector<std::size_t>> units;
    for (std::size_t l = 0; l < point.a.size(); ++l)
        for (std::size_t i = 0; i < point.a[l].size(); ++i)
            if (point.a[l][i].sign() == 0 && largest[l][i].sign() > 0) units.push_back({l, i});
    const std::vector<Value> claimed = parts[1].items(units.size());
    for (std::size_t k = 0; k < units.size(); ++k)
        expect_indices(claimed[k], units[k]);
    std::vector<std::size_t> modules;
    for (std::size_t g = 0; g < point.u.size(); ++g)
        if (point.uu[g].sign() == 0 && point.network.conic[g].weight > 0.0) modules.push_back(g);
    expect_indices(parts[2], modules);
}

/// The first of the candidates with the least n/d.
struct Least {
    Dyadic n, d;
    std::optional<std::vector<std::size_t>> place;

    void offer(const Dyadic& n_in, const Dyadic& d_in, std::vector<std::size_t> place_in) {
        if (d_in.sign() == 0 || (place && compare(n_in * d, n * d_in) >= 0)) return;
        n = n_in, d = d_in, place = std::move(place_in);
    }
};

void check_branch(const Point& point, const Value& claim) {
    const auto parts = claim.members({"kind", "unit", "relu", "module", "conic"});
    if (!point.nondegenerate) claim.refute("the point is degenerate");
    Least relu, conic;
    Blocks J;
    for (std::size_t l = 0; l < point.a.size(); ++l) {
        J = point.jacobian(l, J);
        for (std::size_t i = 0; i < J.size(); ++i)
            relu.offer(point.a[l][i] * point.a[l][i], dot(J[i], J[i]), {l, i});
    }
    for (std::size_t g = 0; g < point.u.size(); ++g) {
        Dyadic square;
        for (const double entry : point.network.conic[g].M.entries)
            square.add_product(entry, entry);
        conic.offer(point.uu[g], square, {g});
    }
    for (const auto& [least, place, enclosure] :
         {std::tuple{&relu, parts[1], parts[2]}, {&conic, parts[3], parts[4]}}) {
        if (place.is_null() == least->place.has_value()) place.refute("is null and should not be, or the reverse");
        if (enclosure.is_null() != place.is_null()) enclosure.refute("is null and should not be, or the reverse");
        if (least->place) expect(enclosure, root(1, least->n, least->d, point.bits));
    }
    if (relu.place) expect_indices(parts[1], *relu.place);
    if (conic.place && parts[3].integer() != conic.place->front()) parts[3].refute("is not the one");
}

void check_hessian(const Point& point, const Value& claim) {
    const auto parts = claim.members({"kind", "upper_triangle"});
    if (!point.nondegenerate) claim.refute("the point is degenerate");
    const std::vector<Value> rows = parts[1].items(point.x.size());
    Blocks w;  // Aᵀu
    for (std::size_t g = 0; g < point.u.size(); ++g)
        w.push_back(plus_transposed(Numbers(rows.size()), point.network.conic[g].M, point.u[g]));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::vector<Value> entries = rows[i].items(rows.size() - i);
        for (std::size_t j = i; j < rows.size(); ++j) {
            Enclosure entry;
            for (const Module& module : point.network.quadratic)
                entry.lower.add_product(module.weight, gram(module.M, i, j));
            entry.upper = entry.lower;
            for (std::size_t g = 0; g < w.size(); ++g) {
                const Module& module = point.network.conic[g];
                const Dyadic& square = point.uu[g];
                const Dyadic tau = module.weight * (gram(module.M, i, j) * square - w[g][i] * w[g][j]);
                entry += root(tau.sign(), tau * tau, square * square * square, point.bits);
            }
            expect(entries[j - i], entry);
        }
    }
}

void check_claim(const Point& point, const Value& claim) {
    static constexpr std::pair<std::string_view, void (*)(const Point&, const Value&)> kinds[] = {
        {"value", check_value},           {"canonical", check_canonical},     {"multiplier", check_multiplier},
        {"inference", check_inference},   {"subgradient", check_subgradient}, {"directional", check_directional},
        {"uniqueness", check_uniqueness}, {"branch", check_branch},           {"hessian", check_hessian}};
    const Value wanted = claim.member("kind");
    for (const auto& [kind, check] : kinds)
        if (wanted.string() == kind) return check(point, claim);
    wanted.refute("is not a kind of claim that is known here");
}

/// The bits an exact number may take so that all that are kept at a time stay within a small multiple of the input.
long affordable_bits(const Network& network, std::size_t input) {
    std::size_t kept = 0, widest = 0;
    for (const Layer& layer : network.layers) {
        kept += 8 * layer.W.rows;
        widest = std::max(widest, layer.W.rows);
    }
    for (const auto* list : {&network.quadratic, &network.conic})
        for (const Module& module : *list)
            kept += 4 * module.M.rows + 2 * network.inputs;
    kept += (2 * widest + 8) * network.inputs;
    return static_cast<long>(std::min(std::size_t{1} << 20, 8 * ((std::size_t{64} << 20) + 32 * input) / kept));
}

Network read_any_network(std::string_view bytes) {
    return is_safetensors(bytes) ? read_safetensors(bytes) : read_network(bytes);
}

void check_all(std::string_view certificate, std::string_view network_bytes, Verdict& verdict) {
    verdict.certificate = !is_safetensors(certificate);
    const Json json(certificate, "certificate");
    verdict.certificate = Value(json).member("format").string() != "soc-icnn/1";
    for (const char c : certificate)
        if (static_cast<unsigned char>(c) > 0x7F) throw Refuted{"certificate", "is not ASCII"};
    const auto parts = Value(json).members({"format", "network", "bits", "points"});
    if (parts[0].string() != "certicone-certificate/1") parts[0].refute("is not known here");
    if (parts[1].string() != sha256(network_bytes)) parts[1].refute("is not the hash of the network");
    const std::uint64_t bits = parts[2].integer();
    if (bits < 2 || bits > 65536) parts[2].refute("is not from 2 to 65536");
    const Network network = read_any_network(network_bytes);
    Dyadic::bit_limit = affordable_bits(network, certificate.size() + network_bytes.size());
    for (const Value& item : parts[3].items()) {
        const auto members = item.members({"x", "claims"});
        try {
            const Point point(network, vector(members[0], network.inputs), static_cast<long>(bits));
            for (const Value& claim : members[1].items()) {
                check_claim(point, claim);
                ++verdict.claims;
            }
        } catch (const Refuted& refuted) {
            if (refuted.place.empty()) item.refute(refuted.reason);
            throw;
        }
        ++verdict.points;
    }
}

}  // namespace

Verdict check(std::string_view certificate, std::string_view network) {
    Verdict verdict;
    try {
        check_all(certificate, network, verdict);
        verdict.verified = true;
    } catch (const Refuted& refuted) {
        verdict.place = refuted.place;
        verdict.reason = refuted.reason;
    } catch (const std::bad_alloc&) {
        verdict.place = "certificate";
        verdict.reason = "there is not enough memory to check it";
    }
    return verdict;
}

std::string unfit(std::string_view network) {
    try {
        read_any_network(network);
        return {};
    } catch (const Refuted& refuted) {
        return refuted.place + ": " + refuted.reason;
    }
}

std::string text(const Verdict& verdict) {
    if (!verdict.verified) return "refuted: " + verdict.place + ": " + verdict.reason;
    return "verified: " + std::to_string(verdict.points) + " points, " + std::to_string(verdict.claims) + " claims";
}

}  // namespace certicone::check
