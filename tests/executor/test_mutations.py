"""Nearly valid programs: each mutation runs, or is rejected in twelve lines; none crashes the process."""

import copy
import json
import pathlib
import random
import signal

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core
from thorough import some

CASES = pathlib.Path(__file__).parents[1] / "golden/cases"
NUMBERS = [-(2**31), -2, -1, 0, 1, 2, 3, 7, 100, 2**31 - 1]
LONGS = [-5, -1, 0, 1, 2**40, 2**62]
FLOATS = [float("nan"), float("inf"), -1.0, 0.0, 0.5, 1e30]
TEXTS = ["", "NCHW", "NHWC", "SAME", "VALID", "avg", "x"]
DTYPES = ["float32", "float64", "int64", "int32", "bool", "uint8"]
KINDS = [7, 7, 8, 11, 12, 13]  # tensors, selected rows, step scopes, rank tables, tensor arrays
INT, FLOAT, STRING, INTS, STRINGS, BOOLEAN, BLOCK, LONG, LONG_LIST = 0, 1, 2, 3, 5, 6, 8, 9, 11
CHANGES = [
    "attr",
    "attr",
    "shape",
    "dtype",
    "kind",
    "argument",
    "argument",
    "count",
    "drop",
    "order",
    "type",
    "persistable",
    "move",
    "tree",
    "declare",
]


