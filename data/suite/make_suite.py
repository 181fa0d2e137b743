#!/usr/bin/env python3
"""Writes the suite: NAME.network.json, NAME.points.json and README.md, into this script's folder (or the folder given).

Networks are small and each is there for a reason, which the README's table gives. Nothing but the standard library is used,
random numbers come from SplitMix64 below and never from a library, and no libm function but sqrt (correctly rounded) is used,
so a second run writes the same bytes on every machine.

Everything is computed in Fractions. Every number written is a double's exact value (asserted), and is written by repr, so
that it reads back to the same double. Degenerate points are constructed, not searched for with a tolerance: offsets are
chosen so that a preactivation or a residual vanishes at a chosen point (Network.vanish, Network.target), or the point is
solved for by exact elimination (network `solved`). Then one exact forward pass a point establishes

    relu           the units [layer, unit] whose preactivation is zero
    conic          the modules g with A x + d = 0
    quadratic      the modules h with B x + e = 0 (not a degeneracy, but the scaling of a module by its residual stumbles there)
    unique         whether D*(x) is a single point: no zero unit with a positive upper bound (the bounds taken with nu as large
                   as D*(x) lets it be), and no zero residual with lambda > 0
    differentiable whether f is, at x: f'(x;e_j) + f'(x;-e_j) = 0 for every j, exactly (the directions along which a sublinear
                   function is linear are a subspace)

which NAME.points.json carries under `expected`, and which is asserted against what each network claims. Where a network is
marked exact, also asserted: every sum of the forward pass is exact in doubles, in any order, so zeros are zeros there too.
"""
import json
import math
import os
import sys
from fractions import Fraction as F


# ---------------------------------------------------------------------------------------------------------------- numbers

class Random:
    """SplitMix64; draws are dyadic (or decimal, for realism), never rounded."""

    def __init__(self, seed):
        self.state = seed

    def word(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def integer(self, low, high):
        return low + self.word() % (high - low + 1)

    def grid(self, low, high, bits):
        """A multiple of 2^-bits in [low, high]."""
        return F(self.integer(low << bits, high << bits), 1 << bits)

    def decimal(self, low, high, digits=4):
        """The double nearest to a decimal with so many digits in [low, high]: not dyadic on any short grid."""
        return F(float(F(self.integer(low * 10**digits, high * 10**digits), 10**digits)))

    def bell(self, digits=4):
        """A decimal of about normal size: the mean of 12 in [-1, 1], scaled to variance 1 (roughly)."""
        total = sum(self.integer(-10**digits, 10**digits) for _ in range(12))
        return F(float(F(total, 2 * 10**digits)))

    def vector(self, n, draw):
        return [draw() for _ in range(n)]

    def matrix(self, m, n, draw):
        return [self.vector(n, draw) for _ in range(m)]

    def choice(self, values):
        return values[self.integer(0, len(values) - 1)]


def fractions(values):
    return [fractions(v) if isinstance(v, (list, tuple)) else F(v) for v in values]


def dot(a, b):
    return sum((p * q for p, q in zip(a, b)), F(0))


def double(value):
    result = float(value)
    assert F(result) == value, f"{value} is not a double"
    return result


def doubles(values):
    return [doubles(v) if isinstance(v, list) else double(v) for v in values]


def exact_sum(terms):
    """Whether a sum of products is exact in doubles in any order: all terms on one grid, their sizes together below 2^53 of it."""
    terms = [t for t in terms if t]
    if not terms:
        return True
    grid = max(t.denominator for t in terms)  # powers of two, so the largest is common to all
    return all(t.denominator & (t.denominator - 1) == 0 for t in terms) and sum(abs(t) for t in terms) * grid < 2**53


def solve(rows, right):
    """Exact elimination; None if singular."""
    n = len(rows)
    m = [list(r) + [s] for r, s in zip(rows, right)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if m[i][k]), None)
        if pivot is None:
            return None
        m[k], m[pivot] = m[pivot], m[k]
        m[k] = [v / m[k][k] for v in m[k]]
        for i in range(n):
            if i != k and m[i][k]:
                m[i] = [a - m[i][k] * b for a, b in zip(m[i], m[k])]
    return [row[n] for row in m]


# ---------------------------------------------------------------------------------------------------------------- networks

