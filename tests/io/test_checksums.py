"""Checksums: every flipped bit and every truncation of a file that was written here is detected, and files of other
tools are read."""

import pickle

import numpy as np
import pytest
import safetensors.numpy

import paddle_mini as pm
from disks import disk_of
from paddle_mini import _core
from small_model import assert_same_bits

STATE = {"w": np.arange(3, dtype="float32"), "b": np.zeros((0, 2)), "n": np.array(7)}


def test_the_checksum_is_crc_32c():
    assert _core.crc32c(b"123456789") == _core.crc32c_by_tables(b"123456789") == 0xE3069283  # RFC 3720, B.4, and others
    assert _core.crc32c(bytes(32)) == 0x8A9136AA and _core.crc32c(b"\xff" * 32) == 0x62A8AB43


def test_bytes_that_are_not_contiguous_are_refused():
    with pytest.raises(pm.ProgramError, match="contiguous"):
        _core.crc32c(np.arange(8)[::-1])


def test_both_ways_to_it_agree_at_any_length_and_in_pieces():
    random = np.random.RandomState(0)
    for size in [*range(20), 4095, 12287, 12288, 12295, 30001]:
        data = random.bytes(size)
        assert (
            _core.crc32c(data) == _core.crc32c_by_tables(data) == _core.crc32c(data[size // 3 :], _core.crc32c(data[: size // 3]))
        )


def small_program(value=2.0):
    """A program of one operator and one parameter; its input, its output, and a scope."""
    main, scope = pm.Program(), pm.Scope()
    with pm.program_guard(main, pm.Program()):
        x = pm.layers.data("x", [-1, 1])
        w = pm.layers.create_parameter([1], attr=pm.ParamAttr("w"))
        y = x * w
    for op in main.global_block().ops:  # keeps the file short
        op.set_attr("op_callstack", [])
    scope.set("w", np.full(1, value, "float32"))
    return main, x, y, scope


def save_model(folder, value=2.0, **names):
    main, x, y, scope = small_program(value)
    pm.io.save_inference_model(folder / "m", [x], [y], program=main, scope=scope, **names)


def load_model(folder, **names):
    scope = pm.Scope()
    program, feeds, fetches = pm.io.load_inference_model(folder / "m", scope=scope, **names)
    return float(pm.Executor().run(program, {feeds[0]: np.ones((1, 1), "float32")}, fetches, scope)[0].sum())


def damaged(data, bits):
    """All files that differ in one of these bits of a byte, and all truncated ones."""
    for place in range(len(data)):
        yield data[:place]
        for bit in bits:
            yield data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def all_are_found(path, read, bits=range(8)):
    data = path.read_bytes()
    read()
    for each in damaged(data, bits):
        path.write_bytes(each)
        with pytest.raises(pm.Error) as caught:
            read()
        assert len(str(caught.value)) < 1000
    path.write_bytes(data)
    read()


@pytest.mark.parametrize(
    "names, files",
    [
        ({}, ["m.pdmodel", "m.pdiparams"]),
        ({"params_filename": "all"}, ["m/__model__", "m/all"]),
        ({"model_filename": "net"}, ["m/net", "m/w"]),
    ],
    ids=["prefix", "folder-combined", "folder"],
)
def test_models(tmp_path, names, files):
    save_model(tmp_path, **names)
    for file in files:
        all_are_found(tmp_path / file, lambda: load_model(tmp_path, **names), range(8) if names == {} else [place_of(file)])


def place_of(file):
    """A bit of every byte: another one in each file."""
    return len(file) % 8


@pytest.mark.parametrize("suffix", ["pdparams", "safetensors"])
def test_states(tmp_path, suffix):
    path = tmp_path / f"s.{suffix}"
    pm.io.save_state(path, STATE)
    assert_same_bits(dict(sorted(pm.io.load_state(path).items())), dict(sorted(STATE.items())))
    pm.io.save_state(path, {"w": STATE["w"]})
    all_are_found(path, lambda: pm.io.load_state(path))


def test_a_programs_state_and_its_program(tmp_path):
    main, _, _, scope = small_program()
    pm.io.save(main, tmp_path / "m", scope)
    all_are_found(tmp_path / "m.pdmodel", lambda: pm.io.read_program(tmp_path / "m"))


def test_parameters_on_their_own_are_held_against_the_model_beside_them(tmp_path):
    save_model(tmp_path)
    main, _, _, scope = small_program()
    all_are_found(tmp_path / "m.pdiparams", lambda: pm.io.load_parameters(tmp_path / "m.pdiparams", main, scope))


def test_other_readers_read_past_them(tmp_path):
    for suffix in ("pdparams", "safetensors"):
        pm.io.save_state(tmp_path / f"s.{suffix}", STATE)
    state = pickle.loads((tmp_path / "s.pdparams").read_bytes())
    assert_same_bits(state, STATE)
    assert_same_bits(dict(sorted(safetensors.numpy.load_file(tmp_path / "s.safetensors").items())), dict(sorted(STATE.items())))


def test_files_without_them_are_read(tmp_path):
    main, _, _, scope = small_program(5.0)
    (tmp_path / "m.pdmodel").write_bytes(main.to_bytes())
    (tmp_path / "m.pdiparams").write_bytes(_core.tensor_bytes(scope.get("w"), []))
    loaded = pm.Scope()
    pm.io.load_program(tmp_path / "m", loaded)
    assert loaded.get("w") == 5
    (tmp_path / "s.pdparams").write_bytes(pickle.dumps(STATE, 4))
    assert_same_bits(pm.io.load_state(tmp_path / "s.pdparams"), STATE)
    safetensors.numpy.save_file({"w": STATE["w"]}, tmp_path / "s.safetensors", {"format": "np"})
    assert_same_bits(pm.io.load_state(tmp_path / "s.safetensors"), {"w": STATE["w"]})


def test_a_program_that_another_tool_wrote_anew_vouches_for_nothing(tmp_path):
    """Its checksum is no longer in front: a protobuf writer puts unknown fields last."""
    save_model(tmp_path)
    path, plain = tmp_path / "m.pdmodel", pm.io.read_program(tmp_path / "m").to_bytes()
    front = path.read_bytes()[: -len(plain)]
    assert len(front) == 21
    path.write_bytes(plain + front)
    assert pm.io.read_program(tmp_path / "m").to_bytes() == plain
    (tmp_path / "m.pdiparams").write_bytes(_core.tensor_bytes(np.full(1, 9, "float32"), []))
    assert load_model(tmp_path) == 9


# Two files that belong together


def test_a_mixed_pair_is_told_and_loaded_where_it_is_meant(tmp_path):
    save_model(tmp_path, 2.0)
    old = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    save_model(tmp_path, 3.0)
    for name in old:
        new = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(old[name])
        with pytest.raises(
            pm.ProgramError, match="m.pdiparams': these are not the parameters that were saved with .*check=False"
        ):
            load_model(tmp_path)
        with pytest.raises(pm.ProgramError, match="these are not the parameters"):
            pm.io.load_program(tmp_path / "m", pm.Scope())
        assert load_model(tmp_path, check=False) == (2 if name == "m.pdiparams" else 3)
        (tmp_path / name).write_bytes(new)
    assert load_model(tmp_path) == 3


@pytest.mark.parametrize("names", [{}, {"params_filename": "all"}], ids=["prefix", "folder-combined"])
def test_where_the_second_file_can_not_be_written_the_first_is_as_it_was(tmp_path, names):
    """A parameters' file of 30 bytes has room, the program does not."""
    save_model(tmp_path, 2.0, **names)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with disk_of(100), pytest.raises(pm.ProgramError, match="File too large"):
        save_model(tmp_path, 3.0, **names)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert load_model(tmp_path, **names) == 2


def test_new_parameters_for_a_saved_model_belong_to_it(tmp_path):
    """When they are written here, the model file's checksum covers them from then on."""
    save_model(tmp_path, 2.0)
    program = pm.io.read_program(tmp_path / "m")
    _, _, _, scope = small_program(4.0)
    pm.io.save_parameters(tmp_path / "m.pdiparams", program, scope)
    assert load_model(tmp_path) == 4 and pm.io.read_program(tmp_path / "m").to_bytes() == program.to_bytes()
    all_are_found(tmp_path / "m.pdiparams", lambda: load_model(tmp_path))
