"""The census of PaddlePaddle's functions: runs here the programs that paddle/census_programs.py wrote there, and compares."""

import json
import re

import numpy as np

import census_calls
import paddle_mini as pm

# Relative to the largest element: sums are in another order there, and networks have many layers.
TOLERANCE = {"paddle.vision.models": 2e-2}
USUAL_TOLERANCE = 1e-4


class Difference(Exception):
    """Numbers, types or shapes that differ from those of PaddlePaddle."""


def all_calls(paddle, folder, tables=census_calls.TABLES):
    """The calls of the functions of each module, and why other names have none, by table; the names are PaddlePaddle's."""
    paddle.ask("census_names", folder, modules=[census_calls.module_of(table) for table in tables])
    names = json.loads((folder / "names.json").read_text())
    calls = {table: census_calls.calls_of(table, names[census_calls.module_of(table)]) for table in tables}
    for table, (functions, without) in calls.items():
        wrong = sorted({*functions, *without} ^ set(names[census_calls.module_of(table)]) | set(functions) & set(without))
        if wrong:
            raise Difference(f"{table}.txt needs one line with a call, or a reason against it, for {', '.join(wrong)}")
    return calls


def results(paddle, folder, table, functions):
    """The result of each function, {name: (kind, why)}: it "runs", "differs" as exceptions.txt says, or is "missing". Raises a
    Difference for numbers that differ without being listed, or are listed and agree, and for a call that PaddlePaddle refuses."""
    found, known = {}, census_calls.exceptions(table)
    for name, calls in functions.items():
        said = [ask(paddle, folder, census_calls.module_of(table), call) for call in calls]
        differs = next((str(one) for one in said if isinstance(one, Difference)), None)
        refused = " ".join(str(one) for one in said if isinstance(one, pm.Error))
        if (name in known) != bool(differs) and not refused:
            raise Difference(f"{table} {name}: {differs or 'it agrees, but exceptions.txt lists it'}")
        found[name] = ("missing", reason(refused)) if refused else ("differs", known[name]) if differs else ("runs", "")
    return found


def reason(refused):
    """Why programs are refused."""
    unknown = sorted(set(unknown_operators(refused)))
    return "without " + ", ".join(f"`{one}`" for one in unknown) if unknown else refused.splitlines()[0]


def unknown_operators(message):
    """The operators that are not here, according to an error."""
    one = re.findall(r"operator '(\w+)' is not known", message)
    return one + re.findall(r"'(\w+)'", " ".join(re.findall(r"types of operators are not known: (.*)", message)))


def ask(paddle, folder, module, expression, tolerance=None):
    """Runs a call in both. Returns the Difference, the error that refuses it here, or None. Raises a Difference if PaddlePaddle
    refuses it. tolerance: other than that of the module."""
    for path in folder.glob("*.pb"):
        path.unlink()
    error = paddle.error_of("census", folder, module=module, expression=expression)
    if error:
        raise Difference(f"PaddlePaddle, {expression}: {last_line(error)}")
    try:
        compare(folder, tolerance or TOLERANCE.get(module, USUAL_TOLERANCE))
    except (pm.Error, Difference) as difference:
        return difference
    return None


