# Guards that set the role (op_role) and the device (op_device) of operators.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._core import ProgramError
from .errors import shown
from .thread_state import state

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
    gradient, parameter, gradient, …)."""
    now = state()
    before = now.role, now.role_var
    now.role, now.role_var = role, [getattr(var, "name", var) for var in role_var]
    try:
        yield
    finally:
        now.role, now.role_var = before


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Operators appended inside run on this device: "cpu", "gpu", "gpu:1", "emulated:0"; None: on the place of
    the executor. It is the operator's attribute op_device."""
    name = "" if device is None else device
    kind, _, index = name.partition(":")
    if kind not in ("", "cpu", "gpu", "emulated") or (index and (kind == "cpu" or not index.isdigit())):
        raise ProgramError(f"device_guard({shown(device)}): the device is 'cpu', 'gpu', 'gpu:N' or 'emulated:N'")
    now = state()
    before, now.device = now.device, name
    try:
        yield
    finally:
        now.device = before
