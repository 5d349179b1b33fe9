"""paddle_mini as replay.py and runner.py use a runtime: a scope, programs from bytes, runs."""

import os

import paddle_mini as pm
from paddle_mini import _core

_exe = pm.Executor(pm.CPUPlace())
_scope = pm.Scope()


def reset():
    global _scope
    _scope = pm.Scope()


def load_program(data):
    program = pm.Program.from_bytes(data)
    program.handle()  # verified when loaded
    return program


def set_var(name, array, lod=None):
    _scope.set(name, array, lod)


def get_var(name):
    return _with_lod(_scope.get(name), _scope.lod(name))


def run(program, feed, fetch):
    values = {name: pm.LoDTensor(*value) if isinstance(value, tuple) else value for name, value in feed.items()}
    return [_plain(value) for value in _exe.run(program, feed=values, fetch_list=fetch, scope=_scope, return_numpy=False)]


def load_inference_model(prefix):
    program, feeds, fetches = pm.io.load_inference_model(prefix, _exe, scope=_scope)
    return program, feeds, [variable.name for variable in fetches]


def read_stream(data):
    return _core.read_tensor(data)


def write_stream(array, lod):
    return _core.tensor_bytes(array, lod)


def load_checkpoint(prefix):
    found = {}
    for suffix in (".pdparams", ".pdopt"):
        if os.path.exists(prefix + suffix):
            found.update(pm.io.load_state(prefix + suffix))
    return found


def _plain(value):
    if isinstance(value, pm.LoDTensor):
        return value.array, value.lod
    return value.to_dense() if isinstance(value, pm.SelectedRows) else value


def _with_lod(array, lod):
    return (array, lod) if lod else array
