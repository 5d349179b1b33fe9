"""Files: saved values are loaded bit for bit, PaddlePaddle's files are read, and damaged ones change nothing."""

import json
import pathlib

import numpy as np
import pytest

import paddle_mini as pm
from disks import disk_of
from paddle_mini import _core
from small_model import SmallModel, assert_same_bits, batch

GOLDEN = pathlib.Path(__file__).parent / "golden/cases"
CONV = GOLDEN / "infm_conv_bn_from_train"


@pytest.fixture
def model():
    return SmallModel(pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.05), window_size=2).minimize)


def everything(scope):
    return {name: scope.get(name) for name in sorted(scope.names())}


def refused(path, program, error=pm.Error, words=None):
    """Loading fails with a short error, and does not change the scope; returns the message."""
    names = pm.io.parameters.parameter_names(program)
    scope = pm.Scope()
    for number, name in enumerate(names):
        var = program.global_block().var(name)
        scope.set(name, np.full(var.shape, number, var.dtype))
    before = everything(scope)
    with pytest.raises(error, match=words) as caught:
        pm.io.load_parameters(path, program, scope)
    assert_same_bits(everything(scope), before)
    message = str(caught.value)
    assert f"'{path}': " in message and len(message.splitlines()) <= 12 and len(message) < 1000
    return message


def test_an_inference_model_comes_back(tmp_path, model):
    model.step()
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.pdiparams", "m.pdmodel"]
    scope, x = pm.Scope(), batch(0)["x"]
    program, feeds, fetches = pm.io.load_inference_model(tmp_path / "m", model.exe, scope=scope)
    assert (feeds, [var.name for var in fetches]) == (["x"], [model.logits.name])
    assert [op.type for op in program.global_block().ops] == [
        "feed",
        "mul",
        "elementwise_add",
        "tanh",
        "mul",
        "elementwise_add",
        "fetch",
    ]
    assert_same_bits(everything(scope), model.values())
    (here,) = model.exe.run(
        model.main.clone(for_test=True).prune([model.x], [model.logits]), {"x": x}, [model.logits], model.scope
    )
    (there,) = model.exe.run(program, {"x": x}, fetches, scope)
    assert here.tobytes() == there.tobytes()


def test_several_inputs_and_outputs_keep_their_order(tmp_path):
    names = ["c", "a", "b"]
    data = {name: pm.layers.data(name, [-1, 2]) for name in names}
    outputs = [pm.layers.scale(data["a"], scale=2.0), data["b"] + data["c"]]
    pm.io.save_inference_model(tmp_path / "m", [data[name] for name in names], outputs)
    assert not (tmp_path / "m.pdiparams").exists()
    program, feeds, fetches = pm.io.load_inference_model(tmp_path / "m")
    assert (feeds, [var.name for var in fetches]) == (names, [var.name for var in outputs])
    values = pm.Executor().run(program, {name: np.full((1, 2), i, "float32") for i, name in enumerate(names)}, fetches)
    np.testing.assert_array_equal(values, [[[2, 2]], [[2, 2]]])


def test_a_training_program_goes_on_where_it_was(tmp_path, model):
    for number in range(3):
        model.step(number)
    pm.io.save_program(tmp_path / "half", model.main, model.scope)
    scope = pm.Scope()
    program = pm.io.load_program(tmp_path / "half", scope)
    assert program.to_bytes() == model.main.to_bytes()
    assert_same_bits(everything(scope), model.everything())
    for number in range(3, 6):
        (loss,) = model.exe.run(program, batch(number), [model.loss.name], scope)
        assert loss.tobytes() == model.step(number).tobytes()
    assert_same_bits(everything(scope), model.everything())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 4)], ids=str)
def test_every_dtype_and_shape(tmp_path, dtype, shape):
    value = np.random.RandomState(0).randint(0, 2, shape).astype(dtype)
    program, scope, loaded = pm.Program(), pm.Scope(), pm.Scope()
    program.global_block().create_var("v", shape=shape, dtype=dtype, persistable=True)
    scope.set("v", np.asarray(value))
    pm.io.save_parameters(tmp_path / "p", program, scope)
    pm.io.load_parameters(tmp_path / "p", program, loaded)
    assert_same_bits(everything(loaded), {"v": np.asarray(value)})


