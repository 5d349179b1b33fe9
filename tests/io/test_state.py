"""States: a program's variables as a dict, into .pdparams, .pdopt and .pdmodel files and back."""

import pickle

import numpy as np
import pytest

import paddle_mini as pm
from disks import disk_of
from small_model import SmallModel, assert_same_bits, batch


@pytest.fixture
def model():
    return SmallModel(pm.optimizer.Adam(0.05).minimize)


def filled(program, value=7):
    """A scope in which every variable has one value, so that changes are visible."""
    scope = pm.Scope()
    for name in pm.io.parameters.parameter_names(program):
        var = program.global_block().var(name)
        scope.set(name, np.full(var.shape, value, var.dtype))
    return scope


def refused(call, scope, words, error=pm.ProgramError):
    before = {name: scope.get(name) for name in scope.names()}
    with pytest.raises(error, match=words) as caught:
        call()
    assert_same_bits({name: scope.get(name) for name in scope.names()}, before)
    assert len(str(caught.value)) < 1000


def test_a_state_is_all_persistable_variables(model):
    state = pm.io.get_state(model.main, model.scope)
    assert_same_bits(state, model.everything())
    scope = filled(model.main)
    assert pm.io.set_state(model.main, state, scope) == ([], [])
    assert_same_bits({name: scope.get(name) for name in scope.names()}, state)
    state["fc_0.w_0"][:] = 0  # a copy
    assert model.scope.get("fc_0.w_0").any()


def test_missing_and_unexpected_names_are_listed(model):
    state, scope = pm.io.get_state(model.main, model.scope), filled(model.main)
    lacking = {name: array for name, array in state.items() if name != "fc_0.w_0"}
    both = {**lacking, "other": np.zeros(1)}
    refused(lambda: pm.io.set_state(model.main, lacking, scope), scope, "1 without a value: 'fc_0.w_0'$")
    refused(lambda: pm.io.set_state(model.main, both, scope), scope, "'fc_0.w_0'; 1 not in the program: 'other'")
    refused(lambda: pm.io.set_state(model.main, {}, scope), scope, f"{len(state)} without a value: .*, …$")
    assert pm.io.set_state(model.main, both, scope, strict=False) == (["fc_0.w_0"], ["other"])
    assert (scope.get("fc_0.w_0") == 7).all() and "other" not in scope
    assert_same_bits({name: scope.get(name) for name in lacking}, lacking)


@pytest.mark.parametrize(
    "value, error",
    [
        (np.zeros((6, 4), "float32"), pm.ShapeError),
        (np.zeros(30, "float32"), pm.ShapeError),
        (np.zeros((5, 6), "float32"), pm.ShapeError),
        (np.zeros((6, 5), "float64"), pm.ShapeError),
        (np.zeros((6, 5), "int32"), pm.ShapeError),
        (np.zeros((6, 5), ">f4"), pm.ShapeError),
        (np.zeros((6, 5), object), pm.ShapeError),
        ([[0.0] * 5] * 6, pm.ProgramError),
        (None, pm.ProgramError),
    ],
    ids=str,
)
@pytest.mark.parametrize("strict", [True, False])
def test_what_does_not_fit_changes_nothing(model, value, error, strict):
    state, scope = pm.io.get_state(model.main, model.scope), filled(model.main)
    state["fc_0.w_0"] = value
    refused(lambda: pm.io.set_state(model.main, state, scope, strict), scope, "'fc_0.w_0'", error)


def test_sequence_offsets_are_not_dropped(model):
    model.scope.set("fc_0.b_0", np.zeros(5, "float32"), [[0, 2, 5]])
    with pytest.raises(pm.OpError, match="'fc_0.b_0' has sequence offsets.*save_vars"):
        pm.io.get_state(model.main, model.scope)


def test_a_program_is_saved_and_goes_on(tmp_path, model):
    for number in range(3):
        model.step(number)
    pm.io.save(model.main, tmp_path / "half", model.scope)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["half.pdmodel", "half.pdopt", "half.pdparams"]
    parameters, others = (pickle.loads((tmp_path / f"half.{suffix}").read_bytes()) for suffix in ("pdparams", "pdopt"))
    assert_same_bits(parameters, model.values())
    assert_same_bits({**parameters, **others}, model.everything())
    for spelling in ("half", "half.pdparams", "half.pdopt", "half.pdmodel"):
        scope = filled(model.main)
        assert pm.io.load(pm.io.read_program(tmp_path / "half"), tmp_path / spelling, scope) == ([], [])
        assert_same_bits({name: scope.get(name) for name in scope.names()}, model.everything())
    for number in range(3, 5):
        (loss,) = model.exe.run(model.main, batch(number), [model.loss.name], scope)
        assert loss.tobytes() == model.step(number).tobytes()


