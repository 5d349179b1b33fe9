# Variable and Parameter: the declarations of a program's variables.
from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from . import arithmetic, dtypes, indexing, numpy_calls
from ._core import ProgramError, check_variable_name, type_name
from .arguments import flag
from .errors import shown
from .renamed import answers_names
from .transaction import before_setting, on_undo

if TYPE_CHECKING:
    from .block import Block

Dtype = str | int  # a number if it is not an element type


@partial(answers_names, fixed=("block", "name"))
class Variable:
    """A name in a block with its dtype and shape; -1 is a dimension that is known only at a run.

    `+ - * / // % ** @`, `< <= > >=`, unary minus and x[...] append operators to the block that is being
    built; `==` asks whether two are the same variable, layers.equal whether their elements are equal.
    block, name, dtype, shape: its block, its name, its element type such as "float32", and its dimensions. kind: the type of
    the value in the file format, 7 for a tensor. lod_level: levels of sequences in its rows. persistable: whether its value
    outlives a run. need_check_feed: whether it is data. stop_gradient: whether append_backward stops here. Layer functions and
    Block.create_var make variables.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = (x[:, :4] * 2.0 + 1.0) / pm.layers.reduce_sum(x)
        >>> y.shape, y.dtype
        ((-1, 4), 'float32')
    """

    block: Block
    name: str
    kind: int
    lod_level: int
    need_check_feed: bool
    row_count: int
    shape_known: bool
    _dtype: Dtype
    _shape: tuple[int, ...]
    _persistable: bool
    _stop_gradient: bool | None
    _is_parameter: bool | None
    _other: dict[str, Any]  # other facts of the file format
    do_model_average = True  # as parameters have it; an operator may update another variable as if it were one

    def __init__(
        self,
        block: Block,
        name: str,
        dtype: Any = "float32",
        shape: Any = None,
        kind: int = dtypes.TENSOR,
        lod_level: int = 0,
        persistable: bool = False,
        need_check_feed: bool = False,
        stop_gradient: bool | None = False,
    ):
        check_variable_name(name)
        vars(self).update(  # in one step: programs have many variables
            block=block,
            name=name,
            kind=kind,
            lod_level=lod_level,
            need_check_feed=need_check_feed,
            row_count=-1,
            shape_known=shape is not None,
            _dtype=dtype,
            _shape=tuple(shape or ()),
            _persistable=persistable,
            _stop_gradient=stop_gradient,
            _is_parameter=False,
            _other={},
        )

    @property
    def dtype(self) -> Any:
        """Name of the element type: "float32"."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions; -1 where not known. Of selected rows: the whole table's."""
        return self._shape

    @property
    def persistable(self) -> bool:
        """Whether the value outlives a run, in the scope."""
        return self._persistable

    @persistable.setter
    def persistable(self, value: bool) -> None:
        before_setting(vars(self), "_persistable")
        self._persistable = flag("persistable", value)
        self.block.program.changed()

    @property
    def stop_gradient(self) -> bool:
        """Whether append_backward stops here: neither this variable nor what is before it gets a
        gradient."""
        return bool(self._stop_gradient)

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        before_setting(vars(self), "_stop_gradient")
        self._stop_gradient = flag("stop_gradient", value)
        self.block.program.changed()

    def info(self) -> dict[str, Any]:
        """Kind, dtype and shape, as `infer` reads them."""
        info = {"kind": self.kind, "dtype": self._dtype, "shape": list(self._shape), "lod_level": self.lod_level}
        if self.kind == dtypes.SELECTED_ROWS:
            info["row_count"] = self.row_count
        return info

    def set_info(self, info: dict[str, Any]) -> None:
        """Sets the facts that `infer` found."""
        on_undo(partial(vars(self).update, dict(vars(self))))
        self._take_info(info)
        self.block.program.changed()

    @staticmethod
    def from_info(block: Block, name: str, info: dict[str, Any]) -> Variable:
        """A variable that `infer` found, which is not in the block yet."""
        var = Variable(block, name)
        var._take_info(info)
        return var

    def _take_info(self, info: dict[str, Any]) -> None:
        vars(self).update(
            kind=info["kind"],
            _dtype=info["dtype"],
            _shape=tuple(info["shape"]),
            lod_level=info.get("lod_level", 0),
            row_count=info.get("row_count", -1),
            shape_known=True,
        )

    def describe(self) -> dict[str, Any]:
        """The variable as the bindings read it: a dict."""
        return {
            **self._other,
            "name": self.name,
            "kind": self.kind,
            "dtype": self._dtype,
            "shape": list(self._shape),
            "lod_level": self.lod_level,
            "persistable": self._persistable,
            "need_check_feed": self.need_check_feed,
            "is_parameter": self._is_parameter,
            "stop_gradient": self._stop_gradient,
        }

    @staticmethod
    def from_description(block: Block, description: dict[str, Any]) -> Variable:
        """The Variable or Parameter of a dict that describe() has returned."""
        other = dict(description)
        kind = Parameter if other.get("is_parameter") else Variable
        var = kind.__new__(kind)
        Variable.__init__(
            var,
            block,
            other.pop("name"),
            dtype=other.pop("dtype"),
            shape=other.pop("shape"),
            kind=other.pop("kind"),
            lod_level=other.pop("lod_level"),
            persistable=other.pop("persistable"),
            need_check_feed=other.pop("need_check_feed"),
            stop_gradient=other.pop("stop_gradient"),
        )
        var._is_parameter = other.pop("is_parameter")
        var._other = other
        if isinstance(var, Parameter):
            var.set_training()
        return var

    def __str__(self) -> str:
        dims = ", ".join(map(str, self._shape))
        rows = " rows" if self.kind == dtypes.SELECTED_ROWS else ""
        dtype = self._dtype if isinstance(self._dtype, str) else type_name(self._dtype)
        return f"{self.name} {dtype}[{dims}]{rows}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    __add__ = arithmetic.add
    __radd__ = arithmetic.add
    __sub__ = arithmetic.subtract
    __rsub__ = arithmetic.subtract_from
    __mul__ = arithmetic.multiply
    __rmul__ = arithmetic.multiply
    __truediv__ = arithmetic.divide
    __rtruediv__ = arithmetic.divide_into
    __floordiv__ = arithmetic.floor_divide
    __rfloordiv__ = arithmetic.floor_divide_into
    __mod__ = arithmetic.remainder
    __rmod__ = arithmetic.remainder_of
    __pow__ = arithmetic.power
    __rpow__ = arithmetic.power_of
    __matmul__ = arithmetic.matrix_multiply
    __neg__ = arithmetic.negate
    __lt__ = arithmetic.less_than
    __le__ = arithmetic.less_equal
    __gt__ = arithmetic.greater_than
    __ge__ = arithmetic.greater_equal
    __getitem__ = indexing.item
    __bool__ = arithmetic.truth
    __float__ = arithmetic.as_number
    __int__ = arithmetic.as_number
    __len__ = arithmetic.length
    __array__ = arithmetic.as_array
    __array_ufunc__ = numpy_calls.ufunc
    __array_function__ = numpy_calls.function
    __abs__ = arithmetic.advises("abs(x)", "layers.abs(x)")
    __invert__ = arithmetic.advises("~x", "layers.logical_not(x), or layers.bitwise_not(x) of integers")
    __and__ = arithmetic.advises("x & y", "layers.logical_and(x, y), or layers.bitwise_and(x, y) of integers")
    __or__ = arithmetic.advises("x | y", "layers.logical_or(x, y), or layers.bitwise_or(x, y) of integers")
    __xor__ = arithmetic.advises("x ^ y", "layers.logical_xor(x, y), or layers.bitwise_xor(x, y) of integers")
    __setitem__ = arithmetic.advises("x[...] = value", "layers.where(condition, value, x), or layers.scatter(x, index, updates)")
    __iter__ = None  # else Python would iterate over x[0], x[1], … forever


