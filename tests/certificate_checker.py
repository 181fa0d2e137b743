#!/usr/bin/env python3
"""A second checker of certificates, written from docs/certificate.md alone: Python integers, nothing else.

    certificate_checker.py CERTIFICATE NETWORK        one line: verified or refuted with the reason; exit code 0, 1, 2
    certificate_checker.py --list LIST                LIST has lines "certificate<TAB>network"; one answer a line

A dyadic number is a pair (m, e): m·2^e. Vectors share one exponent: ([m…], e).
"""

import hashlib
import json
import math
import re
import struct
import sys

DEPTH = 32
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}  # bytes of an entry


class Refuted(Exception):
    pass


class NoCertificate(Exception):
    """What was given as a certificate is a network."""


def demand(condition, reason):
    if not condition:
        raise Refuted(reason)


# ---- JSON: what Python's reader lets pass and the format does not -----------------------------------------------------


def unique(pairs):
    keys = [key for key, _ in pairs]
    demand(len(set(keys)) == len(keys), "a key stands twice")
    return dict(pairs)


def no_constant(name):
    raise Refuted(name + " is not JSON")


class Literal(str):
    """The text of a JSON number."""


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]')
COLON = re.compile(r"\s*:")


def read_json(text):
    depth = deepest = 0
    outermost = None  # the last string that stands in the outermost object
    for found in TOKEN.finditer(text):
        token = found.group()
        if token in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "]}":
            depth -= 1
        else:
            if depth == 1:
                outermost = token
            named = re.search(r'"name"\s*:\s*$', text[max(0, found.start() - 200) : found.start()])
            metadata = depth == 2 and outermost == '"__metadata__"' and not COLON.match(text, found.end())
            demand("\\" not in token or named or metadata, "an escape outside of a name")
    demand(deepest <= DEPTH, "nested too deeply")
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=no_constant, parse_int=Literal, parse_float=Literal)
    except (ValueError, RecursionError) as error:
        raise Refuted(str(error)) from error


def keys(value, required, optional=()):
    demand(isinstance(value, dict), "expected an object")
    demand(set(required) <= set(value) <= set(required) | set(optional), f"wrong keys {sorted(value)}")


def array(value, size=None):
    demand(isinstance(value, list), "expected a list")
    demand(size is None or len(value) == size, "a list of the wrong length")
    return value


def integer(value):
    demand(isinstance(value, Literal) and re.fullmatch(r"[0-9]{1,9}", value), "expected an integer")
    return int(value)


# ---- exact numbers ----------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-][0-9]{1,9})")


def odd(m, e):
    """The same number with an odd m, or (0, 0): so that equal numbers are equal pairs."""
    if m == 0:
        return (0, 0)
    zeros = (m & -m).bit_length() - 1
    return (m >> zeros, e + zeros)


def number(value):
    demand(isinstance(value, str) and not isinstance(value, Literal), "expected a number as a string")
    found = NUMBER.fullmatch(value)
    demand(found, f"not a number: {value[:40]}")
    sign, whole, fraction, exponent = found.groups()
    fraction = fraction or ""
    m = int(whole + fraction, 16)
    return odd(-m if sign else m, int(exponent) - 4 * len(fraction))


def double(value):
    m, e = number(value)
    demand(m == 0 or (m.bit_length() <= 53 and e >= -1074 and e + m.bit_length() <= 1024), "not a double")
    return (m, e)


def from_float(value):
    numerator, denominator = value.as_integer_ratio()
    return odd(numerator, 1 - denominator.bit_length())


def add(*terms):
    terms = [term for term in terms if term[0]]
    e = min((term[1] for term in terms), default=0)
    return (sum(m << (k - e) for m, k in terms), e)


def neg(x):
    return (-x[0], x[1])


def mul(x, y):
    return (x[0] * y[0], x[1] + y[1])


def half(x):
    return (x[0], x[1] - 1)


def sign(x):
    return (x[0] > 0) - (x[0] < 0)


def align(numbers):
    e = min((k for m, k in numbers if m), default=0)
    return ([m << (k - e) if m else 0 for m, k in numbers], e)


def dot(x, y):
    return (sum(a * b for a, b in zip(x[0], y[0])), x[1] + y[1])


def entry(x, i):
    return (x[0][i], x[1])


def entries(x):
    return [(m, x[1]) for m in x[0]]