def test_a_program_without_optimizer_needs_no_pdopt(tmp_path):
    model = SmallModel()
    pm.io.save(model.main, tmp_path / "m", model.scope)
    assert pickle.loads((tmp_path / "m.pdopt").read_bytes()) == {}
    (tmp_path / "m.pdopt").unlink()
    scope = filled(model.main)
    pm.io.load(model.main, tmp_path / "m", scope)
    assert_same_bits({name: scope.get(name) for name in scope.names()}, model.values())


def test_a_missing_pdopt(tmp_path, model):
    pm.io.save(model.main, tmp_path / "m", model.scope)
    (tmp_path / "m.pdopt").unlink()
    scope = filled(model.main)
    refused(lambda: pm.io.load(model.main, tmp_path / "m", scope), scope, "can't open '.*m.pdopt'")
    missing, unexpected = pm.io.load(model.main, tmp_path / "m", scope, strict=False)
    assert sorted(missing + model.parameters) == sorted(model.everything()) and unexpected == []
    assert_same_bits({name: scope.get(name) for name in model.parameters}, model.values())


def test_a_pdopt_that_can_not_be_written_leaves_the_pdparams(tmp_path, model):
    pm.io.save(model.main, tmp_path / "m", model.scope)
    before = (tmp_path / "m.pdparams").read_bytes()
    (tmp_path / "m.pdopt").unlink()
    (tmp_path / "m.pdopt").mkdir()
    model.step()
    with pytest.raises(pm.ProgramError, match="m.pdopt"):
        pm.io.save(model.main, tmp_path / "m", model.scope)
    assert (tmp_path / "m.pdparams").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.pdmodel", "m.pdopt", "m.pdparams"]


def test_a_value_of_the_pdopt_that_does_not_fit(tmp_path, model):
    pm.io.save(model.main, tmp_path / "m", model.scope)
    state, scope = pm.io.load_state(tmp_path / "m.pdopt"), filled(model.main)
    name = next(name for name in state if "moment1" in name)
    pm.io.save_state(tmp_path / "m.pdopt", {**state, name: state[name][:1]})
    refused(lambda: pm.io.load(model.main, tmp_path / "m", scope), scope, f"/m': '{name}' is", pm.ShapeError)


def test_one_name_in_both_files(tmp_path, model):
    pm.io.save(model.main, tmp_path / "m", model.scope)
    (tmp_path / "m.pdopt").write_bytes((tmp_path / "m.pdparams").read_bytes())
    scope = filled(model.main)
    refused(lambda: pm.io.load(model.main, tmp_path / "m", scope), scope, "m.pdopt': 'fc_0.b_0' is in the .pdparams file too")


