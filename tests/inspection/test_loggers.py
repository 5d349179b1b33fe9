"""Loggers: what is written is read back, by TensorBoard too; files of killed processes; figures that are not finite."""

import json
import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import paddle_mini as pm
from paddle_mini.loggers import CSVLogger, JSONLinesLogger, Logger, TensorBoardLogger
from small_model import SmallModel

FILES = [CSVLogger, JSONLinesLogger]


@pytest.mark.parametrize("kind", FILES)
def test_figures_are_read_back(kind, tmp_path):
    path = tmp_path / "logs" / "run"
    with kind(path) as log:
        assert isinstance(log, Logger)
        log.log({"loss": 0.1, "accuracy": np.float32(0.5)}, 3)
        log.log({"loss": np.array([1e-300]), "accuracy": 1}, np.int64(4))
    assert kind.read(path) == [{"step": 3, "loss": 0.1, "accuracy": 0.5}, {"step": 4, "loss": 1e-300, "accuracy": 1}]


@pytest.mark.parametrize("kind", FILES)
def test_a_fetched_bfloat16_is_a_number(kind, tmp_path):
    loss = pm.layers.cast(pm.layers.data("x", [1]), "bfloat16")
    with kind(tmp_path / "run") as log:
        log.log({"loss": pm.Executor().run(feed={"x": [1.5]}, fetch_list=loss)[0]}, 0)
    assert kind.read(tmp_path / "run") == [{"step": 0, "loss": 1.5}]


@pytest.mark.parametrize("kind", FILES)
def test_figures_that_are_not_finite_stay_readable(kind, tmp_path):
    with kind(tmp_path / "run") as log:
        log.log({"a": math.nan, "b": math.inf, "c": -math.inf}, 0)
    (row,) = kind.read(tmp_path / "run")
    assert math.isnan(row["a"]) and row["b"] == math.inf and row["c"] == -math.inf


def test_json_lines_are_json(tmp_path):
    with JSONLinesLogger(tmp_path / "run") as log:
        log.log({"loss": math.nan}, 0)
    line = (tmp_path / "run").read_text()
    assert json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is not JSON")) == {"step": 0, "loss": "NaN"}


@pytest.mark.parametrize("kind", FILES)
def test_a_second_logger_appends(kind, tmp_path):
    for step in range(3):
        with kind(tmp_path / "run") as log:
            log.log({"loss": step, "rate": 0.1}, step)
    assert [row["step"] for row in kind.read(tmp_path / "run")] == [0, 1, 2]
    assert (tmp_path / "run").read_text().count("rate,") in (0, 1)


def test_a_column_that_a_file_lacks_is_refused(tmp_path):
    with CSVLogger(tmp_path / "run") as log:
        log.log({"loss": 1.0, "rate": 0.1}, 0)
        log.log({"rate": 0.2}, 1)
    with CSVLogger(tmp_path / "run") as log, pytest.raises(pm.ProgramError, match="'accuracy'; its columns are step, loss, rate"):
        log.log({"accuracy": 1.0}, 2)
    assert CSVLogger.read(tmp_path / "run") == [{"step": 0, "loss": 1.0, "rate": 0.1}, {"step": 1, "rate": 0.2}]
    (tmp_path / "other").write_text("a,b\n1,2\n")
    with pytest.raises(pm.ProgramError, match="not with 'step,'"):
        CSVLogger(tmp_path / "other")
    assert (tmp_path / "other").read_text() == "a,b\n1,2\n"


@pytest.mark.parametrize("kind", FILES)
def test_a_partial_last_line_is_removed(kind, tmp_path):
    path = tmp_path / "run"
    with kind(path) as log:
        log.log({"loss": 1.25}, 0)
        log.log({"loss": 2.5}, 1)
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        kind.read(path)  # while its process runs
        with kind(path) as log:
            log.log({"loss": 5.0}, 2)
        rows = kind.read(path)
        assert rows[-1] == {"step": 2, "loss": 5.0}
        assert rows[:-1] == [{"step": 0, "loss": 1.25}, {"step": 1, "loss": 2.5}][: len(rows) - 1]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (CSVLogger, "important data without newline"),
        (CSVLogger, "a,b\n1,2"),
        (CSVLogger, "steps,loss\n1,2"),
        (CSVLogger, "step,loss\n1,0.5\nconclusion: none"),
        (CSVLogger, '{"step": 1, "loss": 0.5}\n{"st'),
        (JSONLinesLogger, "a\nimportant tail"),
        (JSONLinesLogger, "important tail"),
        (JSONLinesLogger, '{"loss": 1}\n'),
        (JSONLinesLogger, '{"step": 1, "loss": 0.5}\nimportant tail'),
        (JSONLinesLogger, "step,loss\n1,0."),
    ],
)
def test_a_file_of_something_else_is_refused_and_stays(kind, text, tmp_path):
    path = tmp_path / "notes"
    path.write_text(text)
    with pytest.raises(pm.ProgramError, match=f"notes' is not a file of a {kind.__name__}"):
        kind(path)
    assert path.read_text() == text


