"""Safetensors files: read by the package's own reader, bfloat16 as bits, damage rejected."""

import json

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import paddle_mini as pm
from small_model import SmallModel, assert_same_bits
from thorough import thorough


def file_of(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_a_scopes_values_for_other_tools(tmp_path):
    model, path = SmallModel(), tmp_path / "m.safetensors"
    pm.io.save_state(path, pm.io.get_state(model.main, model.scope))
    assert_same_bits(safetensors.numpy.load_file(path), model.values())
    scope = pm.Scope()
    pm.io.set_state(model.main, pm.io.load_state(path), scope)
    assert_same_bits({name: scope.get(name) for name in scope.names()}, model.values())


def test_bfloat16(tmp_path):
    path, values = tmp_path / "m.safetensors", np.array([1.5, -2, 3e38]).astype(ml_dtypes.bfloat16)
    safetensors.numpy.save_file({"w": values}, path)
    assert_same_bits(pm.io.load_state(path), {"w": values.view("uint16")})
    pm.io.save_state(path, {"w": values.view("uint16")})
    assert_same_bits(safetensors.numpy.load_file(path), {"w": values})
    program, scope = pm.Program(), pm.Scope()
    program.global_block().create_var("w", shape=[3], dtype="bfloat16", persistable=True)
    pm.io.set_state(program, pm.io.load_state(path), scope)
    assert scope.info("w")["dtype"] == "bfloat16"
    assert_same_bits(pm.io.get_state(program, scope), {"w": values.view("uint16")})


def test_every_truncation_is_refused(tmp_path):
    path = tmp_path / "m.safetensors"
    pm.io.save_state(path, {"w": np.ones(3, "float32"), "b": np.zeros((2, 2))})
    data = path.read_bytes()
    for cut in [*(data[:size] for size in range(len(data))), data + b"\0"]:
        path.write_bytes(cut)
        with pytest.raises(pm.ProgramError, match="m.safetensors': it is not a whole safetensors file"):
            pm.io.load_state(path)


@pytest.mark.parametrize(
    "data, words",
    [
        (b"", "not a whole"),
        (file_of(b""), "not a whole"),
        ((2**63).to_bytes(8, "little") + b"{}", "not a whole"),
        (file_of({"w": entry(dtype="F99")}, bytes(8)), "'w' has elements of F99"),
        (file_of({"w": entry(dtype="U16", offsets=(0, 4))}, bytes(4)), "'w' has elements of U16"),
        (file_of({"w": entry(dtype="F8_E4M3", offsets=(0, 2))}, bytes(2)), "'w' has elements of F8_E4M3"),
        (file_of({"w": entry(shape=(3,))}, bytes(8)), "not a whole"),
        (file_of({"w": entry(shape=(2**63, 4))}, bytes(8)), "not a whole"),
        (file_of({"w": entry(shape=(-2,))}, bytes(8)), "not a whole"),
        (file_of({"w": entry(shape=(0, 2**62, 2**62), offsets=(0, 0))}), "'w' of shape .* has 0 bytes"),
        (file_of({"w": entry(shape=(1,) * 100_000 + (2,))}, bytes(8)), "'w' has 100001 dimensions"),
        (file_of({"w": entry(shape=(2.5,))}, bytes(8)), "not a whole"),
        (file_of({"w": entry(offsets=(8, 0))}, bytes(8)), "not a whole"),
        (file_of({"w": entry(offsets=(8, 16))}, bytes(16)), "not a whole"),
        (file_of({"w": entry(), "v": entry()}, bytes(8)), "not a whole"),
        (file_of(b'{"w":%s,"w":%s}' % ((json.dumps(entry()).encode(),) * 2), bytes(8)), "names 'w' twice"),
        (file_of(b"[" * 100000), "not a whole"),
        (file_of(b'{"__metadata__":{"\xff":""}}'), "its header is not UTF-8"),
        (b"\x80\x04}.", "not a whole"),
    ],
)
def test_what_is_refused(tmp_path, data, words):
    path = tmp_path / "m.safetensors"
    path.write_bytes(data)
    with pytest.raises(pm.ProgramError, match=words) as caught:
        pm.io.load_state(path)
    assert str(path) in str(caught.value)


TYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64")


def test_every_element_type_shape_and_name_for_the_packages_reader(tmp_path):
    state = {f'"{dtype}\\\n é': np.ones((2, 3), dtype) for dtype in TYPES}
    state |= {"empty": np.ones((0, 4), "float32"), "number": np.array(7.0), "": np.ones(5, "int8")}
    for name, written in {"all.safetensors": state, "none.safetensors": {}}.items():
        pm.io.save_state(tmp_path / name, written)
        assert_same_bits(safetensors.numpy.load_file(tmp_path / name), written)
        assert_same_bits(pm.io.load_state(tmp_path / name), written)
        with safetensors.safe_open(tmp_path / name, "numpy") as file:
            assert list(file.metadata()) == ["paddle_mini.crc32c"]


def test_elements_are_aligned_for_readers_that_map_the_file(tmp_path):
    path, state = tmp_path / "m.safetensors", {"a": np.ones(3, "int8"), "b": np.ones(1), "c": np.ones(1, "float32")}
    pm.io.save_state(path, state)
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    assert size % 8 == 0 and all(header[name]["data_offsets"][0] % value.itemsize == 0 for name, value in state.items())


def test_an_element_type_that_the_format_lacks_is_refused(tmp_path):
    with pytest.raises(pm.ProgramError, match="'w' has elements of complex128, which safetensors files don't have"):
        pm.io.save_state(tmp_path / "m.safetensors", {"w": np.zeros(1, "complex128")})
    assert not any(tmp_path.iterdir())


def test_the_formats_own_name_is_refused(tmp_path):
    with pytest.raises(pm.ProgramError, match="holds no array '__metadata__'"):
        pm.io.save_state(tmp_path / "n.safetensors", {"w": np.ones(3), "__metadata__": np.ones(3)})
    assert not list(tmp_path.iterdir())


@thorough
def test_a_header_that_no_reader_takes_is_not_written(tmp_path):
    largest = 100_000_000
    pm.io.save_state(tmp_path / "most.safetensors", {"n" * (largest - 200): np.ones(3)})
    assert [value.tolist() for value in pm.io.load_state(tmp_path / "most.safetensors").values()] == [[1, 1, 1]]
    with pytest.raises(pm.ProgramError, match="the names and shapes of 1 arrays have .* bytes, a safetensors file has room for"):
        pm.io.save_state(tmp_path / "more.safetensors", {"n" * largest: np.ones(3)})
    assert [item.name for item in tmp_path.iterdir()] == ["most.safetensors"]
