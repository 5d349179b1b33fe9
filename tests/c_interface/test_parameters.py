"""The C interface: parameters from files of every format. A file that is refused changes no scope."""

import ctypes
import pickle

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import paddle_mini as pm
from c_calls import OPERATOR, PROGRAM, SHAPE, C, done, everything, got, names, program_of, refused
from small_model import SmallModel, assert_same_bits


def test_files_of_parameters(handles, tmp_path):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    pm.io.save_persistables(None, tmp_path / "folder", model.main, None, model.scope)
    program = handles.program_load_file(str(tmp_path / "train.pdmodel").encode())
    data = (tmp_path / "train.pdiparams").read_bytes()
    scopes = [handles.scope_create() for _ in range(3)]
    done(C.pm_scope_load(scopes[0], program, str(tmp_path / "train.pdiparams").encode(), 0))
    done(C.pm_scope_load(scopes[1], program, str(tmp_path / "folder").encode(), 0))
    done(C.pm_scope_load_bytes(scopes[2], program, data, len(data), 0))
    for scope in scopes:
        assert_same_bits(everything(handles, scope), model.everything())
    done(C.pm_scope_save(scopes[0], program, str(tmp_path / "again.pdiparams").encode()))
    assert (tmp_path / "again.pdiparams").read_bytes() == data


def test_files_that_are_refused_change_nothing(handles, tmp_path):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    path, whole = tmp_path / "train.pdiparams", (tmp_path / "train.pdiparams").read_bytes()
    program, scope = handles.program_load_file(str(tmp_path / "train.pdmodel").encode()), handles.scope_create()
    other = program_of(handles, SmallModel(lambda loss: None, dtype="float64").main)
    changed = bytes([*whole[:-1], whole[-1] ^ 1])
    for data in (b"", whole[:3], whole[:40], whole[:-1], whole + b"\0", changed):
        path.write_bytes(data)
        refused(PROGRAM, C.pm_scope_load, scope, program, str(path).encode(), 0)
        refused(PROGRAM, C.pm_scope_load_bytes, scope, program, data, len(data), 0)
        assert everything(handles, scope) == {}
    done(C.pm_scope_load(scope, program, str(path).encode(), 0 + (data == changed)))  # unchecked
    before = everything(handles, scope)
    path.write_bytes(whole)
    refused(SHAPE, C.pm_scope_load, scope, other, str(path).encode(), 0)
    refused(PROGRAM, C.pm_scope_load, scope, program, str(tmp_path / "no").encode(), 0)
    refused(PROGRAM, C.pm_scope_load, scope, program, b"/dev/zero", 0)
    refused(PROGRAM, C.pm_scope_save, scope, program, str(tmp_path / "no/file").encode())
    refused(OPERATOR, C.pm_scope_save, handles.scope_create(), program, str(path).encode())
    assert_same_bits(everything(handles, scope), before)
    assert path.read_bytes() == whole


FORMATS = ("state.pdparams", "train.pdparams", "state.safetensors")


def states(folder, model):
    """The state of a model in one file of each format, and in the two files of a program with an optimizer."""
    pm.io.save(model.main, folder / "train", model.scope)
    for name in ("state.pdparams", "state.safetensors"):
        pm.io.save_state(folder / name, pm.io.get_state(model.main, model.scope))


@pytest.mark.parametrize("name", FORMATS)
def test_states_of_every_format(handles, tmp_path, name):
    model = SmallModel(pm.optimizer.Adam(0.1).minimize)
    model.step(0)
    states(tmp_path, model)
    program, path = program_of(handles, model.main), str(tmp_path / name).encode()
    scopes = [handles.scope_create()]
    done(C.pm_scope_load(scopes[0], program, path, 0))
    if name != "train.pdparams":
        data = (tmp_path / name).read_bytes()
        scopes.append(handles.scope_create())
        done(C.pm_scope_load_bytes(scopes[1], program, data, len(data), 0))
    for scope in scopes:
        assert_same_bits(everything(handles, scope), model.everything())


def test_states_of_other_writers(handles, tmp_path):
    """Other protocols, memory orders and byte orders, with PaddlePaddle's names of layers and its slices."""
    program = pm.Program()
    program.global_block().create_parameter("linear_0.w_0", [2, 3])
    program.global_block().create_var("half", shape=[2], dtype="bfloat16", persistable=True)
    values = {"linear_0.w_0": np.arange(6, dtype="float32").reshape(2, 3), "half": np.array([1, 0x3F80], "uint16")}
    w, half = values.values()
    layers = {"w": w, "half": half, "StructuredToParameterName@@": {"w": "linear_0.w_0"}}
    slices = {"w.0": w.ravel()[:4], "w.1": w.ravel()[4:], "half": half}
    slices["UnpackBigParamInfor@@"] = {"linear_0.w_0": {"OriginShape": (2, 3), "slices": ["w.0", "w.1"]}}
    files = [pickle.dumps(values, protocol) for protocol in (2, 3, 4)]
    files.append(pickle.dumps({"linear_0.w_0": np.asfortranarray(w.astype(">f4")), "half": half.astype(">u2")}, 4))
    files += [pickle.dumps(layers, 4), pickle.dumps(slices, 2)]
    files.append(safetensors.numpy.save({"linear_0.w_0": w, "half": half.view(ml_dtypes.bfloat16)}))
    handle, scope, found = program_of(handles, program), handles.scope_create(), handles.values_create()
    for data in files:
        scope = handles.scope_create()
        done(C.pm_scope_load_bytes(scope, handle, data, len(data), 0))
        done(C.pm_scope_get(scope, names(*values), 2, found))
        for index, array in enumerate(values.values()):
            one = got(found, index)
            assert (one.dtype, ctypes.string_at(one.data, one.bytes)) == ((5, 22)[index], array.tobytes())


