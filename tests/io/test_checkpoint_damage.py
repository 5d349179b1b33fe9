"""Checkpoints: damaged, falsified or mismatching ones are detected before anything changes."""

import hashlib
import inspect
import shutil
import warnings

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import dtypes
from paddle_mini.io import checkpoint_files
from thorough import some
from training_run import Run, folder_of, refused


def test_the_newest_good_one_is_taken(saved, run):
    (folder_of(saved, 2) / "random.txt").write_text("123")
    with pytest.warns(UserWarning, match="step-2/random.txt': it has 3 bytes, [0-9]+ were written; '.*step-1' is taken") as told:
        assert run.restore(saved).step == 1
    assert told[0].filename == inspect.getfile(Run)  # the line that called restore
    (folder_of(saved, 1) / "manifest.json").unlink()
    message = refused(run, saved, "no checkpoint in '.*' is whole: .*random.txt.*manifest.json")
    assert "No such file" in message
    refused(run, saved, "no checkpoint of step 2 in .* is whole", step=2)
    assert saved.steps() == [1, 2] and saved.latest() == 2  # so that training does not restart from scratch unnoticed


@pytest.mark.parametrize("name", ["manifest.json", "random.txt", "variables.pdiparams", "rows.pdiparams"])
def test_every_cut_and_every_flipped_bit_is_found(tmp_path, name):
    program = pm.Program()
    program.global_block().create_var("w", shape=[40], persistable=True)
    program.global_block().create_var("rows", shape=[9, 2], persistable=True, kind=dtypes.SELECTED_ROWS)
    scope, exe, manager = pm.Scope(), pm.Executor(), pm.io.CheckpointManager(tmp_path)
    scope.set("w", np.linspace(0, 1, 40, dtype="float32"))
    scope.set_rows("rows", [8, 0], np.ones((2, 2), "float32"), 9)
    manager.save(2, program, exe, scope)
    (path,) = tmp_path.glob(f"*/{name}")
    data = path.read_bytes()
    flips = [(place, bit) for place in range(len(data)) for bit in range(8) if len(data) < 4096 or bit == place % 8]
    damages = [data[:size] for size in range(len(data))] + [data + b"\0", data + data, b"\0" * len(data)]
    damages += [data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :] for place, bit in flips]
    found = pm.Scope()
    for damage in some(damages, 5):
        path.unlink()  # removed first: some file systems wait until a truncated and rewritten file is on disk
        path.write_bytes(damage)
        with pytest.raises(pm.ProgramError) as caught:
            manager.restore(program, exe, found)
        assert name in str(caught.value) and len(str(caught.value)) < 1000
    assert found.names() == []
    path.write_bytes(data)
    assert manager.restore(program, exe, found).step == 2


@pytest.mark.parametrize(
    "change",
    [lambda path: path.unlink(), lambda path: (path.unlink(), path.mkdir()), lambda path: path.write_bytes(b"")],
    ids=["missing", "directory", "empty"],
)
@pytest.mark.parametrize("name", ["manifest.json", "random.txt", "variables.pdiparams"])
def test_files_that_are_none(saved, run, name, change):
    change(folder_of(saved, 2) / name)
    refused(run, saved, name, step=2)


def test_files_of_two_checkpoints_are_not_mixed(saved, run):
    for name in ("random.txt", "variables.pdiparams"):
        original = (folder_of(saved, 2) / name).read_bytes()
        (folder_of(saved, 2) / name).write_bytes((folder_of(saved, 1) / name).read_bytes())
        refused(run, saved, name, step=2)
        (folder_of(saved, 2) / name).write_bytes(original)
    shutil.copy(folder_of(saved, 1) / "manifest.json", folder_of(saved, 2) / "manifest.json")
    refused(run, saved, "step-2", step=2)
    folder_of(saved, 2).rename(folder_of(saved, 1).with_name("checkpoint-000002-step-5"))
    refused(run, saved, "step-5", step=5)


def spelled(path, change):
    """A changed manifest with a correct checksum, which only an author of manifests can make."""
    facts = checkpoint_files.read_manifest(path)
    change(facts)
    (path / "manifest.json").write_bytes(checkpoint_files._spelled(facts))


def test_checkpoints_of_format_1_had_sha256(saved, run):
    folder = folder_of(saved, 2)

    def as_before(facts):
        facts["format"] = 1
        for name, about in facts["files"].items():
            del about["crc32c"]
            about["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()

    spelled(folder, as_before)
    assert run.restore(saved).step == 2
    spelled(folder, lambda facts: facts["files"]["random.txt"].update(sha256="0" * 64))
    refused(run, saved, "random.txt': it is damaged", step=2)


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.update(format=3),
        lambda facts: facts.pop("tensors"),
        lambda facts: facts.update(tensors=3),
        lambda facts: facts["tensors"].update(more=10**18),
        lambda facts: facts["tensors"].update(more=-1),
        lambda facts: facts["tensors"].popitem(),
        lambda facts: facts["tensors"].update({name: "8" for name in facts["tensors"]}),
        lambda facts: facts.update(rows={"x": {"bytes": [1, 1], "height": 3}}),
        lambda facts: facts.update(schedules=[]),
        lambda facts: facts["files"].pop("random.txt"),
        lambda facts: facts.pop("data"),
        lambda facts: facts.update(step="2"),
        lambda facts: facts["files"]["variables.pdiparams"].update(bytes=0),
    ],
    ids=range(13),
)
def test_manifests_that_lie(saved, run, change):
    spelled(folder_of(saved, 2), change)
    refused(run, saved, "step-2", step=2)


