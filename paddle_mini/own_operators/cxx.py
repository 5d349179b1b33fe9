# load_op: operators from C++ files of users.
from __future__ import annotations

import os
import re
import threading

from .. import _core, schemas
from .._core import ProgramError, printable
from ..errors import shown
from ..io.regular_files import open_regular, path_of
from ..layers.emit import at_users_line
from ..python_functions import adding
from .registry import LayerFunction, layer_of, require_operator_name

_loaded: dict[str, tuple[str, str, LayerFunction]] = {}  # by operator: path, source, layer function
_loading = threading.Lock()


def load_op(path: str | os.PathLike[str]) -> LayerFunction:
    """Compiles a C++ file, adds its operators to those of this process, and returns the layer function of the operator
    with the file's name. The library is kept in ~/.cache/paddle_mini/operators and compiled again when the file, the
    compiler or the package has changed. Where this process can use GPUs and nvcc is found, a file whose schemas don't say
    `.cpu_only()` is compiled for GPUs too.

    The file NAME.cc is as those of the package: it includes headers of paddle_mini or of the system, no other file, and
    defines `void define_NAME(OpTable&)` in the namespace paddle_mini, which adds the schemas of the operator and of its
    gradient. `paddle-mini new-op` writes one. Programs name the operator; a process that reads such a program loads the
    file first. The code runs in the process with all its rights.

    Args:
        path: the file; its name without .cc is that of the operator, a lower-case identifier
    Returns:
        the layer function: inputs and required attributes by position, other attributes and `name` by keyword. For the
        same content again, the same function.
    Raises:
        ProgramError: the file can't be read or does not compile, there is no C++ compiler, a schema is invalid, or an
            operator of the name exists already; no operator is then added
    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "cube.cc"
        >>> _ = file.write_text('''
        ... #include "ops/family/unary.h"
        ... namespace paddle_mini {
        ... namespace {
        ... struct Cube {
        ...   template <class V> PM_HD V operator()(V x) const { return x * x * x; }
        ...   template <class V> PM_HD V operator()(V x, V gradient) const { return V(3) * x * x * gradient; }
        ... };
        ... }
        ... void define_cube(OpTable& ops) {
        ...   add_unary<Cube, Saved::X>(ops, unary("cube").doc("Out = X * X * X."), "X@GRAD = 3 * X * X * Out@GRAD.");
        ... }
        ... }
        ... ''')
        >>> cube = pm.load_op(file)
        >>> y = cube(pm.layers.data("x", [-1, 2]))
        >>> pm.Executor().run(feed={"x": [[2, 3]]}, fetch_list=[y])[0]
        array([[ 8., 27.]], dtype=float32)
    """
    with at_users_line(), _loading:
        return _load(path_of(path))


def _load(path: str) -> LayerFunction:
    name, suffix = os.path.splitext(os.path.basename(path))
    if suffix != ".cc":
        more = ": one file has the kernels for CPUs and for GPUs" if suffix == ".cu" else ""
        raise ProgramError(f"{shown(path)} is not the file of an operator: expected NAME.cc{more}")
    require_operator_name(name, path)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", opener=open_regular) as file:
            source = file.read()
    except OSError as error:
        raise ProgramError(f"can't read the operator's file: {error}") from None
    if name in _loaded:
        before, known, function = _loaded[name]
        if known == source:
            return function
        raise ProgramError(
            f"operator '{name}' is loaded already, from {printable(before)} with other content; operators can't be replaced: "
            f"start a new process, or give the file another name"
        )
    if name in _core.op_types():
        raise ProgramError(f"operator '{name}' exists already: give {printable(path)} and its operator another name")
    if not re.search(rf"\bdefine_{name}\b", source):
        raise ProgramError(f"{printable(path)} does not define `void define_{name}(OpTable&)` in the namespace paddle_mini")
    from .compiler import has_gpu_compiler, library_of  # only users of C++ need it

    try:
        library, on_gpu = str(library_of(name, path, source)), ""
        if not re.search(r"\bcpu_only\b", source) and (gpu_library := _core.gpu_path()) and has_gpu_compiler():
            on_gpu = str(library_of(name, path, source, gpu_library))
        with adding:
            _core.load_operators(library, name, on_gpu)
    except _core.Error as error:
        raise ProgramError(f"{printable(path)}: {error}" if printable(path) not in str(error) else str(error)) from None
    schemas.operators_were_added()
    function = layer_of(name, home=__package__)
    _loaded[name] = path, source, function
    return function
