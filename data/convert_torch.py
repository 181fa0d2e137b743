#!/usr/bin/env python3
"""From torch checkpoints of the published SOC-ICNN code to a network file of ours (soc-icnn/1, JSON or safetensors).

    convert_torch.py CHECKPOINT OUTPUT [--layout exp1|exp2] [--activation relu] [--no-passthrough] [--name NAME]

Two layouts of state dicts are known (docs/export.md):
  exp1   W1 b1 layers_W.i layers_U.i layers_b.i c v b0 B_quad.i e_quad.i alpha_quad_raw.i A_norm.i d_norm.i lambda_norm_raw.i
         with |c|, |alpha|, |lambda| in force and U as stored (it must be >= 0)
  exp2   backbone.W_in, backbone.W_layers.i, backbone.W_out (weight and bias), backbone.U_layers_raw.i, backbone.U_out_raw, Ls
         (transposed, without offset), alpha_raw, A, d, lam_raw; softplus(U), softplus(alpha) + 1e-8, softplus(lam) + 1e-8

What is stored are the weights in force, and reference values f(x) at a few points, computed here from the raw parameters as the
published forward pass does: certicone refuses the file when its own f differs. A state dict does not say which activation it was
trained with: --activation, or an entry "activation" in the checkpoint; only relu is a SOC-ICNN.

Needs Python 3 alone: torch's zip format is read here, and nothing in it is executed.
"""
import argparse
import collections
import io
import json
import math
import os
import pickle
import random
import struct
import sys
import tempfile
import zipfile


class Refused(Exception):
    """What is wrong with the checkpoint, in one line."""


# ---- torch's zip format ----------------------------------------------------------------------------------------------

STORAGES = {"DoubleStorage": ("d", 8), "FloatStorage": ("f", 4), "HalfStorage": ("e", 2), "BFloat16Storage": ("bf16", 2),
            "LongStorage": ("q", 8), "IntStorage": ("i", 4), "BoolStorage": ("?", 1)}


def rebuild_tensor(storage, offset, size, stride, *_):
    """A tensor as nested lists of numbers; a number for no dimensions."""
    if len(size) == 0:
        return storage[offset]
    return [rebuild_tensor(storage, offset + k * stride[0], size[1:], stride[1:]) for k in range(size[0])]


class Unpickler(pickle.Unpickler):
    """Knows the few classes that a state dict is made of, and refuses every other one."""

    def __init__(self, file, archive, folder):
        super().__init__(file)
        self.archive, self.folder = archive, folder

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor"):
            return rebuild_tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return lambda tensor, *_: tensor
        if (module, name) == ("torch", "Size"):
            return tuple
        if module == "torch" and name in STORAGES:
            return name
        raise Refused(f"holds a {module}.{name}, expected a state dict of tensors (torch.save(model.state_dict(), ...))")

    def persistent_load(self, pid):
        kind, storage, key, _, count = pid
        if kind != "storage" or storage not in STORAGES:
            raise Refused(f"holds a storage of kind {storage}")
        code, size = STORAGES[storage]
        raw = self.archive.read(f"{self.folder}/data/{key}")
        if len(raw) < count * size:
            raise Refused(f"storage {key} is cut short")
        if code == "bf16":  # the upper half of a float
            halves = struct.unpack(f"<{count}H", raw[:count * size])
            return struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(h << 16 for h in halves)))
        return struct.unpack(f"<{count}{code}", raw[:count * size])


def load_checkpoint(path):
    if not zipfile.is_zipfile(path):
        raise Refused("is not a zip file, expected what torch.save writes since version 1.6")
    with zipfile.ZipFile(path) as archive:
        pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise Refused("has no data.pkl, expected what torch.save writes")
        folder = pickles[0][:-len("/data.pkl")]
        if f"{folder}/byteorder" in archive.namelist() and archive.read(f"{folder}/byteorder") != b"little":
            raise Refused("is big-endian")
        try:
            return Unpickler(io.BytesIO(archive.read(pickles[0])), archive, folder).load()
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"its data.pkl cannot be read ({type(error).__name__}: {error})") from error