def test_a_manifest_is_no_way_to_exhaust_memory(saved, run):
    for text in (b"[" * 100000, b'{"checkpoint": ' + b"9" * 100000 + b"}", b'{"checkpoint": {}, "checkpoint": {}}', b"\xff\xfe"):
        (folder_of(saved, 2) / "manifest.json").write_bytes(text)
        refused(run, saved, "manifest.json': the manifest is cut off or damaged", step=2)


def test_another_program_is_refused_and_a_changed_one_told(saved, run):
    def trained(**arguments):
        made = Run(**arguments)
        made.train([0])
        return made

    refused(trained(size=6), saved, r"step-2': 'fc_0.b_0\w*' is \[5\] float32, the program declares \[6\]", pm.ShapeError)
    refused(trained(optimizer="SGD"), saved, r"step-2': values and variables differ: [0-9]+ not in the program: 'fc_0.b_0_beta1")
    refused(
        trained(schedule=lambda: pm.lr.StepDecay(0.1, 2)), saved, "schedules are .*StepDecay.*, the checkpoint's .*LinearWarmup"
    )
    changed = Run(optimizer="Adam", start_step=3)
    with pytest.warns(UserWarning, match="the program has changed since '.*step-2' was saved; its variables fit"):
        assert changed.restore(saved).step == 2


def test_where_a_program_was_written_does_not_matter(saved):
    made = Run()
    for op in made.main.global_block().ops:
        op.set_attr("op_callstack", ['  File "elsewhere.py", line 1, in <module>', "    pass"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.restore(saved).step == 2


def test_schedules_go_back_when_something_else_does_not_fit(saved, run):
    state, found = run.schedule.state_dict(), checkpoint_files.read_checkpoint(folder_of(saved, 2))
    with pytest.raises(pm.OpError):
        checkpoint_files.put_back(found._replace(random="nonsense"), run.main, run.exe, run.scope)
    assert run.schedule.state_dict() == state != found.schedules["learning_rate_0"][1]


def test_averages_are_not_saved_in_place_of_parameters(tmp_path, run):
    manager = pm.io.CheckpointManager(tmp_path / "run")
    with run.average.apply(run.exe, run.scope):
        with pytest.raises(pm.OpError, match="holds an average: leave apply"):
            run.save(manager, 1)
        assert not (tmp_path / "run").exists()
    assert run.save(manager, 1)
    with run.average.apply(run.exe, run.scope), pytest.raises(pm.OpError, match="holds an average"):
        run.restore(manager)


def test_one_save_at_a_time(tmp_path, run):
    manager = pm.io.CheckpointManager(tmp_path)
    with manager._folder._owned(), pytest.raises(pm.OpError, match="another process is saving a checkpoint in"):
        run.save(pm.io.CheckpointManager(tmp_path), 1)
    assert run.save(manager, 1)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"keep": 0}, "keep is 0, it must be an integer, at least 1"),
        ({"keep": 2.0}, "keep is 2.0"),
        ({"every_steps": 0}, "every_steps is 0"),
        ({"every_steps": True}, "every_steps is True"),
        ({"every_seconds": 0}, "every_seconds is 0"),
        ({"every_seconds": "1"}, "every_seconds is '1'"),
        ({"directory": b"x"}, "directory is b'x'"),
    ],
)
def test_managers_that_are_refused(tmp_path, arguments, words):
    with pytest.raises(pm.ProgramError, match=words):
        pm.io.CheckpointManager(**{"directory": tmp_path, **arguments})


@pytest.mark.parametrize(
    "change, words, error",
    [
        ({"step": -1}, "step is -1", pm.ProgramError),
        ({"step": "1"}, "step is '1'", pm.ProgramError),
        ({"program": None}, "program is of type NoneType, it must be of type Program", pm.ProgramError),
        ({"exe": 3}, "exe is of type int", pm.ProgramError),
        ({"scope": {}}, "scope is of type dict", pm.ProgramError),
        ({"data": {1: 2}}, "data is {1: 2}", pm.ProgramError),
        ({"data": (1, 2)}, "data is", pm.ProgramError),
        ({"data": np.zeros(3)}, "data is array", pm.ProgramError),
        ({"data": float("nan")}, "data is nan", pm.ProgramError),
        ({"scope": pm.Scope()}, "'average_counters_0' has no value", pm.OpError),
    ],
)
def test_saves_that_are_refused(tmp_path, run, change, words, error):
    arguments = {"step": 1, "program": run.main, "exe": run.exe, "scope": run.scope, **change}
    with pytest.raises(error, match=words):
        pm.io.CheckpointManager(tmp_path / "run").save(**arguments)
    assert not (tmp_path / "run").exists()


def test_a_value_that_would_not_load_is_not_saved(tmp_path, run):
    run.scope.set("fc_0.b_0", np.zeros(4, "float32"))
    with pytest.raises(pm.ShapeError, match=r"'fc_0.b_0' is \[4\] float32, the program declares \[5\] float32"):
        run.save(pm.io.CheckpointManager(tmp_path / "run"), 1)


def test_a_folder_that_is_a_file(tmp_path, run):
    (tmp_path / "file").write_text("")
    manager = pm.io.CheckpointManager(tmp_path / "file")
    with pytest.raises(pm.ProgramError, match="can't save a checkpoint in '.*file': File exists"):
        run.save(manager, 1)
    for call in (manager.steps, manager.latest, lambda: run.restore(manager)):
        with pytest.raises(pm.ProgramError, match="can't read '.*file': Not a directory"):
            call()
