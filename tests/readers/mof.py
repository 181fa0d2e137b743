"""A reader of MathOptFormat of the tests' own: the rules of its published schema (1.x), as far as the parts that we write
need them, and the model as matrices. Nothing here is shared with the writer."""
import gzip
import json

import numpy as np
import scipy.sparse as sp

CONES = {"Zeros": "zero", "Nonnegatives": "nonnegative", "SecondOrderCone": "second-order",
         "RotatedSecondOrderCone": "rotated"}


class Broken(Exception):
    pass


def require(holds, what):
    if not holds:
        raise Broken(what)


def keys(value, place, required, optional=()):
    require(isinstance(value, dict), f"{place} is not an object")
    for key in required:
        require(key in value, f"{place} lacks {key}")
    for key in value:
        require(key in required or key in optional, f"{place} has an unknown key {key}")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def numbers(value, place, count=None):
    require(isinstance(value, list) and all(map(is_number, value)), f"{place} is not a list of numbers")
    require(count is None or len(value) == count, f"{place} has {len(value)} entries, not {count}")
    return np.array(value, dtype=float)


class Model:
    """min c'x + c0, b - Ax in the cones: rows, signs and order as in the file (A is the negated matrix of the terms)."""

    def __init__(self, path):
        opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
        with opened as file:
            root = json.load(file)
        keys(root, "the file", ("version", "variables", "objective", "constraints"), ("name", "author", "description"))
        keys(root["version"], "version", ("major", "minor"))
        require(root["version"]["major"] == 1 and root["version"]["minor"] in range(10), "version is not 1.0 to 1.9")
        require(isinstance(root.get("name", ""), str), "name is not a string")
        require(isinstance(root["variables"], list), "variables is not a list")
        self.names, self.start = [], []
        for k, variable in enumerate(root["variables"]):
            keys(variable, f"variables[{k}]", ("name",), ("primal_start",))
            require(isinstance(variable["name"], str) and variable["name"], f"variables[{k}] has no name")
            require(is_number(variable.get("primal_start", 0)), f"variables[{k}].primal_start is not a number")
            self.names.append(variable["name"])
            self.start.append(variable.get("primal_start"))
        require(len(set(self.names)) == len(self.names), "a variable is there twice")
        self.index = {name: k for k, name in enumerate(self.names)}
        self.objective(root["objective"])
        self.constraints(root["constraints"])

    def term(self, term, place):
        keys(term, place, ("coefficient", "variable"))
        require(is_number(term["coefficient"]), f"{place}.coefficient is not a number")
        require(term["variable"] in self.index, f"{place}: there is no variable {term['variable']!r}")
        return self.index[term["variable"]], float(term["coefficient"])

    def objective(self, objective):
        keys(objective, "objective", ("sense", "function"))
        require(objective["sense"] == "min", "the sense is not min")
        function = objective["function"]
        keys(function, "objective.function", ("type", "terms", "constant"))
        require(function["type"] == "ScalarAffineFunction", "the objective is not affine")
        require(is_number(function["constant"]), "the constant is not a number")
        self.c = np.zeros(len(self.names))
        for k, term in enumerate(function["terms"]):
            column, value = self.term(term, f"objective.terms[{k}]")
            self.c[column] += value
        self.c0 = float(function["constant"])

    def constraints(self, constraints):
        require(isinstance(constraints, list), "constraints is not a list")
        self.cones, self.blocks, rows, columns, values, b, primal, dual = [], [], [], [], [], [], [], []
        for number, constraint in enumerate(constraints):
            place = f"constraints[{number}]"
            keys(constraint, place, ("function", "set"), ("name", "primal_start", "dual_start"))
            function, cone = constraint["function"], constraint["set"]
            keys(cone, place + ".set", ("type", "dimension"))
            require(cone["type"] in CONES, f"{place}: unknown set {cone['type']}")
            dimension = cone["dimension"]
            least = {"SecondOrderCone": 2, "RotatedSecondOrderCone": 3}.get(cone["type"], 1)
            require(isinstance(dimension, int) and dimension >= least, f"{place}.set.dimension is {dimension}")
            keys(function, place + ".function", ("type", "terms", "constants"))
            require(function["type"] == "VectorAffineFunction", f"{place} is not a VectorAffineFunction")
            first = len(b)
            b.extend(numbers(function["constants"], place + ".constants", dimension))
            for k, term in enumerate(function["terms"]):
                keys(term, f"{place}.terms[{k}]", ("output_index", "scalar_term"))
                output = term["output_index"]
                require(isinstance(output, int) and 1 <= output <= dimension, f"{place}.terms[{k}].output_index")
                column, value = self.term(term["scalar_term"], f"{place}.terms[{k}].scalar_term")
                rows.append(first + output - 1)
                columns.append(column)
                values.append(-value)
            for key, list_of in (("primal_start", primal), ("dual_start", dual)):
                list_of.extend(numbers(constraint.get(key, [float("nan")] * dimension), f"{place}.{key}", dimension))
            self.cones.append((CONES[cone["type"]], dimension))
            self.blocks.append(constraint.get("name"))
        self.b, self.primal, self.dual = np.array(b), np.array(primal), np.array(dual)
        self.A = sp.csc_matrix((values, (rows, columns)), shape=(len(b), len(self.names)))
        require(self.A.nnz == len(values), "an entry is there twice")
