"""Names and texts of users through every entry point: each is accepted, or rejected by an error of the project's that
can be printed."""

import contextlib
import io
import os
import pathlib
import sys

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import paddle_mini as pm
from paddle_mini.cli import main as command
from paddle_mini.cli.verify import verify
from paddle_mini.cluster.convert import read_parameters

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

from properties import check_message

L = pm.layers
# Zero and other control characters, line ends, lone surrogates, characters that reverse text or are invisible, and
# text.
PARTS = [
    "\0",
    "\x07",
    "\x1b[31m",
    "\n",
    "\r",
    "\x7f",
    "\x85",
    "\x9b",
    "\xad",
    "\u061c",
    "\u180e",
    "\u200b",
    "\u200f",
    "\u2028",
    "\u202a",
    "\u202e",
    "\u2066",
    "\u2069",
    "\ufeff",
    "\ufff9",
    "\U000e0041",
    "\ud800",
    "\udcff",
    "\udfff",
    "a",
    "x",
    "/",
    "..",
    ".",
    "'",
    "{}",
    "%s",
    "@GRAD",
    "é",
    "日",
    "\U0001f600",
    "n" * 300,
    "n" * 5000,
]
NAMES = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("".join)


def block():
    return pm.default_main_program().global_block()


def data(name="x"):
    return L.data(name, [-1, 2])


def operator(kind="scale", port="X", out="out", attrs=()):
    block().append_op(kind, {port: data()}, {"Out": out}, dict(attrs))


def run(feed=None, fetch=None):
    x = data()
    pm.Executor().run(pm.default_main_program(), {feed or "x": np.zeros([1, 2], "float32")}, [fetch or x])


DOORS = {
    "data": data,
    "create_var": lambda n: block().create_var(n),
    "create_parameter": lambda n: block().create_parameter(n, [2]),
    "name of a layer": lambda n: L.fc(data(), 2, name=n),
    "activation": lambda n: L.fc(data(), 2, act=n),
    "parameter": lambda n: L.fc(data(), 2, param_attr=pm.ParamAttr(name=n)),
    "dtype": lambda n: block().create_var("a", dtype=n),
    "find": lambda n: block().var(n),
    "type": lambda n: operator(kind=n),
    "port": lambda n: operator(port=n),
    "output": lambda n: operator(out=n),
    "attribute": lambda n: operator(attrs={n: 1.0}),
    "value": lambda n: operator(attrs={"op_device": n}),
    "choice": lambda n: L.sequence_pool(L.data("x", [-1, 2], lod_level=1), n),
    "device": lambda n: pm.device_guard(n).__enter__(),
    "prune": lambda n: pm.default_main_program().prune([n], [L.scale(data())]),
    "feed": lambda n: run(feed=n),
    "fetch": lambda n: run(fetch=n),
    **{
        f"scope {word}": lambda n, word=word: getattr(pm.Scope(), word)(n)
        for word in ("get", "info", "lod", "erase", "__contains__")
    },
    "scope set": lambda n: pm.Scope().set(n, np.zeros(2)),
    "scope rows": lambda n: pm.Scope().set_rows(n, [0], np.zeros((1, 2), "float32"), 3),
    "state": lambda n: pm.io.set_state(pm.Program(), {n: np.zeros(2)}),
    "job": lambda n: pm.cluster.run(int, job=n, engine="none"),
    "engine": lambda n: pm.cluster.run(int, engine=n),
    "mode": lambda n: pm.cluster.run(int, mode=n),
    "address": lambda n: pm.cluster.run(int, address=n),
}
FILES = {
    "program": pm.io.load_program,
    "model": pm.io.load_inference_model,
    "state": pm.io.load_state,
    "parameters": lambda path: pm.io.load_parameters(path, pm.Program()),
    "folder": lambda path: pm.io.load_inference_model(os.path.dirname(path), model_filename=os.path.basename(path)),
    "checkpoints": lambda path: pm.io.CheckpointManager(path).restore(pm.Program(), pm.Executor()),
    "servers": read_parameters,
    "data": lambda path: list(pm.data.archive.members(path, ".")),
}
COMMANDS = [["run"], ["show"], ["verify"], ["checkpoint", "list"], ["launch"], ["train", "--startup"], []]