class Matrix:
    """All entries share one exponent."""

    def __init__(self, rows):
        self.rows, self.cols = len(rows), len(rows[0])
        flat, self.e = align([from_float(value) for row in rows for value in row])
        self.m = [flat[k : k + self.cols] for k in range(0, len(flat), self.cols)]
        self.columns = list(zip(*self.m))

    def times(self, x):
        return ([sum(a * b for a, b in zip(row, x[0])) for row in self.m], self.e + x[1])

    def transposed_times(self, x):
        return ([sum(a * b for a, b in zip(column, x[0])) for column in self.columns], self.e + x[1])

    def row(self, i):
        return (self.m[i], self.e)

    def gram(self, i, j):
        return (sum(a * b for a, b in zip(self.columns[i], self.columns[j])), 2 * self.e)


def plus(*vectors):
    return align([add(*parts) for parts in zip(*map(entries, vectors))])


# ---- root(σ; n/d) -----------------------------------------------------------------------------------------------------

ZERO = ((0, 0), (0, 0))


def root(sigma, n, d, bits):
    if sigma == 0 or n[0] == 0:
        return ZERO
    power = n[1] - d[1]
    top, bottom = n[0], d[0]
    if power % 2:  # n/d = top/bottom·4^(power/2)
        top, power = 2 * top, power - 1
    k = bits - (top.bit_length() - bottom.bit_length()) // 2
    while True:  # s = √(top·4^k/bottom) must have `bits` binary digits before the point
        above, below = (top << 2 * k, bottom) if k >= 0 else (top, bottom << -2 * k)
        s = math.isqrt(above // below)
        if s.bit_length() == bits:
            break
        k += bits - s.bit_length()
    whole = s * s * below == above
    e = power // 2 - k
    lower, upper = (s, e), (s if whole else s + 1, e)
    return (lower, upper) if sigma > 0 else (neg(upper), neg(lower))


def sum_enclosures(*terms):
    return (add(*(term[0] for term in terms)), add(*(term[1] for term in terms)))


def quotient(n, d, bits):
    return root(1, mul(n, n), mul(d, d), bits)


def equal(claimed, computed):
    demand(number(claimed) == odd(*computed), "a number is not the right one")


def equal_ends(lower, upper, computed):
    equal(lower, computed[0])
    equal(upper, computed[1])


def equal_enclosure(claimed, computed):
    array(claimed, 2)
    equal_ends(claimed[0], claimed[1], computed)


# ---- the network ------------------------------------------------------------------------------------------------------


def decimal(value):
    if isinstance(value, float):  # of a tensor
        demand(math.isfinite(value), "not finite")
        return value
    demand(isinstance(value, Literal), "expected a number")
    result = float(value)
    demand(math.isfinite(result), "beyond the doubles")
    demand(result != 0.0 or not re.search(r"[1-9]", re.split("[eE]", value)[0]), "rounds to zero")
    return result


def vector_of(value, size, least=-math.inf):
    result = [decimal(item) for item in array(value, size)]
    demand(all(item >= least for item in result), "an entry that is not allowed")
    return result


def matrix_of(value, cols, least=-math.inf):
    demand(len(array(value)) > 0, "a matrix without rows")
    return Matrix([vector_of(row, cols, least) for row in value])


def exact(values):
    return align([from_float(value) for value in values])


def is_safetensors(data):
    return len(data) > 8 and data[7] == 0 and data[8:9] == b"{"


def floats(kind, raw):
    if kind == "BF16":  # the upper half of a float
        kind, raw = "F32", b"".join(b"\0\0" + raw[k : k + 2] for k in range(0, len(raw), 2))
    code = {"F64": "d", "F32": "f", "F16": "e"}[kind]
    return list(struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw))


