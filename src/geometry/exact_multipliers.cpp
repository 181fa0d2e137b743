#include "geometry/exact_multipliers.hpp"

namespace certicone {

namespace {

using Numbers = VectorOf<Dyadic>;

Dyadic square(const Numbers& x) { return dot(x, x); }
Dyadic square(const Vector& x) { return square(Numbers(x.cast<Dyadic>())); }

std::vector<Numbers> exact(const std::vector<Vector>& blocks) {
    std::vector<Numbers> result;
    for (const Vector& block : blocks)
        result.push_back(block.cast<Dyadic>());
    return result;
}

bool inside(const Vector& r, double lambda) { return !(square(r) > Dyadic(lambda) * lambda); }

Vector into_ball(const Vector& r, double lambda) {
    if (inside(r, lambda)) return r;
    const Vector direction = r / norm<double>(r);
    Vector result = lambda * direction;
    for (double shrunk = lambda, step = 0x1p-53; !inside(result, lambda) && shrunk > 0.0; step *= 2.0) {
        shrunk = std::max(std::nextafter(shrunk * (1.0 - step), 0.0), 0.0);
        result = shrunk * direction;
    }
    return result;
}

}  // namespace

bool exactly_feasible(const Network& network, const Multipliers& xi) {
    const std::vector<Numbers> nu = exact(xi.nu);
    for (std::size_t l = 0; l < nu.size(); ++l) {
        const Numbers bound = exact_upper_bound(network, nu, l);
        for (Index i = 0; i < bound.size(); ++i)
            if (nu[l](i).sign() < 0 || nu[l](i) > bound(i)) return false;
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (!inside(xi.r[g], network.conic[g].lambda)) return false;
    return true;
}

Multipliers repair_exactly(const Network& network, const Multipliers& xi) {
    Multipliers repaired = xi;
    std::vector<Numbers> nu(network.layers.size());
    for (std::size_t l = nu.size(); l-- > 0;) {
        nu[l] = exact_upper_bound(network, nu, l);
        for (Index i = 0; i < nu[l].size(); ++i) {
            double& entry = repaired.nu[l](i);
            entry = std::clamp(entry, 0.0, nu[l](i).to_double_down());
            nu[l](i) = entry;
        }
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        repaired.r[g] = into_ball(xi.r[g], network.conic[g].lambda);
    return repaired;
}

Enclosure enclose_psi(const Network& network, const Vector& y, const Multipliers& xi, slong bits) {
    const Numbers point = y.cast<Dyadic>();
    Dyadic sum = Dyadic(network.b0) + dot(network.v, point);
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        sum += dot(xi.nu[l], affine(network.layers[l].W, point, network.layers[l].b));
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        sum += dot(xi.p[h], affine(network.quadratic[h].B, point, network.quadratic[h].e));
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        sum += dot(xi.r[g], affine(network.conic[g].A, point, network.conic[g].d));
    Enclosure result(sum);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        result -= quotient_enclosure(square(xi.p[h]), Dyadic(network.quadratic[h].alpha).shifted(1), bits);
    return result;
}

InferenceBound enclose_inference(const ExactPoint& point, const Vector& y, double beta, const Multipliers& xi,
                                 slong bits) {
    const Network& network = *point.network;
    Numbers slope = network.v.cast<Dyadic>();
    const auto add = [&](const Matrix& M, const Vector& multiplier) {
        add_product(Matrix(M.transpose()), Numbers(multiplier.cast<Dyadic>()), slope);
    };
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        add(network.layers[l].W, xi.nu[l]);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        add(network.quadratic[h].B, xi.p[h]);
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        add(network.conic[g].A, xi.r[g]);
    const Enclosure lost = quotient_enclosure(square(slope), Dyadic(beta).shifted(1), bits);
    const Numbers step = point.x - y.cast<Dyadic>();
    return {enclose_psi(network, y, xi, bits).lower - lost.upper,
            enclose_value(point, bits).upper + (Dyadic(beta) * square(step)).shifted(-1)};
}

}  // namespace certicone
