# emit: the functions with which all layers append operators and parameters to a program.
from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from .. import callsite, dtypes, initializer, unique_name
from .._core import Error, ProgramError, ShapeError, printable
from ..arithmetic import IDENTITY, is_truth
from ..block import Block
from ..errors import near, same_letters
from ..guards import default_main_program, default_startup_program
from ..param_attr import ParamAttr, require_initializer
from ..schemas import GENERIC, attr_types, op_schema, op_types
from ..variable import Parameter, Variable

Output = Variable | list[Variable]

_MOST_OUTPUTS = 10**5  # an operator with more would take minutes, and all memory


def refuse(kind: type[Error], message: str) -> NoReturn:
    """Raises an error that ends at the user's line."""
    raise kind(message + callsite.added_at(callsite.user_callstack()))


@contextmanager
def at_users_line() -> Iterator[None]:
    """Errors inside end at the user's line."""
    try:
        yield
    except Error as error:
        if "\n  added at " in str(error):
            raise
        raise type(error)(str(error) + callsite.added_at(callsite.user_callstack())) from error.__cause__


def require_variable(layer: str, x: Variable) -> None:
    if not isinstance(x, Variable):
        refuse(ProgramError, f"{layer}: the input is {_kind(x)}, it must be a Variable{_identity(x)}")


def require_number(layer: str, argument: str, value: Any, dtype: str) -> None:
    """Refuses True and False as a number, unless it is for bool elements."""
    if is_truth(value) and dtype != "bool":
        refuse(ProgramError, f"{layer}: {argument} is {value}, it must be a Variable or a number{_identity(value)}")


def require_float(layer: str, x: Variable) -> None:
    require_variable(layer, x)
    if not dtypes.is_float(x.dtype):
        refuse(ShapeError, f"{layer}: '{printable(x.name)}' is {x.dtype}, it must be float: cast it")


