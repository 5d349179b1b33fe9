"""Programs that are nearly right: each mutation runs, or is refused in at most twelve lines; none brings the process down."""
import copy
import json
import pathlib
import random

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core

CASES = pathlib.Path(__file__).parents[1] / "golden/cases"
NUMBERS = [-(2**31), -2, -1, 0, 1, 2, 3, 7, 100, 2**31 - 1]
LONGS = [-5, -1, 0, 1, 2**40, 2**62]
FLOATS = [float("nan"), float("inf"), -1.0, 0.0, 0.5, 1e30]
STRINGS = ["", "NCHW", "NHWC", "SAME", "VALID", "avg", "x"]
DTYPES = ["float32", "float64", "int64", "int32", "bool", "uint8"]


def arrays(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def cases():
    known = set(_core.op_types())
    for folder in sorted(path.parent for path in CASES.glob("*/feeds.npz")):
        meta = json.loads((folder / "case.json").read_text())
        if meta["kind"] == "bad" or not (folder / "main.pb").exists() or set(meta["ops"]) - known:
            continue
        feeds = {name[2:]: value for name, value in arrays(folder / "feeds.npz").items() if name.startswith("0/") and "@" not in name}
        init = arrays(folder / "init.npz") if (folder / "init.npz").exists() else {}
        yield _core.decode_program((folder / "main.pb").read_bytes()), feeds, init, tuple(meta["fetch"])


def several(rng, values):
    return [rng.choice(values) for _ in range(rng.randint(0, 4))]


def mutated_attr(rng, kind, value):
    choose = {0: lambda: rng.choice(NUMBERS), 1: lambda: rng.choice(FLOATS), 2: lambda: rng.choice(STRINGS), 3: lambda: several(rng, NUMBERS),
              6: lambda: not value, 9: lambda: rng.choice(LONGS), 11: lambda: several(rng, LONGS)}
    return choose[kind]() if kind in choose else value


def mutate(rng, block):
    op, var = rng.choice(block["ops"]), rng.choice(block["vars"])
    what = rng.choice(["attr", "attr", "shape", "dtype", "kind", "argument", "argument", "drop", "order", "type", "persistable"])
    if what == "attr" and op["attrs"]:
        i = rng.randrange(len(op["attrs"]))
        name, kind, value = op["attrs"][i]
        op["attrs"][i] = (name, kind, mutated_attr(rng, kind, value))
    elif what == "shape":
        var["shape"] = several(rng, [-1, 0, 1, 2, 3, 5, 2**31])
    elif what == "dtype":
        var["dtype"] = rng.choice(DTYPES)
    elif what == "kind":
        var["kind"] = rng.choice([7, 8])
    elif what == "argument":
        ports = op[rng.choice(["inputs", "outputs"])]
        if ports:
            i = rng.randrange(len(ports))
            ports[i] = (ports[i][0], [var["name"]] + list(ports[i][1][1:]))
    elif what == "drop" and len(block["ops"]) > 1:
        block["ops"].remove(op)
    elif what == "order":
        rng.shuffle(block["ops"])
    elif what == "type":
        op["type"] = rng.choice(_core.op_types())
    elif what == "persistable":
        var["persistable"] = not var["persistable"]


@pytest.mark.parametrize("seed", range(4))
def test_mutated_programs(seed):
    rng, originals = random.Random(seed), list(cases())
    executor, finished, refused = _core.Executor("cpu", 0), 0, 0
    assert len(originals) >= 10
    for _ in range(250):
        program, feeds, init, fetches = rng.choice(originals)
        program = copy.deepcopy(program)
        for _ in range(rng.randint(1, 3)):
            mutate(rng, program["blocks"][0])
        scope = _core.Scope()
        for name, value in init.items():
            scope.set(name, value)
        try:
            handle = _core.Program(_core.encode_program(program))
            for _ in range(2):
                executor.run(handle, scope, tuple(feeds), tuple(feeds.values()), fetches)
            finished += 1
        except pm.Error as error:
            assert len(str(error).splitlines()) <= 12
            refused += 1
    assert finished > 20 and refused > 20