class Network:
    def __init__(self, name, covers, special, input_dim, exact=True, keys=True):
        self.name, self.covers, self.special, self.input_dim = name, covers, special, input_dim
        self.exact = exact  # the forward pass is exact in doubles
        self.keys = keys    # whether empty module lists are written
        self.layers = []    # (W, U or None, b)
        self.c, self.v, self.b0 = [], [F(0)] * input_dim, F(0)
        self.quadratic, self.conic = [], []  # (alpha, B, e), (lambda, A, d)
        self.points, self.notes, self.claims = [], [], []

    # building

    def layer(self, W, b, U=None):
        assert (U is None) == (not self.layers)
        self.layers.append((fractions(W), None if U is None else fractions(U), fractions(b)))
        return self

    def head(self, c, v=None, b0=0):
        self.c, self.b0 = fractions(c), F(b0)
        if v is not None:
            self.v = fractions(v)
        return self

    def quad(self, alpha, B, e):
        self.quadratic.append((F(alpha), fractions(B), fractions(e)))
        return self

    def norm(self, lam, A, d):
        self.conic.append((F(lam), fractions(A), fractions(d)))
        return self

    def target(self, x, units):
        """Chooses the offsets of units {(l, i): value} so that their preactivations have these values at x."""
        for (l, i), value in sorted(units.items()):
            self.layers[l][2][i] = F(0)
            self.layers[l][2][i] = F(value) - self.forward(x, l + 1)[l][i]

    def vanish(self, *claims):
        """Zero preactivations by choice of offsets: claims (x, [(l, i), ...]), layer by layer over all claims."""
        for l in range(len(self.layers)):
            for x, units in claims:
                self.target(x, {u: 0 for u in units if u[0] == l})

    def vanish_norm(self, x, *modules):
        for g in modules:
            lam, A, d = self.conic[g]
            self.conic[g] = (lam, A, [-dot(row, x) for row in A])

    def vanish_quad(self, x, *modules):
        for h in modules:
            alpha, B, e = self.quadratic[h]
            self.quadratic[h] = (alpha, B, [-dot(row, x) for row in B])

    def at(self, x, note, relu=None, conic=None, unique=None, differentiable=None):
        """A point, and what is claimed of it: relu and conic as lists or as counts; asserted by check()."""
        self.points.append(fractions(x))
        self.notes.append(note)
        self.claims.append({"relu": relu, "conic": conic, "unique": unique, "differentiable": differentiable})
        return self

    # exact forward pass and what follows from it

    def forward(self, x, layers=None):
        """Preactivations of the first layers."""
        result, z = [], []
        for W, U, b in self.layers[:layers]:
            a = [dot(w, x) + (dot(U[i], z) if U else 0) + b[i] for i, w in enumerate(W)]
            result.append(a)
            z = [max(t, F(0)) for t in a]
        return result

    def residuals(self, modules, x):
        return [[dot(row, x) + t for row, t in zip(M, offset)] for _, M, offset in modules]

    def value(self, x):
        """f(x), for people: the norms are rounded."""
        a = self.forward(x)
        total = dot(self.c, [max(t, F(0)) for t in a[-1]]) + dot(self.v, x) + self.b0
        total += sum(m[0] / 2 * dot(q, q) for m, q in zip(self.quadratic, self.residuals(self.quadratic, x)))
        return float(total) + sum(float(m[0]) * math.sqrt(dot(u, u))
                                  for m, u in zip(self.conic, self.residuals(self.conic, x)))

    def relu_slope(self, a, direction):
        """Directional derivative of c^T z_L (the max-readout, swept forward)."""
        z = []
        for (W, U, _), al in zip(self.layers, a):
            t = [dot(w, direction) + (dot(U[i], z) if U else 0) for i, w in enumerate(W)]
            z = [ti if ai > 0 else max(ti, F(0)) if ai == 0 else F(0) for ti, ai in zip(t, al)]
        return dot(self.c, z)

    def expected(self, x):
        a = self.forward(x)
        zero = [[l, i] for l, al in enumerate(a) for i, t in enumerate(al) if t == 0]
        u = self.residuals(self.conic, x)
        zero_norms = [g for g, r in enumerate(u) if not any(r)]
        zero_quads = [h for h, r in enumerate(self.residuals(self.quadratic, x)) if not any(r)]
        # upper bounds with nu as large as D*(x) lets it be
        unique, bound = True, self.c
        for l in range(len(a) - 1, -1, -1):
            unique = unique and not any(t == 0 and s > 0 for t, s in zip(a[l], bound))
            nu = [s if t >= 0 else F(0) for t, s in zip(a[l], bound)]
            if l:
                U = self.layers[l][1]
                bound = [sum((U[i][j] * nu[i] for i in range(len(nu))), F(0)) for j in range(len(a[l - 1]))]
        kinked = [g for g in zero_norms if self.conic[g][0] > 0]
        smooth = not any(any(map(any, self.conic[g][1])) for g in kinked)
        for j in range(self.input_dim):
            e = [F(int(k == j)) for k in range(self.input_dim)]
            smooth = smooth and self.relu_slope(a, e) + self.relu_slope(a, [-t for t in e]) == 0
        assert smooth or not (unique and not kinked), "Proposition 2"
        return {"relu": zero, "conic": zero_norms, "quadratic": zero_quads, "unique": unique and not kinked,
                "differentiable": smooth}

    # checks and files

    def check(self):
        n, before = self.input_dim, 0
        for l, (W, U, b) in enumerate(self.layers):
            assert W and len(b) == len(W) and all(len(w) == n for w in W), (self.name, l)
            if l:
                assert len(U) == len(W) and all(len(u) == before for u in U) and min(map(min, U)) >= 0, (self.name, l)
            before = len(W)
        assert len(self.c) == before and min(self.c) >= 0 and len(self.v) == n
        for modules, positive in ((self.quadratic, True), (self.conic, False)):
            for weight, M, offset in modules:
                assert (weight > 0 if positive else weight >= 0) and M and len(offset) == len(M)
                assert all(len(row) == n for row in M)
        assert 4 <= len(self.points) <= 12 and len(set(map(tuple, self.points))) == len(self.points), self.name
        for k, (x, claim) in enumerate(zip(self.points, self.claims)):
            assert len(x) == n
            found = self.expected(x)
            for key, value in claim.items():
                got = found[key]
                if isinstance(value, int) and not isinstance(value, bool):
                    got = len(got)
                elif isinstance(value, list):
                    got, value = [tuple(t) if isinstance(t, list) else t for t in got], list(value)
                assert value is None or got == value, (self.name, k, key, "claimed", value, "found", got)
            if self.exact:
                self.check_doubles(k, x)

    def check_doubles(self, k, x):
        """Every sum exact in any order, and the plain double forward pass equal to the exact one."""
        z, fx, fz = [], doubles(x), []
        for l, ((W, U, b), a) in enumerate(zip(self.layers, self.forward(x))):
            fa = []
            for i, w in enumerate(W):
                terms = [p * q for p, q in zip(w, x)] + [p * q for p, q in zip(U[i] if U else [], z)] + [b[i]]
                assert exact_sum(terms), (self.name, k, l, i)
                fa.append(sum(p * q for p, q in zip(doubles(w), fx))
                          + sum(p * q for p, q in zip(doubles(U[i]) if U else [], fz)) + double(b[i]))
            assert [F(t) for t in fa] == a
            z, fz = [max(t, F(0)) for t in a], [max(t, 0.0) for t in fa]
        for _, M, offset in self.quadratic + self.conic:
            assert all(exact_sum([p * q for p, q in zip(row, x)] + [t]) for row, t in zip(M, offset)), (self.name, k)

    def write(self, folder):
        doc = {"format": "soc-icnn/1", "name": self.name, "input_dim": self.input_dim, "layers": [], "c": doubles(self.c),
               "v": doubles(self.v), "b0": double(self.b0)}
        for W, U, b in self.layers:
            doc["layers"].append({"W": doubles(W), "b": doubles(b)} if U is None else
                                 {"W": doubles(W), "U": doubles(U), "b": doubles(b)})
        if self.quadratic or self.keys:
            doc["quadratic"] = [{"alpha": double(w), "B": doubles(M), "e": doubles(t)} for w, M, t in self.quadratic]
        if self.conic or self.keys:
            doc["conic"] = [{"lambda": double(w), "A": doubles(M), "d": doubles(t)} for w, M, t in self.conic]
        points = {"points": doubles(self.points),
                  "expected": [dict(self.expected(x), note=note) for x, note in zip(self.points, self.notes)]}
        for ending, content in (("network", doc), ("points", points)):
            with open(os.path.join(folder, f"{self.name}.{ending}.json"), "w", encoding="utf-8", newline="\n") as out:
                out.write(json.dumps(content, ensure_ascii=False) + "\n")


SUITE = []


def network(*arguments, **options):
    SUITE.append(Network(*arguments, **options))
    return SUITE[-1]


def draw(net, rng, widths, bits=2):
    """Dyadic layers, c and v: W in [-1, 1] without zero rows, U in [0, 1], multiples of 2^-bits; b about [-1, 1], odd multiples
    of half of the grid of Wx at points of point(), so that no unit of layer 0 vanishes by accident."""
    for l, width in enumerate(widths):
        W = []
        while len(W) < width:
            row = rng.vector(net.input_dim, lambda: rng.grid(-1, 1, bits))
            W += [row] if any(row) else []
        b = rng.vector(width, lambda: rng.grid(-1, 1, bits + 4) + F(1, 2 ** (bits + 5)))
        U = rng.matrix(width, widths[l - 1], lambda: rng.grid(0, 1, bits)) if l else None
        net.layer(W, b, U)
    net.head(rng.vector(widths[-1], lambda: F(1, 2) + rng.grid(0, 1, 2) / 2),
             rng.vector(net.input_dim, lambda: rng.grid(-1, 1, 2)), rng.grid(-1, 1, 2))
    return net


def draw_quad(net, rng, alpha, rows, bits=2):
    return net.quad(alpha, rng.matrix(rows, net.input_dim, lambda: rng.grid(-1, 1, bits)),
                    rng.vector(rows, lambda: rng.grid(-1, 1, bits)))


def draw_norm(net, rng, lam, rows, bits=2):
    return net.norm(lam, rng.matrix(rows, net.input_dim, lambda: rng.grid(-1, 1, bits)),
                    rng.vector(rows, lambda: rng.grid(-1, 1, bits)))


def point(rng, n):
    """A point in [-2, 2]^n, multiples of 2^-4."""
    return rng.vector(n, lambda: rng.grid(-2, 2, 4))


def thin(rng, net, keep=2):
    """Keeps one entry of U in so many (and never an empty row), halving growth and adding zeros."""
    for _, U, _ in net.layers[1:]:
        for row in U:
            for j in range(len(row)):
                if rng.integer(1, keep) > 1:
                    row[j] = F(0)
            if not any(row):
                row[rng.integer(0, len(row) - 1)] = F(1)


half, quarter = F(1, 2), F(1, 4)


# --------------------------------------------------------------------------------------------------- smallest networks

