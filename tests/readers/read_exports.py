#!/usr/bin/env python3
"""Other people's readers on what `certicone export` writes (make test-export).

For every network of the data folder, two points, all programs and all formats, and for the instance library:
  MOF       parsed by the tests' own reader (mof.py), which is the reference below; solved by Clarabel after that, in the units
            that the solution file gives
  CBF, PTF  read by MOSEK (its Python package, no licence): shape, objective, domains and every coefficient compared; the known
            pair, injected from the solution file or read from PTF's Solutions section, judged optimal by MOSEK's own figures
  Clarabel  the JSON loaded and solved by the clarabel package
Perturbed pairs must be judged not optimal.

Usage: read_exports.py CERTICONE DATA [NETWORK…]     (`make readers` installs the packages by name into .deps/readers)
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RAYON_NUM_THREADS="1")
import clarabel  # noqa: E402
import mosek  # noqa: E402
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

sys.dont_write_bytecode = True
import mof  # noqa: E402

ITR = mosek.soltype.itr
DOMAINS = {mosek.domaintype.rzero: "zero", mosek.domaintype.rplus: "nonnegative",
           mosek.domaintype.quadratic_cone: "second-order", mosek.domaintype.rquadratic_cone: "rotated"}
POINTS = 2

class Tally:
    def __init__(self):
        self.failures, self.counts, self.worst = [], {}, {}

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def check(self, what, place, holds, detail=""):
        self.count(what)
        if not holds:
            self.failures.append(f"{place}: {what} {detail}")

    def figure(self, what, place, amount, limit):
        self.count(what)
        if not amount <= self.worst.get(what, (-1.0,))[0]:
            self.worst[what] = (amount, place)
        if not amount <= limit:
            self.failures.append(f"{place}: {what} is {amount:.2e}, limit {limit:.0e}")


tally = Tally()


def read_by_mosek(path, model, place):
    task = mosek.Task()
    task.readdata(path)
    tally.check("shape", place, (task.getnumvar(), task.getnumcon(), task.getaccntot()) ==
                (len(model.names), 0, len(model.b)), f"{task.getnumvar()} {task.getnumcon()} {task.getaccntot()}")
    cones = [(DOMAINS[task.getdomaintype(task.getaccdomain(k))], task.getaccn(k)) for k in range(task.getnumacc())]
    tally.check("cones", place, cones == model.cones)
    c = np.zeros(len(model.names))
    task.getc(c)
    tally.check("objective", place, task.getobjsense() == mosek.objsense.minimize and task.getcfix() == model.c0 and
                np.array_equal(c, model.c), f"{task.getcfix()} {model.c0}")
    rows, columns, values = task.getaccftrip()
    F = sp.csc_matrix((values, (rows, columns)), shape=model.A.shape)
    difference = sp.coo_matrix(F + model.A)
    # Equal to the bit, but that MOSEK leaves out what is below its own 1e-16 or so.
    same = all(F[i, j] == 0.0 and abs(value) < 1e-16
               for i, j, value in zip(difference.row, difference.col, difference.data) if value != 0.0)
    tally.check("coefficients", place, same, f"{abs(difference).max()}")
    g = np.array(task.getaccgvector())
    tally.check("right-hand side", place, np.array_equal(g, model.b))
    bounds = {task.getvarbound(j)[0] for j in range(task.getnumvar())}
    tally.check("free variables", place, bounds == {mosek.boundkey.fr})
    return task


def judge(task, model, x, y, floor=1e-300):
    """MOSEK's figures for a pair that its task holds, relative to the size of what is summed (at least `floor`); the largest."""
    pobj, pcon, pvar, pbar, pcone, pacc, _, _, dobj, dcon, dvar, dbar, dcone, dacc = task.getsolutioninfonew(ITR)
    A = abs(model.A)
    primal = max(np.max(A @ abs(x), initial=0), np.max(abs(model.b), initial=0), 1e-300)
    dual = max(np.max(A.T @ abs(y), initial=0), np.max(abs(model.c)), np.max(abs(y), initial=0), 1e-300)
    size = max(abs(model.c) @ abs(x) + abs(model.b) @ abs(y) + abs(model.c0), floor)
    return max(abs(pobj - dobj) / size, max(pcon, pvar, pcone, pacc) / primal, max(dcon, dvar, dcone, dacc) / dual)


