"""save and save_combine: they write the same files as PaddlePaddle's operators, where the executor may write."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core


def program(op_type, names, path, **attrs):
    main = pm.Program()
    block = main.global_block()
    for name in names:
        block.create_var(name, shape=[2], dtype="float32", persistable=True)
    block.append_op(op_type, {"X": list(names)}, {}, {"file_path": str(path), **attrs})
    return main


def scope_with(**values):
    scope = pm.Scope()
    for name, value in values.items():
        scope.set(name, np.asarray(value, "float32"))
    return scope


def test_one(tmp_path):
    path = tmp_path / "w"
    pm.Executor(files=True).run(program("save", ["w"], path), scope=scope_with(w=[1, 2]))
    array, lod, used = _core.read_tensor(path.read_bytes())
    np.testing.assert_array_equal(array, [1, 2])
    assert not lod and used == path.stat().st_size


def test_several_follow_one_another(tmp_path):
    path = tmp_path / "all"
    pm.Executor(files=True).run(program("save_combine", ["b", "a"], path), scope=scope_with(a=[1, 2], b=[3, 4]))
    first, _, used = _core.read_tensor(path.read_bytes())
    second, _, _ = _core.read_tensor(path.read_bytes()[used:])
    np.testing.assert_array_equal([first, second], [[3, 4], [1, 2]])


def test_an_executor_that_may_not_touch_files_does_not(tmp_path):
    path = tmp_path / "w"
    with pytest.raises(pm.OpError, match="files=True"):
        pm.Executor().run(program("save", ["w"], path), scope=scope_with(w=[1, 2]))
    assert not path.exists()


@pytest.mark.parametrize("attrs, words", [({"save_as_fp16": True}, "save_as_fp16")])
def test_refused(tmp_path, attrs, words):
    with pytest.raises(pm.Error, match=words):
        pm.Executor(files=True).run(program("save", ["w"], tmp_path / "w", **attrs), scope=scope_with(w=[1, 2]))


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(pm.Error, match="nowhere"):
        pm.Executor(files=True).run(program("save", ["w"], tmp_path / "nowhere" / "w"), scope=scope_with(w=[1, 2]))