def one_unit():
    net = network("one_unit", "one unit; q = 0 and u = 0", "the smallest network with every part; each part is degenerate alone "
                  "and all are at once", 2)
    net.layer([[1, -2]], [1]).head([F(3, 2)], [half, -quarter], -1)
    net.quad(2, [[1, 1], [half, -1]], [-1, F(-5, 4)])          # zero at (3/2, -1/2)
    net.norm(F(3, 4), [[1, 0], [0, 2]], [-1, -2])              # zero at (1, 1)
    net.at([0, 0], "generic, active", [], []).at([-3, 1], "generic, inactive", [], [])
    net.at([1, 1], "unit and norm at once", [(0, 0)], [0], False, False)
    net.at([-1, 0], "unit only", [(0, 0)], [], False, False)
    net.at([F(3, 2), -half], "quadratic residual zero", [], [], True, True)
    net.at([2, F(3, 2)], "unit, away from the norm's kink", [(0, 0)], [], False, False)


def ramp():
    net = network("ramp", "one input, one unit, neither kind of module (keys absent)", "f = max(x, 0) and nothing else, down to "
                  "x = 2^-40", 1, keys=False)
    net.layer([[1]], [0]).head([1])
    net.at([-1], "left", [], []).at([0], "the kink", [(0, 0)], [], False, False).at([1], "right", [], [])
    net.at([F(1, 2**40)], "just right").at([-F(1, 2**40)], "just left").at([2**20], "far right")


def one_input():
    net = network("one_input", "one input; widening 2, 3, 4", "knots of three layers, several at x = 1/2; a norm is an absolute "
                  "value and a quadratic a parabola", 1)
    draw(net, Random(1), [2, 3, 4], bits=2)
    net.quad(half, [[1], [-half]], [quarter, 1]).norm(1, [[2], [1]], [-1, -half]).norm(half, [[1]], [2])
    net.vanish(([half], [(0, 0), (1, 1), (2, 0), (2, 3)]), ([F(-1)], [(0, 1), (2, 2)]))
    net.at([half], "knots in three layers and u = 0", 4, [0], False, False).at([-1], "another two knots", 2, [], None, False)
    net.at([-2], "the second norm's kink", [], [1], False, False).at([F(7, 4)], "generic").at([-5], "generic")
    net.at([F(1, 8)], "generic")


# -------------------------------------------------------------------------------------------------------- missing parts

def missing():
    for name, covers, special, quads, norms in (
            ("no_quadratic", "no quadratic module", "ReLU and norms only: p is empty", 0, 2),
            ("no_conic", "no conic module", "ReLU and quadratics only: r is empty", 2, 0),
            ("no_modules", "neither kind of module (empty lists)", "the LP alone: SOC-ICNN without SOC; every block but "
             "nu is empty", 0, 0)):
        net = network(name, covers, special, 4)
        rng = Random(10 + quads + 2 * norms)
        draw(net, rng, [6, 5, 4], bits=2)
        for h in range(quads):
            draw_quad(net, rng, F(h + 1, 2), 3)
        for g in range(norms):
            draw_norm(net, rng, F(3 * g + 1, 4), 3 - g)
        xs = [point(rng, 4) for _ in range(7)]
        net.vanish((xs[0], [(0, 0), (1, 1), (2, 2)]), (xs[1], [(0, 3), (0, 4), (1, 0)]))
        if norms:
            net.vanish_norm(xs[0], 0)
            net.vanish_norm(xs[2], 1)
        if quads:
            net.vanish_quad(xs[2], 0)
        net.at(xs[0], "a zero unit in each layer", 3, int(norms > 0)).at(xs[1], "zero units in two layers", 3)
        net.at(xs[2], "a zero residual", 0, int(norms > 0))
        for x in xs[3:]:
            net.at(x, "generic", 0, 0)


def idle():
    net = network("idle_backbone", "every unit inactive over the box of the points", "f is affine plus modules near all points: nu = 0 "
                  "throughout, all of the slope is v, p and r", 3)
    rng = Random(14)
    draw(net, rng, [4, 3], bits=2)
    for _, _, b in net.layers:
        b[:] = [F(-64) for _ in b]
    draw_quad(net, rng, 1, 3)
    draw_norm(net, rng, 1, 2)
    x = point(rng, 3)
    net.vanish_norm(x, 0)
    net.at(x, "u = 0 with all units inactive", [], [0], False, False)
    for _ in range(4):
        net.at(point(rng, 3), "generic", [], [])


# ---------------------------------------------------------------------------------------------------------------- zeros

def zero_lambda():
    net = network("zero_lambda", "lambda = 0", "modules of weight zero, with and without u = 0 (their r is 0 and unique), beside one of "
                  "weight 3/2", 3)
    rng = Random(20)
    draw(net, rng, [4, 3], bits=2)
    draw_quad(net, rng, 1, 2)
    for lam in (0, F(3, 2), 0):
        draw_norm(net, rng, lam, 2)
    xs = [point(rng, 3) for _ in range(3)]
    net.vanish_norm(xs[0], 0)
    net.vanish_norm(xs[1], 1, 2)
    net.vanish((xs[2], [(0, 1), (1, 0)]))
    net.at(xs[0], "u = 0 of weight zero: degenerate by definition, D* single", [], [0], True, True)
    net.at(xs[1], "u = 0 of weights 3/2 and zero", [], [1, 2], False, False)
    net.at(xs[2], "zero units", 2, [])
    for _ in range(3):
        net.at(point(rng, 3), "generic", [], [])
    net = network("all_zero_lambda", "every lambda = 0; u = 0", "the conic part vanishes altogether, yet has residuals and a "
                  "kink that is none", 2)
    net.layer([[1, 1], [1, -1]], [0, 1]).head([1, half], [quarter, 0])
    net.norm(0, [[1, 0], [0, 1]], [0, 0]).norm(0, [[2, 1]], [1])
    net.at([0, 0], "u = 0 and a zero unit", [(0, 0)], [0], False, False)
    net.at([half, -2], "second residual zero", [], [1], True, True)
    net.at([1, 1], "generic", [], []).at([-2, half], "generic", [], [])


def zero_columns():
    net = network("zero_columns", "zero columns and zero rows of U; hidden kinks", "units that reach nothing (ub = 0): where they are "
                  "degenerate, nu = 0 is still unique and f smooth", 3)
    rng = Random(23)
    draw(net, rng, [6, 5, 4], bits=2)
    for l, columns, rows in ((1, (1, 4), (2,)), (2, (0, 2), (3,))):
        U = net.layers[l][1]
        for i, row in enumerate(U):
            for j in range(len(row)):
                if j in columns or i in rows:
                    row[j] = F(0)
    draw_norm(net, rng, 1, 2)
    draw_quad(net, rng, 1, 2)
    xs = [point(rng, 3) for _ in range(6)]
    net.vanish((xs[0], [(0, 1), (0, 4), (1, 0), (1, 2)]), (xs[1], [(0, 0), (0, 2), (2, 3)]))
    net.at(xs[0], "only units that reach nothing are zero", [(0, 1), (0, 4), (1, 0), (1, 2)], [], True, True)
    net.at(xs[1], "units that reach the output are zero", 3, [], False, False)
    for x in xs[2:]:
        net.at(x, "generic", 0, 0)


def zero_c():
    net = network("zero_c", "c with zeros", "half of the last layer's units do not count; a zero preactivation of such a unit is no "
                  "kink", 3)
    rng = Random(24)
    draw(net, rng, [4, 6], bits=2)
    net.c = fractions([1, 0, half, 0, 0, F(3, 4)])
    draw_quad(net, rng, half, 2)
    draw_norm(net, rng, half, 3)
    xs = [point(rng, 3) for _ in range(6)]
    net.vanish((xs[0], [(1, 1), (1, 3)]), (xs[1], [(1, 0), (1, 4), (0, 2)]))
    net.at(xs[0], "zero units of weight zero", [(1, 1), (1, 3)], [], True, True).at(xs[1], "zero units of either sort", 3, [], False)
    for x in xs[2:]:
        net.at(x, "generic", 0, 0)
    net = network("all_zero_c", "c = 0 entirely", "the ReLU part vanishes though it is degenerate: nu = 0 is unique at every point", 2)
    rng = Random(25)
    draw(net, rng, [3, 2], bits=2)
    net.c = [F(0), F(0)]
    draw_quad(net, rng, 1, 2)
    x = point(rng, 2)
    net.vanish((x, [(0, 0), (0, 1), (1, 0), (1, 1)]))
    net.at(x, "zero units in both layers", 4, [], True, True)
    for _ in range(3):
        net.at(point(rng, 2), "generic", [], [])


