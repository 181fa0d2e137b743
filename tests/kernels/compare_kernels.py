#!/usr/bin/env python3
"""The same verdicts with every BLAS kernel: `certify --json -` of all networks in data once for each kernel, lists of (point, check,
solver, class, status) compared with those of the first. Prints how far figures of the same quantity differ, as shares of their bound,
and how often another quantity came nearest to its bound; exit code 1 where a list differs. Kernels that the library does not take, or the processor has not, are named and left out.
Usage: compare_kernels.py CERTICONE DATA [--kernels A,B,…] [arguments of certify]"""
import glob
import json
import math
import os
import subprocess
import sys

KERNELS = ["Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX"]
# What newer versions of OpenBLAS call a kernel.
OTHER_NAMES = {"Prescott": "Katmai"}
# What the processor must have for each (/proc/cpuinfo).
FLAGS = {"Nehalem": {"sse4_2"}, "Sandybridge": {"avx"}, "Haswell": {"avx2", "fma"}, "Zen": {"avx2", "fma"},
         "SkylakeX": {"avx512f", "avx512dq", "avx512vl", "avx512bw"}}


def processor_flags():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


def certify(program, network, kernel, arguments):
    environment = dict(os.environ, OPENBLAS_CORETYPE=kernel)
    run = subprocess.run([program, "certify", network, "--json", "-", *arguments], env=environment, capture_output=True)
    if run.returncode not in (0, 1):
        sys.exit(f"{network} with {kernel}: exit code {run.returncode}: {run.stderr.decode(errors='replace').strip()}")
    return json.loads(run.stdout)


def checks(report):
    """(point, id, solver, class, its place among those) → (status, figure, bound, where), in the order of the report."""
    found = {}
    for point in report["points"]:
        for check in point["checks"]:
            key = (point["index"], check["id"], check["solver"], check["class"])
            count = 0
            while key + (count,) in found:
                count += 1
            found[key + (count,)] = (check["status"], check["figure"], check["bound"], check["where"])
    return found


def main():
    program, data, *arguments = sys.argv[1:]
    kernels = KERNELS
    if arguments[:1] == ["--kernels"]:
        kernels, arguments = arguments[1].split(","), arguments[2:]
    networks = sorted(glob.glob(os.path.join(data, "paper", "*.network.json")) +
                      glob.glob(os.path.join(data, "suite", "*.network.json")))
    has, taken = processor_flags(), []
    for kernel in kernels:
        blas = ""
        if FLAGS.get(kernel, set()) <= has:
            report = certify(program, networks[-1], kernel, ["--sample", "1", "--solver", "none"])
            blas = report["environment"].get("blas", "")
        ran = report["environment"].get("blas_kernel", "") if blas else ""
        if kernel.lower() in (ran + " " + blas).lower() or ran == OTHER_NAMES.get(kernel):
            taken.append(kernel)
        else:
            print(f"{kernel}: left out, " + (f"the library runs '{blas}'" if blas else "the processor has not its instructions"))
    if len(taken) < 2:
        sys.exit("fewer than two kernels: nothing to compare")
    differing, total, largest = 0, 0, {}
    for network in networks:
        name = os.path.basename(network).removesuffix(".network.json")
        first = checks(certify(program, network, taken[0], arguments))
        total += len(first)
        for kernel in taken[1:]:
            other = checks(certify(program, network, kernel, arguments))
            for key in [*first, *(key for key in other if key not in first)]:
                here, there = first.get(key), other.get(key)
                if here is None or there is None or here[0] != there[0]:
                    differing += 1
                    print(f"DIFFERS {name}, point {key[0]}, {key[1]} ({key[2]}, {key[3]}): {taken[0]} {here}, {kernel} {there}")
                elif None not in (here[1], there[1], here[2], there[2]) and here[1] != there[1]:
                    limit, same = max(here[2], there[2]), here[3] == there[3]
                    share = abs(here[1] - there[1]) / limit if limit > 0.0 else math.inf
                    kind = (key[1], key[3], key[2])
                    count, worst, others = largest.get(kind, (0, 0.0, 0))
                    largest[kind] = (count + 1, max(worst, share), others) if same else (count, worst, others + 1)
    print(f"{len(networks)} networks, {total} checks, kernels {', '.join(taken)}: {differing} statuses differ")
    print("figures that differ: how many, by which share of their bound at most, and how often at another place")
    for (check, level, solver), (count, share, others) in sorted(largest.items()):
        print(f"  {check:<36} {level:<9} {solver:<32} {count:>6}  {share:.1e} {others:>6}")
    sys.exit(1 if differing else 0)


main()