def test_an_array_with_two_names(handles):
    """Weights that two layers share: a pickle writes the array once and refers to it."""
    program = pm.Program()
    for name in ("w", "v"):
        program.global_block().create_parameter(name, [300])
    shared = np.arange(300, dtype="float32")
    for protocol in (2, 4):
        data, scope = pickle.dumps({"w": shared, "v": shared}, protocol), handles.scope_create()
        assert len(data) < 2 * shared.nbytes + 1000
        done(C.pm_scope_load_bytes(scope, program_of(handles, program), data, len(data), 0))
        assert_same_bits(everything(handles, scope), {"w": shared, "v": shared})


def test_loading_leaves_values_that_are_held(handles):
    """Values of a scope that were given to the caller keep their bytes when others are loaded."""
    model = SmallModel()
    data, program = pickle.dumps(model.values()), program_of(handles, model.main)
    scope, values = handles.scope_create(), handles.values_create()
    zeros = pickle.dumps({name: np.zeros_like(value) for name, value in model.values().items()})
    done(C.pm_scope_load_bytes(scope, program, data, len(data), 0))
    done(C.pm_scope_get(scope, names(model.parameters[0]), 1, values))
    done(C.pm_scope_load_bytes(scope, program, zeros, len(zeros), 0))
    held = got(values)
    assert ctypes.string_at(held.data, held.bytes) == model.values()[model.parameters[0]].tobytes()
    assert not any(value.any() for value in everything(handles, scope).values())


def test_states_of_other_names(handles, tmp_path):
    """A name without a value is always refused; a value without a name is, unless the state is not checked."""
    program, scope = pm.Program(), handles.scope_create()
    program.global_block().create_parameter("w", [2])
    handle, w = program_of(handles, program), np.ones(2, "float32")
    for write in (pickle.dumps, safetensors.numpy.save):
        more, less, none = write({"w": w, "v": w}), write({"v": w}), write({})
        assert "'v', which is not a parameter" in refused(PROGRAM, C.pm_scope_load_bytes, scope, handle, more, len(more), 0)
        for data in (less, none):
            for check in (0, 1):
                assert "no value for 'w'" in refused(PROGRAM, C.pm_scope_load_bytes, scope, handle, data, len(data), check)
        wrong = write({"w": np.ones(3, "float32")})
        assert "declares [2] float32" in refused(SHAPE, C.pm_scope_load_bytes, scope, handle, wrong, len(wrong), 0)
        wrong = write({"w": np.ones(2, "float64")})
        assert "declares [2] float32" in refused(SHAPE, C.pm_scope_load_bytes, scope, handle, wrong, len(wrong), 0)
        assert everything(handles, scope) == {}
        done(C.pm_scope_load_bytes(scope, handle, more, len(more), 1))
        assert_same_bits(everything(handles, scope), {"w": w})
        done(C.pm_scope_erase(scope, b"w"))
    for data in (pickle.dumps({"w": 1.5}), pickle.dumps({"w": np.ones(2, "u4")})):
        assert "'w'" in refused(PROGRAM, C.pm_scope_load_bytes, scope, handle, data, len(data), 0)
    for data in (pickle.dumps({"w": print}), pickle.dumps([w])):
        refused(PROGRAM, C.pm_scope_load_bytes, scope, handle, data, len(data), 0)
    (tmp_path / "m.pdparams").write_bytes(pickle.dumps({"w": w}))
    (tmp_path / "m.pdopt").write_bytes(pickle.dumps({"w": w}))
    assert ".pdopt" in refused(PROGRAM, C.pm_scope_load, scope, handle, str(tmp_path / "m.pdparams").encode(), 0)
    assert everything(handles, scope) == {}


@pytest.mark.parametrize("name", ("state.pdparams", "state.safetensors"))
def test_states_that_are_cut_off_change_nothing(handles, tmp_path, name):
    model = SmallModel()
    states(tmp_path, model)
    whole, program, scope = (tmp_path / name).read_bytes(), program_of(handles, model.main), handles.scope_create()
    for data in (*(whole[:size] for size in range(0, len(whole), 7)), whole + b"\0", whole[:-1] + bytes([whole[-1] ^ 1])):
        (tmp_path / name).write_bytes(data)
        refused(PROGRAM, C.pm_scope_load, scope, program, str(tmp_path / name).encode(), 1)
        refused(PROGRAM, C.pm_scope_load_bytes, scope, program, data, len(data), 1)
    assert everything(handles, scope) == {}
