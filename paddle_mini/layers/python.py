# py_func: PaddlePaddle's operator that calls Python functions, which the process keeps by name and by number.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .. import _core, dtypes
from .._core import OpError, ProgramError, printable
from ..errors import shown
from ..gradient_names import variable_name
from ..operator import EMPTY_NAME
from ..python_functions import FUNCTION, called, name_of_function, register
from ..variable import Variable, name_of
from .emit import at_users_line, block, refuse

F = TypeVar("F", bound=Callable[..., Any])
Out = TypeVar("Out")

TYPE, GRAD = "py_func", "@GRAD"
GRADIENT = "python_gradient"
_functions: dict[str, Callable[..., Any]] = {}  # by name; the number of a function is its position
_ATTRS = [
    ("forward_callable_id", dtypes.INT, -1, "the number of the function in the process that made the program"),
    ("backward_callable_id", dtypes.INT, -1, "the number of the function for the gradient; -1: none"),
    ("backward_skip_vars", dtypes.STRINGS, [], "variables that the function for the gradient does not get"),
    (FUNCTION, dtypes.STRING, "", "the name of the function, as pm.register_py_func gives it"),
    (GRADIENT, dtypes.STRING, "", "the name of the function for the gradient"),
    ("shapes", dtypes.LONGS, [], "for each variable of X, then of Out, its number of dimensions and these"),
    ("dtypes", dtypes.STRINGS, [], "for each variable of X, then of Out, its element type"),
    ("like", dtypes.INTS, [], "for each variable of Out, the variable of X that has its shape, or -1"),
]


def py_func(
    func: Callable[..., Any],
    x: Variable | Sequence[Variable] | None,
    out: Out,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Variable | Sequence[Variable] | None = None,
) -> Out:
    """Calls a Python function at each run, and writes what it returns to variables that exist already. pm.python_op makes an
    operator with a name, which infers its outputs.

    The function gets read-only NumPy arrays in the memory of the run, so it copies one that it keeps. It runs on the CPU,
    with the GIL. A saved program names the function by its module and its name; a process that runs the program passes
    the function to pm.register_py_func first.

    Args:
        func: gets an array for each of x; returns an array for each of out, several as a tuple, with its shape and element type
        x: what the function reads; None: nothing
        out: what the function writes, as create_var makes it: a shape, where -1 is for the result to decide, and an
            element type; None: nothing
        backward_func: gets x, out and the gradients of out, in this order; returns the gradient of each of x, or None for
            one that has none. None: x has no gradient
        skip_vars_in_backward_input: variables of x and out that backward_func does not get
    Returns:
        out
    Example:
        >>> x = pm.layers.data("x", [-1, 2])
        >>> y = pm.default_main_program().current_block().create_var("y", shape=[-1, 2], dtype="float32")
        >>> _ = pm.layers.py_func(np.tanh, x, y, lambda x, y, y_gradient: y_gradient * (1 - y * y))
        >>> pm.Executor().run(feed={"x": [[0, 1]]}, fetch_list=[y])[0]
        array([[0.       , 0.7615942]], dtype=float32)
    """
    _append(func, x, out, backward_func, skip_vars_in_backward_input)
    return out


def register_py_func(function: F) -> F:
    """Gives a function to this process, so that programs of pm.layers.py_func which name it can run here. py_func does this
    for its own functions; a process that reads a program does it for each function the program names.

    A program names module and function. Functions of one name, such as lambdas, are numbered in the order of their
    registration.

    Args:
        function: the function; also usable as a decorator
    Returns:
        the function
    Raises:
        ProgramError: it can't be called
    Example:
        >>> @pm.register_py_func
        ... def halved(x):
        ...     return x / 2
    """
    with at_users_line():
        if not callable(function):
            raise ProgramError(f"py_func: {shown(function)} can't be called")
        if TYPE not in _core.op_types():
            register(_schema(), None)
        _name_of(function)
    return function


def _name_of(function: Callable[..., Any]) -> str:
    """The name under which the process keeps the function; it gets one at its first use."""
    plain = name_of_function(function)
    name, count = plain, 1
    while _functions.setdefault(name, function) != function:  # a method is another object each time
        count += 1
        name = f"{plain}#{count}"
    return name


def _append(func: Callable[..., Any], x: Any, out: Any, backward_func: Any, skip: Any) -> None:
    xs, outs = _variables("x", x), _variables("out", out)
    if not xs and not outs:
        refuse(ProgramError, "py_func: it has neither x nor out, so nothing says its element type")
    for one in outs:
        if not one.shape_known:
            refuse(ProgramError, f"py_func: '{printable(one.name)}' has no shape: give one to create_var, with -1 for open ones")
    names = {one.name for one in (*xs, *outs)}
    skipped = [name_of(one) for one in _as_list(skip)]
    for name in skipped:
        if name not in names:
            refuse(ProgramError, f"py_func: skip_vars_in_backward_input has '{printable(name)}', which is not in x or out")
    register_py_func(func)
    attrs: dict[str, Any] = {FUNCTION: _name_of(func), "forward_callable_id": _number(func), "backward_skip_vars": skipped}
    if backward_func is not None:
        register_py_func(backward_func)
        attrs |= {GRADIENT: _name_of(backward_func), "backward_callable_id": _number(backward_func)}
    attrs["shapes"] = [dim for one in (*xs, *outs) for dim in (len(one.shape), *one.shape)]
    attrs["dtypes"] = [one.dtype for one in (*xs, *outs)]
    attrs["like"] = [-1] * len(outs)
    block().append_op(TYPE, {"X": [one.name for one in xs]}, {"Out": [one.name for one in outs]}, attrs)


