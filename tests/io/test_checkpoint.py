"""Checkpoints: training that stops and resumes has the bits of training that did not; old ones are removed, and only ours."""

import json
import shutil

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import dtypes
from small_model import SmallModel, assert_same_bits
from thorough import some
from training_run import AVERAGED, OPTIMIZERS, SCHEMES, WRAPPERS, Run, folder_of, refused


def goes_on(tmp_path, steps=13, stop=7, **arguments):
    """Trains through, and with a stop; both end with the same bits."""
    through, first, second = Run(**arguments), Run(**arguments), Run(seed=11, **arguments)
    manager = pm.io.CheckpointManager(tmp_path)
    pm.seed(5)
    losses, expected = through.train(range(steps)), through.everything()
    pm.seed(5)
    first.train(range(stop))
    assert first.save(manager, stop, data={"batch": stop})
    first.train(range(stop, stop + 2))  # lost
    restored = second.restore(pm.io.CheckpointManager(tmp_path))
    assert (restored.step, restored.data) == (stop, {"batch": stop})
    assert second.train(range(restored.data["batch"], steps)).tobytes() == losses[stop:].tobytes()
    assert_same_bits(second.everything(), expected)


@pytest.mark.parametrize("scheme", some(SCHEMES, 3))
@pytest.mark.parametrize("optimizer", [*OPTIMIZERS, *WRAPPERS])
def test_training_goes_on_with_the_same_bits(tmp_path, optimizer, scheme):
    goes_on(tmp_path, optimizer=optimizer, scheme=scheme)


@pytest.mark.parametrize("optimizer", AVERAGED)
def test_optimizers_with_averages_of_their_own_go_on(tmp_path, optimizer):
    goes_on(tmp_path, optimizer=optimizer)


@pytest.mark.parametrize("scheme", ["Uniform", "Window", "Exponential"])
@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "Ftrl"])
def test_tables_with_sparse_gradients_go_on(tmp_path, optimizer, scheme):
    goes_on(tmp_path, optimizer=optimizer, scheme=scheme, table=True)


def test_several_averages_go_on(tmp_path):
    goes_on(tmp_path, scheme="+".join(SCHEMES))


@pytest.mark.parametrize("stop", range(1, 10))
def test_a_window_goes_on_wherever_it_was(tmp_path, stop):
    goes_on(tmp_path, stop=stop, every=2, start_step=1)


@pytest.mark.parametrize(
    "schedule",
    [
        lambda: pm.lr.ReduceOnPlateau(0.1, patience=1),
        lambda: pm.lr.CyclicLR(0.01, 0.1, 3),
        lambda: pm.lr.MultiplicativeDecay(0.1, lambda step: 0.9),
        lambda: pm.lr.CosineAnnealingWarmRestarts(0.1, 3),
    ],
    ids=["plateau", "cyclic", "multiplicative", "restarts"],
)
def test_schedules_go_on(tmp_path, schedule):
    goes_on(tmp_path, schedule=schedule)