def name_of(var: Variable | str) -> str:
    """The name of a variable, or the name itself."""
    return var.name if isinstance(var, Variable) else var


def names_of(items: Variable | str | Iterable[Variable | str], what: str) -> list[str]:
    """The names of one or several; ProgramError that begins with `what` for anything else."""
    if not isinstance(items, (str, Variable)) and (not isinstance(items, Iterable) or getattr(items, "ndim", 1) == 0):
        raise ProgramError(f"{what} is {shown(items)}, it must hold variables or their names")
    listed = [items] if isinstance(items, (str, Variable)) else list(items)
    for item in listed:
        if not isinstance(item, (str, Variable)):
            hint = "; another rate for some parameters: ParamAttr(learning_rate=factor)" if isinstance(item, Mapping) else ""
            raise ProgramError(f"{what} has {shown(item)}, it must hold variables or their names{hint}")
    return [name_of(item) for item in listed]


class Parameter(Variable):
    """A persistable variable that training changes.

    What the file format has no field for (learning_rate, regularizer, do_model_average, need_clip)
    lives in Python only.
    block, name, dtype, shape: as of Variable; all dimensions are known. trainable: whether optimizers change it.
    Example:
        >>> y = pm.layers.fc(pm.layers.data("x", [-1, 8]), 4, bias_attr=False)
        >>> weight, = pm.default_main_program().all_parameters()
        >>> weight.trainable = False
        >>> weight.shape, weight.persistable
        ((8, 4), True)
    """

    rounded: Parameter | None = None  # the 16-bit parameter whose float32 master this is

    def __init__(self, block: Block, name: str, dtype: str, shape: Any, trainable: bool = True, **training: Any):
        super().__init__(block, name, dtype=dtype, shape=shape, persistable=True, stop_gradient=not trainable)
        self._is_parameter = True
        self.set_training(**training)

    def set_training(
        self, learning_rate: float = 1.0, regularizer: Any = None, do_model_average: bool = True, need_clip: bool = True
    ) -> None:
        """learning_rate multiplies the optimizer's; regularizer is used instead of the optimizer's;
        do_model_average and need_clip: whether averaging and clipping include this parameter."""
        before_setting(vars(self), "learning_rate", "regularizer", "do_model_average", "need_clip")
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    def set_rounded(self, rounded: Parameter) -> None:
        """This is the float32 master of a 16-bit parameter, which operators read in its place."""
        before_setting(vars(self), "rounded")
        self.rounded = rounded

    def copy_training(self, other: Parameter) -> None:
        """Takes over from another parameter what the file format has no field for."""
        self.set_training(other.learning_rate, other.regularizer, other.do_model_average, other.need_clip)
        rounded = None if other.rounded is None else self.block.vars.get(other.rounded.name)
        if isinstance(rounded, Parameter):
            self.set_rounded(rounded)

    @property
    def trainable(self) -> bool:
        """Whether optimizers change it; may be set."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not flag("trainable", value)