def tree_of_tensors(data):
    """What the same network is as JSON, with floats for the numbers."""
    length = int.from_bytes(data[:8], "little")
    demand(length <= len(data) - 8, "shorter than its header")
    header, data = read_json(data[8 : 8 + length].decode("latin-1")), data[8 + length :]
    metadata = header.pop("__metadata__", {})
    demand(isinstance(metadata, dict) and all(type(value) is str for value in metadata.values()), "metadata that are no strings")
    demand(metadata.get("format", "pt") in ("pt", "soc-icnn/1"), "not soc-icnn/1")
    tensors, places = {}, []
    for name, tensor in header.items():
        keys(tensor, ["dtype", "shape", "data_offsets"])
        demand(type(tensor["dtype"]) is str and tensor["dtype"] in SIZES, "another dtype")
        shape = [integer(extent) for extent in array(tensor["shape"])]
        begin, end = (integer(offset) for offset in array(tensor["data_offsets"], 2))
        demand(len(shape) <= 2 and begin <= end <= len(data), "a tensor out of bounds")
        demand(end - begin == SIZES[tensor["dtype"]] * math.prod(shape), "a tensor of the wrong size")
        places.append((begin, end))
        flat = floats(tensor["dtype"], data[begin:end])
        if len(shape) == 2:
            flat = [flat[k * shape[1] : (k + 1) * shape[1]] for k in range(shape[0])]
        tensors[name] = flat if shape else flat[0]
    reached = 0
    for begin, end in sorted(places):
        demand(begin == reached, "tensors overlap or leave a hole")
        reached = end
    demand(reached == len(data), "tensors do not end where the file does")

    def number(value):
        return value[0] if isinstance(value, list) and len(value) == 1 else value

    def part(prefix):
        return {name[len(prefix) :]: tensors.pop(name) for name in list(tensors) if name.startswith(prefix)}

    tree = {"format": "soc-icnn/1"}
    for kind, scalar in (("layers", None), ("quadratic", "alpha"), ("conic", "lambda")):
        tree[kind] = []
        while element := part(f"{kind}.{len(tree[kind])}."):
            tree[kind].append({key: number(value) if key == scalar else value for key, value in element.items()})
    reference = part("reference.")
    if reference:
        tree["reference"] = reference
    demand("b0" in tensors and "v" in tensors and not set(tree) & set(tensors) and "input_dim" not in tensors, "other tensors")
    tensors["b0"] = number(tensors["b0"])
    tree["input_dim"] = Literal(len(array(tensors["v"])))
    return {**tree, **tensors}


class Network:
    def __init__(self, data):
        tree = tree_of_tensors(data) if is_safetensors(data) else read_json(data.decode("latin-1"))
        keys(tree, ["format", "input_dim", "layers", "c", "v", "b0"], ["name", "quadratic", "conic", "reference"])
        demand(tree["format"] == "soc-icnn/1", "not soc-icnn/1")
        demand(isinstance(tree.get("name", ""), str) and not isinstance(tree.get("name"), Literal), "name is no string")
        d0 = self.inputs = integer(tree["input_dim"])
        demand(d0 >= 1, "no inputs")
        self.layers, units = [], None
        for layer in array(tree["layers"]):
            keys(layer, ["W", "b"] if units is None else ["W", "b", "U"])
            W = matrix_of(layer["W"], d0)
            U = None if units is None else matrix_of(layer["U"], units, 0.0)
            demand(U is None or U.rows == W.rows, "U and W differ in rows")
            self.layers.append((W, U, exact(vector_of(layer["b"], W.rows))))
            units = W.rows
        demand(self.layers, "no layers")
        self.c = exact(vector_of(tree["c"], units, 0.0))
        self.v = exact(vector_of(tree["v"], d0))
        self.b0 = from_float(decimal(tree["b0"]))
        self.quadratic = [self.module(m, "alpha", "B", "e") for m in array(tree.get("quadratic", []))]
        self.conic = [self.module(m, "lambda", "A", "d") for m in array(tree.get("conic", []))]
        demand(all(weight[0] > 0 for weight, _, _ in self.quadratic), "alpha must be positive")
        demand(all(weight[0] >= 0 for weight, _, _ in self.conic), "lambda must not be negative")
        reference = tree.get("reference", {"points": [], "values": []})
        keys(reference, ["points", "values"])
        for point in array(reference["points"]):
            vector_of(point, d0)
        vector_of(reference["values"], len(reference["points"]))

    def module(self, tree, weight, matrix, offset):
        keys(tree, [weight, matrix, offset])
        M = matrix_of(tree[matrix], self.inputs)
        return (from_float(decimal(tree[weight])), M, exact(vector_of(tree[offset], M.rows)))


# ---- a point and its claims -------------------------------------------------------------------------------------------


def positive_part(a):
    return ([max(m, 0) for m in a[0]], a[1])


def scaled(factor, x):
    return ([factor[0] * m for m in x[0]], factor[1] + x[1])


