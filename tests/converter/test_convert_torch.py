#!/usr/bin/env python3
"""data/convert_torch.py on checkpoints of both published layouts, made on the spot: by torch where it is there, else by hand in
the same zip format. Usage: test_convert_torch.py CERTICONE"""
import collections
import json
import math
import os
import pickle
import random
import struct
import subprocess
import sys
import tempfile
import types
import zipfile

try:
    import torch
except ImportError:
    torch = None

CONVERTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "convert_torch.py")
CHECKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "certificate_checker.py")
PROGRAM = sys.argv[1]
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("FAILED", what)


# ---- a checkpoint without torch ----------------------------------------------------------------------------------------

class Tensor:
    def __init__(self, shape, entries, kind):
        self.shape, self.entries, self.kind = shape, entries, kind


def save_by_hand(state, path):
    """The pickle that torch writes: classes by the names of torch, storages as persistent ids."""
    fake, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    codes = {"DoubleStorage": "d", "FloatStorage": "f", "BFloat16Storage": "H"}
    for name in codes:
        kind = type(name, (), {"__module__": "torch"})
        kind.__qualname__ = name
        setattr(fake, name, kind)

    def _rebuild_tensor_v2(*_):
        raise AssertionError("only its name is needed")
    _rebuild_tensor_v2.__module__ = "torch._utils"
    _rebuild_tensor_v2.__qualname__ = "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2
    fake._utils = utils
    saved = {key: sys.modules.get(key) for key in ("torch", "torch._utils")}
    sys.modules["torch"], sys.modules["torch._utils"] = fake, utils
    storages = []

    class Storage:
        def __init__(self, kind, entries):
            self.kind, self.entries, self.key = kind, entries, str(len(storages))
            storages.append(self)

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            if isinstance(value, Storage):
                return ("storage", getattr(fake, value.kind), value.key, "cpu", len(value.entries))
            return None

        def reducer_override(self, value):
            if not isinstance(value, Tensor):
                return NotImplemented
            stride, step = [], 1
            for size in reversed(value.shape):
                stride.insert(0, step)
                step *= size
            return _rebuild_tensor_v2, (Storage(value.kind, value.entries), 0, tuple(value.shape), tuple(stride), False,
                                        collections.OrderedDict())
    with zipfile.ZipFile(path, "w") as archive:
        with tempfile.TemporaryFile() as buffer:
            Pickler(buffer, protocol=2).dump(state)
            buffer.seek(0)
            archive.writestr("checkpoint/data.pkl", buffer.read())
        archive.writestr("checkpoint/byteorder", "little")
        for storage in storages:
            entries = storage.entries
            if storage.kind == "BFloat16Storage":
                entries = [struct.unpack("<I", struct.pack("<f", e))[0] >> 16 for e in entries]
            archive.writestr(f"checkpoint/data/{storage.key}", struct.pack(f"<{len(entries)}{codes[storage.kind]}", *entries))
    for key, module in saved.items():
        if module is None:
            del sys.modules[key]
        else:
            sys.modules[key] = module


def nested(shape, entries):
    if not shape:
        return entries[0]
    step = len(entries) // shape[0]
    return [nested(shape[1:], entries[k * step:(k + 1) * step]) for k in range(shape[0])]


def in_kind(entry, kind):
    """The number as the storage holds it."""
    if kind == "FloatStorage":
        return struct.unpack("<f", struct.pack("<f", entry))[0]
    if kind == "BFloat16Storage":
        raw = struct.unpack("<I", struct.pack("<f", entry))[0] >> 16 << 16
        return struct.unpack("<f", struct.pack("<I", raw))[0]
    return entry


class Draw:
    """A state dict of random tensors: for the file, and as nested lists for the formulas below."""

    def __init__(self, seed, kind):
        self.random, self.kind = random.Random(seed), kind
        self.state, self.lists = collections.OrderedDict(), {}
        self.state._metadata = collections.OrderedDict({"": {"version": 1}})  # as nn.Module.state_dict has it

    def put(self, name, shape, low=None, high=None):
        count = math.prod(shape)
        entries = [self.random.uniform(low, high) if low is not None else self.random.gauss(0.0, 0.7) for _ in range(count)]
        entries = [in_kind(entry, self.kind) for entry in entries]
        self.lists[name] = nested(list(shape), entries)
        if torch is None:
            self.state[name] = Tensor(shape, entries, self.kind)
        else:
            dtype = {"DoubleStorage": torch.float64, "FloatStorage": torch.float32, "BFloat16Storage": torch.bfloat16}
            self.state[name] = torch.tensor(entries, dtype=dtype[self.kind]).reshape(shape)

    def save(self, path, wrap=lambda state: state):
        if torch is None:
            save_by_hand(wrap(self.state), path)
        else:
            torch.save(wrap(self.state), path)