# ---------------------------------------------------------------------------------------------------------- deep and wide

def deep():
    net = network("depth8", "depth 8; zero units in every layer", "8 layers of 4: one point has a zero unit in each layer, another two "
                  "in each of the last four", 3)
    rng = Random(80)
    draw(net, rng, [4] * 8, bits=1)
    thin(rng, net)
    draw_quad(net, rng, half, 2)
    draw_norm(net, rng, 1, 2)
    xs = [point(rng, 3) for _ in range(7)]
    net.vanish((xs[0], [(l, 0) for l in range(8)]), (xs[1], [(l, i) for l in range(4, 8) for i in (1, 2)]))
    net.at(xs[0], "a zero unit in each of 8 layers", 8, [], False).at(xs[1], "two in each of the last four", 8, [], False)
    for x in xs[2:]:
        net.at(x, "generic", 0, 0)
    net = network("deep_degenerate", "depth 6, zero units in every layer and u = 0 of two norms at once", "the product structure of D*(x) "
                  "at full length: nested intervals through six layers times two balls", 4)
    rng = Random(100)
    draw(net, rng, [5, 5, 4, 4, 3, 3], bits=1)
    thin(rng, net)
    draw_quad(net, rng, 1, 3)
    for rows in (4, 2, 3):
        draw_norm(net, rng, F(rows, 4), rows)
    xs = [point(rng, 4) for _ in range(6)]
    net.vanish((xs[0], [(l, i) for l in range(6) for i in range(2)]), (xs[1], [(l, 2) for l in range(6)]))
    net.vanish_norm(xs[0], 0, 1)
    net.vanish_norm(xs[1], 2)
    net.at(xs[0], "two zero units a layer, two zero residuals", 12, [0, 1], False, False)
    net.at(xs[1], "one zero unit a layer, one zero residual", 6, [2], False, False)
    for x in xs[2:]:
        net.at(x, "generic", 0, 0)


def narrowing():
    net = network("narrowing", "narrowing widths 16, 8, 4, 2, 1", "a funnel to one unit: where the last unit is inactive all of nu is zero, "
                  "however active the others are", 5)
    rng = Random(102)
    draw(net, rng, [16, 8, 4, 2, 1], bits=2)
    thin(rng, net)
    draw_quad(net, rng, quarter, 3)
    draw_norm(net, rng, half, 3)
    xs = [point(rng, 5) for _ in range(8)]
    net.vanish((xs[0], [(0, i) for i in range(0, 16, 4)] + [(1, 0), (2, 0), (3, 0)]), (xs[1], [(0, 1), (3, 1), (4, 0)]))
    last = [net.forward(x)[4][0] for x in xs[2:]]
    assert min(last) < 0 < max(last)
    net.at(xs[0], "zero units in four layers", 7, []).at(xs[1], "the last unit is zero: everything hangs on its nu", 3, [], False)
    for x in xs[2:]:
        net.at(x, "generic", 0, 0)


def wide():
    net = network("wide", "1 layer of 64 units", "shallow and wide; 16 units vanish at once at one point, one at another", 8)
    rng = Random(33)
    draw(net, rng, [64], bits=3)
    draw_quad(net, rng, half, 4)
    draw_norm(net, rng, half, 4)
    xs = [point(rng, 8) for _ in range(6)]
    net.vanish((xs[0], [(0, i) for i in range(0, 64, 4)]), (xs[1], [(0, 1)]))
    net.at(xs[0], "16 zero units", 16, []).at(xs[1], "one zero unit", 1, [])
    for x in xs[2:]:
        net.at(x, "generic", 0, 0)


def realistic():
    net = network("realistic", "4 layers of 24, decimals", "sizes and weights as of a trained network, not dyadic; degenerate points by "
                  "sparse inputs, where a product is exact", 10, exact=False)
    rng = Random(34)
    n = 10
    for l in range(4):
        W = [[F(round(float(rng.bell()) * 3000), 10**4) for _ in range(n)] for _ in range(24)]
        U = [[max(F(rng.integer(-2000, 2000), 10**4), F(0)) for _ in range(24)] for _ in range(24)] if l else None
        b = [F(round(float(rng.bell()) * 3000), 10**4) for _ in range(24)]
        rounded = lambda M: [[F(float(t)) for t in row] for row in M]
        net.layer(rounded(W), [F(float(t)) for t in b], rounded(U) if l else None)
    net.head([F(float(F(rng.integer(1000, 11000), 10**4))) for _ in range(24)], rng.vector(n, lambda: rng.decimal(-1, 1)),
             F(0.3172))
    for alpha, rows in ((F(0.7), 5), (F(0.05), 8)):
        net.quad(alpha, rng.matrix(rows, n, lambda: rng.decimal(-1, 1)), rng.vector(rows, lambda: rng.decimal(-1, 1)))
    for lam, rows in ((F(0.9), 5), (F(0.25), 8)):
        net.norm(lam, rng.matrix(rows, n, lambda: rng.decimal(-1, 1)), rng.vector(rows, lambda: rng.decimal(-1, 1)))
    sparse = [F(int(j == 3)) for j in range(n)]
    twice = [F(2 * int(j == 7)) for j in range(n)]
    net.vanish((sparse, [(0, 0), (0, 5), (0, 11)]), (twice, [(0, 7)]))
    net.vanish_norm(sparse, 0)
    net.vanish_norm(twice, 1)
    net.at(sparse, "three zero units of layer 0 and u = 0", 3, [0]).at(twice, "one and another", 1, [1])
    for _ in range(6):
        net.at(rng.vector(n, rng.bell), "generic", 0, 0)


# ---------------------------------------------------------------------------------------------------------------- scales

def alphas():
    rng = Random(40)
    net = network("alpha_range", "alpha from 1e-7 to 1e6 in one network", "eight modules, 13 orders of magnitude apart; q = 0 of three at one "
                  "point", 4)
    draw(net, rng, [5, 4], bits=2)
    for alpha in (1e-7, 1e-5, 1e-3, 0.1, 1.0, 1e2, 1e4, 1e6):
        draw_quad(net, rng, F(alpha), 2)
    draw_norm(net, rng, 1, 3)
    xs = [point(rng, 4) for _ in range(7)]
    net.vanish((xs[0], [(0, 0), (1, 2)]))
    net.vanish_quad(xs[1], 0, 4, 7)
    net.vanish_norm(xs[2], 0)
    net.at(xs[0], "zero units", 2, []).at(xs[1], "q = 0 of alpha 1e-7, 1 and 1e6", 0, []).at(xs[2], "u = 0", 0, [0])
    for x in xs[3:]:
        net.at(x, "generic", 0, 0)
    for name, alpha, words in (("alpha_tiny", 1e-7, "1e-7"), ("alpha_huge", 1e6, "1e6")):
        net = network(name, f"alpha = {words} alone", "the only module has this weight; also q = 0, and q of size 2^-20", 3)
        draw(net, rng, [4, 3], bits=2)
        draw_quad(net, rng, F(alpha), 3)
        draw_norm(net, rng, half, 2)
        xs = [point(rng, 3) for _ in range(5)]
        net.vanish((xs[0], [(0, 1), (1, 1)]))
        net.vanish_quad(xs[1], 0)
        net.at(xs[0], "zero units", 2, []).at(xs[1], "q = 0", 0, [])
        net.at([xs[1][0] + F(1, 2**20)] + xs[1][1:], "q about 1e-6")
        for x in xs[2:]:
            net.at(x, "generic", 0, 0)


