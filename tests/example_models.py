# The models of `examples` outside the book: the programs that an example runs with feeds, at the values of its first runs.
from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import paddle_mini as pm
from onnx_exports import FOR_GRADIENTS
from paddle_mini import roles
from paddle_mini.thread_state import own_state, state

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MOST_RUNS = 12  # each example ends after so many

SCRIPTS = [*(f"first_day/{name}.py" for name in ("line", "digits", "sentences", "averages", "saving")), "digits.py"]


class Model(NamedTuple):
    """A program, and what each of its operators computes for the fetches of the example, or else for the loss."""

    name: str
    program: pm.Program
    inputs: dict[str, Any]
    fetches: list[str]
    scope: pm.Scope


class Enough(BaseException):
    """Ends an example; no example handles it."""


def script(path: str) -> Callable[[Any], Any]:
    return lambda _: runpy.run_path(str(EXAMPLES / path), run_name="__main__")


def notebook(path: str) -> Callable[[Any], Any]:
    cells = json.loads((EXAMPLES / path).read_text())["cells"]
    return lambda _: exec("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"), {})


def function(path: str, call: Callable[[dict[str, Any], Any], Any]) -> Callable[[Any], Any]:
    return lambda folder: call(runpy.run_path(str(EXAMPLES / path), run_name="example"), folder)


def classifiers(made: dict[str, Any], _: Any) -> None:
    random = np.random.default_rng(0)
    for hidden in (0, 6):
        models = made["Models"](made["classifiers"](3, 4, hidden, 5), pm.optimizer.SGD(0.1), [])
        x = random.normal(size=(3, 7, 4)).astype("float32")
        models.step(x=x, label=random.integers(0, 5, (3, 7, 1)))
        models.outputs(x)


def regressions(made: dict[str, Any], _: Any) -> None:
    random = np.random.default_rng(0)
    models = made["Models"](made["least_squares"](2, 3, 4), pm.optimizer.SGD(1.0), [])
    x, y = random.normal(size=(2, 1, 4)).astype("float32"), random.normal(size=(2, 1)).astype("float32")
    models.step(x=x, y=y, rate=np.full((1, 3), 0.1, "float32"))


def stopped(made: dict[str, Any], _: Any) -> None:
    training = made["Training"]()
    training.start()
    training.step(0)


def follower(made: dict[str, Any], _: Any) -> None:
    made["Follower"](5, 0.1, 0.9).step(np.arange(5, dtype="float32"))


def table(made: dict[str, Any], _: Any) -> None:
    settings = {"rows": 20, "width": 3, "batch": 4, "rate": 0.1}
    made["Table"](settings, [], True).step(np.array([3, 0, 19, 3]))


def clicks(made: dict[str, Any], folder: Any) -> None:
    made["main"](["--chunks", "1", "--batch", "32", "--out", str(folder / "clicks")])


# Other files of `examples` train these models, or have none.
WITHOUT_MODELS = {
    "averaging/digits_models.py",
    *(f"averaging/{name}.py" for name in ("e1_one_pass", "e2_diabetes", "e3_label_noise", "e5_systems")),
    *(f"averaging/{name}.py" for name in ("report", "run", "settings")),
    "comparison.py",
    "ctypes/train.py",
    "embedding/ctypes/predict.py",
    "first_day/samples.py",
    "first_day/serving.py",
    "serving/load.py",
    "serving/server.py",
}


def predict(made: dict[str, Any], folder: Path) -> None:
    made["main"](folder / "model")
    program, (feed,), fetches = pm.io.load_inference_model(folder / "model/model", pm.Executor())
    pm.Executor().run(program, {feed: np.ones((2, 6), "float32")}, fetches)


MODELS: dict[str, Callable[[Any], Any]] = {
    **{path: script(path) for path in SCRIPTS},
    "first_steps.ipynb": notebook("first_steps.ipynb"),
    "fit_digits.py": function("fit_digits.py", lambda made, folder: made["main"](folder, epochs=1, train=200)),
    "embedding/make_model.py": function("embedding/make_model.py", predict),
    "cluster/clicks.py": function("cluster/clicks.py", clicks),
    "averaging/models.py, classifiers": function("averaging/models.py", classifiers),
    "averaging/models.py, least squares": function("averaging/models.py", regressions),
    "averaging/stopped_training.py": function("averaging/stopped_training.py", stopped),
    "averaging/e4_precision.py": function("averaging/e4_precision.py", follower),
    "averaging/e6_sparse.py": function("averaging/e6_sparse.py", table),
}


def models_of(name: str, folder: Path, monkeypatch: Any) -> list[Model]:
    """Runs an example until it has run MOST_RUNS programs with feeds; its programs, each once."""
    found: dict[tuple[Any, ...], Model] = {}
    runs, original = [0], pm.Executor.run

    def run(executor: Any, program: Any = None, feed: Any = None, fetch_list: Any = None, scope: Any = None, *more: Any) -> Any:
        results = original(executor, program, feed, fetch_list, scope, *more)
        if feed:
            program, scope = program or pm.default_main_program(), scope or pm.global_scope()
            names = [getattr(one, "name", one) for one in (fetch_list or [])]
            key = id(program), *names
            if key not in found:
                found[key] = Model(name, program, dict(feed), inferred(program, list(feed), names), copied(scope))
            runs[0] += 1
            if runs[0] >= MOST_RUNS:
                raise Enough
        return results

    for below in ("", "first_day", "averaging"):
        monkeypatch.syspath_prepend(str(EXAMPLES / below))
    monkeypatch.setattr(pm.Executor, "run", run)
    monkeypatch.setattr(sys, "argv", [name])
    modules = set(sys.modules)
    try:
        with own_state(), pm.scope_guard(pm.Scope()), inside(folder):
            state().main, state().startup = pm.Program(), pm.Program()  # without a guard, which notebooks don't expect
            with contextlib.suppress(Enough), contextlib.redirect_stdout(io.StringIO()):
                MODELS[name](folder)
    finally:
        monkeypatch.undo()
        for module in set(sys.modules) - modules:  # examples have modules of the same names
            if str(getattr(sys.modules[module], "__file__", "")).startswith(str(EXAMPLES)):
                del sys.modules[module]
    return [model for model in found.values() if model.fetches]


def inferred(program: pm.Program, feeds: list[str], fetches: list[str]) -> list[str]:
    test = program.clone(for_test=True)
    computed = {name for op in test.global_block().ops for name in op.output_names}
    wanted = [name for name in fetches if name in computed] or list(losses(program))
    ops = test.prune(feeds, wanted).global_block().ops if wanted else []
    outputs = [names for op in ops for port, names in op.describe()["outputs"] if port not in FOR_GRADIENTS]
    return list(dict.fromkeys([*sum(outputs, []), *wanted]))


def losses(program: pm.Program) -> Iterator[str]:
    for op in program.global_block().ops:
        if op.attrs.get("op_role") == roles.BACKWARD | roles.LOSS:
            yield op.output_names[0].removesuffix("@GRAD")


def copied(scope: pm.Scope) -> pm.Scope:
    copy = pm.Scope()
    for name in scope.names():
        with contextlib.suppress(pm.OpError):  # declared without a value
            copy.set(name, scope.get(name))
    return copy


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
