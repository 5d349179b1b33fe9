"""load and load_combine: read exactly the contents of a file, where the executor may read it."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core


def program(op_type, names, path, **attrs):
    main = pm.Program()
    block = main.global_block()
    for name in names:
        block.create_var(name, shape=[2], dtype="float32", persistable=True)
    block.append_op(op_type, {}, {"Out": list(names)}, {"file_path": str(path), **attrs})
    return main


def stream(*values):
    return b"".join(_core.tensor_bytes(np.asarray(value, "float32"), []) for value in values)


def test_one(tmp_path):
    path, scope = tmp_path / "w", pm.Scope()
    path.write_bytes(stream([1, 2]))
    pm.Executor(files=True).run(program("load", ["w"], path), scope=scope)
    np.testing.assert_array_equal(scope.get("w"), [1, 2])
    path.write_bytes(stream([3, 4]))
    pm.Executor(files=True).run(program("load", ["w"], path), scope=scope)
    np.testing.assert_array_equal(scope.get("w"), [3, 4])


def test_several(tmp_path):
    path, scope = tmp_path / "all", pm.Scope()
    path.write_bytes(stream([1, 2], [3, 4]))
    pm.Executor(files=True).run(program("load_combine", ["b", "a"], path), scope=scope)
    np.testing.assert_array_equal([scope.get("b"), scope.get("a")], [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    "content, words",
    [
        (stream([1, 2])[:-1], "cut off"),
        (stream([1, 2]) + b"\0", "cut off"),
        (stream([1, 2], [3, 4]), "holds 2 tensors"),
        (b"", "holds 0"),
    ],
)
def test_a_file_that_is_not_one_tensor_is_refused_and_changes_nothing(tmp_path, content, words):
    path, scope = tmp_path / "w", pm.Scope()
    path.write_bytes(content)
    scope.set("w", np.array([7, 8], "float32"))
    with pytest.raises(pm.Error, match=words):
        pm.Executor(files=True).run(program("load", ["w"], path), scope=scope)
    np.testing.assert_array_equal(scope.get("w"), [7, 8])


def test_refused(tmp_path):
    with pytest.raises(pm.OpError, match="files=True"):
        pm.Executor().run(program("load", ["w"], tmp_path / "w"), scope=pm.Scope())
    with pytest.raises(pm.Error, match="'.*w'"):
        pm.Executor(files=True).run(program("load", ["w"], tmp_path / "w"), scope=pm.Scope())
    with pytest.raises(pm.ProgramError, match="seek"):
        program("load", ["w"], tmp_path / "w", seek=3)
    with pytest.raises(pm.OpError, match="load_as_fp16"):
        pm.Executor(files=True).run(program("load", ["w"], tmp_path / "w", load_as_fp16=True), scope=pm.Scope())
