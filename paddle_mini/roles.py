# What an operator is for (op_role) and where it runs (op_device), as guards state it.
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Dict, Iterator, Optional, Sequence

from ._core import ProgramError

# op_role
FORWARD, BACKWARD, OPTIMIZE, RPC, DIST, LR_SCHEDULE, LOSS = 0, 1, 2, 4, 8, 16, 256

_role = FORWARD
_role_var: Sequence[str] = ()
_device = ""


def current() -> Dict[str, Any]:
    """The attributes that an operator appended now gets."""
    attrs: Dict[str, Any] = {"op_role": _role}
    if _role_var:
        attrs["op_role_var"] = list(_role_var)
    if _device:
        attrs["op_device"] = _device
    return attrs


def device() -> str:
    """The device of operators appended now; "": the place of the executor."""
    return _device


@contextmanager
def op_role_guard(role: int, role_var: Sequence[Any] = ()) -> Iterator[None]:
    """Operators appended inside have this op_role, and serve these variables (parameter,
    gradient, parameter, gradient, …)."""
    global _role, _role_var
    before = _role, _role_var
    _role, _role_var = role, [getattr(var, "name", var) for var in role_var]
    try:
        yield
    finally:
        _role, _role_var = before


@contextmanager
def device_guard(device: Optional[str] = None) -> Iterator[None]:
    """Operators appended inside run on this device: "cpu", "gpu", "gpu:1", "emulated:0"; None: on the place of
    the executor. It is the operator's attribute op_device."""
    global _device
    name = "" if device is None else device
    kind, _, index = name.partition(":")
    if kind not in ("", "cpu", "gpu", "emulated") or (index and (kind == "cpu" or not index.isdigit())):
        raise ProgramError(f"device_guard({device!r}): the device is 'cpu', 'gpu', 'gpu:N' or 'emulated:N'")
    before, _device = _device, name
    try:
        yield
    finally:
        _device = before
