# py_func: a Python function as an operator of the program, as in PaddlePaddle.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..variable import Variable

Out = TypeVar("Out")


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
    from ..own_operators.py_func import append  # only programs with Python functions need it

    append(func, x, out, backward_func, skip_vars_in_backward_input)
    return out
