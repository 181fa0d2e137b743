#include "verify/certificate.hpp"

#include <fmt/format.h>

namespace certicone::verify {

namespace {

std::string quoted(const Dyadic& number) { return '"' + to_hexadecimal(number) + '"'; }
std::string quoted(double number) { return '"' + to_hexadecimal(number) + '"'; }
std::string quoted(const Enclosure& enclosure) {
    return '[' + quoted(enclosure.lower) + ',' + quoted(enclosure.upper) + ']';
}

/// [text(item),…]
template <class Items, class Text>
std::string list(const Items& items, const Text& text) {
    std::string result = "[";
    for (const auto& item : items) {
        if (result.size() > 1) result += ',';
        result += text(item);
    }
    return result + ']';
}

std::string list(const Vector& vector) {
    return list(vector, [](double entry) { return quoted(entry); });
}

std::string list(const std::vector<Enclosure>& enclosures) {
    return list(enclosures, [](const Enclosure& entry) { return quoted(entry); });
}

std::string list(const std::vector<Vector>& blocks) {
    return list(blocks, [](const Vector& block) { return list(block); });
}

std::string list(const std::vector<Index>& indices) {
    return list(indices, [](Index index) { return std::to_string(index); });
}

std::string ends(const Dyadic& lower, const Dyadic& upper) {
    return "\"lower\":" + quoted(lower) + ",\"upper\":" + quoted(upper);
}

std::string multipliers(const Multipliers& xi) {
    return "\"nu\":" + list(xi.nu) + ",\"p\":" + list(xi.p) + ",\"r\":" + list(xi.r);
}

std::string pair(const std::pair<Index, Index>& unit) { return fmt::format("[{},{}]", unit.first, unit.second); }

}  // namespace

std::string value_claim(const ExactPoint& point, slong bits) {
    const Enclosure value = enclose_value(point, bits);
    return "{\"kind\":\"value\"," + ends(value.lower, value.upper) + '}';
}

std::string canonical_claim(const ExactPoint& point) {
    const std::string signs = list(point.pattern.sign, [](const Pattern::Signs& layer) {
        std::string text = "\"";
        for (const std::int8_t sign : layer)
            text += "-0+"[sign + 1];
        return text + '"';
    });
    return "{\"kind\":\"canonical\",\"signs\":" + signs +
           ",\"zero_residuals\":" + list(point.pattern.degenerate_modules()) +
           ",\"gap\":" + quoted(canonical_relu_gap(point)) + '}';
}

std::string multiplier_claim(const ExactPoint& point, const Multipliers& xi, slong bits) {
    const Vector x = point.x.unaryExpr([](const Dyadic& entry) { return entry.to_double(); });
    const Enclosure psi = enclose_psi(*point.network, x, xi, bits);
    return "{\"kind\":\"multiplier\"," + multipliers(xi) + ',' + ends(psi.lower, psi.upper) +
           ",\"gap\":" + quoted(enclose_value(point, bits).upper - psi.lower) + '}';
}

std::string subgradient_claim(const ExactPoint& point, slong bits) {
    return "{\"kind\":\"subgradient\",\"g\":" + list(enclose_subgradient(point, bits)) + '}';
}

std::string directional_claim(const ExactPoint& point, const Vector& direction, slong bits) {
    const Enclosure derivative = enclose_directional(point, direction, bits);
    return "{\"kind\":\"directional\",\"d\":" + list(direction) + ',' + ends(derivative.lower, derivative.upper) + '}';
}

std::string uniqueness_claim(const ExactPoint& point) {
    const FreeChoices free = free_choices(point);
    return "{\"kind\":\"uniqueness\",\"units\":" + list(free.units, pair) + ",\"modules\":" + list(free.modules) + '}';
}

std::string branch_claim(const ExactPoint& point, slong bits) {
    const ExactBranch branch = enclose_branch(point, bits);
    return fmt::format("{{\"kind\":\"branch\",\"unit\":{},\"relu\":{},\"module\":{},\"conic\":{}}}",
                       branch.unit ? pair(*branch.unit) : "null", branch.unit ? quoted(branch.relu) : "null",
                       branch.module ? std::to_string(*branch.module) : "null",
                       branch.module ? quoted(branch.conic) : "null");
}

std::string hessian_claim(const ExactPoint& point, const ExactCurvature& curvature, slong bits) {
    return "{\"kind\":\"hessian\",\"upper_triangle\":" +
           list(curvature.enclose_hessian(point, bits), [](const auto& row) { return list(row); }) + '}';
}

std::string inference_claim(const ExactPoint& point, const Vector& y, double beta, const Multipliers& xi, slong bits) {
    const InferenceBound bound = enclose_inference(point, y, beta, xi, bits);
    return "{\"kind\":\"inference\",\"y\":" + list(y) + ",\"beta\":" + quoted(beta) + ',' + multipliers(xi) + ',' +
           ends(bound.lower, bound.upper) + ",\"gap\":" + quoted(bound.gap()) + '}';
}

std::string certificate_point(const Vector& x, std::span<const std::string> claims) {
    return "{\"x\":" + list(x) + ",\"claims\":" + list(claims, [](const std::string& claim) { return claim; }) + '}';
}

std::string certificate_point(const ExactPoint& point, const Vector& x, const ExactCurvature& curvature,
                              std::span<const Vector> directions, std::span<const Multipliers> xi, slong bits) {
    std::vector<std::string> claims{value_claim(point, bits), canonical_claim(point), subgradient_claim(point, bits),
                                    uniqueness_claim(point)};
    for (const Vector& direction : directions)
        claims.push_back(directional_claim(point, direction, bits));
    if (point.pattern.nondegenerate()) {
        claims.push_back(branch_claim(point, bits));
        claims.push_back(hessian_claim(point, curvature, bits));
    }
    for (const Multipliers& multipliers : xi)
        claims.push_back(multiplier_claim(point, multipliers, bits));
    return certificate_point(x, claims);
}

std::string certificate_head(const std::string& network_sha256) {
    return fmt::format("{{\"format\":\"certicone-certificate/1\",\"network\":\"{}\",", network_sha256);
}

std::string certificate_begin(const std::string& network_sha256, slong bits) {
    return certificate_head(network_sha256) + fmt::format("\"bits\":{},\"points\":[\n", bits);
}

std::string certificate(const std::string& network_sha256, slong bits, std::span<const std::string> points) {
    std::string text = certificate_begin(network_sha256, bits);
    for (std::size_t j = 0; j < points.size(); ++j)
        text += (j > 0 ? ",\n" : "") + points[j];
    return text += certificate_end;
}

}  // namespace certicone::verify
