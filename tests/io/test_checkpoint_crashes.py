"""Checkpoints when a process dies during a save, and when the disk fails."""

import errno
import os
import re
import subprocess
import sys

import pytest

import checkpoint_children
import paddle_mini as pm
from checkpoint_children import CALLS, Saver
from thorough import thorough


def child(*words, status=0):
    done = subprocess.run(
        [sys.executable, checkpoint_children.__file__, *map(str, words)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@thorough
def test_killed_at_any_moment(tmp_path):
    assert int(child("moments", tmp_path, 200)) > 20  # number of saves that completed between the kills


@pytest.mark.parametrize("way", ["before", "after", "halfway"])
def test_killed_at_every_call(tmp_path, way):
    assert int(child("points", tmp_path, way)) > 30


def test_training_that_is_killed_three_times_ends_with_the_same_bits(tmp_path):
    through = child("train", tmp_path / "through", -1).split()
    for batch in (2, 3, 8):
        child("train", tmp_path / "killed", batch, status=-9)
    begin, end = child("train", tmp_path / "killed", -1).split()
    assert (through[0], int(begin)) == ("0", 8) and end == through[1]


@pytest.fixture
def saver(tmp_path):
    made = Saver(tmp_path / "run", keep=1)
    made.save(1)
    return made


def counted(patch, number, act):
    """Like checkpoint_children.at_call, until the patches are undone."""
    count = [0]
    for name in CALLS:

        def counting(*arguments, call=getattr(os, name), **more):
            count[0] += 1
            return act(call, arguments, more) if count[0] == number else call(*arguments, **more)

        patch.setattr(os, name, counting)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_the_disk_refuses_at_every_call(saver, code):
    def refuse(call, arguments, more):
        if call is os_close:
            call(*arguments)  # a file is closed also if that fails
        raise OSError(code, os.strerror(code))

    os_close, step, number = os.close, 1, 1
    while True:
        with pytest.MonkeyPatch.context() as patch:
            counted(patch, number, refuse)
            try:
                saver.save(step + 1)
                break
            except pm.ProgramError as error:
                message = str(error)
        assert re.match(f"can't (save a checkpoint in|read) '{saver.folder}': {os.strerror(code)}", message)
        found = saver.restored()
        assert found in (step, step + 1)
        saver.tidy(found + 1)
        step, number = found + 1, number + 1
    assert number > 30 and saver.restored() == step + 1


def test_a_refusal_changes_neither_values_nor_the_next_save(saver, monkeypatch):
    manager = pm.io.CheckpointManager(saver.folder, every_steps=10)
    random = saver.exe.random_state()
    with pytest.MonkeyPatch.context() as patch:
        counted(patch, 12, lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
        with pytest.raises(pm.ProgramError, match="No space left on device"):
            manager.save(10, saver.program, saver.exe, saver.scope)
    assert saver.exe.random_state() == random and saver.scope.get("a").tolist() == [1, 1, 1]
    assert sorted(os.listdir(saver.folder)) == [".checkpoints", "checkpoint-000001-step-1"]
    assert manager.save(11, saver.program, saver.exe, saver.scope)  # still due


def test_a_disk_that_takes_a_little_at_a_time(saver, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data[: 1 + len(data) // 3])))
    saver.save(2)
    assert saver.restored() == 2


def test_a_folder_that_may_not_be_written(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    (tmp_path / "run").mkdir(mode=0o500)
    exe = pm.Executor()
    with pytest.raises(pm.ProgramError, match="can't save a checkpoint in '.*run': Permission denied"):
        pm.io.CheckpointManager(tmp_path / "run").save(1, pm.Program(), exe, pm.Scope())


def test_the_order_in_which_things_reach_the_disk(saver, monkeypatch):
    """Every file before the manifest, all of them before the rename, and the rename before any older one is removed."""
    log = []

    def path_of(where):
        return os.path.basename(os.readlink(f"/proc/self/fd/{where}") if isinstance(where, int) else where)

    for name in ("write", "fsync", "mkdir", "rename", "unlink", "rmdir"):

        def logged(*arguments, name=name, call=getattr(os, name)):
            log.append((name, path_of(arguments[0])))
            return call(*arguments)

        monkeypatch.setattr(os, name, logged)
    path = saver.save(2)
    monkeypatch.undo()
    hidden = log[0][1]
    assert hidden.startswith(".checkpoint-") and path.endswith("checkpoint-000002-step-2")
    files = ["variables.pdiparams", "random.txt", "manifest.json"]
    assert list(dict.fromkeys(log))[:10] == [
        ("mkdir", hidden),
        *((call, name) for name in files for call in ("write", "fsync")),
        ("fsync", hidden),
        ("rename", hidden),
        ("fsync", "run"),
    ]
    after = log[log.index(("fsync", "run")) + 1 :]
    assert after[:2] == [("rename", "checkpoint-000001-step-1"), ("fsync", "run")]
    assert {call for call, _ in after[2:]} == {"unlink", "rmdir"} and after[-1][0] == "rmdir"
