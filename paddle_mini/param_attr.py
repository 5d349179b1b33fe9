# ParamAttr: settings of a parameter that a layer creates.
from __future__ import annotations

from typing import Any

from ._core import ProgramError
from .averaging.lengths import is_number
from .errors import shown
from .initializer import Initializer
from .regularizer import require_regularizer
from .renamed import answers_names


@answers_names
class ParamAttr:
    """Facts of a parameter.

    name: its name; a parameter of this name that is there already is shared.
    initializer: gives the first value; None: the layer's default.
    learning_rate: multiplies the optimizer's learning rate.
    regularizer: used instead of the optimizer's.
    trainable: False: the parameter keeps its value.
    do_model_average: whether averaging of parameters takes it; `average` is another name.
    need_clip: whether gradient clipping takes its gradient.
    Example:
        >>> frozen = pm.ParamAttr("embedding", pm.initializer.Normal(scale=0.1), trainable=False)
        >>> words = pm.layers.embedding(pm.layers.data("ids", [-1, 5], "int64"), [100, 8], param_attr=frozen)
        >>> [parameter.name for parameter in pm.default_main_program().all_parameters()]
        ['embedding']
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
        average: bool | None = None,
    ):
        require_initializer("ParamAttr: initializer", initializer)
        require_regularizer("ParamAttr: regularizer", regularizer)
        if not is_number(learning_rate):
            raise ProgramError(f"ParamAttr: learning_rate is {shown(learning_rate)}, it must be a finite number")
        self.name = name
        self.initializer = initializer
        self.learning_rate = float(learning_rate)
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average if average is None else average
        self.need_clip = need_clip

    @staticmethod
    def of(value: Any) -> ParamAttr:
        """A ParamAttr from what layer functions take: None, a name, an initializer, a ParamAttr."""
        if value is None or value is True:
            return ParamAttr()
        if isinstance(value, ParamAttr):
            return value
        if isinstance(value, str):
            return ParamAttr(name=value)
        if isinstance(value, Initializer):
            return ParamAttr(initializer=value)
        what = repr(value) if isinstance(value, (bool, int, float)) else type(value).__name__
        raise ProgramError(
            f"{what} does not describe a parameter; give a ParamAttr, a name or an initializer, "
            "such as NumpyArrayInitializer(array)"
        )


def require_initializer(what: str, value: Any) -> None:
    """ProgramError, which begins with `what`, unless it is None or a function of a variable and a block."""
    if value is not None and (not callable(value) or isinstance(value, type)):
        raise ProgramError(
            f"{what} is {shown(value)}, it must be an Initializer, such as "
            "initializer.NumpyArrayInitializer(array) or initializer.Constant(0.5)"
        )