def find_state_dict(checkpoint):
    """The tensors by name, and what the checkpoint says of its activation."""
    activation = None
    state = checkpoint
    for key in ("state_dict", "model_state_dict", "model_state", "model"):
        if isinstance(checkpoint, dict) and isinstance(checkpoint.get(key), dict):
            state = checkpoint[key]
            break
    if not isinstance(state, dict) or not state:
        raise Refused("holds no state dict")
    places = [checkpoint] + [checkpoint[key] for key in ("config", "args", "hparams", "hyper_parameters")
                             if isinstance(checkpoint, dict) and isinstance(checkpoint.get(key), dict)]
    for place in places:
        if isinstance(place, dict) and isinstance(place.get("activation"), str):
            activation = place["activation"]
    tensors = {key: value for key, value in state.items() if isinstance(value, (int, float, list))}
    return tensors, activation


# ---- the two layouts -------------------------------------------------------------------------------------------------

def softplus(x):
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


def elementwise(function, value):
    return [elementwise(function, entry) for entry in value] if isinstance(value, list) else function(value)


def scalar(value):
    while isinstance(value, list):
        if len(value) != 1:
            raise Refused("a number was expected where there are several")
        value = value[0]
    return float(value)


def vector(value):
    """A vector, also from a matrix of one row."""
    while value and isinstance(value[0], list):
        if len(value) != 1:
            raise Refused("a vector was expected where there is a matrix")
        value = value[0]
    return value


class Tensors:
    """Hands out tensors by name; what nobody asked for is refused at the end."""

    def __init__(self, tensors):
        self.left = dict(tensors)

    def take(self, name):
        if name not in self.left:
            raise Refused(f"lacks the tensor {name}")
        return self.left.pop(name)

    def count(self, pattern):
        count = 0
        while pattern.format(count) in self.left:
            count += 1
        return count

    def none_left(self):
        if self.left:
            raise Refused(f"has a tensor that this layout does not have: {sorted(self.left)[0]}")


def transposed(matrix):
    return [list(row) for row in zip(*matrix)]


def from_exp1(tensors, passthrough):
    depth = tensors.count("layers_W.{}")
    layers = [{"W": tensors.take("W1"), "b": tensors.take("b1")}]
    for i in range(depth):
        W = tensors.take(f"layers_W.{i}")
        layers.append({"W": W if passthrough else elementwise(lambda _: 0.0, W), "U": tensors.take(f"layers_U.{i}"),
                       "b": tensors.take(f"layers_b.{i}")})
    network = {"layers": layers, "c": elementwise(abs, vector(tensors.take("c"))), "v": vector(tensors.take("v")),
               "b0": scalar(tensors.take("b0"))}
    network["quadratic"] = [{"alpha": abs(scalar(tensors.take(f"alpha_quad_raw.{h}"))), "B": tensors.take(f"B_quad.{h}"),
                             "e": tensors.take(f"e_quad.{h}")} for h in range(tensors.count("B_quad.{}"))]
    network["conic"] = [{"lambda": abs(scalar(tensors.take(f"lambda_norm_raw.{g}"))), "A": tensors.take(f"A_norm.{g}"),
                         "d": tensors.take(f"d_norm.{g}")} for g in range(tensors.count("A_norm.{}"))]
    return network


