# python_op: operators whose kernels are Python functions.
from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, overload

from .. import dtypes
from .._core import OpError, ProgramError, ShapeError, printable
from ..errors import shown
from ..layers.emit import at_users_line
from ..python_functions import FUNCTION, called, name_of_function, register
from ..variable import Variable
from .parameters import Input, attribute_of, parameters_of, require_name
from .registry import LayerFunction, layer_of, require_new

GRAD = "@GRAD"
Function = Callable[..., Any]


class Spec(NamedTuple):
    """The shape and the element type of an array. While a program is built, -1 is a dimension that is not known yet."""

    shape: tuple[int, ...]
    dtype: str


Outputs = Sequence[str] | Mapping[str, str | Callable[..., Any]]


@overload
def python_op(function: Function) -> PythonOperator: ...
@overload
def python_op(
    *, outputs: Outputs | None = None, no_gradient: str | None = None, name: str | None = None
) -> Callable[[Function], PythonOperator]: ...
def python_op(
    function: Function | None = None, *, outputs: Outputs | None = None, no_gradient: str | None = None, name: str | None = None
) -> Any:
    """Decorates a Python function, which becomes the kernel of an operator; the result is the operator's layer function.

    Parameters of the function that may be given by position are inputs: read-only NumPy arrays in the memory of the run, so
    a function that keeps one copies it. `xs: list` takes a list of them, `y=None` is an input that may be left out.
    Keyword-only parameters are attributes, of the type of their default or annotation: bool, int, float, str, or a list of
    one of them. The function returns an array for each output: several as a tuple. Its docstring documents the operator.

    The gradient is another function, decorated with `.gradient` of the result: its parameters name those inputs, outputs and
    gradients of outputs (`out_grad`) that it needs, and attributes after `*`; it returns the gradient of each input, or None
    for one that has none, several as a tuple. The operator is complete with its gradient, or with no_gradient.

    The function runs on the CPU, with the GIL. Programs name the operator; a process that reads such a program first imports
    the module that defines it.

    Args:
        function: the kernel; None: the result is the decorator
        outputs: names of the outputs, or a mapping from names: to the name of the input whose shape and element type an
            output has, or to a function of the Spec of each input, and of the attributes as keywords, that returns (shape,
            dtype), where -1 is a dimension that only the result decides. None: "out". Names alone are as the first input
        no_gradient: the reason why there is no gradient
        name: of the operator; None: that of the function
    Raises:
        ProgramError: a name or a parameter does not fit, or an operator of the name exists
    Example:
        >>> @pm.python_op
        ... def cubed(x):
        ...     "out = x * x * x."
        ...     return x * x * x
        >>> @cubed.gradient
        ... def cubed_gradient(x, out_grad):
        ...     return 3 * x * x * out_grad
        >>> y = cubed(pm.layers.data("x", [-1, 2]))
        >>> pm.Executor().run(feed={"x": [[2, 3]]}, fetch_list=[y])[0]
        array([[ 8., 27.]], dtype=float32)
    """

    def decorate(function: Function) -> PythonOperator:
        with at_users_line():
            if not callable(function):
                raise ProgramError(f"{shown(function)} is not a function")
            made = PythonOperator(function, str(name or getattr(function, "__name__", "")), outputs)
            if no_gradient is not None:
                made._register(no_gradient, None)
            return made

    return decorate if function is None else decorate(function)


