# Values that JSON has no form for.
from __future__ import annotations

import math
from typing import Any

_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def json_value(value: Any) -> Any:
    """The value with NaN and infinities as the strings "NaN", "Infinity" and "-Infinity", which float() of Python and Number()
    of JavaScript convert, and with bytes and complex numbers as text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else _NOT_FINITE[repr(value)]
    if isinstance(value, dict):
        return {name: json_value(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    return value if value is None or isinstance(value, (str, int)) else str(value)