def inject(task, x, y):
    n, m = len(x), len(y)
    zero = np.zeros(n)
    keys = [mosek.stakey.unk]
    task.putsolutionnew(ITR, [], keys * n, keys * task.getnumacc(), [], list(x), [], [], [], list(zero), list(zero),
                        list(zero), list(y))


def perturbed(y):
    """Every multiplier moved up by a thousandth of the largest, or two, or three: pairs that share a unit do not cancel."""
    return y + 1e-3 * max(1.0, np.max(abs(y))) * (1.0 + np.arange(len(y)) % 3)


def in_units(model, form):
    """The units of the file for Clarabel, row by row and column by column, for the parsed MOF; where a quadratic objective has
    become the cone (t, 1, Rx), t is measured like the objective."""
    factor, columns, rows = form["factor"], list(form["primal_units"]), list(form["dual_units"])
    if len(columns) < len(model.c):
        columns.append(factor)
        rows += [1.0, factor] + [np.sqrt(factor)] * (len(model.b) - len(rows) - 2)
    return np.array(columns), np.array(rows), factor


def solve_by_clarabel(model, form):
    """The parsed MOF as a Clarabel program; rotated cones by the orthogonal map of their first two rows."""
    columns, rows, factor = in_units(model, form)
    half = np.sqrt(0.5)
    turn, first, cones = sp.lil_matrix((len(model.b), len(model.b))), 0, []
    for kind, size in model.cones:
        turn[range(first, first + size), range(first, first + size)] = 1.0
        if kind == "rotated":
            turn[first, first] = turn[first, first + 1] = turn[first + 1, first] = half
            turn[first + 1, first + 1] = -half
        cones.append({"zero": clarabel.ZeroConeT, "nonnegative": clarabel.NonnegativeConeT}.get(
            kind, clarabel.SecondOrderConeT)(size))
        first += size
    turn = turn.tocsc()
    n = len(model.names)
    A = sp.diags(rows) @ model.A @ sp.diags(columns) / factor
    solution = best_answer(lambda chosen: clarabel.DefaultSolver(
        sp.csc_matrix((n, n)), columns * model.c / factor, sp.csc_matrix(turn @ A), turn @ (rows * model.b / factor), cones, chosen))
    return str(solution.status), solution.obj_val * factor + model.c0


def judge_clarabel(path, form):
    """The known pair by the numbers of the file itself: stationarity and objectives, relative to what they are summed from."""
    with open(path) as file:
        data = json.load(file)
    matrix = lambda part: sp.csc_matrix((part["nzval"], part["rowval"], part["colptr"]), (part["m"], part["n"]))  # noqa: E731
    P, A = matrix(data["P"]), matrix(data["A"])
    P = P + sp.triu(P, 1).T
    b, q, x, y = (np.array(part) for part in (data["b"], data["q"], form["primal"], form["dual"]))
    terms = abs(P) @ abs(x) + abs(q) + abs(A).T @ abs(y)
    stationarity = np.max(abs(P @ x + q + A.T @ y), initial=0) / max(np.max(terms, initial=0), 1e-300)
    squares = x @ (P @ x)
    primal, dual = 0.5 * squares + q @ x, -0.5 * squares - b @ y
    size = max(abs(q) @ abs(x) + abs(b) @ abs(y) + squares, 1.0)
    return max(stationarity, abs(primal - dual) / size, abs(primal - form["objective"]) / size)


def best_answer(load):
    """Clarabel's answer at 1e-13 or, where it says itself that it stopped short, the one of two tolerances with the smaller gap and
    residuals by its own word."""
    answers = []
    for tolerance in (1e-13, 1e-11):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        answers.append(load(settings).solve())
        if answers[-1].status == clarabel.SolverStatus.Solved:
            break
    return min(answers, key=lambda answer: max(abs(answer.obj_val - answer.obj_val_dual), answer.r_prim, answer.r_dual))