def _number(function: Callable[..., Any]) -> int:
    return list(_functions).index(_name_of(function))


def _variables(what: str, given: Any) -> list[Variable]:
    items = _as_list(given)
    for one in items:
        if not isinstance(one, Variable):
            refuse(ProgramError, f"py_func: {what} has {shown(one)}, it must be a Variable, or a list of them")
    return items


def _as_list(given: Any) -> list[Any]:
    return [] if given is None else list(given) if isinstance(given, (list, tuple, set)) else [given]


def _schema() -> dict[str, Any]:
    return {
        "type": TYPE,
        "doc": "Out = what a Python function returns for X.",
        "inputs": [("X", "the arguments of the function", True, True)],
        "outputs": [("Out", "what the function returns", True, True)],
        "attrs": _ATTRS,
        "no_gradient": None,
        "gradient_rule": _gradient,
        "infer": _infer,
        "run": _run,
    }


def _declared(attrs: dict[str, Any]) -> list[tuple[tuple[int, ...], str]]:
    """Shape and element type of each variable of X and Out."""
    dims, infos = list(attrs["shapes"]), []
    for dtype in attrs["dtypes"]:
        rank = dims[0] if dims else -1
        if not 0 <= rank < len(dims):
            raise ProgramError("the attribute 'shapes' does not describe the variables")
        infos.append((tuple(dims[1 : rank + 1]), dtype))
        del dims[: rank + 1]
    return infos


def _infer(infos: dict[str, list[Any]], attrs: dict[str, Any], counts: dict[str, int]) -> dict[str, list[Any]]:
    _function(attrs)
    xs, count = infos.get("X", []), counts.get("Out", 0)
    outs = _declared(attrs)[-count:] if count else []
    if len(outs) != count or len(attrs["like"]) != count or any(at >= len(xs) for at in attrs["like"]):
        raise ProgramError("the attributes 'shapes', 'dtypes' and 'like' do not describe the variables")
    return {"Out": [out if at < 0 else xs[at] for out, at in zip(outs, attrs["like"])]}


def _run(values: dict[str, list[Any]], attrs: dict[str, Any], counts: dict[str, int]) -> dict[str, list[Any]]:
    made = called(f"the function {attrs[FUNCTION]}", _function(attrs), *values.get("X", []))
    count = counts.get("Out", 0)
    results = [] if made is None and count == 0 else list(made) if isinstance(made, (list, tuple)) else [made]
    if len(results) != count:
        raise OpError(f"the function {attrs[FUNCTION]} returns {len(results)} values, py_func has {count} outputs")
    return {"Out": results}


def _function(attrs: dict[str, Any]) -> Callable[..., Any]:
    name = attrs[FUNCTION]
    if name in _functions:
        return _functions[name]
    if not name:
        raise ProgramError(
            f"the program names function {attrs['forward_callable_id']} of the process that made it; only programs of "
            f"pm.layers.py_func name the function itself"
        )
    raise ProgramError(f"this process does not have the Python function {printable(name)}: pass it to pm.register_py_func first")


def _gradient(forward: dict[str, Any]) -> list[dict[str, Any]]:
    """The operator of the gradient: the function gets X, Out and the gradients of Out, without those that it skips."""
    attrs = {name: value for name, _, value in forward["attrs"]}
    if not attrs[GRADIENT]:
        return []
    xs, outs = dict(forward["inputs"]).get("X", []), dict(forward["outputs"]).get("Out", [])
    declared, skipped = _declared(attrs), set(attrs["backward_skip_vars"])
    takes = [name for name in (*xs, *outs) if variable_name(name) not in skipped]
    own = {
        "forward_callable_id": attrs["backward_callable_id"],
        FUNCTION: attrs[GRADIENT],
        "shapes": [dim for shape, _ in declared[: len(xs)] for dim in (len(shape), *shape)],
        "dtypes": [dtype for _, dtype in declared[: len(xs)]],
        "like": [takes.index(name) if name in takes else -1 for name in xs],
    }
    types = {name: kind for name, kind, *_ in _ATTRS}
    return [
        {
            **forward,
            "inputs": [("X", [*takes, *(name + GRAD for name in outs)])],
            "outputs": [("Out", [EMPTY_NAME if name == EMPTY_NAME else name + GRAD for name in xs])],
            "attrs": [(name, types[name], value) for name, value in own.items()],
        }
    ]
