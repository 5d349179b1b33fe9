# Short runs of the experiments on averaging: their claims of exactness hold; the stored results are those of the
# settings.
import csv
import importlib
import pathlib

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Uniform
from programs_that_ran import programs_that_run
from saved_again import assert_the_same_when_saved_again
from thorough import thorough

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/averaging"
NAMES = ["models", "report", "settings", "run"]


@pytest.fixture(scope="module")
def parts():
    """The modules of the experiments by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER.parent))
        patch.syspath_prepend(str(FOLDER))
        yield {name: importlib.import_module(name) for name in NAMES}


@pytest.fixture(scope="module")
def quick(parts, tmp_path_factory):
    """The folder of a quick run, its criteria, and the programs that it ran."""
    folder = tmp_path_factory.mktemp("results")
    with programs_that_run() as ran:
        return folder, parts["run"].main(["--quick", "--out", str(folder)]), ran


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@thorough
def test_a_run_writes_what_is_kept(quick):
    folder, criteria, _ = quick
    kept = FOLDER / "results"
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in kept.iterdir())
    assert len(table(folder / "criteria.csv")) == len(criteria)


@thorough
def test_what_is_exact_holds_at_any_size(quick):
    """Only bits, rounding and bounds that follow from the formats: no statistics, no times."""
    exact = [one for one in quick[1] if one["experiment"] in ("e4", "e5") or "lazy averages" in one["wanted"]]
    assert len(exact) == 9
    assert [one for one in exact if one["met"] != "yes"] == []


@thorough
def test_averages_are_below_the_last_iterate_where_steps_are_large(quick):
    one_pass = {(row["learning rate"], row["arm"]): float(row["mean"]) for row in table(quick[0] / "e1_one_pass.csv")}
    assert 3 * one_pass["constant 1/(4R²)", "Uniform()"] < one_pass["constant 1/(4R²)", "last iterate"]
    assert one_pass["constant 1/(4R²)", "exact"] == pytest.approx(1, abs=0.3)
    diabetes = [row for row in table(quick[0] / "e2_diabetes.csv") if row["rate x R²"] == "1" and row["set"] == "train"]
    errors = {row["arm"]: float(row["mean"]) for row in diabetes}
    assert errors["exact"] < errors["Uniform()"] < 0.7 * errors["last iterate"]


def test_the_results_are_those_of_the_settings(parts):
    settings = parts["settings"]
    one_pass = table(FOLDER / "results/e1_one_pass.csv")
    assert {row["arm"] for row in one_pass} >= {repr(one) for one in settings.e1_schemes(settings.E1["samples"])}
    assert {row["seeds"] for row in one_pass} == {str(settings.E1["seeds"])}
    diabetes = table(FOLDER / "results/e2_diabetes.csv")
    assert {float(row["rate x R²"]) for row in diabetes} == set(settings.E2["rates"])
    assert {row["seeds"] for row in diabetes} == {str(settings.E2["splits"])}
    digits = table(FOLDER / "results/e3_label_noise.csv")
    for name, task in settings.E3["tasks"].items():
        an_epoch = settings.E3["train"] // task["batch"]
        arms = {row["arm"] for row in digits if row["model"] == name}
        assert arms >= {repr(one) for one in settings.e3_schemes(an_epoch * task["epochs"], an_epoch)}
    assert {row["seeds"] for row in digits} == {str(settings.E3["seeds"])}


def regressions(parts, x, y, rates):
    """w and its averages after a step for every row of x [steps, groups, d]."""
    _, groups, d = x.shape
    schemes = [Uniform(), Exponential(0.9)]
    build = parts["models"].least_squares(groups, len(rates), d)
    models = parts["models"].Models(build, pm.optimizer.SGD(1.0), schemes)
    for a, b in zip(x, y):
        models.step(x=a[:, None], y=b[:, None], rate=rates[None])
    return [models.values(scheme)["w"] for scheme in [None, *schemes]]


def test_models_side_by_side_are_models_alone(parts):
    random = np.random.RandomState(0)
    x, y = random.randn(12, 3, 5).astype("float32"), random.randn(12, 3).astype("float32")
    rates = np.array([0.05, 0.2], "float32")
    together = regressions(parts, x, y, rates)
    for group in range(3):
        for member in range(2):
            alone = regressions(parts, x[:, group : group + 1], y[:, group : group + 1], rates[member : member + 1])
            for one, other in zip(together, alone):
                np.testing.assert_allclose(one[group, member], other[0, 0], rtol=1e-6, atol=1e-7)


def test_rows_are_paired_by_seed(parts):
    row, other = parts["report"].rows_of({"last iterate": [1.0, 2.0, 3.0], "Uniform()": [0.5, 1.0, 3.6]}, task="t")
    assert (row["minus last"], row["lower than last"], row["seeds"], row["task"]) == (0, 0, 3, "t")
    assert other["mean"] == pytest.approx(1.7)
    assert other["minus last"] == pytest.approx(-0.3)
    # Student's t of 2 degrees of freedom, 4.302653, times the deviation of the differences over the root of 3.
    assert other["minus last ci95"] == pytest.approx(4.302653 * np.std([-0.5, -1, 0.6], ddof=1) / 3**0.5)
    assert other["lower than last"] == pytest.approx(2 / 3)


@thorough
def test_programs_are_the_same_when_saved_again(quick, tmp_path):
    for number, ran in enumerate(quick[2]):
        assert_the_same_when_saved_again(ran.program, ran.values, [ran.feed], ran.fetches, tmp_path / str(number))