def lambdas():
    net = network("lambda_range", "lambda from 1e-6 to 1e6 in one network", "six norms, 12 orders of magnitude apart; five vanish at one point, "
                  "the sixth, a large one, at another", 3)
    rng = Random(42)
    draw(net, rng, [4, 3], bits=2)
    x, y = point(rng, 3), point(rng, 3)
    for lam in (1e-6, 1e-3, 1.0, 1e3, 1e6):
        draw_norm(net, rng, F(lam), 2)
    net.vanish_norm(x, *range(5))
    net.norm(F(1e6), [[1, half, -1]], [0])
    net.vanish_norm(y, 5)
    net.vanish((y, [(0, 0), (1, 0)]))
    net.at(x, "u = 0 of five norms, all sizes", 0, [0, 1, 2, 3, 4], False, False).at(y, "u = 0 of one, and zero units", 2, [5], False, False)
    net.at([x[0] + F(1, 2**30)] + x[1:], "u about 1e-9, but zero where A does not see the first input", 0, 1, False, False)
    for _ in range(3):
        net.at(point(rng, 3), "generic", 0, 0)


def growth():
    def build(name, covers, special):
        net = network(name, covers, special, 4)
        rng = Random(43)
        draw(net, rng, [6] * 8, bits=1)
        for _, U, _ in net.layers[1:]:
            for row in U:
                for j in range(6):
                    row[j] = rng.grid(0, 3, 2) + quarter
        draw_quad(net, rng, half, 3)
        draw_norm(net, rng, 1, 3)
        xs = [point(rng, 4) for _ in range(7)]
        net.vanish((xs[0], [(l, 0) for l in range(8)]), (xs[1], [(6, 1), (6, 2), (7, 3), (7, 4)]))
        return net, xs
    net, xs = build("growth", "growth to 1e7 through depth 8", "values about 1e7 from inputs of size 1, offsets of zero units up to 6e6")
    net.at(xs[0], "a zero unit in every layer", 8, [], False).at(xs[1], "zero units of the last two layers", 4, [], False)
    for x in xs[2:]:
        net.at(x, "generic", 0, 0)
    values = [net.value(x) for x in xs]
    assert 1e6 < min(values) and 1e7 < max(values) < 5e7, values
    top = F(int(net.value(xs[2])))
    net, xs = build("growth_cancelled", "growth to 1e7, cancelled by b0", "the same network with b0 = -1.6e7 or so: f is of size 1 at point 2 though its "
                    "terms are 1e7, so nothing may be relative to f")
    net.b0 -= top
    net.at(xs[0], "a zero unit in every layer", 8, [], False).at(xs[1], "zero units of the last two layers", 4, [], False)
    net.at(xs[2], "f of size 1", 0, 0)
    for x in xs[3:]:
        net.at(x, "generic", 0, 0)
    assert abs(net.value(xs[2])) < 2
    net.special = net.special.replace("1.6e7", f"{float(top):.1e}".replace("e+0", "e"))


def input_scales():
    for name, power, covers in (("tiny_inputs", -23, "inputs and offsets of size 1e-7"), ("huge_inputs", 23, "inputs and offsets of size 1e7")):
        net = network(name, covers, f"a network of ordinary weights whose b, d, e and points are times 2^{power}; alpha is times "
                      f"2^{-power}, so that all terms are of one size", 4)
        rng = Random(44)
        scale = F(2) ** power
        draw(net, rng, [6, 5, 4], bits=2)
        draw_quad(net, rng, 1, 3)
        draw_norm(net, rng, 1, 3)
        draw_norm(net, rng, half, 2)
        xs = [point(rng, 4) for _ in range(6)]
        net.vanish((xs[0], [(0, 0), (1, 1), (2, 2)]), (xs[1], [(0, 2), (0, 3)]))
        net.vanish_norm(xs[0], 0)
        net.vanish_norm(xs[1], 1)
        net.layers = [(W, U, [t * scale for t in b]) for W, U, b in net.layers]
        net.b0 *= scale
        net.quadratic = [(a / scale, B, [t * scale for t in e]) for a, B, e in net.quadratic]
        net.conic = [(w, A, [t * scale for t in d]) for w, A, d in net.conic]
        ys = [[t * scale for t in x] for x in xs]
        net.at(ys[0], "zero units in three layers and u = 0", 3, [0], None, False).at(ys[1], "zero units and u = 0", 2, [1], None, False)
        for y in ys[2:]:
            net.at(y, "generic", 0, 0)
    net = network("mixed_scales", "inputs of size 1e-7, 1 and 1e7 at one network", "ordinary weights and alpha = 1, so f is 1e14 at some points and of "
                  "size 1 at others: one set-up must serve both", 3)
    rng = Random(45)
    draw(net, rng, [5, 4], bits=2)
    draw_quad(net, rng, 1, 3)
    draw_norm(net, rng, 1, 2)
    x = point(rng, 3)
    net.vanish((x, [(0, 0), (1, 0)]))
    net.vanish_norm(x, 0)
    net.at(x, "zero units and u = 0", 2, [0], None, False)
    for power in (-23, -10, 0, 10, 23):
        net.at([t * F(2) ** power for t in point(rng, 3)], f"size 2^{power}")
    net.at([F(2) ** 23, F(2) ** -23, F(1)], "all sizes in one point")


# --------------------------------------------------------------------------------------------------------- many degeneracies

def many_zeros():
    def base(name, covers, special):
        net = network(name, covers, special, 5)
        rng = Random(50)
        draw(net, rng, [8, 8, 6, 6], bits=1)
        thin(rng, net)
        draw_quad(net, rng, half, 3)
        draw_norm(net, rng, 1, 3)
        draw_norm(net, rng, half, 2)
        xs = [point(rng, 5) for _ in range(8)]
        net.vanish((xs[0], [(l, i) for l in range(4) for i in range(4)]), (xs[1], [(l, 4) for l in range(4)]),
                   (xs[2], [(0, 5), (0, 6), (0, 7), (1, 5), (1, 6), (1, 7)]), (xs[3], [(3, 5)]))
        net.vanish_norm(xs[0], 0)
        return net, xs, rng
    def finish(net, xs):
        net.at(xs[0], "four zero units in each layer and u = 0", 16, [0], False, False)
        net.at(xs[1], "one in each layer", 4, []).at(xs[2], "three in each of two layers", 6, []).at(xs[3], "one in the last", 1, [], False)
        for x in xs[4:]:
            net.at(x, "generic", 0, 0)
    net, xs, _ = base("many_zeros", "many exactly zero preactivations in four layers", "up to 16 of 28 units vanish at once, with a norm")
    finish(net, xs)
    plain = [net.value(x) for x in xs]
    net, xs, rng = base("rescaled", "badly scaled weights, 2^-20 to 2^20", "the same function as many_zeros, bit for bit: every unit is times a power "
                        "of two, undone in the next layer; only nu differs")
    powers = [[F(2) ** rng.integer(-20, 20) for _ in W] for W, _, _ in net.layers]
    scaled = []
    for l, (W, U, b) in enumerate(net.layers):
        s = powers[l]
        scaled.append(([[t * s[i] for t in w] for i, w in enumerate(W)],
                       [[t * s[i] / powers[l - 1][j] for j, t in enumerate(u)] for i, u in enumerate(U)] if U else None,
                       [t * s[i] for i, t in enumerate(b)]))
    net.layers = scaled
    net.c = [t / s for t, s in zip(net.c, powers[-1])]
    finish(net, xs)
    assert [net.value(x) for x in xs] == plain


