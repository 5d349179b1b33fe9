"""pm_run: the bits of Python's runs, for inference and training; every mistake is one message and its exit status."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Uniform, Window
from small_model import CLASSES, INPUTS, ROWS, SmallModel, assert_same_bits, batch, data

PM_RUN = Path(sys.executable).parent / "pm_run"


def pm_run(*words, **environment):
    return subprocess.run([PM_RUN, *map(str, words)], capture_output=True, text=True, timeout=20, env=environment or None)


def done(*words):
    result = pm_run(*words)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def refused(*words, status=1, lines=12, **environment):
    result = pm_run(*words, **environment)
    assert result.returncode == status, result
    assert result.stderr.startswith("pm_run: ") and len(result.stderr.splitlines()) <= lines and result.stdout == ""
    return result.stderr


@pytest.fixture
def folder(tmp_path):
    """A training program and an inference model with arrays to feed them; `model` is their origin."""
    model = SmallModel(pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.05), Window(2)).minimize)
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    pm.io.save_inference_model(tmp_path / "infer", [model.x], [model.logits], model.exe, scope=model.scope)
    (tmp_path / "startup.pdmodel").write_bytes(model.startup.to_bytes())
    for name, array in zip(("x", "label"), data()):
        np.save(tmp_path / f"{name}.npy", array)
    return tmp_path, model


def training(path):
    return [
        path / "train.pdmodel",
        "--params",
        path / "train.pdiparams",
        "--feed",
        f"x={path / 'x.npy'}",
        "--feed",
        f"label={path / 'label.npy'}",
    ]


def inference(path):
    return [path / "infer.pdmodel", "--params", path / "infer.pdiparams", "--feed", f"x={path / 'x.npy'}"]


def test_inference_gives_pythons_bits(folder):
    path, model = folder
    x = data()[0]
    program = model.main.clone(for_test=True).prune([model.x], [model.logits])
    (expected,) = model.exe.run(program, {"x": x}, [model.logits], model.scope)
    printed = done(*inference(path), "--out", path)
    assert np.load(path / f"{model.logits.name}.npy").tobytes() == expected.tobytes()
    assert printed.startswith(f"step 1  {model.logits.name} [{ROWS}, {CLASSES}] {expected[0, 0]:.7g} ")
    assert done(*inference(path), "--quiet") == ""
    hidden = done(*inference(path), "--fetch", "fc_0.tmp_2,x")
    assert f"fc_0.tmp_2 [{ROWS}, 5]" in hidden and f"x [{ROWS}, {INPUTS}]" in hidden


@pytest.mark.parametrize("scheme", [None, Window(3), Uniform(), Exponential(0.8)], ids=repr)
@pytest.mark.parametrize(
    "optimizer",
    [lambda: pm.optimizer.SGD(0.2), lambda: pm.optimizer.Momentum(0.1, 0.9), lambda: pm.optimizer.Adam(0.05)],
    ids=["sgd", "momentum", "adam"],
)
def test_training_gives_pythons_bits(tmp_path, optimizer, scheme):
    wrap = (lambda inner: inner) if scheme is None else (lambda inner: pm.optimizer.ParameterAverage(inner, scheme))
    model, steps = SmallModel(wrap(optimizer()).minimize), 7
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    for name, array in zip(("x", "label"), data()):
        np.save(tmp_path / f"{name}.npy", array)
    losses = [model.step(number) for number in range(steps)]
    printed = done(
        *training(tmp_path),
        "--steps",
        steps,
        "--batch",
        8,
        "--fetch",
        model.loss.name,
        "--out",
        tmp_path,
        "--save-params",
        tmp_path / "after.pdiparams",
    )
    assert printed.splitlines() == [f"step {i + 1}  {model.loss.name} {loss:.7g}" for i, loss in enumerate(losses)]
    assert np.load(tmp_path / f"{model.loss.name}.npy").tobytes() == losses[-1].tobytes()
    loaded = pm.Scope()
    pm.io.load_parameters(tmp_path / "after.pdiparams", model.main, loaded)
    assert_same_bits({name: loaded.get(name) for name in sorted(loaded.names())}, model.everything())


def test_initial_values_from_a_startup_program(folder):
    path, model = folder
    pm.seed(11)
    scope = pm.Scope()
    model.exe.run(model.startup, scope=scope)
    (loss,) = model.exe.run(model.main, batch(0, size=ROWS), [model.loss], scope)
    words = [
        path / "train.pdmodel",
        "--startup",
        path / "startup.pdmodel",
        *training(path)[3:],
        "--seed",
        11,
        "--fetch",
        model.loss.name,
    ]
    assert done(*words) == f"step 1  {model.loss.name} {loss:.7g}\n"


def test_only_what_another_program_declares_is_saved(folder):
    path, model = folder
    done(
        *training(path),
        "--steps",
        3,
        "--batch",
        8,
        "--save-params",
        path / "infer.pdiparams",
        "--save-for",
        path / "infer.pdmodel",
    )
    for number in range(3):
        model.step(number)
    loaded = pm.Scope()
    pm.io.load_inference_model(path / "infer", scope=loaded)
    assert_same_bits({name: loaded.get(name) for name in loaded.names()}, model.values())


def test_batches_begin_again_at_the_end(folder):
    """24 rows: two batches of 10 and a remainder that is dropped."""
    path, _ = folder
    lines = done(*inference(path), "--steps", 4, "--batch", 10).splitlines()
    values = [line.split(" ", 2)[2] for line in lines]
    assert values[0] == values[2] != values[1] == values[3] and "[10, 3]" in values[0]


DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.mark.parametrize("shape", [(), (0,), (4, 0, 3), (1,), (2, 3, 4)], ids=str)
def test_npy_files_go_in_and_out(tmp_path, shape):
    """All dtypes in one run: the fed values are fetched."""
    arrays = {dtype: np.asarray(np.random.RandomState(0).randint(0, 2, shape).astype(dtype)) for dtype in DTYPES}
    program, words = pm.Program(), []
    for dtype, array in arrays.items():
        program.global_block().create_var(dtype, shape=shape, dtype=dtype, need_check_feed=True)
        np.save(tmp_path / f"{dtype}.npy", array)
        words += ["--feed", f"{dtype}={tmp_path / dtype}.npy"]
    (tmp_path / "m.pdmodel").write_bytes(program.to_bytes())
    (tmp_path / "out").mkdir()
    done(tmp_path / "m.pdmodel", *words, "--fetch", ",".join(DTYPES), "--out", tmp_path / "out")
    assert_same_bits({dtype: np.load(tmp_path / "out" / f"{dtype}.npy") for dtype in DTYPES}, arrays)


def test_a_longer_npy_header_is_read(folder):
    path, _ = folder
    before = done(*inference(path))
    with open(path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, data()[0], version=(3, 0))
    assert done(*inference(path)) == before


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda bytes: bytes[:-4], ["the array [24, 6] has 576 bytes, the file 572"]),
        (lambda bytes: bytes + b"\0", ["the file 577"]),
        (lambda bytes: bytes[:40], ["cut off in its header"]),
        (lambda bytes: b"", ["not an .npy file"]),
        (lambda bytes: b"PK" + bytes, ["not an .npy file"]),
        (lambda bytes: bytes.replace(b"'<f4'", b"'>f4'"), ["element type '>f4' is not supported"]),
        (lambda bytes: bytes.replace(b"'<f4'", b"'|O8'"), ["element type '|O8' is not supported"]),
        (lambda bytes: bytes.replace(b"False", b"True "), ["Fortran order"]),
        (lambda bytes: bytes.replace(b"shape", b"shpae"), ["header is malformed"]),
        (
            lambda bytes: bytes.replace(b"(24, 6), }" + b" " * 20, b"(99999999999999999999999, 6),}"),
            ["(99999999999999999999999, 6) is too large"],
        ),
        (lambda bytes: bytes.replace(b"(24, 6), }" + b" " * 20, b"(8000000000000, 80000000000),}"), ["too many elements"]),
        (lambda bytes: bytes.replace(b"(24, 6), }" + b" " * 20, b"(1,1,1,1,1,1,1,1,1,24,6),}    "), []),
        (lambda bytes: bytes.replace(b"(24, 6)", b"(12,12)"), ["[12, 12]", "[-1, 6]"]),
    ],
)
def test_bad_npy_files(folder, change, words):
    path, _ = folder
    before, file = (path / "x.npy").read_bytes(), path / "x.npy"
    file.write_bytes(change(before))
    assert file.read_bytes() != before
    message = refused(*inference(path))
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    "words, expected",
    [
        (lambda path: [path / "no.pdmodel"], ["can't open", "no.pdmodel", "No such file"]),
        (lambda path: [path], ["not a regular file"]),
        (lambda path: [path / "infer.pdmodel", *inference(path)[3:]], ["'fc_0.w_0'"]),
        (lambda path: [*inference(path)[:3]], ["feed 'x' is missing"]),
        (lambda path: [*inference(path), "--feed", f"y={path / 'x.npy'}"], ["'y'"]),
        (lambda path: [*inference(path), "--feed", f"x={path / 'no.npy'}"], ["can't open", "no.npy"]),
        (lambda path: [*inference(path), "--feed", f"x={path / 'label.npy'}"], ["'x'", "int64"]),
        (lambda path: [*inference(path), "--fetch", "nothing"], ["'nothing'"]),
        (lambda path: [*inference(path), "--batch", 25], ["'x' [24, 6] has fewer than 25 rows"]),
        (lambda path: [*training(path)[:5], "--feed", "label=/dev/zero"], ["'/dev/zero' is not a regular file"]),
        (
            lambda path: [*training(path)[:5], "--feed", f"label={path / 'infer.pdiparams'}"],
            ["infer.pdiparams", "not an .npy file"],
        ),
        (lambda path: [path / "infer.pdmodel", "--params", path / "train.pdiparams", *inference(path)[3:]], ["train.pdiparams'"]),
        (lambda path: [path / "infer.pdiparams", *inference(path)[1:]], ["infer.pdiparams': the bytes are not a ProgramDesc"]),
        (lambda path: [*inference(path), "--startup", path / "x.npy"], ["x.npy': the bytes are not a ProgramDesc"]),
    ],
)
def test_wrong_files_and_names(folder, words, expected):
    message = refused(*words(folder[0]))
    assert all(word in message for word in expected), message


def test_arrays_of_different_length_are_not_cut_into_batches(folder):
    path, _ = folder
    np.save(path / "label.npy", data()[1][:-1])
    assert "'x' has 24 rows, 'label' has 23" in refused(*training(path), "--batch", 8)


def test_a_label_that_is_no_class_is_refused_and_nothing_is_saved(folder):
    path, _ = folder
    label = data()[1]
    label[17] = CLASSES
    np.save(path / "label.npy", label)
    result = pm_run(*training(path), "--steps", 3, "--batch", 8, "--fetch", "mean_0.tmp_0", "--save-params", path / "after")
    assert result.returncode == 1 and len(result.stdout.splitlines()) == 2 and "3" in result.stderr
    assert not (path / "after").exists()


def test_truncated_models_and_parameters(folder):
    path, _ = folder
    for name, sizes in (("infer.pdmodel", (0, 1, 100, -1)), ("infer.pdiparams", (0, 3, 40, -1))):
        whole = (path / name).read_bytes()
        for size in sizes:
            (path / name).write_bytes(whole[:size])
            assert "Traceback" not in refused(*inference(path))
        (path / name).write_bytes(whole)
    done(*inference(path), "--quiet")


def test_files_that_cannot_be_written(folder):
    path, _ = folder
    for option in ("--out", "--save-params"):
        result = pm_run(*inference(path), "--quiet", option, path / "no/folder")
        assert result.returncode == 1 and "can't open" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--bad"],
        ["m", "--steps"],
        ["m", "--steps", "-1"],
        ["m", "--steps", "1e3"],
        ["m", "--batch", "x"],
        ["m", "n"],
        ["m", "--feed", "x"],
        ["--quiet"],
        ["m", "--save-for", "n"],
        ["m", "--steps", "9" * 30],
    ],
    ids=" ".join,
)
def test_command_lines_that_are_wrong(words):
    assert "pm_run --help" in refused(*words, status=2, lines=1)


def test_help_and_no_words():
    text = done("--help")
    assert text.startswith("usage: pm_run MODEL.pdmodel") and done("-h") == text
    result = pm_run()
    assert (result.returncode, result.stdout, result.stderr) == (2, "", text)


def test_a_kernel_library_that_is_not_there(folder):
    assert "PM_CPU=v99" in refused(*inference(folder[0]), PM_CPU="v99")


def test_stopping_leaves_a_whole_step(folder):
    """SIGINT: status 130, and the file holds the state after some whole step."""
    path, model = folder
    words = [
        *training(path),
        "--batch",
        "8",
        "--steps",
        str(10**12),
        "--fetch",
        model.loss.name,
        "--save-params",
        path / "stopped.pdiparams",
    ]
    process = subprocess.Popen([PM_RUN, *map(str, words)], stdout=subprocess.PIPE, text=True)
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(2)
    with process.stdout:
        lines = 20 + len(process.stdout.readlines())
    assert process.wait(timeout=10) == 130
    loaded = pm.Scope()
    pm.io.load_parameters(path / "stopped.pdiparams", model.main, loaded)
    steps = next(loaded.get(name)[3] for name in loaded.names() if "counters" in name)
    assert steps in (lines, lines + 1)
    for number in range(steps):
        model.step(number)
    assert_same_bits({name: loaded.get(name) for name in sorted(loaded.names())}, model.everything())
