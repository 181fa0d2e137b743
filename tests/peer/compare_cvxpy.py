#!/usr/bin/env python3
"""Certicone against CVXPY, side by side in one run, one thread (make bench-peer).

CVXPY gets the value-function SOCP as a disciplined parametrised program (DPP), compiled once, with x as its parameter,
and solves it with Clarabel at 1e-10 and with SCS at 1e-9. Certicone's rows come from `certicone_bench solvers`, run just
before and just after. Errors are the largest over the points, relative, against the closed forms computed here in numpy.

Usage: compare_cvxpy.py BENCH DATA [POINTS]     (needs cvxpy, clarabel, scs; `make bench-peer` installs them by name)
"""
import json
import os
import subprocess
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RAYON_NUM_THREADS="1")
import cvxpy as cp  # noqa: E402
import numpy as np  # noqa: E402


class Network:
    def __init__(self, path):
        with open(path) as file:
            raw = json.load(file)
        array = lambda value: np.array(value, dtype=float)  # noqa: E731
        self.layers = [{key: array(value) for key, value in layer.items()} for layer in raw["layers"]]
        self.c, self.v, self.b0 = array(raw["c"]), array(raw["v"]), raw["b0"]
        self.quadratic = [(m["alpha"], array(m["B"]), array(m["e"])) for m in raw.get("quadratic", [])]
        self.conic = [(m["lambda"], array(m["A"]), array(m["d"])) for m in raw.get("conic", [])]

    def closed_form(self, x):
        """f, ν̂, p̂, r̂ (nondegenerate x)."""
        pre, z = [], None
        for layer in self.layers:
            a = layer["W"] @ x + layer["b"] + (layer["U"] @ z if z is not None else 0.0)
            pre.append(a)
            z = np.maximum(a, 0.0)
        f = self.c @ z + self.v @ x + self.b0
        nu, upper = [None] * len(pre), self.c
        for index in reversed(range(len(pre))):
            nu[index] = upper * (pre[index] > 0)
            if index:
                upper = self.layers[index]["U"].T @ nu[index]
        p = [alpha * (B @ x + e) for alpha, B, e in self.quadratic]
        r = []
        for lam, A, d in self.conic:
            u = A @ x + d
            r.append(lam * u / np.linalg.norm(u))
            f += lam * np.linalg.norm(u)
        f += sum(alpha / 2 * np.sum((B @ x + e) ** 2) for alpha, B, e in self.quadratic)
        return f, nu, p, r


def program(network):
    """The explicit SOCP with x as parameter; returns problem, x and the constraints that carry ν, p, r."""
    x = cp.Parameter(len(network.v))
    objective, constraints, relu, links_q, links_c = network.v @ x + network.b0, [], [], [], []
    z = None
    for layer in network.layers:
        new = cp.Variable(len(layer["b"]))
        bound = layer["W"] @ x + layer["b"]
        if z is not None:
            bound = bound + layer["U"] @ z
        relu.append(new >= bound)
        constraints += [relu[-1], new >= 0]
        z = new
    objective = objective + network.c @ z
    for alpha, B, e in network.quadratic:
        eta, s = cp.Variable(len(e)), cp.Variable()
        links_q.append(eta == B @ x + e)
        constraints += [links_q[-1], cp.sum_squares(eta) <= 2 * s]
        objective = objective + alpha * s
    for lam, A, d in network.conic:
        omega, t = cp.Variable(len(d)), cp.Variable()
        links_c.append(omega == A @ x + d)
        constraints += [links_c[-1], cp.norm(omega, 2) <= t]
        objective = objective + lam * t
    problem = cp.Problem(cp.Minimize(objective), constraints)
    assert problem.is_dcp(dpp=True)
    return problem, x, relu, links_q, links_c


def distance(got, want):
    if not want:
        return 0.0
    got, want = np.concatenate(got), np.concatenate(want)
    return np.linalg.norm(got - want) / np.linalg.norm(want)


def run_cvxpy(name, network, points, solver, options):
    problem, x, relu, links_q, links_c = program(network)
    times, worst, solved = [], np.zeros(4), 0
    for index, point in enumerate(points):
        begin = time.perf_counter()
        x.value = point
        try:
            problem.solve(solver=solver, warm_start=True, **options)
        except cp.SolverError:
            continue
        if index:  # the first solve compiles
            times.append(1e3 * (time.perf_counter() - begin))
        solved += problem.status == cp.OPTIMAL
        f, nu, p, r = network.closed_form(point)
        # The sign of an equality's multiplier is CVXPY's own: take the one that fits.
        sign = 1.0 if distance([c.dual_value for c in links_q], p) < 1 else -1.0
        worst = np.maximum(worst, [abs(problem.value - f) / abs(f),
                                   distance([c.dual_value for c in relu], nu),
                                   distance([sign * c.dual_value for c in links_q], p),
                                   distance([sign * c.dual_value for c in links_c], r)])
    print(f"| {name} | CVXPY DPP | {solver} {options} | {solved}/{len(points)} | " +
          " | ".join(f"{value:.1e}" for value in worst) + f" | {np.median(times):.3f} |", flush=True)


def certicone_rows(bench):
    rows = subprocess.run([bench, "solvers"], check=True, capture_output=True, text=True).stdout.splitlines()
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if cells[0] in ("exp1", "exp2") and len(cells) == 11 and cells[1] != "ReLU backbone":
            name, kind, solver, solved, f, nu, p, r, _, _, ms = cells
            print(f"| {name} | Certicone, {kind} | {solver} | {solved} | {f} | {nu} | {p} | {r} | {ms} |", flush=True)


def main():
    bench, data = sys.argv[1], sys.argv[2]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    print("| network | program | solver | solved | f | nu | p | r | median ms |\n|---|---|---|---|---|---|---|---|---|")
    certicone_rows(bench)
    for name in ("exp1", "exp2"):
        network = Network(f"{data}/paper/{name}.network.json")
        with open(f"{data}/paper/{name}.points.json") as file:
            points = np.array(json.load(file)["points"])[:count]
        run_cvxpy(name, network, points, "CLARABEL",
                  {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10})
        run_cvxpy(name, network, points[:20], "SCS", {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 20000})
    certicone_rows(bench)


main()