def exp1(seed, kind="DoubleStorage", negative=False):
    draw = Draw(seed, kind)
    draw.put("W1", (5, 3))
    draw.put("b1", (5,))
    for i in range(2):
        draw.put(f"layers_W.{i}", (5, 3))
        draw.put(f"layers_U.{i}", (5, 5), -1.0 if negative else 0.0, 1.0)
        draw.put(f"layers_b.{i}", (5,))
    draw.put("c", (5,))
    draw.put("v", (3,))
    draw.put("b0", (1,))
    for h in range(2):
        draw.put(f"B_quad.{h}", (2, 3))
        draw.put(f"e_quad.{h}", (2,))
        draw.put(f"alpha_quad_raw.{h}", ())
    draw.put("A_norm.0", (4, 3))
    draw.put("d_norm.0", (4,))
    draw.put("lambda_norm_raw.0", ())
    return draw


def exp2(seed, kind="FloatStorage", blocks=1):
    draw = Draw(seed, kind)
    draw.put("backbone.W_in.weight", (6, 4))
    draw.put("backbone.W_in.bias", (6,))
    draw.put("backbone.W_layers.0.weight", (6, 4))
    draw.put("backbone.W_layers.0.bias", (6,))
    draw.put("backbone.U_layers_raw.0", (6, 6))
    draw.put("backbone.W_out.weight", (1, 4))
    draw.put("backbone.W_out.bias", (1,))
    draw.put("backbone.U_out_raw", (1, 6))
    if blocks:
        draw.put("Ls", (blocks, 4, 2))
        draw.put("alpha_raw", (blocks,))
        draw.put("A", (blocks, 3, 4))
        draw.put("d", (blocks, 3))
        draw.put("lam_raw", (blocks,))
    return draw


# ---- f by formulas of the test's own --------------------------------------------------------------------------------------

def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def soft(x):
    return math.log(1.0 + math.exp(x))


def f1(t, x, passthrough=True):
    z = [max(dot(row, x) + b, 0.0) for row, b in zip(t["W1"], t["b1"])]
    for i in range(2):
        z = [max(dot(U, z) + b + (dot(W, x) if passthrough else 0.0), 0.0)
             for U, W, b in zip(t[f"layers_U.{i}"], t[f"layers_W.{i}"], t[f"layers_b.{i}"])]
    value = dot(map(abs, t["c"]), z) + dot(t["v"], x) + t["b0"][0]
    for h in range(2):
        value += abs(t[f"alpha_quad_raw.{h}"]) / 2 * sum((dot(B, x) + e) ** 2 for B, e in zip(t[f"B_quad.{h}"], t[f"e_quad.{h}"]))
    return value + abs(t["lambda_norm_raw.0"]) * math.sqrt(sum((dot(A, x) + d) ** 2 for A, d in zip(t["A_norm.0"], t["d_norm.0"])))


