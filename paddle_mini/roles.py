# Guards that set the role (op_role) and the device (op_device) of operators.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._core import ProgramError
from .errors import shown
from .thread_state import setting, state

# op_role
FORWARD, BACKWARD, OPTIMIZE, RPC, DIST, LR_SCHEDULE, LOSS = 0, 1, 2, 4, 8, 16, 256


def current() -> dict[str, Any]:
    """The attributes that an operator appended now gets."""
    now = state()
    attrs: dict[str, Any] = {"op_role": now.role}
    if now.role_var:
        attrs["op_role_var"] = list(now.role_var)
    if now.device:
        attrs["op_device"] = now.device
    return attrs


def device() -> str:
    """The device of operators appended now; "": the place of the executor."""
    return state().device


@contextmanager
def op_role_guard(role: int, role_var: Sequence[Any] = ()) -> Iterator[None]:
    """Operators appended inside have this op_role, and serve these variables (parameter,
    gradient, parameter, gradient, …).

    role: 0 forward, 1 backward, 2 optimizer, 16 learning-rate schedule, 256 loss.
    role_var: these variables, or their names.
    Example:
        >>> with pm.op_role_guard(2):
        ...     counter = pm.layers.increment(pm.layers.create_global_var([1], 0.0))
        >>> pm.default_main_program().global_block().ops[0].attr("op_role")
        2
    """
    if isinstance(role, bool) or not isinstance(role, int):
        raise ProgramError(f"op_role_guard: role is {shown(role)}, it must be an integer")
    names: list[Any] = [getattr(var, "name", var) for var in role_var] if isinstance(role_var, (list, tuple)) else [role_var]
    if not all(isinstance(name, str) for name in names) or isinstance(role_var, str):
        raise ProgramError(f"op_role_guard: role_var is {shown(role_var)}, it must be a list of variables or their names")
    with setting(role=role, role_var=names):
        yield


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Operators appended inside run on this device: "cpu", "gpu", "gpu:1", "emulated:0"; None: on the place of
    the executor. It is the operator's attribute op_device.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> with pm.device_guard("cpu"):
        ...     y = pm.layers.relu(x)
        >>> pm.default_main_program().global_block().ops[0].attr("op_device")
        'cpu'
    """
    name = "" if device is None else device
    if not isinstance(name, str):
        raise ProgramError(f"device_guard: device is {shown(device)}, it must be a string or None")
    kind, _, index = name.partition(":")
    if kind not in ("", "cpu", "gpu", "emulated") or (index and (kind == "cpu" or not index.isdigit())):
        raise ProgramError(f"device_guard({shown(device)}): the device is 'cpu', 'gpu', 'gpu:N' or 'emulated:N'")
    with setting(device=name):
        yield