@pytest.mark.parametrize("kind", FILES)
def test_a_row_that_the_disk_refused_is_not_written_later(kind, tmp_path):
    code = (
        f"import paddle_mini as pm, resource\nlog = pm.loggers.{kind.__name__}('run')\n"
        "for step in range(3):\n"
        "    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (log.path.stat().st_size + 4, most))\n"
        "    try:\n        log.log({'loss': 0.5}, step)\n"
        "    except OSError:\n        print('refused')\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))\n"
        "    log.log({'loss': 0.5}, step)\n"
    )
    child = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (child.stdout.split(), child.stderr) == (["refused"] * 3, "")
    assert kind.read(tmp_path / "run") == [{"step": step, "loss": 0.5} for step in range(3)]


def test_calls_without_figures_fix_no_columns(tmp_path):
    with CSVLogger(tmp_path / "run") as log:
        log.log({}, 0)
        log.log({"loss": 0.5}, 1)
        log.log({}, 2)
    assert CSVLogger.read(tmp_path / "run") == [{"step": 1, "loss": 0.5}, {"step": 2}]


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (CSVLogger, "step,loss\n1,0.5\n2,low\n", "run', line 3: 'loss' is 'low', not a number"),
        (CSVLogger, "step,loss\n1,0.5,7\n", "run', line 2 has 3 cells, and the file has 2 columns"),
        (JSONLinesLogger, '{"step": 1}\n[1]\n', r"run', line 2 is \[1\], not an object"),
        (JSONLinesLogger, '{"step": 1}\n{"step": [2]}\n', r"run', line 2: 'step' is \[2\], not a number"),
        (JSONLinesLogger, '{"step": 1}\nnotes\n', "run', line 2 is not JSON"),
    ],
)
def test_a_line_that_is_no_row_is_named(kind, text, message, tmp_path):
    (tmp_path / "run").write_text(text)
    with pytest.raises(pm.ProgramError, match=message):
        kind.read(tmp_path / "run")


@pytest.mark.parametrize("kind", FILES)
def test_figures_without_names_are_refused(kind, tmp_path):
    with kind(tmp_path / "run") as log, pytest.raises(pm.ProgramError, match=r"log: values is \[1\], it must be a dict"):
        log.log([1], 1)


@pytest.mark.parametrize("kind", FILES)
def test_a_killed_process_loses_no_complete_line(kind, tmp_path):
    code = (
        f"import paddle_mini as pm, os, signal\nlog = pm.loggers.{kind.__name__}('run')\n"
        f"for step in range(100): log.log({{'loss': step}}, step)\nos.kill(os.getpid(), {int(signal.SIGKILL)})"
    )
    killed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    assert [row["loss"] for row in kind.read(tmp_path / "run")] == list(range(100))


@pytest.mark.parametrize("kind", FILES)
def test_wrong_figures_write_nothing(kind, tmp_path):
    with kind(tmp_path / "run") as log:
        for values, step in (
            ({"loss": "1.0"}, 0),
            ({"loss": np.ones(2)}, 0),
            ({"loss": None}, 0),
            ({"a\nb": 1.0}, 0),
            ({3: 1.0}, 0),
            ({"step": 1.0}, 0),
            ({"loss": 1.0}, 0.5),
        ):
            with pytest.raises(pm.ProgramError):
                log.log(values, step)
    assert os.path.getsize(tmp_path / "run") == 0
    with pytest.raises(pm.ProgramError, match="closed"):
        log.log({"loss": 1.0}, 0)
    log.close()