def check_instance(folder, name):
    with open(os.path.join(folder, name + ".solution.json")) as file:
        solution = json.load(file)
    path = lambda ending: next(p for p in (os.path.join(folder, name + ending + z) for z in ("", ".gz"))  # noqa: E731
                               if os.path.exists(p))
    x, y, value = np.array(solution["primal"]), np.array(solution["dual"]), solution["objective"]
    try:
        model = mof.Model(path(".mof.json"))
    except mof.Broken as error:
        tally.check("MOF rules", name, False, str(error))
        return
    tally.check("MOF rules", name, True)
    tally.check("MOF starts", name, np.array_equal(model.dual, y) and np.array_equal(np.array(model.start), x))
    size = max(1.0, abs(value))
    # Closed forms: rounding. White-box's pair (inference): its gap, absolute below 1, for the minimum may be 0.
    closed = solution["source"] == "closed form"
    limit, floor = (1e-13, 1e-300) if closed else (1e-7, 1.0)

    for ending in (".cbf", ".ptf"):
        task = read_by_mosek(path(ending), model, name + ending)
        if ending == ".ptf":
            tally.check("PTF solution", name, np.array_equal(np.array(task.getxx(ITR)), x) and
                        np.array_equal(np.array(task.getaccdotys(ITR)), y))
            tally.check("PTF names", name, [task.getvarname(j) for j in range(len(x))] == model.names and
                        [task.getaccname(k) for k in range(task.getnumacc())] == model.blocks)
        else:
            inject(task, x, y)
        tally.figure(f"{ending} judged by MOSEK, {solution['source']}", name, judge(task, model, x, y, floor), limit)
        primal = task.getsolutioninfonew(ITR)[0]
        tally.figure(f"{ending} objective by MOSEK", name, abs(primal - value) / (size + abs(model.c) @ abs(x)), 1e-12)
        inject(task, x, perturbed(y))
        found = judge(task, model, x, perturbed(y))
        tally.check("perturbed pair refused", name + ending, found > 1e-6, f"{found:.1e}")

    form = solution["clarabel_and_scs"]
    constant = form["constant"]
    size = max(abs(value), abs(value - constant)) or 1.0  # of what is summed: the file's own objective has no constant
    tally.check("Clarabel units", name, np.array_equal(np.array(form["primal"]) * form["primal_units"], x[:len(form["primal"])])
                and abs(form["objective"] * form["factor"] + constant - value) <= 1e-12 * (abs(value) + abs(constant)))
    tally.figure("pair in Clarabel's rows", name, judge_clarabel(path(".clarabel.json"), form),
                 1e-13 if closed else 1e-7)
    answer = best_answer(lambda chosen: clarabel.load_from_file(path(".clarabel.json"), chosen))
    found = answer.obj_val * form["factor"] + constant
    tally.figure("Clarabel JSON value", f"{name} {answer.status}", abs(found - value) / size, 1e-7)
    status, found = solve_by_clarabel(model, form)
    tally.figure("MOF value by Clarabel", f"{name} {status}", abs(found - value) / size, 1e-7)


def main():
    program, data, chosen = sys.argv[1], sys.argv[2], sys.argv[3:]
    networks = sorted(glob.glob(os.path.join(data, "*", "*.network.json")))
    instances = 0
    for network in networks:
        short = os.path.basename(network).removesuffix(".network.json")
        if chosen and short not in chosen:
            continue
        for ending in ("points", "queries"):
            beside = network.replace(".network.json", f".{ending}.json")
            if os.path.exists(beside):
                break
        with open(beside) as file:
            content = json.load(file)
        with tempfile.TemporaryDirectory() as folder:
            points = os.path.join(folder, "points.json")
            with open(points, "w") as file:
                json.dump({"points": content[ending][:POINTS]}, file)
            out = os.path.join(folder, "out")
            subprocess.run([program, "export", network, "--points", points, "--program", "all", "--format", "all",
                            "--output", out], check=True, stdout=subprocess.DEVNULL)
            names = sorted(f.removesuffix(".solution.json") for f in os.listdir(out) if f.endswith(".solution.json"))
            tally.check("exported", network, len(names) == 6 * min(POINTS, len(content[ending])))
            for name in names:
                check_instance(out, name)
                instances += 1
    if not chosen:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([program, "export", "--library", folder, "--seed", "1", "--format", "all"], check=True,
                           stdout=subprocess.DEVNULL)
            with open(os.path.join(folder, "index.json")) as file:
                index = json.load(file)
            tally.check("compressed CBF in the library", "index", any(f.endswith(".cbf.gz") for e in index["instances"]
                                                                      for f in e["files"]))
            for entry in index["instances"]:
                check_instance(folder, entry["name"])
                instances += 1
    for what, count in tally.counts.items():
        worst = tally.worst.get(what)
        print(f"{what:<50} {count:>5}" + (f"   worst {worst[0]:.1e} ({worst[1]})" if worst else ""))
    for failure in tally.failures[:40]:
        print("FAILED", failure)
    print(f"{instances} instances, {len(tally.failures)} failures")
    return 1 if tally.failures or instances == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
