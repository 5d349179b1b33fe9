"""Folders of variables and models as written by PaddlePaddle 1.x: one stream per file, or all in one file."""

import pathlib
import sys

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core
from paddle_mini.io import values
from small_model import SmallModel, assert_same_bits, batch

GOLDEN = pathlib.Path(__file__).parents[1] / "golden/cases/saved_save_vars"
KINDS = {"params": (pm.io.save_params, pm.io.load_params), "persistables": (pm.io.save_persistables, pm.io.load_persistables)}


@pytest.fixture
def model():
    return SmallModel(pm.optimizer.Adam(0.05).minimize)


def everything(scope):
    return {name: scope.get(name) for name in sorted(scope.names())}


def marked(model):
    """A scope whose values show whether they were changed."""
    scope = pm.Scope()
    for name, value in model.everything().items():
        scope.set(name, np.full_like(value, 7))
    return scope


def refused(call, scope, words, error=pm.ProgramError):
    before = everything(scope)
    with pytest.raises(error, match=words) as caught:
        call()
    assert_same_bits(everything(scope), before)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("filename", [None, "all"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_comes_back(tmp_path, model, kind, filename):
    save, load = KINDS[kind]
    names = model.parameters if kind == "params" else sorted(model.everything())
    save(model.exe, tmp_path / "new/folder", model.main, filename, model.scope)
    files = sorted(path.name for path in (tmp_path / "new/folder").iterdir())
    assert files == (sorted(names) if filename is None else ["all"])
    scope = pm.Scope()
    load(None, tmp_path / "new/folder", model.main, filename, scope)
    assert_same_bits(everything(scope), model.values(sorted(names)))


def test_a_combined_file_is_the_streams_in_the_order_of_their_names(tmp_path, model):
    names = ["fc_1.w_0", "fc_0.b_0", "fc_0.w_0"]
    pm.io.save_vars(None, tmp_path, model.main, names, filename="all", scope=model.scope)
    streams = [_core.tensor_bytes(model.scope.get(name), []) for name in sorted(names)]
    assert (tmp_path / "all").read_bytes() == b"".join(streams)
    pm.io.save_vars(None, tmp_path, model.main, names, scope=model.scope)
    assert [(tmp_path / name).read_bytes() for name in sorted(names)] == streams


def test_variables_and_predicates_choose(tmp_path, model):
    block = model.main.global_block()
    pm.io.save_vars(None, tmp_path / "a", model.main, [block.var("fc_0.w_0"), "fc_0.b_0"], scope=model.scope)
    pm.io.save_vars(None, tmp_path / "b", model.main, predicate=lambda var: "moment1" in var.name, scope=model.scope)
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["fc_0.b_0", "fc_0.w_0"]
    assert len(list((tmp_path / "b").iterdir())) == len(model.parameters)
    scope = marked(model)
    pm.io.load_vars(None, tmp_path / "a", model.main, ["fc_0.b_0"], scope=scope)
    assert scope.get("fc_0.b_0").tobytes() == model.scope.get("fc_0.b_0").tobytes() and (scope.get("fc_0.w_0") == 7).all()


def test_paddlepaddles_folder_is_read_and_written_again(tmp_path):
    program, scope = pm.Program(), pm.Scope()
    with np.load(GOLDEN / "expected.npz") as expected:
        for path in (GOLDEN / "vars").iterdir():
            value = expected[path.name]
            program.global_block().create_var(path.name, shape=value.shape, dtype=value.dtype, persistable=True)
        pm.io.load_persistables(None, GOLDEN / "vars", program, scope=scope)
        assert_same_bits(everything(scope), {name: expected[name] for name in sorted(scope.names())})
    assert len(scope.names()) == 9
    pm.io.save_persistables(None, tmp_path, program, scope=scope)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in (GOLDEN / "vars").iterdir()
    }


def test_sequence_offsets_are_kept(tmp_path):
    program, scope, loaded = pm.Program(), pm.Scope(), pm.Scope()
    program.global_block().create_var("v", shape=[5], dtype="float32", persistable=True)
    scope.set("v", np.arange(5, dtype="float32"), [[0, 2], [0, 2, 5]])
    pm.io.save_persistables(None, tmp_path, program, scope=scope)
    pm.io.load_persistables(None, tmp_path, program, scope=loaded)
    assert loaded.lod("v") == [[0, 2], [0, 2, 5]]


def test_sequences_of_saved_parameters_fit_their_rows(tmp_path):
    program, scope = pm.Program(), pm.Scope()
    program.global_block().create_var("v", shape=[3, 8], dtype="float32", persistable=True)
    path = tmp_path / "v.pdiparams"
    path.write_bytes(_core.tensor_bytes(np.ones((3, 8), "float32"), [[0, 200_000]]))
    load = lambda: _core.load_parameters(scope, str(path), program.to_bytes(), ["v"], None)
    refused(load, scope, "'v': level 0 of lod must rise from 0 to 3", pm.ShapeError)


def test_names_with_folders_stay_inside(tmp_path):
    program, scope = pm.Program(), pm.Scope()
    program.global_block().create_var("save/scale", shape=[1], dtype="float32", persistable=True)
    scope.set("save/scale", np.ones(1, "float32"))
    pm.io.save_persistables(None, tmp_path, program, scope=scope)
    assert (tmp_path / "save" / "scale").is_file()
    pm.io.load_persistables(None, tmp_path, program, scope=scope)
    for name in ("../up", "/root", "a//b", "a/../../b", "."):
        program, scope = pm.Program(), pm.Scope()
        program.global_block().create_var(name, shape=[1], dtype="float32", persistable=True)
        scope.set(name, np.ones(1, "float32"))
        for call in (pm.io.save_persistables, pm.io.load_persistables):
            refused(lambda call=call: call(None, tmp_path / "in", program, scope=scope), scope, "is not a valid file name")
        pm.io.save_persistables(None, tmp_path / "one", program, "all", scope=scope)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "save"]