def test_names_by_structure(tmp_path):
    """PaddlePaddle's layers write arrays by structure and a table of the variables' names."""
    model = SmallModel()
    names = dict(zip(["0.weight", "0.bias", "2.weight", "2.bias"], ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"]))
    arrays = {short: model.scope.get(name) for short, name in names.items()}
    path = tmp_path / "layers.pdparams"
    path.write_bytes(pickle.dumps({**arrays, "StructuredToParameterName@@": names}, 4))
    assert_same_bits(pm.io.load_state(path), arrays)
    assert_same_bits(pm.io.load_state(path, variable_names=True), model.values())
    scope = filled(model.main)
    pm.io.load(model.main, path, scope)
    assert_same_bits({name: scope.get(name) for name in scope.names()}, model.values())
    for table in ({"0.weight": "same", "0.bias": "same"}, {"0.weight": 3}, 5):
        path.write_bytes(pickle.dumps({**arrays, "StructuredToParameterName@@": table}, 4))
        refused(lambda: pm.io.load(model.main, path, scope), scope, "table")


def test_slices_of_large_arrays_are_joined(tmp_path):
    table = {"w": {"OriginShape": (2, 3), "slices": ["w@@.0", "w@@.1"]}}
    parts = {"w@@.0": np.arange(4.0), "w@@.1": np.arange(4.0, 6.0)}
    path = tmp_path / "large.pdparams"
    path.write_bytes(pickle.dumps({**parts, "UnpackBigParamInfor@@": table}, 2))
    assert_same_bits(pm.io.load_state(path), {"w": np.arange(6.0).reshape(2, 3)})
    for broken in ({"w": {"OriginShape": (2, 4), "slices": ["w@@.0"]}}, {"w": {"slices": ["no"]}}, {"w": 3}, []):
        path.write_bytes(pickle.dumps({**parts, "UnpackBigParamInfor@@": broken}, 2))
        with pytest.raises(pm.ProgramError, match="large.pdparams': its list of sliced arrays is wrong"):
            pm.io.load_state(path)


@pytest.mark.parametrize("suffix", ["pdparams", "safetensors"])
def test_a_dict_of_arrays_on_its_own(tmp_path, suffix):
    random = np.random.RandomState(0)
    state = {
        dtype: random.randint(0, 2, (3, 2)).astype(dtype)
        for dtype in ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "uint16", "complex64"]
    }
    if suffix == "pdparams":  # the other format has no complex128
        state["complex128"] = random.randn(2, 3) + 1j * random.randn(2, 3)
    state.update({"0-d": np.array(2.0), "empty": np.zeros((0, 3), "int32"), "strided": np.arange(12.0).reshape(3, 4)[:, ::2]})
    path = tmp_path / f"s.{suffix}"
    pm.io.save_state(path, state)
    assert_same_bits(pm.io.load_state(path), {name: np.asarray(value, order="C") for name, value in state.items()})
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", ["pdparams", "safetensors"])
@pytest.mark.parametrize(
    "state",
    [
        {"w": np.array([None])},
        {"w": np.array(["text"])},
        {"w": np.zeros(1, "datetime64[s]")},
        {3: np.zeros(1)},
        {"w": np.zeros(2, [("a", "f4")])},
    ],
    ids=str,
)
def test_what_is_not_saved_leaves_the_old_file(tmp_path, suffix, state):
    path = tmp_path / f"s.{suffix}"
    pm.io.save_state(path, {"w": np.ones(3)})
    before = path.read_bytes()
    with pytest.raises(pm.ProgramError, match="a state holds arrays by name"):
        pm.io.save_state(path, {"good": np.zeros(2), **state})
    with pytest.raises(pm.ProgramError, match="'w' has 33 dimensions, an array in a file has at most 32"):
        pm.io.save_state(path, {"w": np.zeros((1,) * 33)})
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", ["pdparams", "safetensors"])
def test_when_writing_fails_the_old_file_is_whole(tmp_path, suffix):
    path = tmp_path / f"s.{suffix}"
    pm.io.save_state(path, {"w": np.ones(3)})
    before = path.read_bytes()
    with disk_of(10), pytest.raises(pm.ProgramError, match="can't write"):
        pm.io.save_state(path, {"w": np.zeros(3)})
    assert path.read_bytes() == before


def test_a_refusal_names_the_file(tmp_path):
    (tmp_path / "s.pdparams").write_bytes(pickle.dumps({"w": eval}))
    with pytest.raises(pm.ProgramError, match=r"s.pdparams': it names 'builtins.eval'"):
        pm.io.load_state(tmp_path / "s.pdparams")
    with pytest.raises(pm.ProgramError, match="can't open"):
        pm.io.load_state(tmp_path / "nothing.pdparams")


def test_one_element_may_have_another_shape():
    """As the state of PaddlePaddle's ctr_metric_bundle: [1], declared as [1, 1]."""
    program, scope = pm.Program(), pm.Scope()
    program.global_block().create_var("sum", shape=[1, 1], persistable=True)
    pm.io.set_state(program, {"sum": np.ones(1, "float32")}, scope)
    assert scope.get("sum").shape == (1,)
    with pytest.raises(pm.ShapeError, match=r"'sum' is \[1, 2\] float32, the program declares \[1, 1\] float32"):
        pm.io.set_state(program, {"sum": np.ones((1, 2), "float32")}, scope)


def test_keys_that_are_no_names_are_refused():
    model = SmallModel()
    state = pm.io.get_state(model.main, model.scope)
    with pytest.raises(pm.ProgramError, match="state has the key 3; its keys must be names of variables"):
        pm.io.set_state(model.main, {**state, 3: np.ones(2)}, model.scope)


def test_a_list_is_no_state(tmp_path):
    with pytest.raises(pm.ProgramError, match="state is of type list, it must be a dict of arrays by name"):
        pm.io.save_state(tmp_path / "z.pdparams", [1])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "use",
    [
        lambda: pm.io.save_state(3, {}),
        lambda: pm.io.load_state(3),
        lambda: pm.io.save(pm.Program(), 3),
        lambda: pm.io.save_program(3, pm.Program()),
        lambda: pm.io.load_program(3),
        lambda: pm.io.save_parameters(3, pm.Program()),
        lambda: pm.io.load_parameters(3, pm.Program()),
        lambda: pm.io.save_persistables(None, 3, pm.Program()),
        lambda: pm.io.load_persistables(None, 3, pm.Program()),
        lambda: pm.Predictor(3),
    ],
)
def test_a_number_is_no_path(use):
    with pytest.raises(pm.ProgramError, match="3 is not a path, which is a str or a pathlib.Path"):
        use()
