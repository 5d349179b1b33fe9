"""How files are opened and replaced: links are not followed, pipes do not block, modes are kept, leftovers removed."""

import os
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core
from paddle_mini.data.archive import members
from paddle_mini.io.regular_files import replace_file
from small_model import SmallModel

WRITERS = {"C++": _core.write_file, "Python": replace_file}


@pytest.fixture(params=WRITERS)
def write(request):
    return lambda path, data: WRITERS[request.param](str(path), data)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_the_mode_of_a_file_is_kept(tmp_path, write):
    path = tmp_path / "f"
    for mode in (0o600, 0o640, 0o666, 0o400):
        path.write_bytes(b"old")
        path.chmod(mode)
        write(path, b"new")
        assert mode_of(path) == mode and path.read_bytes() == b"new"
        path.unlink()


def test_a_new_file_has_the_mode_of_the_umask(tmp_path, write):
    for umask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
        before = os.umask(umask)
        try:
            write(tmp_path / f"{umask}", b"")
        finally:
            os.umask(before)
        assert mode_of(tmp_path / f"{umask}") == mode


def test_a_link_is_replaced_and_not_followed(tmp_path, write):
    (tmp_path / "other").write_bytes(b"theirs")
    (tmp_path / "f").symlink_to(tmp_path / "other")
    write(tmp_path / "f", b"ours")
    assert (tmp_path / "other").read_bytes() == b"theirs" and not (tmp_path / "f").is_symlink()


def test_planted_names_are_not_followed(tmp_path, write, monkeypatch):
    """Names that earlier versions used, and names of the pattern."""
    (tmp_path / "other").write_bytes(b"theirs")
    for name in (f"f.writing.{os.getpid()}", "f.new", ".paddle_mini-0123456789abcdef.unfinished"):
        (tmp_path / name).symlink_to(tmp_path / "other")
    write(tmp_path / "f", b"ours")
    assert (tmp_path / "other").read_bytes() == b"theirs" and (tmp_path / "f").read_bytes() == b"ours"


def test_what_is_no_file_is_neither_replaced_nor_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(pm.ProgramError, match="not a regular file"):
            _core.write_file(str(tmp_path / name), b"x")
        with pytest.raises(pm.ProgramError, match="not a regular file"):
            _core.read_file(str(tmp_path / name))
    assert len(list(tmp_path.iterdir())) == 2


WRITE_AND_WAIT = """
import os, sys
from paddle_mini.io import regular_files
path, descriptor = regular_files._unfinished(sys.argv[1])
print(path, flush=True)
sys.stdin.read()
"""


def test_what_killed_saves_left_is_removed_and_what_is_written_now_is_not(tmp_path, write):
    def writer():
        return subprocess.Popen(
            [sys.executable, "-c", WRITE_AND_WAIT, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    with writer() as killed:
        dead = killed.stdout.readline().strip()
        killed.kill()
    others = [".paddle_mini-0123.unfinished", "f.writing.1", ".paddle_mini-0123456789abcdeg.unfinished"]
    for name in others:
        (tmp_path / name).write_bytes(b"of another program")
    os.mkfifo(tmp_path / ".paddle_mini-0123456789abcdef.unfinished")
    with writer() as living:
        alive = living.stdout.readline().strip()
        write(tmp_path / "f", b"new")
        assert os.path.exists(alive) and not os.path.exists(dead)
        assert {path.name for path in tmp_path.iterdir()} == {
            "f",
            os.path.basename(alive),
            ".paddle_mini-0123456789abcdef.unfinished",
            *others,
        }
    write(tmp_path / "f", b"newer")
    assert not os.path.exists(alive)


SAVE = """
import sys, numpy as np, paddle_mini as pm
scope, program = pm.Scope(), pm.Program()
program.global_block().create_var("w", shape=[1 << 22], dtype="float32", persistable=True)
scope.set("w", np.ones(1 << 22, "float32"))
print("begins", flush=True)
while True:
    pm.io.save_program(sys.argv[1], program, scope)
"""


def test_a_save_that_is_killed_leaves_a_whole_pair_and_the_next_one_tidies_up(tmp_path):
    random = np.random.RandomState(0)
    for _ in range(2):
        with subprocess.Popen([sys.executable, "-c", SAVE, str(tmp_path / "m")], stdout=subprocess.PIPE, text=True) as writer:
            writer.stdout.readline()
            time.sleep(0.1 * random.rand())
            writer.kill()
        if (tmp_path / "m.pdmodel").exists():
            try:
                pm.io.load_program(tmp_path / "m", pm.Scope())
            except pm.ProgramError as error:  # killed between the two names
                assert "these are not the parameters" in str(error)
    model = SmallModel()
    pm.io.save_program(tmp_path / "m", model.main, model.scope)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.pdiparams", "m.pdmodel"]


def test_readers_and_locks_refuse_pipes_and_devices(tmp_path):
    model = SmallModel()
    os.mkfifo(tmp_path / "p.pdmodel")
    os.mkfifo(tmp_path / "p.pdiparams")
    for call in (
        lambda: pm.io.read_program(tmp_path / "p"),
        lambda: pm.io.load_parameters(tmp_path / "p.pdiparams", model.main),
        lambda: pm.io.load_state("/dev/zero"),
    ):
        with pytest.raises(pm.ProgramError, match="not a regular file"):
            call()
    for name in ("coordinator.json", "job.lock"):
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        os.mkfifo(folder / name)
        with pytest.raises(pm.cluster.StorageError, match="regular file"):
            pm.cluster.run(lambda: None, directory=folder)
    (tmp_path / "zeros").mkdir()
    (tmp_path / "zeros/coordinator.json").symlink_to("/dev/zero")
    with pytest.raises(pm.cluster.StorageError, match="regular file"):
        pm.cluster.run(lambda: None, directory=tmp_path / "zeros")


def test_checkpoints_refuse_pipes(tmp_path):
    model = SmallModel()
    manager = pm.io.CheckpointManager(tmp_path / "c")
    path = manager.save(1, model.main, model.exe, model.scope)
    os.unlink(os.path.join(path, "random.txt"))
    os.mkfifo(os.path.join(path, "random.txt"))
    with pytest.raises(pm.ProgramError, match="regular file"):
        manager.restore(model.main, model.exe, model.scope)
    os.unlink(tmp_path / "c/.checkpoints")
    os.mkfifo(tmp_path / "c/.checkpoints")
    with pytest.raises(pm.ProgramError, match="regular file"):
        manager.save(2, model.main, model.exe, model.scope)


def test_data_sets_refuse_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(pm.ProgramError, match="not a regular file"):
            list(members(path, "pipe"))