@pytest.mark.parametrize("door", DOORS)
@seed(1)
@settings(max_examples=25)
@given(name=NAMES)
def test_names_are_taken_or_refused(door, name):
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        try:
            DOORS[door](name)
        except pm.Error as error:
            check_message(str(error))
        main = pm.default_main_program()
        str(main).encode()
        again = pm.Program.from_bytes(main.to_bytes())
        assert [var.name for var in again.list_vars()] == [var.name for var in main.list_vars()]


@pytest.mark.parametrize("reader", FILES)
@seed(1)
@settings(max_examples=25)
@given(name=NAMES)
def test_paths_are_refused(tmp_path_factory, reader, name):
    """Names of missing files; each is below a file, so that a name like ".." does not exist either."""
    file = tmp_path_factory.getbasetemp() / "file"
    file.touch()
    with pytest.raises(pm.Error) as error:
        FILES[reader](f"{file}/{name}")
    check_message(str(error.value))


@seed(1)
@settings(max_examples=60)
@given(name=NAMES)
def test_states_keep_names_or_refuse_them(tmp_path_factory, name):
    for ending in (".pdparams", ".safetensors"):
        path = tmp_path_factory.getbasetemp() / f"state{ending}"
        try:
            pm.io.save_state(path, {name: np.zeros(2)})
        except pm.ProgramError as error:
            check_message(str(error))
        else:
            assert list(pm.io.load_state(path)) == [name]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@seed(1)
@settings(max_examples=25)
@given(name=NAMES)
def test_commands(tmp_path_factory, words, name):
    file = tmp_path_factory.getbasetemp() / "file"
    file.touch()
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            status = command([*words, f"{file}/{name}", *(["m"] if words[:1] == ["train"] else [])])
        except SystemExit as end:
            status = end.code
    assert status
    check_message(said.getvalue())
    said.getvalue().encode()


@pytest.mark.parametrize("name", ["a\x1b[31m\n", "\u202e\u061c", "\udcff", "n" * 200])
def test_files_of_such_names_are_read(tmp_path, name):
    """File names are bytes, which may be invalid text."""
    path = str(tmp_path / name)
    pm.io.save_state(path + ".pdparams", {"w": np.ones(2)})
    np.testing.assert_array_equal(pm.io.load_state(path + ".pdparams")["w"], [1, 1])
    assert verify(path + ".pdparams").damage == ""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert command(["verify", path + ".pdparams"]) == 0
    check_message(said.getvalue())
    said.getvalue().encode()


def test_a_zero_byte_does_not_end_a_path(tmp_path):
    pm.io.save_state(tmp_path / "a.pdparams", {"w": np.ones(2)})
    with pytest.raises(pm.ProgramError, match="zero byte"):
        pm.io.load_state(f"{tmp_path}/a.pdparams\0b.pdparams")
    with pytest.raises(pm.ProgramError, match="zero byte"):
        pm.io.save_state(f"{tmp_path}/a.pdparams\0b.pdparams", {"w": np.zeros(2)})
    np.testing.assert_array_equal(pm.io.load_state(tmp_path / "a.pdparams")["w"], [1, 1])


def test_long_values_leave_the_end_of_a_message():
    with pytest.raises(pm.ProgramError, match="it must be 'max' or 'avg'"):
        L.pool2d(L.data("image", [-1, 1, 4, 4]), pool_type="m" * 10**6)


def test_long_messages_keep_their_ends():
    assert str(pm.OpError("a\nb")) == "a\nb" and str(pm.OpError()) == ""
    text = str(pm.OpError("\n".join(map(str, range(100)))))
    assert text.splitlines() == ["0", "1", "2", "3", "4", "5", "  …", "95", "96", "97", "98", "99"]
    line = str(pm.Error("begin" + "x" * 10**6 + "end"))
    assert len(line) < 2010 and line.startswith("beginx") and line.endswith("xend")
