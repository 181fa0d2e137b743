#include "verify/exact_checks.hpp"

#include <fmt/format.h>

#include "geometry/rounding.hpp"
#include "verify/worst.hpp"

namespace certicone::verify {

namespace {

using Numbers = VectorOf<Dyadic>;

/// An upper bound of the distance of a double from an enclosed number.
double distance(double value, const Enclosure& enclosure) {
    const double below = (Dyadic(value) - enclosure.lower).to_double_up();
    const double above = (enclosure.upper - Dyadic(value)).to_double_up();
    return std::max({below, above, 0.0});
}

/// Things that are wrong are counted; none may be.
struct Count {
    Index wrong = 0;
    std::string where;

    void require(bool holds, auto&& name) {
        if (holds) return;
        if (wrong == 0) where = name();
        ++wrong;
    }
    Finding finding(std::string id, std::string reason) const {
        Finding result = judged(std::move(id), "closed form", static_cast<double>(wrong), 0.0,
                                wrong == 0 ? std::string(1, '-') : where, std::move(reason));
        result.level = "exact";
        return result;
    }
};

Finding enclosed(const Worst& worst, std::string id, std::string reason) {
    Finding result = worst.finding(std::move(id), "closed form", std::move(reason));
    result.level = "rigorous";
    return result;
}

Finding strong_duality(const ExactPoint& exact) {
    const Dyadic gap = canonical_relu_gap(exact);
    Finding result = judged("theorem1.strong_duality", "closed form", std::abs(gap.to_double()), 0.0, "ReLU block",
                            "f and Psi of the ReLU block, exactly; those of the modules are identities");
    result.level = "exact";
    return result;
}

/// Signs and zeros of the subject are the true ones, and ν̂ with them is in K_ν and complementary (Lemma 1).
Finding complementarity(const LocalState& state, const ExactPoint& exact) {
    Count count;
    for (std::size_t l = 0; l < exact.nu.size(); ++l) {
        const Numbers bound = exact_upper_bound(*exact.network, exact.nu, l);
        for (Index i = 0; i < bound.size(); ++i) {
            const Dyadic &a = exact.trace.a[l](i), &z = exact.trace.z[l](i), &nu = exact.nu[l](i);
            const bool holds = state.pattern.sign[l](i) == exact.pattern.sign[l](i) && nu.sign() >= 0 &&
                               !(nu > bound(i)) && (nu * (z - a)).sign() == 0 && ((bound(i) - nu) * z).sign() == 0;
            count.require(holds, [&] { return fmt::format("nu[{}][{}]", l, i); });
        }
    }
    for (std::size_t g = 0; g < exact.uu.size(); ++g)
        count.require(state.pattern.conic_zero[g] == exact.pattern.conic_zero[g],
                      [&] { return fmt::format("u[{}]", g); });
    return count.finding("lemma1.complementarity", "signs, zeros and complementarity in exact arithmetic");
}

/// ν̂ is the least element of D*(x), entry by entry: compared with an exact element, every free choice a random multiple of 1/8.
Finding least_element(const ExactPoint& exact, Generator& random) {
    Count count;
    std::vector<Numbers> nu(exact.nu.size());
    for (std::size_t l = nu.size(); l-- > 0;) {
        nu[l] = exact_upper_bound(*exact.network, nu, l);
        for (Index i = 0; i < nu[l].size(); ++i) {
            const int sign = exact.pattern.sign[l](i);
            if (sign <= 0) nu[l](i) = sign < 0 ? Dyadic() : nu[l](i) * (static_cast<double>(random() % 9) / 8.0);
            count.require(!(exact.nu[l](i) > nu[l](i)), [&] { return fmt::format("nu[{}][{}]", l, i); });
        }
    }
    return count.finding("corollary1.min_norm", "the canonical selector is elementwise least");
}

/// Whatever is free is a zero of the pattern, and at nondegenerate points nothing is.
Finding uniqueness(const LocalState& state, const FreeChoices& free) {
    Count count;
    for (const auto& [l, i] : free.units)
        count.require(state.pattern.sign[static_cast<std::size_t>(l)](i) == 0,
                      [l = l, i = i] { return fmt::format("nu[{}][{}]", l, i); });
    for (const Index g : free.modules)
        count.require(state.pattern.conic_zero[static_cast<std::size_t>(g)], [&] { return fmt::format("r[{}]", g); });
    return count.finding(
        state.pattern.nondegenerate() ? "proposition2.uniqueness" : "proposition1.nonuniqueness_sources",
        fmt::format("{} free multipliers", free.units.size() + free.modules.size()));
}

}  // namespace

void check_exactly(const LocalState& state, const ExactPoint& exact, Generator& random,
                   std::vector<Finding>& findings) {
    findings.push_back(strong_duality(exact));
    findings.push_back(complementarity(state, exact));
    findings.push_back(least_element(exact, random));
    findings.push_back(uniqueness(state, free_choices(exact)));
}

void check_enclosed(const Point& point, const ExactPoint& exact, const ExactCurvature& curvature, slong bits,
                    std::vector<Finding>& findings) {
    const Subject& subject = point.subject;
    Worst value;
    value.offer(distance(point.state.value, enclose_value(exact, bits)), point.rounding,
                [] { return std::string("f"); });
    findings.push_back(enclosed(value, "theorem1.strong_duality", "f(x) in doubles against its enclosure"));

    const Vector gradient = subject.readout(point.network, point.canonical);
    const Vector rounding = rounding_of_gradient(point.network, point.state);
    const std::vector<Enclosure> slope = enclose_subgradient(exact, bits);
    Worst entries, directions;
    for (Index j = 0; j < gradient.size(); ++j)
        entries.offer(distance(gradient(j), slope[static_cast<std::size_t>(j)]), rounding(j),
                      [&] { return fmt::format("entry {}", j); });
    findings.push_back(enclosed(entries, "theorem2.subgradient", "the canonical readout against its enclosure"));
    for (std::size_t k = 0; k < point.directions.size(); ++k) {
        const Vector& direction = point.directions[k];
        directions.offer(distance(subject.directional_derivative(point.network, point.state, direction),
                                  enclose_directional(exact, direction, bits)),
                         2.0 * rounding.dot(direction.cwiseAbs()), [&] { return fmt::format("direction {}", k); });
    }
    findings.push_back(enclosed(directions, "theorem2.directional", "f'(x;d) in doubles against its enclosure"));
    if (!point.nondegenerate() || !exact.pattern.nondegenerate()) return;

    const BranchRadius radius = subject.branch_radius(point.curvature, point.state);
    const ExactBranch branch = enclose_branch(exact, bits);
    const RadiusInterval certain = enclose_relu_radius(point.network, point.state);
    Worst ball;
    if (std::isinf(certain.lower))  // none changes within 2^500, if any
        ball.offer(radius.relu >= 0x1p499 ? 0.0 : 1.0, 0.0, [] { return std::string("no unit changes"); });
    else
        ball.offer(branch.unit && std::isfinite(radius.relu) ? distance(radius.relu, branch.relu) : radius.relu,
                   certain.upper - certain.lower, [&] {
                       return branch.unit ? fmt::format("unit {} of layer {}", branch.unit->second, branch.unit->first)
                                          : std::string("no unit changes");
                   });
    findings.push_back(
        std::isinf(certain.upper) && std::isfinite(certain.lower)
            ? skipped("theorem3.branch", "closed form", "the gradients of the nearest units are lost in rounding")
            : ball.finding("theorem3.branch", "closed form", "the ReLU radius against its enclosure"));
    findings.back().level = "rigorous";

    const Matrix hessian = subject.hessian(point.curvature, point.state);
    const Matrix allowed = rounding_of_hessian(point.network, point.state);
    const auto triangle = curvature.enclose_hessian(exact, bits);
    Worst curved;
    for (std::size_t i = 0; i < triangle.size(); ++i)
        for (std::size_t k = 0; k < triangle[i].size(); ++k) {
            const auto row = static_cast<Index>(i), column = static_cast<Index>(i + k);
            for (const auto& [r, c] : {std::pair{row, column}, std::pair{column, row}})
                curved.offer(distance(hessian(r, c), triangle[i][k]), allowed(r, c),
                             [r = r, c = c] { return fmt::format("entry {},{}", r, c); });
        }
    findings.push_back(enclosed(curved, "theorem3.hessian", "the Hessian in doubles against its enclosure"));
}

}  // namespace certicone::verify
