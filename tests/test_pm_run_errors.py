"""pm_run: every mistake is one message and its exit status."""

import subprocess

import numpy as np
import pytest

from pm_run_calls import PM_RUN, done, inference, pm_run, refused, saved_models, training
from small_model import CLASSES, data


@pytest.fixture
def folder(tmp_path):
    return saved_models(tmp_path)


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
        (lambda bytes: bytes.replace(b"(24, 6)", b"(24,,6)"), ["header is malformed"]),
        (lambda bytes: bytes.replace(b"(24, 6)", b"(24  6)"), ["header is malformed"]),
        (lambda bytes: bytes.replace(b"(24, 6)", b"(, 24,)"), ["header is malformed"]),
        (lambda bytes: bytes.replace(b"(24, 6)", b"(144)  "), ["header is malformed"]),
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


def test_a_full_standard_output(folder):
    path, _ = folder
    with open("/dev/full", "w") as full:
        ended = subprocess.run([PM_RUN, *map(str, inference(path))], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (1, "pm_run: can't write to the standard output\n")


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