def arrays(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def feeds_of(folder):
    """The first step's feeds: an array, or (array, lod) of one with sequences."""
    values = {name[2:]: value for name, value in arrays(folder / "feeds.npz").items() if name.startswith("0/")}
    feeds = {}
    for name in (name for name in values if "@LOD" not in name):
        levels = [values[key].tolist() for key in (f"{name}@LOD", f"{name}@LOD.1") if key in values]
        feeds[name] = (values[name], levels) if levels else values[name]
    return feeds


def cases():
    known = set(_core.op_types())
    for folder in sorted(path.parent for path in CASES.glob("*/feeds.npz")):
        meta = json.loads((folder / "case.json").read_text())
        if meta["kind"] == "bad" or not (folder / "main.pb").exists() or set(meta["ops"]) - known:
            continue
        init = arrays(folder / "init.npz") if (folder / "init.npz").exists() else {}
        yield _core.decode_program((folder / "main.pb").read_bytes()), feeds_of(folder), init, tuple(meta["fetch"])


def several(rng, values):
    return [rng.choice(values) for _ in range(rng.randint(0, 4))]


def mutated_attr(rng, kind, value, names, blocks):
    choose = {
        INT: lambda: rng.choice(NUMBERS),
        FLOAT: lambda: rng.choice(FLOATS),
        STRING: lambda: rng.choice(TEXTS),
        INTS: lambda: several(rng, NUMBERS),
        STRINGS: lambda: several(rng, names),
        BOOLEAN: lambda: not value,
        BLOCK: lambda: rng.randint(0, blocks),
        LONG: lambda: rng.choice(LONGS),
        LONG_LIST: lambda: several(rng, LONGS),
    }
    return choose[kind]() if kind in choose else value


def mutate(rng, program):
    """One change, as often in an inner block as in the outermost."""
    blocks = [block for block in program["blocks"] if block["ops"] and block["vars"]]
    block = rng.choice(blocks)
    op, var = rng.choice(block["ops"]), rng.choice(rng.choice(blocks)["vars"])
    what = rng.choice(CHANGES)
    if what == "attr" and op["attrs"]:
        i = rng.randrange(len(op["attrs"]))
        name, kind, value = op["attrs"][i]
        names = [var["name"] for var in block["vars"]]
        op["attrs"][i] = (name, kind, mutated_attr(rng, kind, value, names, len(program["blocks"])))
    elif what == "shape":
        var["shape"] = several(rng, [-1, 0, 1, 2, 3, 5, 2**31])
    elif what == "dtype":
        var["dtype"] = rng.choice(DTYPES)
    elif what == "kind":
        var["kind"] = rng.choice(KINDS)
    elif what in ("argument", "count"):
        ports = op[rng.choice(["inputs", "outputs"])]
        if ports:
            i = rng.randrange(len(ports))
            port, names = ports[i][0], list(ports[i][1])
            others = rng.choice([names[1:], names[:-1], names + [var["name"]]])
            ports[i] = (port, [var["name"]] + names[1:] if what == "argument" else others)
    elif what == "drop" and len(block["ops"]) > 1:
        block["ops"].remove(op)
    elif what == "order":
        rng.shuffle(block["ops"])
    elif what == "type":
        op["type"] = rng.choice(_core.op_types())
    elif what == "persistable":
        var["persistable"] = not var["persistable"]
    elif what == "move" and len(block["ops"]) > 1:
        block["ops"].remove(op)
        rng.choice(blocks)["ops"].insert(rng.randint(0, 3), op)
    elif what == "tree":
        block[rng.choice(["parent_idx", "forward_block_idx"])] = rng.randint(-1, block["idx"])
    elif what == "declare":
        rng.choice(blocks)["vars"].append(copy.deepcopy(var))


def mutate_feed(rng, feeds):
    """Other sequences, or another number of rows."""
    if not feeds:
        return
    name = rng.choice(sorted(feeds))
    array, lod = feeds[name] if isinstance(feeds[name], tuple) else (feeds[name], [])
    what = rng.choice(["rows", "levels", "ends", "none"])
    if what == "rows" and array.ndim:
        array = array[: rng.randint(0, len(array))]
    elif what == "levels":
        lod = lod + [[0, len(array) if array.ndim else 1]]
    elif what == "ends":
        lod = [sorted(rng.randint(0, 6) for _ in range(rng.randint(0, 4))) for _ in range(rng.randint(1, 3))]
        lod = [[0] + level + ([len(array)] if array.ndim and level is lod[-1] else []) for level in lod]
    feeds[name] = (array, lod) if lod and what != "none" else array


class TooLong(Exception):
    pass


def too_long(signum, frame):
    raise TooLong


def run_mutation(rng, originals, executor):
    """'finished', 'refused' or 'stopped'; an endless loop is also a valid program."""
    program, feeds, init, fetches = rng.choice(originals)
    program, feeds = copy.deepcopy(program), dict(feeds)
    for _ in range(rng.randint(1, 3)):
        mutate(rng, program)
    if rng.random() < 0.2:
        mutate_feed(rng, feeds)
    scope = _core.Scope()
    for name, value in init.items():
        scope.set(name, value)
    before = {name: scope.get(name).tobytes() for name in scope.names()}
    try:
        handle = _core.Program(_core.encode_program(program))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        executor.run(_core.Signature(handle, tuple(feeds), fetches), scope, tuple(feeds.values()))
        before = None
        executor.run(_core.Signature(handle, tuple(feeds), fetches), scope, tuple(feeds.values()))
        return "finished"
    except TooLong:
        return "stopped"
    except pm.Error as error:
        assert len(str(error).splitlines()) <= 12 and len(str(error)) < 4000
        if before is not None:
            assert {name: scope.get(name).tobytes() for name in scope.names()} == before
        return "refused"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def run_mutations(seeds):
    originals, executor = list(cases()), _core.Executor("cpu", 0)
    assert len(originals) >= 10
    previous = signal.signal(signal.SIGALRM, too_long)
    try:
        return [run_mutation(random.Random(seed), originals, executor) for seed in seeds]
    finally:
        signal.signal(signal.SIGALRM, previous)


@pytest.mark.parametrize("part", some(range(4), 4))
def test_mutated_programs(part):
    ends = run_mutations(range(200 * part, 200 * part + 200))
    assert ends.count("finished") > 20 and ends.count("refused") > 20