def test_sequences_and_selected_rows_come_back(tmp_path):
    def program():
        made = pm.Program()
        made.global_block().create_var("words", shape=[-1, 2], dtype="int64", persistable=True, lod_level=1)
        made.global_block().create_var("rows", shape=[9, 2], persistable=True, kind=dtypes.SELECTED_ROWS)
        made.global_block().create_var("half", shape=[3], dtype="bfloat16", persistable=True)
        made.global_block().create_var("none", shape=[0, 2], persistable=True)
        made.global_block().create_var("feed", kind=dtypes.FEED_LIST, persistable=True)
        return made

    scope, exe, manager = pm.Scope(), pm.Executor(), pm.io.CheckpointManager(tmp_path)
    scope.set("words", np.arange(10).reshape(5, 2), [[0, 2, 5]])
    scope.set_rows("rows", [8, 0, 8], np.arange(6, dtype="float32").reshape(3, 2), 9)
    scope.set("half", np.array([1, 2, 3], "uint16"))
    scope.set("none", np.zeros((0, 2), "float32"))
    manager.save(4, program(), exe, scope)
    found = pm.Scope()
    assert manager.restore(program(), exe, found).step == 4
    assert found.lod("words") == [[0, 2, 5]] and found.names() == scope.names()
    numbers, values, height = found.get_rows("rows")
    assert numbers.tolist() == [8, 0, 8] and height == 9 and values.tolist() == [[0, 1], [2, 3], [4, 5]]
    for name in ("words", "half", "none"):
        assert_same_bits({name: found.get(name)}, {name: scope.get(name)})
    # The file of tensors is a file of parameters.
    pm.io.load_parameters(tmp_path / "checkpoint-000001-step-4/variables.pdiparams", program(), pm.Scope())

    other = program()
    other.global_block().vars.pop("rows")
    other.global_block().create_var("rows", shape=[8, 2], persistable=True, kind=dtypes.SELECTED_ROWS)
    with pytest.raises(pm.ShapeError, match=r"'rows' is selected rows of \[9, 2\] float32, the program declares .*\[8, 2\]"):
        manager.restore(other, exe, found)
    scope.set("rows", np.zeros((9, 2), "float32"))
    with pytest.raises(pm.ShapeError, match=r"'rows' is \[9, 2\] float32, the program declares selected rows of"):
        manager.save(5, program(), exe, scope)


def test_every_variable_that_a_program_keeps_is_in_it(tmp_path, run):
    run.save(pm.io.CheckpointManager(tmp_path), 2)
    manifest = json.loads((tmp_path / "checkpoint-000001-step-2/manifest.json").read_text())["checkpoint"]
    assert set(manifest["tensors"]) == set(run.scope.names()) == set(pm.io.parameters.parameter_names(run.main))
    assert manifest["made_by"]["paddle_mini"] == pm.__version__ and manifest["step"] == 2