def test_sequence_offsets_are_kept(tmp_path):
    program, scope, loaded = pm.Program(), pm.Scope(), pm.Scope()
    program.global_block().create_var("v", shape=[5], dtype="float32", persistable=True)
    scope.set("v", np.arange(5, dtype="float32"), [[0, 2], [0, 2, 5]])
    pm.io.save_parameters(tmp_path / "p", program, scope)
    pm.io.load_parameters(tmp_path / "p", program, loaded)
    assert loaded.lod("v") == [[0, 2], [0, 2, 5]]


def test_paddlepaddles_inference_model():
    facts = json.loads((CONV / "case.json").read_text())
    scope, exe = pm.Scope(), pm.Executor()
    program, feeds, fetches = pm.io.load_inference_model(CONV / "x", exe, scope=scope)
    assert (feeds, [var.name for var in fetches]) == (facts["feed_names"], facts["fetch"])
    assert pm.io.parameters.parameter_names(program) == facts["param_order"]
    with np.load(CONV / "feeds.npz") as fed, np.load(CONV / "expected.npz") as expected:
        (value,) = exe.run(program, {"img": fed["0/img"]}, fetches, scope)
        np.testing.assert_allclose(value, expected["0/" + facts["fetch"][0]], rtol=2e-5, atol=4e-6)


def test_paddlepaddles_bytes_are_written_again(tmp_path):
    scope = pm.Scope()
    program = pm.io.load_program(CONV / "x", scope)
    pm.io.save_program(tmp_path / "again", program, scope)
    assert (tmp_path / "again.pdiparams").read_bytes() == (CONV / "x.pdiparams").read_bytes()
    again = pm.Program.from_bytes((tmp_path / "again.pdmodel").read_bytes())
    assert str(again) == str(program) and len(again.to_bytes()) == (CONV / "x.pdmodel").stat().st_size


def test_paddlepaddles_streams_of_one_variable():
    folder = GOLDEN / "saved_save_vars"
    with np.load(folder / "expected.npz") as expected:
        for path in sorted((folder / "vars").iterdir()):
            data = path.read_bytes()
            array, lod, used = _core.read_tensor(data)
            assert_same_bits({path.name: array}, {path.name: expected[path.name]})
            assert used == len(data) and _core.tensor_bytes(array, lod) == data


def test_every_truncation_of_a_parameter_file_is_refused(tmp_path, model):
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    program, path = pm.io.read_program(tmp_path / "m"), tmp_path / "cut"
    data = (tmp_path / "m.pdiparams").read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        refused(path, program, pm.ProgramError, "cut off|description")
    path.write_bytes(data + b"\0")
    refused(path, program, pm.ProgramError, "1 bytes after the last of 4 parameters")


def test_no_changed_byte_of_a_header_goes_unseen(tmp_path, model):
    """Every other value of every byte of the first tensor's header: rejected, or the same tensor."""
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    program, path = pm.io.read_program(tmp_path / "m"), tmp_path / "flipped"
    data = (tmp_path / "m.pdiparams").read_bytes()
    header = 4 + 8 + 4 + 4 + int.from_bytes(data[16:20], "little")
    for place in range(header):
        for value in set(range(0, 256, 5)) - {data[place]}:
            path.write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
            refused(path, program, pm.Error)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:4] + (2**63).to_bytes(8, "little") + data[12:],  # levels of sequences
        lambda data: data[:4] + (1).to_bytes(8, "little") + (2**62).to_bytes(8, "little") + data[12:],
        lambda data: data[:16] + (2**31 - 1).to_bytes(4, "little") + data[20:],  # bytes of the description
        lambda data: data[:16] + b"\xff\xff\xff\xff" + data[20:],
        lambda data: data[:16] + b"\x0b\0\0\0\x08\x05\x10" + b"\xff" * 7 + b"\x7f" + data[20:],  # a dimension of 2^56
        lambda data: b"",
        lambda data: b"\0" * 64,
        lambda data: b"PK\x03\x04" + data,
    ],
)
def test_sizes_that_a_file_claims_are_not_believed(tmp_path, model, damage):
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    (tmp_path / "m.pdiparams").write_bytes(damage((tmp_path / "m.pdiparams").read_bytes()))
    refused(tmp_path / "m.pdiparams", pm.io.read_program(tmp_path / "m"))


