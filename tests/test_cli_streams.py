"""paddle-mini with streams of other encodings or closed ones, arrays that can't be read, and files that are in the way."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.cli import main

COMMAND = Path(sys.executable).parent / "paddle-mini"


@pytest.fixture
def words(tmp_path):
    """The words of a run that prints more elements than a line has."""
    x = pm.layers.data("x", [-1, 8])
    pm.io.save_inference_model(tmp_path / "double", [x], [pm.layers.scale(x, scale=2.0)], pm.Executor())
    np.save(tmp_path / "x.npy", np.ones((1, 8), "float32"))
    return ["run", str(tmp_path / "double"), "--feed", f"x={tmp_path / 'x.npy'}"]


def test_characters_that_the_encoding_lacks_are_numbers(words):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([COMMAND, *words], env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout.endswith(b"2 2 \\u2026\n")
    done = subprocess.run([COMMAND, "show", "é"], env=environment, capture_output=True)
    assert done.returncode == 1 and b"can't open '\\xe9.pdmodel'" in done.stderr


def test_closed_streams_drop_what_is_written(words):
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", COMMAND, *words], stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")
    done = subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", COMMAND, "show", "missing"])
    assert done.returncode == 1


def test_an_array_larger_than_the_memory_names_its_file(words, tmp_path, capsys):
    path = tmp_path / "x.npy"
    path.write_bytes(path.read_bytes().replace(b"(1, 8), }          ", b"(99999999999999, 8)}"))
    assert main(words) == 1
    assert f"'{path}': Unable to allocate" in capsys.readouterr().err


def test_a_shape_without_dimensions_names_its_form(words, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["bench", words[1], "--shape", "x="])
    assert exit.value.code == 2 and "'x=' is not NAME=2,3" in capsys.readouterr().err


def test_out_replaces_links_and_refuses_pipes(tmp_path, capsys):
    x = pm.layers.data("x", [-1, 3])
    outputs = [pm.layers.transpose(x, [1, 0]), pm.layers.reduce_sum(pm.layers.square(x))]
    pm.io.save_inference_model(tmp_path / "two", [x], outputs, pm.Executor())
    np.save(tmp_path / "x.npy", np.arange(6, dtype="float32").reshape(2, 3))
    words = ["run", str(tmp_path / "two"), "--feed", f"x={tmp_path / 'x.npy'}", "--out", str(tmp_path / "out")]
    turned, total = (tmp_path / "out" / f"{out.name}.npy" for out in outputs)
    turned.parent.mkdir()
    turned.symlink_to(tmp_path / "elsewhere")
    os.mkfifo(total)
    assert main(words) == 1
    assert f"can't write '{total}': it is not a regular file" in capsys.readouterr().err
    assert turned.is_symlink()
    total.unlink()
    assert main(words) == 0
    assert not turned.is_symlink() and not (tmp_path / "elsewhere").exists()
    np.testing.assert_array_equal(np.load(turned), np.float32([[0, 3], [1, 4], [2, 5]]), strict=True)
    assert np.load(total).tolist() == 55 and np.load(total).shape == ()