def from_exp2(tensors):
    layers = [{"W": tensors.take("backbone.W_in.weight"), "b": tensors.take("backbone.W_in.bias")}]
    for i in range(tensors.count("backbone.W_layers.{}.weight")):
        layers.append({"W": tensors.take(f"backbone.W_layers.{i}.weight"),
                       "U": elementwise(softplus, tensors.take(f"backbone.U_layers_raw.{i}")),
                       "b": tensors.take(f"backbone.W_layers.{i}.bias")})
    network = {"layers": layers, "c": elementwise(softplus, vector(tensors.take("backbone.U_out_raw"))),
               "v": vector(tensors.take("backbone.W_out.weight")), "b0": scalar(tensors.take("backbone.W_out.bias")),
               "quadratic": [], "conic": []}
    if "Ls" in tensors.left:
        for L, raw in zip(tensors.take("Ls"), tensors.take("alpha_raw")):
            network["quadratic"].append({"alpha": softplus(raw) + 1e-8, "B": transposed(L), "e": [0.0] * len(L[0])})
    if "A" in tensors.left:
        A = tensors.take("A")
        offsets = tensors.take("d") if "d" in tensors.left else [[0.0] * len(block) for block in A]
        for block, d, raw in zip(A, offsets, tensors.take("lam_raw")):
            network["conic"].append({"lambda": softplus(raw) + 1e-8, "A": block, "d": d})
    return network


def check_signs(network):
    for l, layer in enumerate(network["layers"]):
        for i, row in enumerate(layer.get("U", [])):
            for j, entry in enumerate(row):
                if not entry >= 0:
                    raise Refused(f"U of layer {l} has {entry} at [{i}][{j}], must be >= 0: the network is not convex")
    for module in network["quadratic"]:
        if not module["alpha"] > 0:
            raise Refused(f"a quadratic module has alpha = {module['alpha']}, must be > 0")


# ---- f(x) as the published forward passes compute it, from the raw tensors ----------------------------------------------

def times(matrix, x):
    return [math.fsum(a * b for a, b in zip(row, x)) for row in matrix]


def value_exp1(t, x, passthrough):
    z = [max(a + b, 0.0) for a, b in zip(times(t["W1"], x), t["b1"])]
    depth = sum(1 for key in t if key.startswith("layers_U."))
    for i in range(depth):
        a = [u + b for u, b in zip(times(t[f"layers_U.{i}"], z), t[f"layers_b.{i}"])]
        if passthrough:
            a = [s + w for s, w in zip(a, times(t[f"layers_W.{i}"], x))]
        z = [max(entry, 0.0) for entry in a]
    total = math.fsum(abs(c) * e for c, e in zip(vector(t["c"]), z)) + math.fsum(v * e for v, e in zip(vector(t["v"]), x))
    total += scalar(t["b0"])
    for h in range(sum(1 for key in t if key.startswith("B_quad."))):
        q = [a + e for a, e in zip(times(t[f"B_quad.{h}"], x), t[f"e_quad.{h}"])]
        total += abs(scalar(t[f"alpha_quad_raw.{h}"])) * 0.5 * math.fsum(e * e for e in q)
    for g in range(sum(1 for key in t if key.startswith("A_norm."))):
        u = [a + d for a, d in zip(times(t[f"A_norm.{g}"], x), t[f"d_norm.{g}"])]
        total += abs(scalar(t[f"lambda_norm_raw.{g}"])) * math.hypot(*u)
    return total


def value_exp2(t, x):
    linear = lambda name: [a + b for a, b in zip(times(t[name + ".weight"], x), t[name + ".bias"])]  # noqa: E731
    z = [max(a, 0.0) for a in linear("backbone.W_in")]
    for i in range(sum(1 for key in t if key.startswith("backbone.U_layers_raw."))):
        pushed = times(elementwise(softplus, t[f"backbone.U_layers_raw.{i}"]), z)
        z = [max(a + u, 0.0) for a, u in zip(linear(f"backbone.W_layers.{i}"), pushed)]
    total = linear("backbone.W_out")[0] + times(elementwise(softplus, t["backbone.U_out_raw"]), z)[0]
    for h, L in enumerate(t.get("Ls", [])):
        q = [math.fsum(x[k] * L[k][r] for k in range(len(x))) for r in range(len(L[0]))]
        total += 0.5 * (softplus(t["alpha_raw"][h]) + 1e-8) * math.fsum(e * e for e in q)
    for g, A in enumerate(t.get("A", [])):
        u = times(A, x)
        if "d" in t:
            u = [a + d for a, d in zip(u, t["d"][g])]
        total += (softplus(t["lam_raw"][g]) + 1e-8) * math.hypot(*u)
    return total