def homogeneous():
    net = network("homogeneous", "everything zero at x = 0: all units of four layers, all residuals", "no offsets at all: f is positively homogeneous "
                  "but for its quadratic; points are one ray at sizes 2^-23 to 2^23", 4)
    rng = Random(51)
    draw(net, rng, [5, 5, 4, 4], bits=2)
    for _, _, b in net.layers:
        b[:] = [F(0) for _ in b]
    net.b0 = F(0)
    draw_quad(net, rng, F(1, 2**10), 3)
    draw_norm(net, rng, 1, 4)
    draw_norm(net, rng, half, 2)
    net.vanish_norm([F(0)] * 4, 0, 1)
    net.vanish_quad([F(0)] * 4, 0)
    net.at([0] * 4, "everything is degenerate", 18, [0, 1], False, False)
    x = [F(1), -half, F(3, 4), half]
    for power in (-23, 0, 23):
        net.at([t * F(2) ** power for t in x], f"size 2^{power}", None, [])
    for k in range(3):
        net.at(point(rng, 4), "generic", None, [])
    net.at([0, 0, 0, 1], "an axis").at([0, 0, 0, -1], "and its opposite")


def residuals():
    net = network("vanishing_residuals", "five vanishing residuals at once", "D*(x) is a product of balls, of 1 to 4 dimensions, of which ∂f sees a sum of "
                  "ellipsoids; subsets vanish on affine subspaces", 4)
    rng = Random(52)
    draw(net, rng, [4, 3], bits=2)
    draw_quad(net, rng, half, 2)
    x = point(rng, 4)
    net.norm(1, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [0] * 4)
    net.norm(half, [[1, 1, 0, 0], [0, 0, 1, -1]], [0, 0]).norm(F(3, 4), [[1, -1, 2, 0]], [0])
    net.norm(quarter, [[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 1, 0]], [0] * 3).norm(2, [[1, 0, 0, half]], [0])
    net.vanish_norm(x, 0, 1, 2, 3, 4)
    move = lambda step: [p + F(q) for p, q in zip(x, step)]
    net.vanish((move([0, 0, 0, 3]), [(0, 0)]))
    net.at(x, "all five", [], [0, 1, 2, 3, 4], False, False)
    net.at(move([1, -1, -1, -1]), "those of 1 and 2", None, [1, 2], False, False)
    net.at(move([0, 0, 0, 3]), "those of 2 and 3, and a zero unit", [(0, 0)], [2, 3], False, False)
    net.at(move([1, 0, 0, -2]), "those of 3 and 4", None, [3, 4], False, False)
    for _ in range(3):
        net.at(point(rng, 4), "generic", 0, 0)


def rank_deficient():
    net = network("rank_deficient", "rank-deficient A and B; A = 0 and B = 0", "residuals vanish on lines and planes; A = 0 with d = 0 is a ball of multipliers "
                  "at every point, with f smooth in it: the conic twin of the flat unit", 3)
    rng = Random(53)
    draw(net, rng, [4, 3], bits=2)
    net.quad(1, [[1, -1, 2], [2, -2, 4], [-1, 1, -2]], [1, 2, -1])  # rank 1, and e in its range
    net.quad(half, [[0, 0, 0], [0, 0, 0]], [1, -half]).quad(2, [[1, 0, 1], [0, 0, 0]], [0, 0])
    net.norm(1, [[1, 1, 0], [2, 2, 0], [-1, -1, 0]], [-1, -2, 1])   # rank 1: zero on the plane x0 + x1 = 1
    net.norm(half, [[1, 0, 0], [0, 1, 0], [1, 1, 0]], [0, -1, -1])  # rank 2: zero on the line (0, 1, t)
    net.norm(F(3, 4), [[0, 0, 0], [0, 0, 0]], [0, 0]).norm(quarter, [[0, 0, 0]], [F(3, 2)])
    net.norm(half, [[1, 2, 1], [1, 2, 1]], [1, -1])                 # rank 1, and d out of its range: never zero
    net.at([0, 1, half], "zero on the line and in the plane", None, [0, 1, 2], False, False)
    net.at([3, -2, 1], "zero in the plane", None, [0, 2], False, False)
    net.at([0, 1, -2], "the line again", None, [0, 1, 2], False, False)
    net.at([1, 2, 0], "only A = 0: D* is a ball, f is smooth", [], [2], False, True)
    net.at([-1, half, quarter], "only A = 0", [], [2], False, True).at([2, -3, F(7, 4)], "only A = 0", [], [2], False, True)


# ------------------------------------------------------------------------------------------ degenerate, and what f sees of it

def flat_unit():
    net = network("flat_unit", "a unit with W = 0, b = 0 and weight > 0: the counterexample to the paper's prose", "D*(x) is an interval at every "
                  "point while f is smooth: set-valued multipliers, single subgradient", 2)
    net.layer([[1, half], [0, 0]], [half, 0]).head([1, 2], [quarter, -half])
    net.quad(1, [[1, 0], [half, 1]], [0, -1])
    net.norm(half, [[1, -1]], [quarter])
    net.at([1, 1], "D* an interval, f smooth", [(0, 1)], [], False, True).at([-3, half], "the same, other unit inactive", [(0, 1)], [], False, True)
    net.at([-1, 1], "a true kink beside the flat unit", [(0, 0), (0, 1)], [], False, False)
    net.at([1, F(5, 4)], "the norm's kink beside it", [(0, 1)], [0], False, False).at([0, 0], "the same as the first", [(0, 1)], [], False, True)
    net = network("flat_unit_deep", "W = 0, b = 0 in every layer of three", "each layer has a flat unit; those of layers 0 and 1 feed the next one's: nested "
                  "intervals of multipliers, f smooth", 2)
    net.layer([[1, 1], [0, 0]], [0, 0])
    net.layer([[1, -1], [0, 0]], [quarter, 0], [[half, 1], [0, 1]])
    net.layer([[-1, 0], [0, 0]], [1, 0], [[1, half], [0, 2]])
    net.head([1, F(3, 2)], [0, half]).quad(half, [[1, 2]], [0])
    net.at([1, half], "flat units only", [(0, 1), (1, 1), (2, 1)], [], False, True)
    net.at([-2, 1], "flat units only", [(0, 1), (1, 1), (2, 1)], [], False, True)
    net.at([2, -2], "and a true kink in layer 0", [(0, 0), (0, 1), (1, 1), (2, 1)], [], False, False)
    net.at([F(1, 8), F(5, 8)], "generic but for the flat units", [(0, 1), (1, 1), (2, 1)], [], False, True)


def dead_units():
    net = network("dead_units", "a never-active and an always-zero unit, in three layers", "never active: W = 0, U = 0 or fed by dead units only, b < 0; always "
                  "zero: the same with b = 0 (c and U send them on, so ub > 0)", 3)
    rng = Random(61)
    draw(net, rng, [4, 4, 4], bits=2)
    for l, (W, U, b) in enumerate(net.layers):
        for i, offset in ((2, F(-1)), (3, F(0))):
            W[i] = [F(0)] * 3
            b[i] = offset
            if U:
                U[i] = fractions([0, 0, half, 1])
    draw_quad(net, rng, 1, 2)
    draw_norm(net, rng, half, 2)
    xs = [point(rng, 3) for _ in range(6)]
    net.vanish((xs[0], [(0, 0), (1, 1)]))
    net.vanish_norm(xs[1], 0)
    always = [(0, 3), (1, 3), (2, 3)]
    net.at(xs[0], "true kinks beside them", sorted(always + [(0, 0), (1, 1)]), [], False)
    net.at(xs[1], "u = 0 beside them", always, [0], False, False)
    for x in xs[2:]:
        net.at(x, "only the always-zero units", always, [], False, True)