@pytest.mark.parametrize("kind", FILES)
def test_names_with_separators_are_read_back(kind, tmp_path):
    name = 'loss, of "all"/τ'
    with kind(tmp_path / "run") as log:
        log.log({name: 1.0}, 0)
    with kind(tmp_path / "run") as log:
        log.log({name: 2.0}, 1)
    assert [row[name] for row in kind.read(tmp_path / "run")] == [1.0, 2.0]


def events(folder):
    read = EventAccumulator(str(folder), size_guidance={"scalars": 0, "histograms": 0})
    read.Reload()
    return read


def test_tensorboard_reads_scalars(tmp_path):
    with TensorBoardLogger(tmp_path) as log:
        assert isinstance(log, Logger)
        for step in range(3):
            log.log({"train/loss": 0.5 * step, "rate": math.inf}, step)
    read = events(tmp_path)
    assert [(event.step, event.value) for event in read.Scalars("train/loss")] == [(0, 0), (1, 0.5), (2, 1)]
    assert [event.value for event in read.Scalars("rate")] == [math.inf] * 3


def steps_of(folder):
    return sorted(event.step for event in events(folder).Scalars("loss"))


def test_tensorboard_reads_every_logger_of_a_directory(tmp_path):
    for step in range(2):
        with TensorBoardLogger(tmp_path) as log:
            log.log({"loss": 0.5}, step)
    with TensorBoardLogger(tmp_path) as one, TensorBoardLogger(tmp_path) as other:
        one.log({"loss": 0.5}, 2)
        other.log({"loss": 0.5}, 3)
        one.log({"loss": 0.5}, 4)
    assert steps_of(tmp_path) == [0, 1, 2, 3, 4]


def test_a_closed_tensorboard_logger_refuses_and_keeps_its_figures(tmp_path):
    with TensorBoardLogger(tmp_path) as log:
        log.log({"loss": 0.5}, 0)
    with pytest.raises(pm.ProgramError, match="closed"):
        log.log({"loss": 0.5}, 1)
    with pytest.raises(pm.ProgramError, match="closed"):
        log.log_histograms(1)
    log.close()
    assert steps_of(tmp_path) == [0]


@pytest.mark.parametrize("path", ["notes", "notes/logs"])
def test_tensorboard_needs_a_directory(path, tmp_path):
    (tmp_path / "notes").write_text("a")
    with pytest.raises(pm.ProgramError, match="notes' is a file; give a directory"):
        TensorBoardLogger(tmp_path / path)
    assert (tmp_path / "notes").read_text() == "a"


def test_tensorboard_reads_histograms_of_parameters_and_averages(tmp_path):
    averages = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.5), pm.averaging.Uniform())
    model = SmallModel(averages.minimize)
    for number in range(3):
        model.step(number)
    raw = model.values()
    with averages.apply(model.exe, scope=model.scope):
        averaged = model.values()
    with TensorBoardLogger(tmp_path) as log:
        log.log_histograms(7, model.main, model.scope, averages)
    read = events(tmp_path)
    for group, values in (("parameters", raw), ("averages", averaged)):
        for name, value in values.items():
            (event,) = read.Histograms(f"{group}/{name}")
            found = event.histogram_value
            assert event.step == 7 and found.num == value.size
            np.testing.assert_allclose([found.min, found.max, found.sum], [value.min(), value.max(), value.sum()], rtol=1e-5)
    for name, value in model.values().items():
        assert (value == raw[name]).all()


def test_elements_that_are_not_finite_are_counted(tmp_path):
    model = SmallModel()
    value = model.scope.get("fc_0.w_0").copy()
    value[0, :2] = np.nan, np.inf
    model.scope.set("fc_0.w_0", value)
    with TensorBoardLogger(tmp_path) as log:
        log.log_histograms(0, model.main, model.scope)
    read = events(tmp_path)
    assert read.Histograms("parameters/fc_0.w_0")[0].histogram_value.num == value.size - 2
    assert read.Scalars("parameters/fc_0.w_0/not_finite")[0].value == 2


def test_without_its_library_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(pm.ProgramError, match=r"pip install 'paddle_mini\[tensorboard\]'"):
        TensorBoardLogger(tmp_path)


@pytest.mark.parametrize("kind", FILES)
def test_a_path_that_can_not_be_written_is_named(tmp_path, kind):
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file" / "run.log"):
        with pytest.raises(pm.ProgramError, match=f"{kind.__name__}: can't write '{path}': "):
            kind(path)
    with pytest.raises(pm.ProgramError, match="can't read 'missing'"):
        kind.read("missing")