def test_damage_of_one_file_changes_nothing(tmp_path, model):
    pm.io.save_persistables(None, tmp_path, model.main, scope=model.scope)
    scope, load = marked(model), lambda: pm.io.load_persistables(None, tmp_path, model.main, scope=scope)
    path = tmp_path / "fc_1.w_0"
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        refused(load, scope, "fc_1.w_0': .*(cut off|description)")
    path.write_bytes(data + b"\0\0")
    refused(load, scope, "fc_1.w_0': 2 bytes follow the tensor")
    path.write_bytes((tmp_path / "fc_0.w_0").read_bytes())
    refused(load, scope, r"'fc_1.w_0' is \[6, 5\] float32, the program declares \[5, 3\] float32", pm.ShapeError)
    path.write_bytes(_core.tensor_bytes(np.zeros((5, 3)), []))
    refused(load, scope, r"'fc_1.w_0' is \[5, 3\] float64", pm.ShapeError)
    path.write_bytes(_core.tensor_bytes(np.zeros((5, 3), "float32"), [[0, 2, 4]]))
    refused(load, scope, "'fc_1.w_0': level 0 of lod must rise", pm.ShapeError)
    path.unlink()
    refused(load, scope, "can't open '.*fc_1.w_0'")
    path.mkdir()
    refused(load, scope, "not a regular file")


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m, path: pm.io.save_persistables(None, path, m.main, scope=pm.Scope()), "has no value in the scope"),
        (lambda m, path: pm.io.save_vars(None, path, m.main, ["fc_0.w"], scope=m.scope), "no variable 'fc_0.w'"),
        (lambda m, path: pm.io.save_vars(None, path, m.main, "fc_0.w_0", scope=m.scope), "vars must be a list"),
        (lambda m, path: pm.io.save_params(None, path, m.loss, scope=m.scope), "belongs to a Program"),
        (lambda m, path: pm.io.load_vars(None, path, m.main, ["x"], filename="f", scope=m.scope), "can't open"),
    ],
)
def test_what_is_refused(tmp_path, model, call, words):
    refused(lambda: call(model, tmp_path), model.scope, words, pm.Error)
    assert not any(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(tmp_path, model):
    (tmp_path / "file").write_text("")
    with pytest.raises(pm.ProgramError, match="can't make the folder '.*file'"):
        pm.io.save_params(None, tmp_path / "file", model.main, scope=model.scope)


@pytest.mark.parametrize(
    "names, files",
    [
        ({"model_filename": "__model__"}, ["__model__", "fc_0.b_0", "fc_0.w_0", "fc_1.b_0", "fc_1.w_0"]),
        ({"params_filename": "weights"}, ["__model__", "weights"]),
        ({"model_filename": "net", "params_filename": "weights"}, ["net", "weights"]),
    ],
)
def test_a_model_in_a_folder(tmp_path, model, names, files):
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope, **names)
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == files
    scope, x = pm.Scope(), batch(0)["x"]
    program, feeds, fetches = pm.io.load_inference_model(tmp_path / "m", scope=scope, **names)
    assert (feeds, [var.name for var in fetches]) == (["x"], [model.logits.name])
    (expected,) = model.exe.run(
        model.main.clone(for_test=True).prune(["x"], [model.logits]), {"x": x}, [model.logits], model.scope
    )
    assert model.exe.run(program, {"x": x}, fetches, scope)[0].tobytes() == expected.tobytes()
    if names == {"model_filename": "__model__"}:
        assert pm.io.load_inference_model(tmp_path / "m", scope=pm.Scope())[0].to_bytes() == program.to_bytes()


def test_a_parameter_named_as_the_program_is_refused(tmp_path, model):
    with pytest.raises(pm.ProgramError, match="'fc_0.w_0' is the name of a parameter's file too"):
        pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope, model_filename="fc_0.w_0")
    assert not any(tmp_path.iterdir())


def test_a_model_without_parameters_in_a_folder(tmp_path):
    x = pm.layers.data("x", [-1, 2])
    for names in ({"model_filename": "__model__"}, {"params_filename": "weights"}):
        pm.io.save_inference_model(tmp_path / "m", [x], [pm.layers.scale(x, scale=2.0)], **names)
        program, _, fetches = pm.io.load_inference_model(tmp_path / "m", **names)
        np.testing.assert_array_equal(pm.Executor().run(program, {"x": np.ones((1, 2), "float32")}, fetches)[0], [[2, 2]])
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["__model__"]


def interrupted(call, function, at):
    """Whether this line, counted as they are run, of the function was reached, and KeyboardInterrupt raised there."""
    seen = 0

    def at_line(frame, event, _):
        nonlocal seen
        seen += event == "line"
        if seen == at:
            raise KeyboardInterrupt
        return at_line

    sys.settrace(lambda frame, *_: at_line if frame.f_code is function.__code__ else None)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_an_interrupt_leaves_all_values_or_none():
    model = SmallModel(pm.optimizer.Adam(0.05).minimize)
    before = model.everything()
    model.step()
    trained, names = model.everything(), sorted(before)
    at = 1
    while interrupted(lambda: pm.io.set_state(model.main, before, model.scope), values.set_values, at):
        found = model.everything()
        states = [trained, before]
        assert any(all(np.array_equal(found[name], state[name]) for name in names) for state in states), at
        pm.io.set_state(model.main, trained, model.scope)
        at += 1
    assert at > 3 * len(names)
    assert_same_bits(model.everything(), before)