def hidden_kinks():
    net = network("hidden_kinks", "degenerate units with ub = 0: D*(x) single at a degenerate point", "a kink of layer 0 is hidden by a zero of U (unit 0), by an "
                  "inactive unit above (unit 1), by c = 0 above (unit 2); unit 3's shows", 2)
    net.layer([[1, 0], [1, 1], [1, -1], [1, 2]], [0, 0, 0, 0])
    net.layer([[0, half], [0, 1], [1, 1], [half, 0]], [1, -8, 2, 1], [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    net.head([1, 1, 0, 2], [0, quarter]).norm(half, [[1, 0], [0, 1]], [4, 4])
    net.at([0, 1], "hidden by a zero of U", [(0, 0)], [], True, True)
    net.at([2, -2], "hidden by an inactive unit above; (1,0) is zero and shows", [(0, 1), (1, 0)], [], False, None)
    net.at([1, -1], "hidden by an inactive unit above", [(0, 1)], [], True, True)
    net.at([1, 1], "hidden by c = 0", [(0, 2)], [], True, True).at([2, -1], "not hidden", [(0, 3)], [], False, False)
    net.at([0, 0], "all four at once: only unit 3's shows", [(0, 0), (0, 1), (0, 2), (0, 3)], [], False, False)
    net.at([-8, 8], "above, the unit that hid is zero itself, and unit 1 with it", [(0, 1), (1, 1)], [], False, False)
    net.at([3, 4], "generic", [], [])


def cancelling():
    net = network("cancelling", "kinks that cancel between layers: D*(x) an interval, one subgradient, on a half-space", "unit (1,0) is t + max(-t, 0) = "
                  "max(t, 0) of t = x0 - x1 + 1/2: zero wherever t <= 0, though its W is not; nu of both units moves, the slopes cancel", 2)
    net.layer([[-1, 1], [1, 2]], [-half, 1])
    net.layer([[1, -1], [half, 0]], [half, -1], [[1, 0], [0, 1]])
    net.head([2, 1], [0, half]).quad(half, [[1, 1]], [0])
    net.at([-1, 1], "t < 0: D* an interval, f smooth", [(1, 0)], [], False, True)
    net.at([-3, -half], "t < 0, the other unit inactive", [(1, 0)], [], False, True)
    net.at([half, 1], "t = 0: the true kink, and both units zero", [(0, 0), (1, 0)], [], False, False)
    net.at([1, half], "t > 0: nondegenerate", [], [], True, True)
    net.at([-F(1, 2**20), half], "t = -2^-20", [(1, 0)], [], False, True).at([F(1, 2**20), half], "t = 2^-20", [], [], True, True)
    net.at([-2, half], "t < 0 and a true kink of unit (0,1)", [(0, 1), (1, 0), ], [], False, None)


def local_flat():
    net = network("locally_flat", "W = 0, b = 0 fed by a unit that is inactive nearby", "unit (1,1) = max(0, z) of layer 0's unit 1: zero and locally constant where that is "
                  "inactive, so D* is an interval and f smooth on an open set, without any unit being dead", 2)
    net.layer([[1, 1], [1, -1]], [1, 0])
    net.layer([[half, 0], [0, 0]], [0, 0], [[1, 0], [0, 1]])
    net.head([1, 1], [0, 0]).norm(half, [[1, 0], [0, 1]], [-1, -1])
    net.at([0, 1], "locally flat", [(1, 1)], [], False, True).at([-half, 2], "locally flat", [(1, 1)], [], False, True)
    net.at([2, 2], "on its edge: both zero", [(0, 1), (1, 1)], [], False, False).at([1, 1], "and u = 0", [(0, 1), (1, 1)], [0], False, False)
    net.at([2, half], "beyond: nondegenerate", [], [], True, True)


def chain():
    net = network("relu_chain", "six ReLUs in a row: max(max(… max(x, 0) …))", "every layer repeats the first one's kink: nu is a chain 0 <= nu_0 <= … <= nu_5 <= c, six "
                  "dimensions, of which the slope sees only nu_0", 2)
    for l in range(6):
        net.layer([[1, -half]] if l == 0 else [[0, 0]], [quarter if l == 0 else 0], None if l == 0 else [[1]])
    net.head([F(3, 2)], [0, 1]).quad(1, [[0, 1]], [0])
    net.at([quarter, 1], "all six zero, f has its kink", 6, [], False, False)
    net.at([-2, 1], "below: five zero units, f smooth", [(l, 0) for l in range(1, 6)], [], False, True)
    net.at([2, 1], "above: nondegenerate", [], [], True, True).at([quarter + F(1, 2**30), 1], "just above", [], [], True, True)
    net.at([quarter - F(1, 2**30), 1], "just below", 5, [], False, True)


def opposite():
    net = network("opposite_rows", "opposite, parallel and summing rows: many multipliers for one subgradient", "|t| as two units, a third one parallel, a fifth the "
                  "sum of the first and the fourth: G is far from one-to-one on D*(x)", 2)
    net.layer([[1, half], [-1, -half], [2, 1], [half, -1], [F(3, 2), -half]], [0, 0, 0, 0, 0])
    net.head([1, 1, half, 1, quarter], [half, half])
    net.at([1, -2], "three units zero in one direction", [(0, 0), (0, 1), (0, 2)], [], False, False)
    net.at([0, 0], "all five zero", 5, [], False, False).at([2, 1], "the fourth", [(0, 3)], [], False, False)
    net.at([1, 1], "generic", [], []).at([-1, F(3, 4)], "generic", [], []).at([half, F(3, 2)], "the fifth", [(0, 4)], [], False, False)


def duplicates():
    net = network("duplicates", "duplicated units and modules", "each unit, norm and quadratic twice: programs with equal rows, D*(x) with a symmetry no solver need "
                  "respect; a unit and its copy count as one with the sum of weights", 3)
    rng = Random(66)
    draw(net, rng, [3, 3], bits=2)
    draw_quad(net, rng, half, 2)
    draw_norm(net, rng, half, 2)
    x, y = point(rng, 3), point(rng, 3)
    net.vanish((x, [(0, 0), (1, 1)]), (y, [(0, 1), (0, 2)]))
    net.vanish_norm(y, 0)
    twice = lambda rows: [list(r) for r in rows for _ in range(2)]
    # U's columns are repeated and halved, so that the copies together weigh as much as the original.
    net.layers = [(twice(W), [[t / 2 for t in u for _ in range(2)] for u in twice(U)] if U else None, [t for t in b for _ in range(2)])
                  for W, U, b in net.layers]
    net.c = [t / 2 for t in net.c for _ in range(2)]
    net.quadratic, net.conic = net.quadratic * 2, net.conic * 2
    net.at(x, "two units and their copies", [(0, 0), (0, 1), (1, 2), (1, 3)], []).at(y, "two of layer 0, both norms", 4, [0, 1])
    for _ in range(4):
        net.at(point(rng, 3), "generic", 0, 0)


# ------------------------------------------------------------------------------------------------------ nearly, and by rounding

def near():
    net = network("near_degenerate", "|a| and |u| from 1e-3 to 1e-12", "a sequence into a point with three zero layers and u = 0: nondegenerate, but with a "
                  "branch radius from 1.6e-4 down to 1.5e-13", 3)
    rng = Random(70)
    draw(net, rng, [4, 4, 3], bits=1)
    draw_quad(net, rng, half, 2)
    draw_norm(net, rng, 1, 3)
    x = point(rng, 3)
    net.vanish((x, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]))
    net.vanish_norm(x, 0)
    net.at(x, "the limit", 5, [0], False, False)
    step = fractions([1, half, -1])
    for sign, power in ((1, 10), (-1, 10), (1, 20), (-1, 20), (1, 30), (-1, 30), (1, 40), (-1, 40)):
        net.at([p + sign * q / 2**power for p, q in zip(x, step)], f"{'+' if sign > 0 else '-'}2^-{power} away", 0, [], True, True)
    assert all(min(abs(t) for a in net.forward(y) for t in a) <= F(4, 2**10) for y in net.points)


def rounding():
    net = network("rounding", "zero exactly but not in doubles, and zero in doubles but not exactly", "0.1 · 3 is not a double: unit 0 adds its product and minus its two "
                  "halves (exactly zero at x = (3, 1, 1)); unit 1 adds the rounded product only (2.8e-17 off zero)", 3, exact=False)
    product = F(0.1) * 3
    high = F(float(product))
    low = product - high
    assert low and F(float(low)) == low and 0.1 * 3 - float(high) == 0.0
    net.layer([[F(0.1), -high, -low], [F(0.1), -high, 0], [F(0.1), 0, F(0.7)]], [0, 0, F(-0.2)])
    net.layer([[0, 0, 0], [F(0.3), F(0.1), 0]], [0, F(-0.5)], [[1, 1, 0], [0, half, F(0.9)]])
    net.head([1, half], [0, F(0.1), 0]).norm(half, [[F(0.1), -high, -low], [0, 1, -1]], [0, 0])
    net.norm(half, [[F(0.1), -high, 0]], [0])
    net.at([3, 1, 1], "unit 0 and norm 0 exactly zero; unit 1 and norm 1 are not", None, [0], None, None)
    net.at([3, 1, 0], "unit 0 is not zero either", None, [], None, None)
    net.at([-3, -1, -1], "the opposite signs", None, [0]).at([0, 0, 0], "everything of these at zero", None, [0, 1])
    net.at([1, 2, 3], "generic").at([F(0.3), F(0.1), F(-0.2)], "decimals")
    a, b = net.forward(net.points[0])[0][:2]
    assert a == 0 and b != 0 and abs(b) < 1e-16


def solved():
    net = network("solved", "points solved for, not offsets: five zero units at vertices", "offsets are drawn; at each degenerate point five preactivations of up to three "
                  "layers vanish, by exact elimination on the branch, so x is a vertex of the branch complex", 5)
    rng = Random(71)
    draw(net, rng, [6, 5, 4], bits=0)
    thin(rng, net)
    draw_quad(net, rng, half, 3)
    draw_norm(net, rng, 1, 3)
    units = [(l, i) for l, (W, _, _) in enumerate(net.layers) for i in range(len(W))]
    found = []
    for _ in range(20000):
        if len(found) == 6:
            break
        chosen = []
        while len(chosen) < 5:
            u = rng.choice(units)
            if u not in chosen:
                chosen.append(u)
        if len(set(l for l, _ in chosen)) < 2 + (len(found) < 3):
            continue
        x = point(rng, 5)
        for _ in range(4):  # solve on the branch of x; repeat on the branch of the solution
            a, rows, offsets, J, o = net.forward(x), {}, {}, [], []
            for l, (W, U, b) in enumerate(net.layers):
                nextJ, nexto = [], []
                for i, w in enumerate(W):
                    r, t = list(w), b[i]
                    for j in range(len(J)):
                        r = [p + U[i][j] * q for p, q in zip(r, J[j])]
                        t += U[i][j] * o[j]
                    rows[l, i], offsets[l, i] = r, t
                    on = a[l][i] > 0 and (l, i) not in chosen
                    nextJ.append(r if on else [F(0)] * 5)
                    nexto.append(t if on else F(0))
                J, o = nextJ, nexto
            x = solve([rows[u] for u in chosen], [-offsets[u] for u in chosen])
            if x is None or any(t.denominator not in [2**k for k in range(13)] or abs(t) > 16 for t in x):
                x = None
                break
            b = net.forward(x)
            if all(b[l][i] == 0 for l, i in chosen):
                break
        if x is not None and all(net.forward(x)[l][i] == 0 for l, i in chosen) and x not in found:
            found.append(x)
            zero = net.expected(x)["relu"]
            net.at(x, f"{len(zero)} zero units in layers {', '.join(map(str, sorted(set(l for l, _ in zero))))}", len(zero))
    assert len(found) == 6
    assert all(len(net.expected(x)["relu"]) >= 5 for x in found)
    for _ in range(3):
        net.at(point(rng, 5), "generic", 0, 0)


# ---------------------------------------------------------------------------------------------------------------- README

README = """# The suite

{count} small networks that cover what a network can be and what can vanish in it, for `certicone certify`:
`NAME.network.json` (soc-icnn/1) and `NAME.points.json`. `make_suite.py` writes all of them and this file; it needs Python 3
alone and writes the same bytes every time.

Beside `points`, every points file has `expected`, one entry a point, computed in exact rational arithmetic:

| key | meaning |
|---|---|
| `relu` | units [layer, unit] whose preactivation is exactly zero |
| `conic` | modules g with u_g = Ax+d exactly zero |
| `quadratic` | modules h with q_h = Bx+e exactly zero (no degeneracy) |
| `unique` | D\\*(x) is one point |
| `differentiable` | f is differentiable at x |
| `note` | why the point is there |

All forward passes are exact in doubles in any order of summation, so zeros are zeros there too, but for {inexact}.

In the table: inputs; widths of the layers; rows of each quadratic and of each conic module; size of f over the points; and, point
by point, the number of zero units, of zero conic residuals, and what follows: `.` neither D\\*(x) nor ∂f(x) is set-valued, `d`
D\\*(x) is (and f is differentiable), `D` both are.

| network | inputs | widths | quadratic | conic | \\|f\\| | zero units | zero residuals | sets |
|---|---|---|---|---|---|---|---|---|
{sizes}

| network | covers | special |
|---|---|---|
{covers}

## What to look at first

- `d` refutes the paper's sentence that the subdifferential is set-valued exactly when D\\*(x) is:
  {smooth}.
  A unit with W = 0, b = 0 (`flat_unit`) is the plainest; A = 0, d = 0 is its conic twin (`rank_deficient`); `locally_flat` and
  `relu_chain` do it without a dead unit and `cancelling` even with W ≠ 0, all on open sets.
- `.` with zero units or residuals: degenerate points with a single D\\*(x):
  {single}.
"""


def ranges(values):
    return " ".join(map(str, values))


def readme():
    sizes, covers, smooth, single = [], [], [], []
    for net in SUITE:
        found = [net.expected(x) for x in net.points]
        letters = ["." if t["unique"] else "d" if t["differentiable"] else "D" for t in found]
        if "d" in letters:
            smooth.append(net.name)
        if any(t["unique"] and (t["relu"] or t["conic"]) for t in found):
            single.append(net.name)
        values = [abs(net.value(x)) for x in net.points]
        span = f"{min(values):.0e} … {max(values):.0e}".replace("e-0", "e-").replace("e+0", "e+").replace("e+", "e")
        rows = lambda modules: " ".join(str(len(M)) for _, M, _ in modules) or "–"
        sizes.append(f"| {net.name} | {net.input_dim} | {' '.join(str(len(W)) for W, _, _ in net.layers)} | {rows(net.quadratic)} | "
                     f"{rows(net.conic)} | {span} | {ranges(len(t['relu']) for t in found)} | "
                     f"{ranges(len(t['conic']) for t in found)} | {''.join(letters)} |")
        text = [t.replace("|", "\\|").replace("D*", "D\\*") for t in (net.covers, net.special)]
        covers.append(f"| {net.name} | {text[0]} | {text[1]} |")
    quoted = lambda names: ", ".join(f"`{n}`" for n in names)
    return README.format(count=len(SUITE), inexact=quoted(n.name for n in SUITE if not n.exact), sizes="\n".join(sizes),
                         covers="\n".join(covers), smooth=quoted(smooth), single=quoted(single))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for build in (one_unit, ramp, one_input, missing, idle, zero_lambda, zero_columns, zero_c, deep, narrowing, wide, realistic,
                  alphas, lambdas, growth, input_scales, many_zeros, homogeneous, residuals, rank_deficient, flat_unit, dead_units,
                  hidden_kinks, cancelling, local_flat, chain, opposite, duplicates, near, rounding, solved):
        build()
    assert len(set(net.name for net in SUITE)) == len(SUITE)
    for net in SUITE:
        net.check()
    os.makedirs(folder, exist_ok=True)
    for net in SUITE:
        net.write(folder)
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8", newline="\n") as out:
        out.write(readme())
    found = [net.expected(x) for net in SUITE for x in net.points]
    print(f"{len(SUITE)} networks, {len(found)} points, of which {sum(bool(t['relu'] or t['conic']) for t in found)} degenerate")


if __name__ == "__main__":
    main()
