"""Pickled states: those of NumPy and PaddlePaddle are read, code in a file is never run, and damage is rejected."""

import collections
import os
import pathlib
import pickle
import tracemalloc

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini._core import read_pickle, read_state
from paddle_mini.io.pickle_writer import state_pickle
from small_model import assert_same_bits
from thorough import thorough

MOST_STEPS = 4_000_000  # kMostSteps of cpp/program/pickle.cc
ARRAYS = {
    "x": np.arange(6, dtype="float32").reshape(2, 3),
    "scalar": np.array(3.0),
    "empty": np.zeros((0, 4), "int64"),
    "": np.zeros(1, "int8"),
    "bools": np.array([True, False]),
    "bfloat16": np.array([1, 0x3F80], "uint16"),
    "ключ": np.ones(2, "float16"),
}


class Calls:
    """Pickles as a call of an arbitrary function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_what_numpy_pickles(protocol):
    assert_same_bits(read_pickle(pickle.dumps(ARRAYS, protocol)), ARRAYS)


def test_what_is_written_is_what_pickle_reads():
    assert_same_bits(pickle.loads(state_pickle(ARRAYS)), ARRAYS)
    assert_same_bits(read_pickle(state_pickle(ARRAYS)), ARRAYS)
    assert read_pickle(state_pickle({})) == {}


def test_other_memory_orders_and_ends():
    transposed = {"fortran": np.asfortranarray(ARRAYS["x"]), "big-endian": ARRAYS["x"].astype(">f4")}
    found = read_pickle(pickle.dumps(transposed, 4))
    assert_same_bits(found, {name: ARRAYS["x"] for name in transposed})
    assert all(array.flags.writeable and array.flags.c_contiguous for array in found.values())


def test_plain_values_beside_arrays():
    state = {
        "LR_Scheduler": {"last_epoch": 1, "last_lr": 0.1},
        "list": [1, -70000, 2**40, 2**63 - 1, -(2**63), -1 - 2**31, (3, "a")],
        "nothing": None,
        "yes": True,
    }
    assert read_pickle(pickle.dumps(collections.OrderedDict(state), 2)) == state
    scalar = read_pickle(pickle.dumps({"v": np.float32(2.5)}, 4))["v"]
    assert scalar == 2.5 and scalar.dtype == np.float32


def test_a_tensor_that_is_name_and_array_becomes_the_array():
    state = {"model": {"w": Calls(tuple, ("linear_0.w_0", ARRAYS["x"]))}}
    assert_same_bits(read_pickle(pickle.dumps(state, 4))["model"], {"w": ARRAYS["x"]})


def test_python_2s_strings():
    data = (
        b"\x80\x02}(U\x01wcnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR"
        b"(K\x01K\x02\x85cnumpy\ndtype\nU\x02f4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x08" + np.array([1, -2], "<f4").tobytes() + b"tbu."
    )
    assert_same_bits(read_pickle(data), {"w": np.array([1, -2], "float32")})


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "value, named",
    [
        (Calls(os.mkdir, "made"), "posix.mkdir"),
        (Calls(eval, "open('made', 'w')"), "eval"),
        (Calls(getattr, 1, "real"), "getattr"),
        (print, "print"),
        (np.load, "numpy.load"),
        (collections.Counter(), "collections.Counter"),
        (pm.Scope, "Scope"),
        (1j, "complex"),
        (pathlib.PurePosixPath("a"), "pathlib"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nothing_is_run(tmp_path, monkeypatch, protocol, value, named):
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps({"bad": value}, protocol)
    with pytest.raises(pm.ProgramError, match=f"it names '.*({named}).*nothing is run"):
        read_pickle(data)
    assert not any(tmp_path.iterdir())


def recursive():
    inner = []
    inner.append(inner)
    return {"w": inner}


def shared():
    inner = [1]
    for _ in range(60):
        inner = [inner, inner]
    return {"w": inner}


def deep():
    inner = 1
    for _ in range(10):
        inner = [inner]
    return {"w": inner}


@pytest.mark.parametrize(
    "data, words",
    [
        (pickle.dumps(recursive()), "a container a second time"),
        (pickle.dumps(shared()), "a container a second time"),
        (pickle.dumps(deep()), "nested more than"),
        (b"\x80\x04}X\x01\0\0\0w)" + b"\x85" * 100000 + b"s.", "cut off, damaged|nested"),
        (b"\x80\x04" + b"]" * 100000 + b"a" * 99999 + b".", "nested more than 8 deep"),
        (b"\x80\x63}.", "protocol 2 to 5"),
        (b"}.", "protocol 2 to 5"),
        (b"\x80\x04}\x80\x04.", "protocol 2 to 5"),
        (b"\x80\x04\x95" + (3).to_bytes(8, "little") + b"}.", "truncated: a frame has 3 bytes, 2 are left"),
        (pickle.dumps([ARRAYS["x"]]), "holds no dict"),
        (pickle.dumps(ARRAYS["x"]), "holds no dict|names"),
        (pickle.dumps({1: 2}), "a key of its dict is not a string"),
        (pickle.dumps({(1, 2): 2}), "neither a string nor an integer"),
        (pickle.dumps({"w": np.array([None])}, 2), "object|not numbers"),
        (pickle.dumps({"w": np.zeros(3, "M8[s]")}, 2), "not numbers"),
        (pickle.dumps({"w": np.zeros(3, [("a", "f4")])}, 2), "neither an array|has fields"),
        (pickle.dumps({"w": np.array(["text"])}, 2), "not numbers"),
        (pickle.dumps({"w": 1}, 1), "protocol 2"),
        (b"\x80\x04}X\x01\0\0\0w(cnumpy\nndarray\nls.", "neither an array"),
        (b"\x80\x04}X\x01\0\0\0w((cnumpy\nndarray\nlls.", "neither an array"),
        (b"\x80\x04}X\x01\0\0\0wcbuiltins\ntuple\nX\x02\0\0\0abRs.", "as no array is written|damaged"),
        (pickle.dumps({"w": {1, 2}}, 4), "operation with the code 143"),
        (pickle.dumps({"w": 1}, 4) + b"\0", "1 bytes follow its end"),
        (b"\x80\x04}(X\x01\0\0\0wK\x01X\x01\0\0\0wK\x02u.", "'w' is there twice"),
        (b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7f" + b"abc.", "cut off, damaged"),
        (b"\x80\x04B" + b"\xff" * 4 + b"abc.", "cut off, damaged"),
        (b"\x80\x04}r\xff\xff\xff\x7fh\x01.", "cut off, damaged"),
        (b"PK\x03\x04", "an archive, such as torch.save writes"),
        (pickle.dumps({"w": 2**64}), "more than 64 bits"),
        (b"", "cut off, damaged"),
        (b"\x80\x04.", "holds no dict"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused(data, words):
    tracemalloc.start()
    try:
        with pytest.raises(pm.ProgramError, match=words) as caught:
            read_pickle(data)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 1000


def many_times(kept, refer, count=100_000):
    """A dict that refers to one value so often that it would fill the memory: kept is the operations that make the value."""
    return b"\x80\x04}X\1\0\0\0l(" + kept + b"q\0" + refer * count + b"lX\1\0\0\0ls."


@pytest.mark.parametrize(
    "data",
    [
        many_times(b"X" + (1 << 20).to_bytes(4, "little") + b"x" * (1 << 20), b"h\0"),
        many_times(b"B" + (1 << 20).to_bytes(4, "little") + b"x" * (1 << 20), b"h\0"),
        many_times(b"(" + b"K\1" * 1000 + b"t", b"h\0"),
        many_times(b"X" + (1 << 20).to_bytes(4, "little") + b"x" * (1 << 20), b"}h\0K\1s"),
    ],
    ids=["text", "bytes", "tuple", "keys"],
)
def test_references_do_not_multiply_the_memory(data):
    with pytest.raises(pm.ProgramError, match="refers to its values so often"):
        read_pickle(data)


def test_an_array_may_have_two_names():
    shared = np.arange(500_000, dtype="float32")
    assert_same_bits(read_pickle(pickle.dumps({"w": shared, "v": shared})), {"w": shared, "v": shared})


def test_slices_of_many_arrays_are_joined_fast():
    """The time grows with the number of entries, not with its square: with that this takes minutes."""
    names = [f"w{i}" for i in range(20_000)]
    state = {f"{name}@@{part}": np.float32([part]) for name in names for part in (0, 1)}
    state["UnpackBigParamInfor@@"] = {n: {"OriginShape": (2,), "slices": [f"{n}@@0", f"{n}@@1"]} for n in names}
    found = read_state(pickle.dumps(state, 4), False)
    assert sorted(found) == sorted(names) and all(value.tolist() == [0, 1] for value in found.values())


def test_a_file_of_very_many_steps_is_refused():
    with pytest.raises(pm.ProgramError, match="steps to read"):
        read_pickle(b"\x80\x04}" + b"q\0" * MOST_STEPS)


@thorough
def test_a_state_of_more_arrays_than_a_reader_takes_is_not_written(tmp_path):
    scalar = np.float32(1).reshape(())
    most = {f"w{i}": scalar for i in range((MOST_STEPS - 8) // 36)}
    assert len(read_state(state_pickle(most), False)) == len(most)
    with pytest.raises(pm.ProgramError, match=f"the state has {len(most) + 1} arrays, too many for a pickled file"):
        pm.io.save_state(tmp_path / "many.pdparams", {**most, "one more": scalar})
    assert not any(tmp_path.iterdir())


def test_every_truncation_is_refused():
    for data in (pickle.dumps(ARRAYS, 4), pickle.dumps(ARRAYS, 2), state_pickle(ARRAYS)):
        for size in range(len(data)):
            with pytest.raises(pm.ProgramError):
                read_pickle(data[:size])


@pytest.mark.parametrize("protocol", [2, 4])
def test_changed_bytes_are_refused_or_are_values(protocol):
    """For every mutation: an ordinary error, or a dict of admitted values."""
    data, random = pickle.dumps(ARRAYS, protocol), np.random.RandomState(0)
    for _ in range(3000):
        changed = bytearray(data)
        for place in random.randint(0, len(data), random.randint(1, 4)):
            changed[place] = random.randint(256)
        try:
            state = read_pickle(bytes(changed))
        except pm.ProgramError:
            continue
        assert all(
            isinstance(value, (np.ndarray, np.generic, int, float, str, bytes, tuple, list, dict, type(None)))
            for value in state.values()
        )