def whole(layer: str, argument: str, value: Any, low: int = 1) -> int:
    """The value as an int; ProgramError unless it is an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < low:
        refuse(ProgramError, f"{layer}: {argument} is {_kind(value)}, it must be an integer, at least {low}")
    return int(value)


def layer_name(kind: str, name: str | None = None) -> str:
    """The prefix of the variables of one call of a layer function: fc_0, or the given name."""
    if name is not None and not isinstance(name, str):
        refuse(ProgramError, f"{kind}: name is {_kind(name)}, it must be a string")
    return name if name else unique_name.generate(kind)


def block() -> Block:
    return default_main_program().current_block()


def emit(
    op_type: str,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
    name: str | None = None,
    outputs: Mapping[str, Any] | None = None,
) -> Variable:
    """Appends an operator; returns the variable of its first output port. See emit_all."""
    made = emit_all(op_type, inputs, attrs, name, outputs)
    first = made[op_schema(op_type)["outputs"][0]["name"]]
    return first[0] if isinstance(first, list) else first


def emit_all(
    op_type: str,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
    name: str | None = None,
    outputs: Mapping[str, Any] | None = None,
) -> dict[str, Output]:
    """Appends an operator; returns the variables at its output ports.

    Every output port that is not optional gets a new variable, called `<name>.tmp_<n>`, unless
    `outputs` says otherwise: a variable to write, or a number of new ones (for an optional port,
    and for a port that takes a list).
    """
    schema = schema_of(op_type)
    name = layer_name(op_type, name)
    _check_attrs(op_type, attrs or {})
    lists = {port["name"] for ports in ("inputs", "outputs") for port in schema[ports] if port["list"]}
    for port, value in inputs.items():
        if port in lists and not isinstance(value, (list, tuple)):
            refuse(ProgramError, f"{op_type}: {port} is {_kind(value)}, it must be a list of Variables")
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None and not isinstance(item, Variable):
                refuse(ProgramError, f"{op_type}: {port} is {_kind(item)}, it must be a Variable{_identity(item)}")
    bound = dict(outputs or {})
    for port in schema["outputs"]:
        if not port["optional"]:
            bound.setdefault(port["name"], 1)
    names: dict[str, list[str]] = {}
    for port_name, value in bound.items():
        if isinstance(value, int):
            if value > _MOST_OUTPUTS:
                refuse(
                    ProgramError, f"{op_type}: {value} is too many variables at {port_name}, there are at most {_MOST_OUTPUTS}"
                )
            names[port_name] = [default_main_program().new_name(f"{name}.tmp") for _ in range(value)]
        else:
            names[port_name] = [item.name for item in (value if isinstance(value, (list, tuple)) else [value])]
    here = block()
    here.append_op(op_type, inputs, names, attrs)
    return {
        port_name: [here.var(item) for item in made] if port_name in lists else here.var(made[0])
        for port_name, made in names.items()
    }


def emit_ports(
    op_type: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any] | None, name: str | None, *ports: str
) -> list[Variable]:
    """As emit_all(); new variables at these output ports, in their order."""
    made = emit_all(op_type, inputs, attrs, name, dict.fromkeys(ports, 1))
    return [one for port in ports if isinstance(one := made[port], Variable)]


def schema_of(op_type: str) -> dict[str, Any]:
    with at_users_line():
        return op_schema(op_type)


def create_parameter(
    shape: Sequence[int],
    dtype: str,
    attr: Any,
    name: str,
    default_initializer: initializer.Initializer | None = None,
    bias: bool = False,
) -> Parameter:
    """A parameter in the main program, and the operator that initializes it in the startup program.

    `attr` is what layer functions take as param_attr; `name` is the layer's: the parameter is
    `<name>.w_<n>`, or `<name>.b_<n>` for a bias. A parameter that is there already is shared.
    """
    with at_users_line():
        return _create_parameter(shape, dtype, ParamAttr.of(attr), name, default_initializer, bias)


def _create_parameter(
    shape: Sequence[int], dtype: str, attr: ParamAttr, name: str, default_initializer: initializer.Initializer | None, bias: bool
) -> Parameter:
    parameter_name = attr.name or unique_name.generate(f"{name}.{'b' if bias else 'w'}")
    dims = dtypes.shape_list(shape)
    main = default_main_program().global_block()
    startup = default_startup_program().global_block()
    existing = main.vars.get(parameter_name)
    if existing is not None:
        _require_same(existing, dims, dtype)
        return existing  # type: ignore[return-value]
    if startup is main:
        raise ProgramError(
            f"parameter '{printable(parameter_name)}': the main program is also the startup program, so that each run would set "
            "it again; give program_guard two programs"
        )
    require_initializer("default_initializer", default_initializer)
    facts = {
        "trainable": attr.trainable,
        "learning_rate": attr.learning_rate,
        "regularizer": attr.regularizer,
        "do_model_average": attr.do_model_average,
        "need_clip": attr.need_clip,
    }
    parameter = main.create_parameter(parameter_name, dims, dtype, **facts)
    # Two main programs with one startup program share the parameter and its initial value.
    if parameter_name in startup.vars:
        _require_same(startup.vars[parameter_name], dims, dtype)
        return parameter
    initialize = attr.initializer or default_initializer
    if initialize is None:
        initialize = initializer.Constant(0.0) if bias else initializer.Xavier()
    initialize(startup.create_parameter(parameter_name, dims, dtype, **facts), startup)
    return parameter


def create_state(name: str, shape: Sequence[int], dtype: str, value: float) -> Variable:
    """A persistable variable that no optimizer changes; the startup program sets it to `value`."""
    main = default_main_program().global_block()
    startup = default_startup_program().global_block()
    facts: dict[str, Any] = {"shape": shape, "dtype": dtype, "persistable": True, "stop_gradient": True}
    with at_users_line():
        if name not in startup.vars:
            initializer.Constant(value)(startup.create_var(name, **facts), startup)
        return main.create_var(name, **facts)


def activation(op_type: str | None, x: Variable, name: str) -> Variable:
    """`op_type` applied to x, or x itself when it is None."""
    if op_type is None:
        return x
    if not isinstance(op_type, str):
        known = getattr(op_type, "__name__", "relu")
        refuse(ProgramError, f"act is {'a function' if callable(op_type) else _kind(op_type)}, give its name '{known}'")
    if op_type.lower() in ("linear", "identity", "none", ""):
        refuse(ProgramError, f"act is '{op_type}': leave act out for values as they are")
    meant = op_type if op_type in op_types() else same_letters(op_type, op_types())
    if meant not in (None, op_type):
        refuse(ProgramError, f"operator '{printable(op_type)}' is not known; did you mean '{meant}'?")
    schema = schema_of(op_type)
    if len([port for port in schema["inputs"] if not port["optional"]]) != 1:
        refuse(ProgramError, f"act='{op_type}': that operator does not take one input")
    return emit(op_type, {schema["inputs"][0]["name"]: x}, name=name)


def add_bias(x: Variable, attr: Any, size: int, axis: int, name: str) -> Variable:
    """x plus a bias of `size` elements along `axis`; x itself when attr is False."""
    if attr is False:
        return x
    bias = create_parameter([size], x.dtype, attr, name, bias=True)
    return emit("elementwise_add", {"X": x, "Y": bias}, {"axis": axis}, name=name)


def known_dim(x: Variable, axis: int, layer: str) -> int:
    """x.shape[axis]; ShapeError if the axis does not exist or the dimension is not known."""
    if isinstance(axis, bool) or not isinstance(axis, numbers.Integral):
        refuse(ProgramError, f"{layer}: an axis is {_kind(axis)}, it must be an integer")
    if not -len(x.shape) <= axis < len(x.shape):
        refuse(ShapeError, f"{layer}: '{printable(x.name)}' has shape {list(x.shape)}, which has no axis {axis}")
    if x.shape[axis] < 0:
        refuse(ShapeError, f"{layer}: dimension {axis} of '{printable(x.name)}' {list(x.shape)} must be known")
    return x.shape[axis]


def from_front(x: Any, axis: Any, added: int = 0) -> Any:
    """A negative axis, or each of several, counted from the first axis, as PaddlePaddle's own layers write it and some of
    its kernels need it. added: how many axes the result has more than x.

    Unchanged if the rank of x is not known, or the axis does not exist, which the operator's validation then reports.
    """
    if isinstance(axis, (list, tuple, np.ndarray)):
        return [from_front(x, one, added) for one in axis]
    rank = len(x.shape) + added if isinstance(x, Variable) and x.shape_known else 0
    return axis + rank if isinstance(axis, numbers.Integral) and -rank <= int(axis) < 0 else axis


def _check_attrs(op_type: str, attrs: Mapping[str, Any]) -> None:
    types = attr_types(op_type)
    for attr in attrs:
        if attr not in types:
            own = [known for known in types if known not in GENERIC]
            refuse(ProgramError, f"{op_type} has no attribute '{attr}'{near(attr, own)}")


def _require_same(existing: Variable, dims: list[int], dtype: str) -> None:
    if list(existing.shape) != dims or existing.dtype != dtype or not existing.persistable:
        refuse(
            ShapeError,
            f"parameter '{printable(existing.name)}' is there already as {list(existing.shape)} "
            f"{existing.dtype}; {dims} {dtype} cannot share it",
        )


def _identity(value: Any) -> str:
    return f"; {IDENTITY}" if is_truth(value) else ""


def _kind(value: Any) -> str:
    return (
        printable(repr(value), 60) if isinstance(value, (str, int, float, bool, np.bool_)) else f"of type {type(value).__name__}"
    )