# ---- files -----------------------------------------------------------------------------------------------------------

def as_safetensors(network):
    tensors = {}
    for l, layer in enumerate(network["layers"]):
        for key, value in layer.items():
            tensors[f"layers.{l}.{key}"] = value
    for key in ("c", "v", "b0"):
        tensors[key] = network[key]
    for kind in ("quadratic", "conic"):
        for k, module in enumerate(network[kind]):
            for key, value in module.items():
                tensors[f"{kind}.{k}.{key}"] = value
    tensors["reference.points"] = network["reference"]["points"]
    tensors["reference.values"] = network["reference"]["values"]
    header, data = {"__metadata__": {"format": "soc-icnn/1", "name": network["name"]}}, b""
    for name, value in tensors.items():
        shape, flat = [], value
        while isinstance(flat, list):
            shape.append(len(flat))
            flat = flat[0] if flat else 0.0
        flat = value if isinstance(value, list) else [value]
        while flat and isinstance(flat[0], list):
            flat = [entry for row in flat for entry in row]
        raw = struct.pack(f"<{len(flat)}d", *flat)
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def write_atomically(path, content):
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(content)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def convert(arguments):
    tensors, said = find_state_dict(load_checkpoint(arguments.checkpoint))
    activation = arguments.activation or said or "relu"
    if arguments.activation and said and arguments.activation != said:
        raise Refused(f"says its activation is {said}, but --activation says {arguments.activation}")
    if activation.lower() != "relu":
        raise Refused(f"has the activation {activation}: only relu makes a SOC-ICNN, whose value is that of a second-order cone "
                      "program; softplus and its kin are not piecewise linear")
    layout = arguments.layout or ("exp1" if "W1" in tensors else "exp2" if "backbone.W_in.weight" in tensors else None)
    if layout is None:
        raise Refused(f"has neither layout: no tensor W1 (exp1) nor backbone.W_in.weight (exp2), but {sorted(tensors)[:3]}")
    named = Tensors(tensors)
    network = from_exp1(named, arguments.passthrough) if layout == "exp1" else from_exp2(named)
    named.none_left()
    check_signs(network)
    dimension = len(network["v"])
    draw = random.Random(20260101)
    points = [[draw.gauss(0.0, 1.0) for _ in range(dimension)] for _ in range(arguments.references)]
    value = (lambda x: value_exp1(tensors, x, arguments.passthrough)) if layout == "exp1" else \
        (lambda x: value_exp2(tensors, x))
    network["reference"] = {"points": points, "values": [value(x) for x in points]}
    name = arguments.name or os.path.basename(arguments.output).split(".")[0]
    network = {"format": "soc-icnn/1", "name": name, "input_dim": dimension, **network}
    content = as_safetensors(network) if arguments.output.endswith(".safetensors") else \
        (json.dumps(network) + "\n").encode()
    write_atomically(arguments.output, content)
    return layout, network


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint")
    parser.add_argument("output", help="NAME.network.json or NAME.safetensors")
    parser.add_argument("--layout", choices=("exp1", "exp2"))
    parser.add_argument("--activation", help="what the network was trained with; only relu can be converted")
    parser.add_argument("--no-passthrough", dest="passthrough", action="store_false",
                        help="exp1: deeper layers do not see x, though their W is stored")
    parser.add_argument("--name")
    parser.add_argument("--references", type=int, default=8, help="how many reference values to embed")
    arguments = parser.parse_args()
    try:
        layout, network = convert(arguments)
    except (Refused, OSError, KeyError, TypeError, IndexError) as error:
        print(f"convert_torch: {arguments.checkpoint}: {error}", file=sys.stderr)
        return 2
    print(f"{arguments.output}: {layout}, {network['input_dim']} inputs, layers of "
          f"{[len(layer['b']) for layer in network['layers']]}, {len(network['quadratic'])} quadratic and "
          f"{len(network['conic'])} conic modules, {len(network['reference']['values'])} reference values")
    return 0


if __name__ == "__main__":
    sys.exit(main())