class Point:
    def __init__(self, network, x, bits):
        self.net, self.bits = network, bits
        self.x = align([double(value) for value in array(x, network.inputs)])
        self.a = []
        for W, U, b in network.layers:
            terms = [W.times(self.x), b] + ([U.times(positive_part(self.a[-1]))] if U else [])
            self.a.append(plus(*terms))
        self.q = [plus(M.times(self.x), o) for _, M, o in network.quadratic]
        self.u = [plus(M.times(self.x), o) for _, M, o in network.conic]
        self.uu = [dot(u, u) for u in self.u]
        self.nu = self.select(1)
        R = add(network.b0, dot(network.v, self.x), dot(network.c, positive_part(self.a[-1])),
                *(half(mul(alpha, dot(q, q))) for (alpha, _, _), q in zip(network.quadratic, self.q)))
        lengths = [root(1, uu, (1, 0), bits) for uu in self.uu]
        weights = [weight for weight, _, _ in network.conic]
        self.f = tuple(add(R, *(mul(w, length[end]) for w, length in zip(weights, lengths))) for end in (0, 1))

    def bound(self, nu, l):
        return self.net.c if l + 1 == len(self.a) else self.net.layers[l + 1][1].transposed_times(nu[l + 1])

    def select(self, least):
        nu = [None] * len(self.a)
        for l in reversed(range(len(self.a))):
            ub = self.bound(nu, l)
            nu[l] = ([m if (a > 0) - (a < 0) >= least else 0 for m, a in zip(ub[0], self.a[l][0])], ub[1])
        return nu

    def demand_box(self, nu):
        for l in range(len(self.a)):
            for value, ub in zip(entries(nu[l]), entries(self.bound(nu, l))):
                demand(value[0] >= 0 and add(value, neg(ub))[0] <= 0, "nu is not feasible")

    def demand_nondegenerate(self):
        demand(all(m != 0 for a in self.a for m in a[0]) and all(uu[0] for uu in self.uu), "the point is degenerate")

    def support(self, nu, y):
        return add(*(dot(n, plus(W.times(y), b)) for n, (W, _, b) in zip(nu, self.net.layers)))

    def multipliers(self, claim):
        nu, p, r = ([align([double(v) for v in array(block, len(shape[0]))]) for block, shape in zip(array(claim[name], len(shapes)), shapes)]
                    for name, shapes in (("nu", self.a), ("p", self.q), ("r", self.u)))
        self.demand_box(nu)
        for (weight, _, _), block in zip(self.net.conic, r):
            demand(add(dot(block, block), neg(mul(weight, weight)))[0] <= 0, "r is not feasible")
        return nu, p, r

    def psi(self, xi, y):
        nu, p, r = xi
        P = add(self.net.b0, dot(self.net.v, y), self.support(nu, y),
                *(dot(block, plus(M.times(y), o)) for block, (_, M, o) in zip(p, self.net.quadratic)),
                *(dot(block, plus(M.times(y), o)) for block, (_, M, o) in zip(r, self.net.conic)))
        T = [quotient(dot(block, block), (2 * weight[0], weight[1]), self.bits) for block, (weight, _, _) in zip(p, self.net.quadratic)]
        return tuple(add(P, *(neg(term[1 - end]) for term in T)) for end in (0, 1))

    # -- the kinds

    def value(self, claim):
        keys(claim, ["kind", "lower", "upper"])
        equal_ends(claim["lower"], claim["upper"], self.f)

    def canonical(self, claim):
        keys(claim, ["kind", "signs", "zero_residuals", "gap"])
        demand(claim["signs"] == ["".join("+" if m > 0 else "-" if m < 0 else "0" for m in a[0]) for a in self.a], "wrong signs")
        demand([integer(g) for g in array(claim["zero_residuals"])] == [g for g, uu in enumerate(self.uu) if uu[0] == 0], "wrong zeros")
        self.demand_box(self.nu)
        demand(add(dot(self.net.c, positive_part(self.a[-1])), neg(self.support(self.nu, self.x)))[0] == 0, "a gap")
        equal(claim["gap"], (0, 0))

    def multiplier(self, claim):
        keys(claim, ["kind", "nu", "p", "r", "lower", "upper", "gap"])
        psi = self.psi(self.multipliers(claim), self.x)
        equal_ends(claim["lower"], claim["upper"], psi)
        equal(claim["gap"], add(self.f[1], neg(psi[0])))

    def inference(self, claim):
        keys(claim, ["kind", "y", "beta", "nu", "p", "r", "lower", "upper", "gap"])
        y = align([double(v) for v in array(claim["y"], self.net.inputs)])
        beta = double(claim["beta"])
        demand(beta[0] > 0, "beta must be positive")
        xi = nu, p, r = self.multipliers(claim)
        G = plus(self.net.v, *(W.transposed_times(n) for (W, _, _), n in zip(self.net.layers, nu)),
                 *(M.transposed_times(b) for (_, M, _), b in zip(self.net.quadratic, p)),
                 *(M.transposed_times(b) for (_, M, _), b in zip(self.net.conic, r)))
        step = plus(self.x, ([-m for m in y[0]], y[1]))
        lower = add(self.psi(xi, y)[0], neg(quotient(dot(G, G), (2 * beta[0], beta[1]), self.bits)[1]))
        upper = add(self.f[1], half(mul(beta, dot(step, step))))
        equal_ends(claim["lower"], claim["upper"], (lower, upper))
        equal(claim["gap"], add(upper, neg(lower)))

    def subgradient(self, claim):
        keys(claim, ["kind", "g"])
        E = plus(self.net.v, *(W.transposed_times(n) for (W, _, _), n in zip(self.net.layers, self.nu)),
                 *(scaled(alpha, M.transposed_times(q)) for (alpha, M, _), q in zip(self.net.quadratic, self.q)))
        w = [M.transposed_times(u) for (_, M, _), u in zip(self.net.conic, self.u)]
        for j, claimed in enumerate(array(claim["g"], self.net.inputs)):
            total = (entry(E, j), entry(E, j))
            for (weight, _, _), vector, uu in zip(self.net.conic, w, self.uu):
                if uu[0]:
                    t = mul(weight, entry(vector, j))
                    total = sum_enclosures(total, root(sign(t), mul(t, t), uu, self.bits))
            equal_enclosure(claimed, total)

    def directional(self, claim):
        keys(claim, ["kind", "d", "lower", "upper"])
        d = align([double(v) for v in array(claim["d"], self.net.inputs)])
        moving = None
        for (W, U, _), a in zip(self.net.layers, self.a):
            change = W.times(d) if U is None else plus(W.times(d), U.times(moving))
            moving = ([m if s > 0 else max(m, 0) if s == 0 else 0 for m, s in zip(change[0], a[0])], change[1])
        D = add(dot(self.net.v, d), dot(self.net.c, moving),
                *(mul(alpha, dot(q, M.times(d))) for (alpha, M, _), q in zip(self.net.quadratic, self.q)))
        terms = [(D, D)]
        for (weight, M, _), u, uu in zip(self.net.conic, self.u, self.uu):
            along = M.times(d)
            if uu[0]:
                sigma = mul(weight, dot(u, along))
                terms.append(root(sign(sigma), mul(sigma, sigma), uu, self.bits))
            else:
                terms.append(root(1, mul(mul(weight, weight), dot(along, along)), (1, 0), self.bits))
        equal_ends(claim["lower"], claim["upper"], sum_enclosures(*terms))

    def uniqueness(self, claim):
        keys(claim, ["kind", "units", "modules"])
        largest = self.select(0)
        units = [[l, i] for l, a in enumerate(self.a) for i, m in enumerate(a[0]) if m == 0 and largest[l][0][i] > 0]
        demand([[integer(k) for k in array(unit, 2)] for unit in array(claim["units"])] == units, "other units are free")
        modules = [g for g, uu in enumerate(self.uu) if uu[0] == 0 and self.net.conic[g][0][0] > 0]
        demand([integer(g) for g in array(claim["modules"])] == modules, "other modules are free")

    def branch(self, claim):
        keys(claim, ["kind", "unit", "relu", "module", "conic"])
        self.demand_nondegenerate()
        least, J = None, None
        for l, (W, U, _) in enumerate(self.net.layers):
            if U is None:
                rows, e = W.m, W.e
            else:
                active = [k for k, m in enumerate(self.a[l - 1][0]) if m > 0]
                low = min(W.e, U.e + J[1])
                columns = list(zip(*(J[0][k] for k in active))) or [()] * W.cols
                rows = [[(w << (W.e - low)) + (sum(U.m[i][k] * j for k, j in zip(active, column)) << (U.e + J[1] - low))
                         for w, column in zip(W.m[i], columns)] for i in range(W.rows)]
                e = low
            J = (rows, e)
            for i, row in enumerate(rows):
                d = (sum(m * m for m in row), 2 * e)
                n = mul(entry(self.a[l], i), entry(self.a[l], i))
                if d[0] and (least is None or add(mul(n, least[1]), neg(mul(least[0], d)))[0] < 0):
                    least = (n, d, [l, i])
        self.equal_least(claim["unit"], claim["relu"], least, lambda unit: [integer(k) for k in array(unit, 2)])
        least = None
        for g, (_, M, _) in enumerate(self.net.conic):
            n, d = self.uu[g], (sum(m * m for row in M.m for m in row), 2 * M.e)
            if d[0] and (least is None or add(mul(n, least[1]), neg(mul(least[0], d)))[0] < 0):
                least = (n, d, g)
        self.equal_least(claim["module"], claim["conic"], least, integer)

    def equal_least(self, place, enclosure, least, read):
        if least is None:
            demand(place is None and enclosure is None, "must be null")
        else:
            demand(place is not None and enclosure is not None, "must not be null")
            demand(read(place) == least[2], "not the nearest")
            equal_enclosure(enclosure, root(1, least[0], least[1], self.bits))

    def hessian(self, claim):
        keys(claim, ["kind", "upper_triangle"])
        self.demand_nondegenerate()
        w = [M.transposed_times(u) for (_, M, _), u in zip(self.net.conic, self.u)]
        for i, row in enumerate(array(claim["upper_triangle"], self.net.inputs)):
            for k, claimed in enumerate(array(row, self.net.inputs - i)):
                j = i + k
                Q = add(*(mul(alpha, M.gram(i, j)) for alpha, M, _ in self.net.quadratic))
                terms = [(Q, Q)]
                for (weight, M, _), vector, uu in zip(self.net.conic, w, self.uu):
                    tau = mul(weight, add(mul(M.gram(i, j), uu), neg(mul(entry(vector, i), entry(vector, j)))))
                    terms.append(root(sign(tau), mul(tau, tau), mul(uu, mul(uu, uu)), self.bits))
                equal_enclosure(claimed, sum_enclosures(*terms))


