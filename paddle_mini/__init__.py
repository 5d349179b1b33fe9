# paddle_mini: a small operator-graph runtime with averaging of parameters in the program.
"""Layer functions append operators to a Program; an Executor runs it.

import paddle_mini as pm
x = pm.layers.data("x", shape=[-1, 64])
y = pm.layers.fc(x, 10, act="softmax")
exe = pm.Executor(pm.CPUPlace())
exe.run(pm.default_startup_program())
value, = exe.run(feed={"x": array}, fetch_list=[y])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import arguments, averaging, clip, devices, initializer, layers, lr, optimizer, regularizer, renamed, unique_name
from ._core import DeviceError, Error, OpError, ProgramError, ScopeInUse, ShapeError
from .averaging import epochs, fraction, samples, steps
from .backward import append_backward, gradients
from .block import Block
from .executor import Executor, seed
from .guards import default_main_program, default_startup_program, program_guard, reset_default_programs
from .operator import Operator
from .param_attr import ParamAttr
from .place import CPUPlace, CUDAPlace, EmulatedPlace
from .program import Program
from .roles import device_guard, op_role_guard
from .scope import LoDTensor, Scope, SelectedRows, global_scope, scope_guard
from .threads import num_threads, set_num_threads
from .variable import Parameter, Variable

if TYPE_CHECKING:
    from . import amp, cluster, data, io, loggers, nets, onnx, training
    from .inspection.difference import diff
    from .inspection.finite import check_finite
    from .inspection.profiler import profile
    from .inspection.summary import summary
    from .layers.python import register_py_func
    from .own_operators import load_op, python_op
    from .parallel import DataParallel
    from .predictor import Predictor
    from .training import Trainer, fit

__version__ = "0.1.0"

# Names whose modules are imported when they are used: import paddle_mini stays fast.
_LAZY_MODULES = {"amp", "cluster", "data", "io", "loggers", "nets", "onnx", "training"}
_LAZY = {
    "DataParallel": ".parallel",
    "Predictor": ".predictor",
    "Trainer": ".training",
    "check_finite": ".inspection.finite",
    "diff": ".inspection.difference",
    "fit": ".training",
    "load_op": ".own_operators",
    "profile": ".inspection.profiler",
    "python_op": ".own_operators",
    "register_py_func": ".layers.python",
    "summary": ".inspection.summary",
}


__all__ = [
    "Block",
    "CPUPlace",
    "CUDAPlace",
    "DataParallel",
    "DeviceError",
    "EmulatedPlace",
    "Error",
    "Executor",
    "LoDTensor",
    "OpError",
    "Operator",
    "ParamAttr",
    "Parameter",
    "Predictor",
    "Program",
    "ProgramError",
    "Scope",
    "ScopeInUse",
    "SelectedRows",
    "ShapeError",
    "Trainer",
    "Variable",
    "amp",
    "append_backward",
    "averaging",
    "check_finite",
    "clip",
    "cluster",
    "data",
    "default_main_program",
    "default_startup_program",
    "device_guard",
    "devices",
    "diff",
    "epochs",
    "fit",
    "fraction",
    "global_scope",
    "gradients",
    "initializer",
    "io",
    "layers",
    "load_op",
    "loggers",
    "lr",
    "nets",
    "num_threads",
    "onnx",
    "op_role_guard",
    "optimizer",
    "profile",
    "program_guard",
    "python_op",
    "register_py_func",
    "regularizer",
    "reset_default_programs",
    "samples",
    "scope_guard",
    "seed",
    "set_num_threads",
    "steps",
    "summary",
    "training",
    "unique_name",
]


if not TYPE_CHECKING:  # a type checker would take every name for one of the module's

    def __getattr__(name: str) -> Any:
        if name in _LAZY_MODULES:
            return import_module(f".{name}", __name__)
        if name in _LAZY:
            globals()[name] = getattr(import_module(_LAZY[name], __name__), name)
            arguments.make_explained(globals(), [name])
            return globals()[name]
        return renamed.found(name)


renamed.show_public(globals())