class PythonOperator:
    """The layer function of an operator whose kernel is a Python function; see pm.python_op.

    function: the kernel. name: of the operator. outputs: as of pm.python_op.
    Example:
        >>> @pm.python_op(outputs={"total": lambda x: ((), x.dtype)}, no_gradient="it counts")
        ... def total_of(x):
        ...     return x.sum()
        >>> total_of(pm.layers.data("x", [-1, 2])).shape
        ()
    """

    def __init__(self, function: Function, name: str, outputs: Outputs | None):
        require_new(name)
        self.__doc__ = function.__doc__
        self.__name__ = self.type = name
        self.function = function
        self._inputs, keywords = parameters_of(function)
        self._attrs = {name: attribute_of(one) for name, one in keywords.items()}
        self._outputs = self._declared(("out",) if outputs is None else outputs)
        self._layer: LayerFunction | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Variable | list[Variable]:
        if self._layer is None:
            with at_users_line():
                raise ProgramError(
                    f"operator '{self.type}' has no gradient yet: decorate its gradient with @{self.type}.gradient, or "
                    f"give @pm.python_op(no_gradient=...) the reason for none"
                )
        return self._layer(*args, **kwargs)

    def gradient(self, function: Function) -> Function:
        """Decorates the function that computes the gradient, and completes the operator; see pm.python_op."""
        with at_users_line():
            self._register(None, function)
        return function

    def _declared(self, outputs: Outputs) -> dict[str, str | Callable[..., Any]]:
        """The rule for each output: an input, or a function."""
        if isinstance(outputs, str) or not outputs:
            raise ProgramError(f"outputs is {shown(outputs)}, it must be names of outputs")
        if not isinstance(outputs, Mapping):
            if not self._inputs:
                raise ProgramError(f"operator '{self.type}' has no inputs: outputs must say its shapes")
            outputs = dict.fromkeys(outputs, next(iter(self._inputs)))
        for out, rule in outputs.items():
            require_name("output", out)
            if not callable(rule) and rule not in self._inputs:
                raise ProgramError(f"output '{printable(out)}' is like {shown(rule)}, which is not an input of '{self.type}'")
            if out in self._inputs or out in self._attrs:
                raise ProgramError(f"'{printable(out)}' is an output and a parameter of '{self.type}'")
        return dict(outputs)

    def _register(self, no_gradient: str | None, gradient: Function | None) -> None:
        if self._layer is not None:
            raise ProgramError(f"operator '{self.type}' is complete already")
        item: dict[str, Any] = {
            "type": self.type,
            "doc": inspect.getdoc(self.function) or f"The Python function {name_of_function(self.function)}.",
            "inputs": [(_port(name), _said(one), one.optional, one.is_list) for name, one in self._inputs.items()],
            "outputs": [(_port(name), self._output_doc(name), False, False) for name in self._outputs],
            "attrs": [(name, one.type, one.default, "a keyword of the function") for name, one in self._attrs.items()],
            "no_gradient": no_gradient,
            "gradient_rule": None,
            "infer": self._infer,
            "run": self._run,
        }
        item["attrs"].append((FUNCTION, dtypes.STRING, name_of_function(self.function), "the Python function"))
        facts = None if gradient is None else self._gradient_facts(gradient, item)
        register(item, facts)
        self._layer = layer_of(self.type, __name__, hidden=(FUNCTION,), several=True)
        self.__doc__, self.__signature__ = self._layer.__doc__, inspect.signature(self._layer)

    def _output_doc(self, name: str) -> str:
        rule = self._outputs[name]
        return "as the outputs of the operator say" if callable(rule) else f"like {_port(rule)}"

    def _gradient_facts(self, function: Function, item: dict[str, Any]) -> dict[str, Any]:
        """The facts about the gradient's operator; adds its ports to those of the operator."""
        takes, attrs = parameters_of(function)  # types of attributes are those of the operator
        known = {name: _port(name) for name in (*self._inputs, *self._outputs)}
        known |= {f"{name}_grad": _port(name) + GRAD for name in self._outputs}
        for name in takes:
            if name not in known:
                raise ProgramError(f"the gradient of '{self.type}' has a parameter '{name}'; it may have {', '.join(known)}")
        for name in attrs:
            if name not in self._attrs:
                raise ProgramError(f"the gradient of '{self.type}' has a keyword '{name}', which is not an attribute of it")
        inputs = [_port(name) for name in self._inputs]
        item["gradient_inputs"] = inputs + [known[name] for name in takes if name not in self._inputs]
        item["gradient_outputs"] = [port + GRAD for port in inputs]
        lists = {name for name, one in self._inputs.items() if one.is_list}

        def run(values: dict[str, list[Any]], given: dict[str, Any], counts: dict[str, int]) -> dict[str, list[Any]]:
            arguments = [_argument(values.get(known[name], []), name in lists) for name in takes]
            made = called(f"the gradient {function.__qualname__}", function, *arguments, **{name: given[name] for name in attrs})
            each = made if len(inputs) > 1 else (made,)
            if not isinstance(each, (tuple, list)) or len(each) != len(inputs):
                raise OpError(f"the gradient returns {_count(each)}, it must return one for each of {len(inputs)} inputs")
            ports = zip(self._inputs, each)
            return {_port(name) + GRAD: _as_list(one, name in lists) for name, one in ports if counts.get(_port(name) + GRAD)}

        return {
            "doc": inspect.getdoc(function) or f"The gradient of {self.type}.",
            "run": run,
            "shape_only": [_port(name) for name in self._inputs if name not in takes],
        }

    def _infer(self, infos: dict[str, list[Any]], given: dict[str, Any], counts: dict[str, int]) -> dict[str, list[Any]]:
        specs = {
            name: _argument([Spec(*info) for info in infos.get(_port(name), [])], one.is_list)
            for name, one in self._inputs.items()
        }
        attrs = {name: given[name] for name in self._attrs}
        made = {}
        for name, rule in self._outputs.items():
            if callable(rule):
                said = called(f"outputs['{name}']", rule, *specs.values(), **attrs)
            else:
                said = specs[rule][0] if self._inputs[rule].is_list else specs[rule]
            made[_port(name)] = [_spec(name, said)]
        return made

    def _run(self, values: dict[str, list[Any]], given: dict[str, Any], counts: dict[str, int]) -> dict[str, list[Any]]:
        arguments = [_argument(values.get(_port(name), []), one.is_list) for name, one in self._inputs.items()]
        attrs = {name: given[name] for name in self._attrs}
        made = called(f"the function {self.function.__qualname__}", self.function, *arguments, **attrs)
        each = made if len(self._outputs) > 1 else (made,)
        if not isinstance(each, (tuple, list)) or len(each) != len(self._outputs):
            raise OpError(f"the function returns {_count(each)}, it must return {len(self._outputs)} arrays")
        return {_port(name): [one] for name, one in zip(self._outputs, each)}


def _port(name: str) -> str:
    return name[:1].upper() + name[1:]


def _said(one: Input) -> str:
    return "any tensors" if one.is_list else "any tensor"


def _argument(values: list[Any], is_list: bool) -> Any:
    return list(values) if is_list else values[0] if values else None


def _as_list(value: Any, is_list: bool) -> list[Any]:
    return list(value) if is_list else [value]


def _count(values: Any) -> str:
    return f"{len(values)} values" if isinstance(values, (tuple, list)) else f"a {type(values).__name__}"


def _dim(one: Any) -> int:
    dim = operator.index(one)
    if isinstance(one, bool) or not -1 <= dim < 1 << 48:
        raise ValueError(f"{shown(one)} is not a dimension")
    return dim


def _spec(output: str, said: Any) -> Spec:
    try:
        shape, dtype = said
        if dtype is None or isinstance(shape, str):
            raise TypeError("it must have both, and a shape is not a string")
        return Spec(tuple(_dim(one) for one in shape), dtypes.dtype_name(dtype))
    except Exception as error:  # a shape may be an object of the user
        raise ShapeError(
            f"outputs['{output}'] gives {shown(said)}, it must give (shape, dtype): {printable(str(error))}"
        ) from None