KINDS = ("value", "canonical", "multiplier", "subgradient", "directional", "uniqueness", "branch", "hessian", "inference")


def check(certificate, network):
    """Raises Refuted, or returns the numbers of points and claims."""
    if is_safetensors(certificate):
        raise NoCertificate
    tree = read_json(certificate.decode("latin-1"))
    if isinstance(tree, dict) and tree.get("format") == "soc-icnn/1":
        raise NoCertificate
    demand(all(byte < 0x80 for byte in certificate), "not ASCII")
    keys(tree, ["format", "network", "bits", "points"])
    demand(tree["format"] == "certicone-certificate/1", "another format")
    demand(tree["network"] == hashlib.sha256(network).hexdigest(), "another network")
    bits = integer(tree["bits"])
    demand(2 <= bits <= 65536, "bits out of range")
    net = Network(network)
    claims = 0
    for item in array(tree["points"]):
        keys(item, ["x", "claims"])
        point = Point(net, item["x"], bits)
        for claim in array(item["claims"]):
            demand(isinstance(claim, dict) and claim.get("kind") in KINDS, "unknown kind of claim")
            getattr(point, claim["kind"])(claim)
            claims += 1
    return len(tree["points"]), claims


def answer(certificate_path, network_path):
    try:
        with open(certificate_path, "rb") as file:
            certificate = file.read()
        with open(network_path, "rb") as file:
            network = file.read()
    except OSError as error:
        return 2, f"cannot read: {error}"
    try:
        points, claims = check(certificate, network)
        return 0, f"verified: {points} points, {claims} claims"
    except Refuted as refuted:
        return 1, f"refuted: {refuted}"
    except NoCertificate:
        return 2, f"{certificate_path} is a network, expected a certificate"


def main(arguments):
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    if len(arguments) == 2 and arguments[0] == "--list":
        with open(arguments[1], encoding="utf-8") as lines:
            for line in lines:
                print(answer(*line.rstrip("\n").split("\t"))[1])
        return 0
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    code, text = answer(*arguments)
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
