"""paddle-mini: train, run, show, doctor; exit statuses, and one message for a mistake."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of
from paddle_mini import _core
from paddle_mini.cli import main
from paddle_mini.environment import VARIABLES
from small_model import CLASSES, ROWS, SmallModel, assert_same_bits, data

COMMAND = Path(sys.executable).parent / "paddle-mini"


@pytest.fixture
def folder(tmp_path):
    model = SmallModel(pm.optimizer.ParameterAverage(pm.optimizer.Momentum(0.1, 0.9), window_size=2).minimize)
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    pm.io.save_inference_model(tmp_path / "infer", [model.x], [model.logits], model.exe, scope=model.scope)
    (tmp_path / "startup.pdmodel").write_bytes(model.startup.to_bytes())
    for name, array in zip(("x", "label"), data()):
        np.save(tmp_path / f"{name}.npy", array)
    return tmp_path, model


@pytest.fixture
def call(capsys):
    def call(*words, status=0):
        found = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert found == status, err
        if status == 0:
            assert err == ""
        return out if status == 0 else err

    return call


def feeds(path):
    return ["--feed", f"x={path / 'x.npy'}", "--feed", f"label={path / 'label.npy'}"]


def test_train_does_the_steps_that_python_does(folder, call):
    path, model = folder
    out = call(
        "train",
        path / "train",
        *feeds(path),
        "--steps",
        5,
        "--batch",
        8,
        "--fetch",
        model.loss.name,
        "--every",
        2,
        "--save",
        path / "trained.pdmodel",
    )
    losses = [model.step(number) for number in range(5)]
    assert out.splitlines() == [f"step {i}  {model.loss.name} {losses[i - 1]:.7g}" for i in (1, 2, 4, 5)] + [
        f"saved {path}/trained.pdmodel"
    ]
    scope = pm.Scope()
    program = pm.io.load_program(path / "trained", scope)
    assert program.to_bytes() == model.main.to_bytes()
    assert_same_bits({name: scope.get(name) for name in sorted(scope.names())}, model.everything())


def test_train_from_a_startup_program(folder, call):
    path, model = folder
    (path / "train.pdiparams").unlink()
    words = ["train", path / "train", "--startup", path / "startup", "--seed", 3, *feeds(path), "--fetch", model.loss.name]
    first = call(*words)
    assert first.startswith("step 1  ") and call(*words) == first
    words[5] = 4
    assert call(*words) != first


def test_train_agrees_with_pm_run(folder, call):
    path, model = folder
    words = [*feeds(path), "--steps", "7", "--batch", "10", "--fetch", model.loss.name]
    out = call("train", path / "train", *words, "--every", 1, "--save", path / "here")
    done = subprocess.run(
        [
            COMMAND.parent / "pm_run",
            path / "train.pdmodel",
            "--params",
            path / "train.pdiparams",
            *words,
            "--save-params",
            path / "there.pdiparams",
        ],
        capture_output=True,
        text=True,
    )
    assert out.splitlines()[:-1] == done.stdout.splitlines()
    assert (path / "here.pdiparams").read_bytes() == (path / "there.pdiparams").read_bytes()


def test_run(folder, call):
    path, model = folder
    out = call("run", path / "infer.pdmodel", "--feed", f"x={path / 'x.npy'}", "--out", path / "new/folder")
    (expected,) = model.exe.run(
        pm.io.load_program(path / "infer", pm.Scope()), {"x": data()[0]}, [model.logits.name], model.scope
    )
    assert np.load(path / "new/folder" / f"{model.logits.name}.npy").tobytes() == expected.tobytes()
    assert out.startswith(f"{model.logits.name} [{ROWS}, {CLASSES}] float32  {expected[0, 0]:.7g} ") and out.endswith(" …\n")
    assert call("run", path / "train", *feeds(path), "--fetch", f"{model.loss.name},x").count("\n") == 2


def test_show(folder, call):
    path, model = folder
    out = call("show", path / "train")
    assert out.startswith(str(model.main)) and f"{len(model.main.global_block().ops)} operators: 4 momentum" in out
    parameters = sum(value.size for value in model.values().values())
    assert f"4 parameters with {parameters:,} elements" in out and f"{(path / 'train.pdiparams').stat().st_size:,} bytes" in out
    assert "startup.pdiparams: not there" in call("show", path / "startup.pdmodel")
    plan = call("show", path / "infer", "--plan", "x=7,6")
    assert plan.startswith(call("show", path / "infer")) and "x [7, 6] float32" in plan


def test_doctor(call, monkeypatch):
    for name in list(os.environ):
        if name.startswith("PM_") and name not in VARIABLES:  # those of the tests, of which each gets a line
            monkeypatch.delenv(name)
    lines = call("doctor").splitlines()
    assert len(lines) <= 32 and all(len(line) < 200 for line in lines)
    text, library = "\n".join(lines), _core.kernel_library()
    for fact in (
        pm.__version__,
        sys.version.split()[0],
        np.__version__,
        *_core.cpu_levels(),
        library["reason"],
        library["path"],
        str(len(_core.op_types())),
        str(COMMAND.parent / "pm_run"),
        "GiB",
    ):
        assert fact in text, fact


@pytest.mark.parametrize(
    "words, expected",
    [
        (["run", "nothing"], "can't open 'nothing.pdmodel': No such file"),
        (["run", "infer"], "feed 'x' is missing"),
        (["run", "train", "--feed", "x=x.npy"], "name its outputs with --fetch"),
        (["run", "infer", "--feed", "x=no.npy"], "No such file or directory: 'no.npy'"),
        (["run", "infer", "--feed", "x=infer.pdmodel"], "'infer.pdmodel' is not an .npy file"),
        (["run", "infer", "--feed", "x=pipe"], "not a regular file: 'pipe'"),
        (["run", "infer", "--feed", "x=/dev/zero"], "not a regular file: '/dev/zero'"),
        (["launch", "pipe"], "not a regular file"),
        (["run", "infer", "--feed", "x=cut.npy"], "'cut.npy': "),
        (["run", "infer", "--feed", "x=objects.npy"], "'objects.npy': "),
        (["run", "infer", "--feed", "x=open.npy"], "'open.npy': the header is malformed"),
        (["run", "infer", "--feed", "x=bools.npy"], "'bools.npy': the header is malformed"),
        (["run", "infer", "--feed", "x=label.npy"], "feed 'x' is an array of int64, the program wants float32"),
        (["run", "infer", "--feed", "y=x.npy"], "feed 'y' is not a variable of the program; its data are x"),
        (["run", "infer", "--feed", "x=x.npy", "--fetch", "nothing"], "fetch 'nothing' is not a variable"),
        (["run", "cut", "--feed", "x=x.npy"], "'cut.pdiparams': parameter 'fc_1.w_0'"),
        (["run", "damaged"], "'damaged.pdmodel': the bytes are not a ProgramDesc"),
        (
            ["train", "train", "--feed", "x=x.npy", "--feed", "label=few.npy", "--batch", "8"],
            "different numbers of rows: x 24, label 23",
        ),
        (["train", "train", "--feed", "x=x.npy", "--feed", "label=label.npy", "--batch", "25"], "fewer than 25 rows"),
        (
            ["train", "train", "--feed", "x=x.npy", "--feed", "label=label.npy", "--save", "x.npy/m"],
            "can't make the folder 'x.npy'",
        ),
        (["train", "train", "--feed", "x=x.npy", "--feed", "label=large.npy"], "softmax_with_cross_entropy"),
        (["show", "infer", "--plan", "y=2,3"], "'y' is not a variable of the program"),
        (["show", "infer", "--plan", "x=2,5"], "[2, 5]"),
    ],
)
def test_mistakes_are_one_message(folder, call, monkeypatch, words, expected):
    path, _ = folder
    monkeypatch.chdir(path)
    _, label = data()
    (path / "cut.npy").write_bytes((path / "x.npy").read_bytes()[:-9])
    np.save(path / "objects.npy", np.array([None]))
    for name, shape in {"open": b"(24, 6 ", "bools": b"(True,)"}.items():
        (path / f"{name}.npy").write_bytes((path / "x.npy").read_bytes().replace(b"(24, 6)", shape))
    os.mkfifo(path / "pipe")
    np.save(path / "few.npy", label[:-1])
    np.save(path / "large.npy", label + CLASSES)
    (path / "cut.pdmodel").write_bytes((path / "infer.pdmodel").read_bytes())
    (path / "cut.pdiparams").write_bytes((path / "infer.pdiparams").read_bytes()[:-1])
    (path / "damaged.pdmodel").write_bytes((path / "infer.pdmodel").read_bytes()[:-1])
    message = call(*words, status=1)
    assert message.startswith("paddle-mini: ") and expected in message and len(message.splitlines()) <= 12


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["dance"],
        ["run"],
        ["run", "m", "--feed", "x"],
        ["run", "m", "--feed", "=x.npy"],
        ["run", "m", "--bad"],
        ["train", "m", "--steps", "-1"],
        ["train", "m", "--batch", "0"],
        ["show", "m", "--plan", "x=a"],
    ],
    ids=" ".join,
)
def test_command_lines_that_are_wrong(capsys, words):
    with pytest.raises(SystemExit) as caught:
        main(words)
    out, err = capsys.readouterr()
    assert caught.value.code == 2 and out == "" and err.startswith("usage: paddle-mini")


def test_debugging_shows_the_traceback(monkeypatch):
    monkeypatch.setenv("PM_DEBUG", "1")
    with pytest.raises(pm.ProgramError, match="nothing"):
        main(["run", "nothing"])


def test_the_command_and_the_module_are_the_same(folder):
    path, _ = folder
    command, module = [
        subprocess.run([*words, "run", path / "infer"], capture_output=True, text=True)
        for words in ([COMMAND], [sys.executable, "-m", "paddle_mini"])
    ]
    assert (command.returncode, command.stderr) == (module.returncode, module.stderr)
    assert command.returncode == 1 and "'x'" in command.stderr


def test_a_reader_that_stops_reading_is_no_error(folder):
    path, _ = folder
    process = subprocess.Popen([COMMAND, "show", path / "train"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(timeout=10) == 0


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_stopping_saves_a_whole_step(folder, number, status):
    path, model = folder
    words = ["train", path / "train", *feeds(path), "--batch", "8", "--steps", str(10**12), "--fetch", model.loss.name]
    process = subprocess.Popen([COMMAND, *words, "--every", "1", "--save", path / "stopped"], stdout=subprocess.PIPE, text=True)
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(number)
    with process.stdout:
        lines = 20 + len(process.stdout.readlines()) - 1  # the last one names the saved files
    assert process.wait(timeout=10) == status
    scope = pm.Scope()
    pm.io.load_program(path / "stopped", scope)
    steps = next(scope.get(name)[3] for name in scope.names() if "counters" in name)
    assert steps in (lines, lines + 1)
    for number in range(steps):
        model.step(number)
    assert_same_bits({name: scope.get(name) for name in sorted(scope.names())}, model.everything())


def test_outputs_of_one_file_name_are_refused_before_the_run(tmp_path, call):
    x = pm.layers.data("x", [-1, 2])
    block = pm.default_main_program().global_block()
    outputs = [block.create_var(name, shape=[-1, 2], dtype="float32") for name in ("u/v.tmp_0", "u_v.tmp_0")]
    for scale, out in enumerate(outputs, 1):
        block.append_op("scale", {"X": x}, {"Out": out}, {"scale": float(scale)})
    pm.io.save_inference_model(tmp_path / "two", [x], outputs, pm.Executor())
    np.save(tmp_path / "x.npy", np.ones((1, 2), "float32"))
    words = ["run", tmp_path / "two", "--feed", f"x={tmp_path / 'x.npy'}"]
    assert "'u/v.tmp_0' and 'u_v.tmp_0' to one file, u_v.tmp_0.npy" in call(*words, "--out", tmp_path / "out", status=1)
    assert not (tmp_path / "out").exists()
    assert call(*words).count("\n") == 2
    call(*words, "--out", tmp_path / "out", "--fetch", "u/v.tmp_0")
    assert np.load(tmp_path / "out/u_v.tmp_0.npy").tolist() == [[1, 1]]


def test_bfloat16_is_shown_as_numbers(tmp_path, call):
    x = pm.layers.data("x", [-1, 2], "bfloat16")
    out = pm.layers.scale(x, scale=2.0)
    pm.io.save_inference_model(tmp_path / "bf", [x], [out], pm.Executor())
    np.save(tmp_path / "x.npy", bits_of([[1.0, -0.5]]))
    words = ["run", tmp_path / "bf", "--feed", f"x={tmp_path / 'x.npy'}"]
    assert call(*words) == f"{out.name} [1, 2] bfloat16  2 -1\n"
    assert json.loads(call(*words, "--json")) == {out.name: {"shape": [1, 2], "dtype": "bfloat16", "values": [[2, -1]]}}
    call(*words, "--out", tmp_path)
    assert np.load(tmp_path / f"{out.name}.npy").tolist() == bits_of([[2, -1]]).tolist()
    assert "median" in call("bench", tmp_path / "bf", "--shape", "x=1,2", "--runs", 1)
    assert "x [1, 2] bfloat16" in call("show", tmp_path / "bf", "--plan", "x=1,2")