def last_line(error):
    """The line of an error that says what is wrong."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    said = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Argument)\b", line)]
    return (said or lines or ["?"])[-1][:300]


def compare(folder, tolerance):
    """Raises a Difference or pm.Error."""
    facts = json.loads((folder / "facts.json").read_text())
    exe, scope = pm.Executor(pm.CPUPlace()), pm.Scope()
    programs = {path.stem: pm.Program.from_bytes(path.read_bytes()) for path in folder.glob("*.pb")}
    with np.load(folder / "init.npz") as values:
        state = {name: values[name] for name in values.files}
    with np.load(folder / "feeds.npz") as values:
        feeds = {name: sequences(values, name) for name in values.files if "@LOD" not in name}
    with np.load(folder / "results.npz") as values:
        results = {name: values[name] for name in values.files}
    forward = programs["forward"]
    pm.seed(3)
    exe.run(programs["startup"], scope=scope)
    same_beginning(state, scope)
    random = {
        name for name in facts["fetched"] if not facts["trained"] and not same(results[f"1/{name}"], results[f"2/{name}"], 0)
    }
    for step in range(3 if facts["trained"] else 1):
        if step == 0:
            begin(forward, state, scope)
        found = exe.run(forward, feeds, facts["fetched"], scope, return_numpy=False)
        for name, value in zip(facts["fetched"], found):
            check(f"output {name}", results, f"{step + 1}/{name}", value, tolerance, name in random)
    if facts["trained"]:
        for name in state:
            check(f"{name} after training", results, f"end/{name}", scope.get(name), tolerance, False)
    if facts["gradients"]:
        begin(programs["gradients"], state, scope)
        found = exe.run(programs["gradients"], feeds, facts["gradients"], scope, return_numpy=False)
        largest = max(np.abs(results[f"3/{name}"]).max(initial=0) for name in facts["gradients"])
        for name, value in zip(facts["gradients"], found):
            check(f"gradient {name}", results, f"3/{name}", value, tolerance, bool(random), 1e-6 * largest, True)


def begin(program, state, scope):
    pm.io.set_state(program, state, scope, strict=False)


def sequences(values, name):
    lod = []
    while f"{name}@LOD{len(lod)}" in values.files:
        lod.append(values[f"{name}@LOD{len(lod)}"].tolist())
    return pm.LoDTensor(values[name], lod) if lod else values[name]


def same_beginning(state, scope):
    """Each initial value is of PaddlePaddle's distribution."""
    for name, expected in state.items():
        if name in scope:
            found = scope.get(name)
            if found.shape != expected.shape or found.dtype != expected.dtype:
                raise Difference(f"{name} begins as {found.dtype}{found.shape}, not {expected.dtype}{expected.shape}")
            if (expected.size and np.all(expected == expected.flat[0]) and not same(found, expected, 0)) or far(found, expected):
                raise Difference(f"{name} begins with other numbers")


def check(what, results, key, value, tolerance, random, floor=0.0, gradient=False):
    """floor: the rounding error of gradients that cancel. A gradient of random numbers is compared by its shape only."""
    lod, found = ([], value) if isinstance(value, np.ndarray) else (value.lod, value.array)
    expected = results[key]
    # PaddlePaddle's value of a variable that no operator makes has no elements, and no type.
    if found.dtype != expected.dtype and expected.size:
        raise Difference(f"{what} is {found.dtype}, not {expected.dtype}")
    if found.shape != expected.shape:
        raise Difference(f"{what} has shape {found.shape}, not {expected.shape}")
    levels = [results[f"{key}@LOD{level}"].tolist() for level in range(9) if f"{key}@LOD{level}" in results]
    if not gradient and [list(level) for level in lod] != levels:
        raise Difference(f"{what} has sequences {lod}, not {levels}")
    if random and not gradient and far(found, expected):
        raise Difference(f"{what} is of another distribution")
    if not random and not same(found, expected, tolerance, floor):
        with np.errstate(all="ignore"):
            apart = np.abs(found.astype("complex128") - expected.astype("complex128")).max()
        raise Difference(f"{what} differs by {apart:.2g} of {np.abs(expected.astype('complex128')).max():.2g}")


def same(found, expected, tolerance, floor=0.0):
    if found.dtype.kind not in "fc" or tolerance == 0:
        return np.array_equal(found, expected, equal_nan=found.dtype.kind in "fc")
    finite = np.abs(expected[np.isfinite(expected)]).astype("float64")
    return np.allclose(found, expected, rtol=0, atol=max(tolerance * finite.max(initial=0), 1e-6, floor), equal_nan=True)


def far(found, expected):
    """Whether two samples are of different distributions: Kolmogorov's and Smirnov's statistic, at 1 in 100,000."""
    if found.dtype.kind == "c" or not found.size:
        return False
    apart = max(1, found.size // 10_000)
    some = [np.sort(values.ravel()[::apart].astype("float64")) for values in (found, expected)]
    shares = [np.searchsorted(values, np.concatenate(some), side="right") / values.size for values in some]
    return np.abs(shares[0] - shares[1]).max() > 2.5 * np.sqrt(2 / some[0].size)