def f2(t, x):
    z = [max(dot(row, x) + b, 0.0) for row, b in zip(t["backbone.W_in.weight"], t["backbone.W_in.bias"])]
    z = [max(dot(W, x) + b + dot(map(soft, U), z), 0.0) for W, b, U in zip(
        t["backbone.W_layers.0.weight"], t["backbone.W_layers.0.bias"], t["backbone.U_layers_raw.0"])]
    value = dot(t["backbone.W_out.weight"][0], x) + t["backbone.W_out.bias"][0] + dot(map(soft, t["backbone.U_out_raw"][0]), z)
    for L, alpha in zip(t.get("Ls", []), t.get("alpha_raw", [])):
        value += (soft(alpha) + 1e-8) / 2 * sum(dot(column, x) ** 2 for column in zip(*L))
    for A, d, lam in zip(t.get("A", []), t.get("d", []), t.get("lam_raw", [])):
        value += (soft(lam) + 1e-8) * math.sqrt(sum((dot(row, x) + o) ** 2 for row, o in zip(A, d)))
    return value


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def convert(checkpoint, output, *options):
    return run(sys.executable, CONVERTER, checkpoint, output, *options)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)  # noqa: E731
        draws = random.Random(99)
        converted = 0
        for name, draw, formula, options in (
                ("one", exp1(1), f1, ()), ("single", exp1(2, "FloatStorage"), f1, ()),
                ("closed", exp1(3), lambda t, x: f1(t, x, False), ("--no-passthrough",)),
                ("two", exp2(4), f2, ()), ("blocks", exp2(5, "DoubleStorage", 3), f2, ()), ("plain", exp2(6, blocks=0), f2, ()),
                ("brain", exp2(7, "BFloat16Storage"), f2, ())):
            draw.save(path(name + ".pt"))
            for ending in (".network.json", ".safetensors"):
                done = convert(path(name + ".pt"), path(name + ending), *options)
                check(done.returncode == 0, f"{name}{ending}: {done.stderr}")
                dimension = 3 if name in ("one", "single", "closed") else 4
                points = [[draws.gauss(0.0, 2.0) for _ in range(dimension)] for _ in range(20)]
                with open(path("points.json"), "w") as file:
                    json.dump({"points": points}, file)
                read = run(PROGRAM, "readout", path(name + ending), "--points", path("points.json"), "--json", "-")
                check(read.returncode == 0, f"{name}{ending} is refused: {read.stderr}")
                for point in json.loads(read.stdout)["points"]:
                    expected = formula(draw.lists, point["x"])
                    check(abs(point["value"] - expected) <= 1e-12 * (1 + abs(expected)), f"{name}{ending}: {point['value']} {expected}")
                converted += 1
                # What the converter wrote can be certified, and both checkers verify the certificate of that very file.
                written = run(PROGRAM, "certify", path(name + ending), "--points", path("points.json"), "--solver", "none",
                              "--referee", "none", "--certificate", folder)
                certificate = path(name + ".certificate.json")
                check(written.returncode == 0, f"{name}{ending} is not certified: {written.stdout} {written.stderr}")
                for checker in ((PROGRAM, "check", certificate, "--network", path(name + ending)),
                                (sys.executable, CHECKER, certificate, path(name + ending))):
                    verdict = run(*checker)
                    check(verdict.returncode == 0 and verdict.stdout.startswith("verified: 20 points"),
                          f"{name}{ending}: {verdict.stdout} {verdict.stderr}")
                os.remove(certificate)

        # References are checked on load: another weight, another value.
        with open(path("one.network.json")) as file:
            network = json.load(file)
        check(len(network["reference"]["values"]) == 8, "eight reference values")
        network["layers"][1]["U"][2][3] += 0.01
        with open(path("changed.network.json"), "w") as file:
            json.dump(network, file)
        refused = run(PROGRAM, "inspect", path("changed.network.json"))
        check(refused.returncode == 2 and "reference value" in refused.stderr, f"a changed weight: {refused.stderr}")
        with open(path("one.safetensors"), "rb") as file:
            raw = bytearray(file.read())
        raw[-4] ^= 0x10
        with open(path("changed.safetensors"), "wb") as file:
            file.write(raw)
        refused = run(PROGRAM, "inspect", path("changed.safetensors"))
        check(refused.returncode == 2 and "reference value" in refused.stderr, f"a changed value: {refused.stderr}")

        # The wrong switch changes f: passthrough as trained must be told.
        check(f1(exp1(3).lists, [1.0, 2.0, 3.0]) != f1(exp1(3).lists, [1.0, 2.0, 3.0], False), "passthrough matters")

        def refuses(what, part, output="out.json", *options, **checkpoint):
            done = convert(path("bad.pt"), path(output), *options)
            check(done.returncode == 2 and part in done.stderr and done.stderr.count("\n") == 1 and
                  not os.path.exists(path(output)), f"{what}: {done.returncode} {done.stderr}")

        exp1(8, negative=True).save(path("bad.pt"))
        refuses("negative U", "must be >= 0")
        exp1(9).save(path("bad.pt"))
        refuses("softplus by option", "only relu makes a SOC-ICNN", "out.json", "--activation", "softplus")
        exp2(9).save(path("bad.pt"), lambda state: {"state_dict": state, "config": {"activation": "softplus"}})
        refuses("softplus by the checkpoint", "only relu makes a SOC-ICNN")
        refuses("activations that differ", "but --activation says", "out.json", "--activation", "relu")
        exp2(9).save(path("bad.pt"), lambda state: {"state_dict": state, "config": {"activation": "relu"}})
        check(convert(path("bad.pt"), path("nested.json")).returncode == 0, "a nested state dict")
        draw = exp1(10)
        del draw.state["v"]
        draw.save(path("bad.pt"))
        refuses("a missing tensor", "lacks the tensor v")
        draw = exp1(10)
        draw.put("extra", (2,))
        draw.save(path("bad.pt"))
        refuses("an unknown tensor", "extra")
        draw = Draw(1, "FloatStorage")
        draw.put("fc.weight", (2, 2))
        draw.save(path("bad.pt"))
        refuses("another network", "neither layout")
        with open(path("bad.pt"), "wb") as file:
            file.write(b"not a checkpoint")
        refuses("not a zip file", "is not a zip file")
        with zipfile.ZipFile(path("bad.pt"), "w") as archive:  # a pickle that would run a command
            archive.writestr("x/data.pkl", b"cposix\nsystem\n(S'touch " + path("owned").encode() + b"'\ntR.")
        refuses("a pickle that runs something", "holds a posix.system")
        check(not os.path.exists(path("owned")), "nothing in a checkpoint is executed")
        check(convert(path("missing.pt"), path("out.json")).returncode == 2, "a missing file")
        print(f"{converted} files converted from checkpoints made by {'torch ' + torch.__version__ if torch else 'hand'}, "
              f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