def test_a_file_of_another_program_is_refused(tmp_path, model):
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    other = SmallModel(dtype="float64")
    message = refused(tmp_path / "m.pdiparams", other.main, pm.ShapeError)
    assert "'fc_0.b_0' is [5] float32 in the file, the program declares [5] float64" in message
    refused(tmp_path / "m.pdiparams", model.main)
    pm.io.save_program(tmp_path / "training", model.main, model.scope)
    refused(tmp_path / "training.pdiparams", SmallModel().main)


def test_truncated_programs_are_refused(tmp_path, model):
    data = model.main.to_bytes()
    model.scope.set("mark", np.ones(1))
    before = model.everything()
    for size in [*range(0, len(data), 41), len(data) - 1]:
        (tmp_path / "m.pdmodel").write_bytes(data[:size])
        with pytest.raises(pm.ProgramError) as caught:
            pm.io.load_program(tmp_path / "m", model.scope).handle()
        assert "m.pdmodel': the bytes are not a ProgramDesc" in str(caught.value)
    with pytest.raises(pm.ProgramError):
        pm.Program.from_bytes((GOLDEN / "bad_truncated_bytes/main.pb").read_bytes())
    assert_same_bits(model.everything(), before)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m, path: pm.io.load_program(path / "nothing"), "can't open '.*nothing.pdmodel': No such file"),
        (lambda m, path: pm.io.load_parameters(path, m.main), "is not a regular file"),
        (lambda m, path: pm.io.save_inference_model(path / "m", [m.x], []), "fetch_vars is empty"),
        (lambda m, path: pm.io.save_inference_model(path / "m", ["x"], ["y"]), "give the program"),
        (lambda m, path: pm.io.save_inference_model(path / "m", [np.ones(2)], [m.logits]), "feed_vars has array"),
        (lambda m, path: pm.io.save_inference_model(path / "m", [m.x], ["y"], program=m.main), "'y'"),
        (lambda m, path: pm.io.save_inference_model(path / "m", [m.label], [m.logits], scope=m.scope), "'x'"),
        (
            lambda m, path: pm.io.save_inference_model(path / "m", [m.x, "x"], [m.logits], scope=m.scope),
            "feed_vars has 'x' twice",
        ),
        (
            lambda m, path: pm.io.save_inference_model(
                path / "m", [m.x], [m.logits], scope=m.scope, model_filename="one", params_filename="one"
            ),
            "'one' is the name of a parameter's file too",
        ),
        (lambda m, path: pm.io.save_program(path / "m", m.main, m.exe), "scope is of type Executor, it must be a Scope"),
        (lambda m, path: pm.io.save(m.main, path / "m", m.exe), "scope is of type Executor, it must be a Scope"),
        (lambda m, path: pm.io.save_parameters(path / "m", m.main, m.exe), "scope is of type Executor, it must be a Scope"),
        (lambda m, path: pm.io.save_vars(None, path / "m", m.main, scope=m.exe), "scope is of type Executor, it must be a Scope"),
        (lambda m, path: pm.io.get_state(m.main, m.exe), "scope is of type Executor, it must be a Scope"),
        (lambda m, path: pm.io.set_state(m.main, pm.io.get_state(m.main, m.scope), m.exe), "scope is of type Executor"),
        (lambda m, path: pm.io.save_inference_model(path / "m", m.x, [m.logits]), "feed_vars must be a list, not Variable"),
        (lambda m, path: pm.io.save_inference_model(path / "m", [m.x], m.logits), "fetch_vars must be a list, not Variable"),
        (
            lambda m, path: pm.io.save_inference_model(f"{path}/", [m.x], [m.logits], scope=m.scope),
            "is not how names of files begin",
        ),
        (lambda m, path: pm.io.save(m.main, f"{path}/", m.scope), "is not how names of files begin: give one such as '.*/model'"),
        (lambda m, path: pm.io.save_program(path / "m", m.loss), "of type Variable, not a Program"),
        (lambda m, path: pm.io.save_program(path / "m", m.main, pm.Scope()), "in the scope to be saved: run the startup program"),
    ],
)
def test_what_is_refused(tmp_path, model, call, words):
    with pytest.raises(pm.Error, match=words):
        call(model, tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_training_program_is_no_inference_model(tmp_path, model):
    pm.io.save_program(tmp_path / "training", model.main, model.scope)
    with pytest.raises(pm.ProgramError, match="fetches nothing: it is not an inference model; load_program reads it"):
        pm.io.load_inference_model(tmp_path / "training", scope=pm.Scope())


def test_when_writing_fails_the_old_file_is_whole(tmp_path, model):
    path = tmp_path / "p.pdiparams"
    pm.io.save_parameters(path, model.main, model.scope)
    before = path.read_bytes()
    model.step()
    with disk_of(100), pytest.raises(pm.ProgramError, match="p.pdiparams': File too large"):
        pm.io.save_parameters(path, model.main, model.scope)
    assert path.read_bytes() == before and [item.name for item in tmp_path.iterdir()] == [path.name]
    pm.io.save_parameters(path, model.main, model.scope)
    assert path.read_bytes() != before and [item.name for item in tmp_path.iterdir()] == [path.name]


def test_where_no_file_can_be_is_told(tmp_path, model):
    (tmp_path / "file").write_text("")
    for path, words in ((tmp_path / "file/p", "can't make the folder '.*file'"), (tmp_path, "not a regular file")):
        with pytest.raises(pm.ProgramError, match=words):
            pm.io.save_parameters(path, model.main, model.scope)
    with pytest.raises(pm.ProgramError, match="can't open '.*/none/p': there is no folder '.*/none'"):
        _core.write_file(str(tmp_path / "none/p"), b"")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_folders_are_made(tmp_path, model):
    pm.io.save_program(tmp_path / "a/b/m", model.main, model.scope)
    pm.io.save_inference_model(tmp_path / "c/d/m", [model.x], [model.logits], scope=model.scope)
    pm.io.save_parameters(tmp_path / "e/p", model.main, model.scope)
    pm.io.save_state(tmp_path / "f/g.pdparams", {"w": np.ones(3)})
    pm.io.save(model.main, tmp_path / "h/m", model.scope)
    assert pm.io.load_program(tmp_path / "a/b/m", pm.Scope()).to_bytes() == model.main.to_bytes()


def test_the_suffix_may_be_there(tmp_path, model):
    pm.io.save_inference_model(tmp_path / "m.pdmodel", [model.x], [model.logits], scope=model.scope)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.pdiparams", "m.pdmodel"]
    scopes = [pm.Scope(), pm.Scope()]
    program, _, _ = pm.io.load_inference_model(tmp_path / "m.pdmodel", scope=scopes[0])
    assert pm.Predictor(tmp_path / "m.pdiparams").inputs == [model.x.name]
    assert pm.io.load_program(str(tmp_path / "m.pdmodel"), scopes[1]).to_bytes() == program.to_bytes()
    assert_same_bits(everything(scopes[0]), everything(scopes[1]))


@pytest.mark.parametrize(
    "save",
    [
        lambda m, path: pm.io.save_inference_model(path / "m", [m.x], [m.logits], scope=m.scope),
        lambda m, path: pm.io.save_program(path / "m", m.main, m.scope),
        lambda m, path: pm.io.save_parameters(path / "m", m.main, m.scope),
        lambda m, path: pm.io.save_params(None, path / "m", m.main, scope=m.scope),
        lambda m, path: pm.io.save(m.main, path / "m", m.scope),
        lambda m, path: pm.onnx.export(m.main, path / "m.onnx", [m.x], [m.logits], m.scope),
    ],
)
@pytest.mark.parametrize("value", [np.ones((6, 7), "float32"), np.ones((6, 5))])
def test_a_value_that_could_not_be_loaded_is_not_saved(tmp_path, model, save, value):
    """As after another network's startup program, whose parameters have the same names."""
    model.scope.set("fc_0.w_0", value)
    with pytest.raises(pm.ShapeError, match=r"'fc_0.w_0' is \[6, .\] float.., the program declares \[6, 5\] float32"):
        save(model, tmp_path)
    assert not any(tmp_path.iterdir())