def test_when_a_save_is_due(tmp_path, run, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    manager = pm.io.CheckpointManager(tmp_path / "steps", every_steps=10)
    assert [step for step in (0, 4, 9, 10, 11, 19, 25, 29, 30, 47) if run.save(manager, step)] == [10, 25, 30, 47]
    assert run.save(manager, 48) is None and run.save(manager, 48, force=True)
    manager = pm.io.CheckpointManager(tmp_path / "steps", every_steps=10)
    run.restore(manager)
    assert run.save(manager, 49) is None and run.save(manager, 50)
    timed = pm.io.CheckpointManager(tmp_path / "time", every_seconds=60)
    times = []
    for now[0] in (110.0, 159.0, 160.0, 219.0, 221.0):
        times += [now[0]] if run.save(timed, int(now[0])) else []
    assert times == [160.0, 221.0]
    both = pm.io.CheckpointManager(tmp_path / "both", every_steps=10, every_seconds=60)
    assert run.save(both, 5) is None and run.save(both, 10)
    now[0] += 61
    assert run.save(both, 11)
    always = pm.io.CheckpointManager(tmp_path / "always")
    assert all(run.save(always, step) for step in (0, 1, 1, 2))
    assert always.steps() == [1, 2] and always.latest() == 2


def test_old_checkpoints_go_and_only_ours(tmp_path, run):
    manager = pm.io.CheckpointManager(tmp_path / "a", keep=2)
    other = pm.io.CheckpointManager(tmp_path / "b", keep=2)
    run.save(other, 77)
    run.save(manager, 1)
    (tmp_path / "a/checkpoint-000001-step-1/notes.txt").write_text("the good one")
    shutil.copytree(tmp_path / "b/checkpoint-000001-step-77", tmp_path / "a/checkpoint-000001-step-77")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    for name in ("checkpoint-000002-step-9", ".checkpoint-" + "0" * 32 + "-" + "0" * 16):
        (tmp_path / "a" / name).symlink_to(outside)
    (tmp_path / "a/checkpoint-000003-step-3").mkdir()  # empty
    (tmp_path / "a/checkpoint-000004-step-4").write_text("a file")
    owner = (tmp_path / "a/.checkpoints").read_text()
    (tmp_path / f"a/.checkpoint-{owner}-{'1' * 16}").symlink_to(outside)
    mine = tmp_path / f"a/.checkpoint-{owner}-{'2' * 16}"
    mine.mkdir()
    (mine / "not ours").write_text("y")
    theirs = tmp_path / f"a/.checkpoint-{'0' * 32}-{'3' * 16}"  # a save of another folder, copied into this sequence
    theirs.mkdir()
    (theirs / "manifest.json").write_text("{")
    (tmp_path / "a/checkpoint-best").mkdir()
    before = {path.name for path in (tmp_path / "a").iterdir()}
    for step in range(11, 18):
        run.save(manager, step)
    shutil.copytree(tmp_path / "a/checkpoint-000010-step-16", tmp_path / "a/checkpoint-000050-step-16")
    for step in (18, 19):
        run.save(manager, step)
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert names - before == {"checkpoint-000050-step-16", "checkpoint-000051-step-18", "checkpoint-000052-step-19"}
    assert before <= names and (mine / "not ours").read_text() == "y" and (outside / "file").read_text() == "x"
    assert manager.steps() == [1, 3, 16, 18, 19, 77] and manager.latest() == 19
    for step in (1, 16, 18, 19, 77):
        assert run.restore(manager, step=step).step == step


def test_a_copied_checkpoint_loads(tmp_path, saved, run):
    shutil.copytree(folder_of(saved, 1), tmp_path / "copy" / folder_of(saved, 1).name)
    run.restore(saved, step=1)
    expected = run.everything()
    run.train(range(3))
    assert run.restore(pm.io.CheckpointManager(tmp_path / "copy")).data == [1]
    assert_same_bits(run.everything(), expected)


def test_going_back_makes_the_next_save_the_newest(saved, run):
    assert run.restore(saved, step=1).step == 1
    run.save(saved, 1)
    assert saved.steps() == [1, 2] and saved.latest() == 1
    assert run.restore(saved).path.endswith("checkpoint-000003-step-1")


def test_without_a_schedule_or_an_average(tmp_path):
    model, manager = SmallModel(pm.optimizer.Adam(0.05).minimize), pm.io.CheckpointManager(tmp_path)
    model.step(0)
    expected = model.everything()
    with pm.scope_guard(model.scope):  # the scope of calls that do not name one
        manager.save(1, model.main, model.exe)
        model.step(1)
        manager.restore(model.main, model.exe)
    assert_same_bits(model.everything(), expected)


def test_without_checkpoints(tmp_path, run):
    manager = pm.io.CheckpointManager(tmp_path / "nothing")
    assert manager.steps() == [] and manager.latest() is None
    refused(run, manager, "there is no checkpoint in '.*nothing'$")
    assert not (tmp_path / "nothing").exists()
    run.save(manager, 3)
    refused(run, manager, "there is no checkpoint of step 4", step=4)


def test_what_a_dead_save_left_goes_with_the_next(tmp_path, run):
    manager = pm.io.CheckpointManager(tmp_path, keep=10)
    run.save(manager, 1)
    left = tmp_path / f".checkpoint-{(tmp_path / '.checkpoints').read_text()}-{'a' * 16}"
    left.mkdir()
    (left / "variables.pdiparams").write_text("half of it")
    run.save(manager, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".checkpoints",
        "checkpoint-000001-step-1",
        "checkpoint-000002-step-2",
    ]


def test_a_step_that_is_no_integer_is_refused(tmp_path):
    model = SmallModel()
    with pm.io.CheckpointManager(tmp_path) as manager:
        manager.save(7, model.main, model.exe, model.scope)
        for step in ("7", 7.0, True):
            with pytest.raises(pm.ProgramError, match="step is .*7|True.*, it must be an integer"):
                manager.restore(model.main, model.exe, model.scope, step=step)
        assert manager.restore(model.main, model.exe, model.scope, step=np.int64(7)).step == 7
