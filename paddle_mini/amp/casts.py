# insert_casts: rewrites the operators of a program so that its products are computed in 16 bits.
#
# Each operator is of one of three kinds (lists.py): products are computed in 16 bits, losses, sums and norms in float32, and
# the others in the type of what they read, so that a chain of them has no casts inside. Micikevicius et al., "Mixed Precision
# Training", ICLR 2018.
from __future__ import annotations

from collections.abc import Iterator

from .. import dtypes, roles
from .._core import ProgramError
from ..backward_blocks import runs_block
from ..block import Block
from ..callsite import place_of
from ..errors import shown
from ..operator import EMPTY_NAME, Operator
from ..variable import Variable
from .lists import AutoMixedPrecisionLists, has_16_bits

# Ports whose variables stay float32 while the operator's X is of 16 bits.
STATISTICS = {
    "batch_norm": {"Scale", "Bias", "Mean", "Variance"},
    "sync_batch_norm": {"Scale", "Bias", "Mean", "Variance"},
    "layer_norm": {"Scale", "Bias"},
    "group_norm": {"Scale", "Bias"},
    "instance_norm": {"Scale", "Bias"},
}

# Operators that give probabilities. These are of 16 bits where only products read them, which round what they read anyway:
# in attention, and beside a loss. For metrics and users they are float32.
PROBABILITIES = {"softmax": "Out", "softmax_with_cross_entropy": "Softmax"}

# Attributes of operators in 16 bits. A loss is a sum of many numbers: it stays float32.
NARROW_ATTRS = {"softmax_with_cross_entropy": {"float32_loss": True}}


def insert_casts(loss: Variable, dtype: str, lists: AutoMixedPrecisionLists) -> None:
    """Rewrites the block of the loss: operators read and write variables of `dtype` where the lists say so, with casts between
    them. Parameters, the loss and what loops and branches name stay float32. Runs before backward.

    ProgramError if the block has operators of backward already.
    """
    block = loss.block
    require_no_backward(block)
    _Casts(block, dtype, lists, {loss.name, *named_by_blocks(block)}).run()


def require_no_backward(block: Block) -> None:
    """ProgramError if the block has gradients."""
    late = next((op for op in block.ops if op.attr("op_role", 0) & (roles.BACKWARD | roles.OPTIMIZE)), None)
    if late is not None:
        raise ProgramError(
            f"mixed precision casts before gradients exist, but the program has {shown(late.type)}{_at(late)}; "
            "call minimize once, on the program without gradients"
        )


class _Casts:
    def __init__(self, block: Block, dtype: str, lists: AutoMixedPrecisionLists, wide: set[str]):
        self.block, self.dtype, self.lists = block, dtype, lists
        self.wide = wide  # variables that stay float32
        self.copies: dict[tuple[str, str], str] = {}  # the cast variable of a variable and a type
        self.written = {name for name, var in block.vars.items() if var.need_check_feed}
        self.readers: dict[str, list[Operator]] = {}
        for op in block.ops:
            for name in op.input_names:
                self.readers.setdefault(name, []).append(op)
        self.constants: set[str] = set()  # variables that neither parameters nor feeds change, such as the mask of attention

    def run(self) -> None:
        for op in list(self.block.ops):
            if op.attr("op_role", 0) & roles.LR_SCHEDULE == 0:
                narrow = self._is_narrow(op)
                if narrow or any(self.block.var(name).dtype == self.dtype for name in op.input_names):
                    self._retype(op, self.dtype if narrow else "float32")
            written = set(op.output_names)
            self.copies = {key: copy for key, copy in self.copies.items() if key[0] not in written}
            if self.constants.issuperset(op.input_names):
                self.constants |= written - self.written
            else:
                self.constants -= written
            self.written |= written

    def _is_narrow(self, op: Operator) -> bool:
        """Whether the operator is computed in 16 bits."""
        lists, statistics = self.lists, STATISTICS.get(op.type, set())
        if op.type in lists.black or not lists.black_variables.isdisjoint(op.input_names + op.output_names):
            return False
        written = [name for port, names in op.outputs.items() for name in names if name != EMPTY_NAME]
        kept = {name for port in statistics for name in op.input(port)}
        if any(name in self.wide or (self.block.var(name).persistable and name not in kept) for name in written):
            return False
        if op.type in lists.white:
            return self._floats(op, statistics) != []
        types = {self.block.var(name).dtype for name in self._floats(op, statistics) if self._decides(name)}
        is_first = self.written.isdisjoint({*written} - kept)  # a variable that is data, or written already, keeps its type
        if types != {self.dtype} or op.type == "cast" or not has_16_bits(op.type) or not is_first:
            return False
        return op.type not in PROBABILITIES or self._only_products_read(op, PROBABILITIES[op.type])

    def _only_products_read(self, op: Operator, port: str) -> bool:
        """Whether all that read this output are products, perhaps after dropout; a softmax that nothing reads is a result."""
        readers = self.readers.get(op.output(port)[0], [])
        return (op.type != "softmax" or readers != []) and all(
            reader.type in self.lists.white or (reader.type == "dropout" and self._only_products_read(reader, "Out"))
            for reader in readers
        )

    def _decides(self, name: str) -> bool:
        """Whether an operator follows the type of this input: not that of parameters, nor of constants, but for those that
        float16 may not hold, such as the -1e9 of a mask."""
        return not self.block.var(name).persistable and (name not in self.constants or self.dtype == "float16")

    def _floats(self, op: Operator, statistics: set[str]) -> list[str]:
        """The inputs that are float32 or of 16 bits, but for statistics."""
        names = [name for port, names in op.inputs.items() if port not in statistics for name in names if name != EMPTY_NAME]
        return [name for name in names if self._is_dense(name) and self.block.var(name).dtype in ("float32", self.dtype)]

    def _is_dense(self, name: str) -> bool:
        return self.block.var(name).kind == dtypes.TENSOR

    def _retype(self, op: Operator, dtype: str) -> None:
        """Inserts the casts of its inputs to `dtype`, and appends the operator again, which gives its outputs their types."""
        inputs = {}
        for port, names in op.inputs.items():
            keeps = port in STATISTICS.get(op.type, ())
            inputs[port] = [name if keeps or name == EMPTY_NAME else self._cast(name, dtype, op) for name in names]
        at = op.index
        self.block.remove_op(at)
        attrs = op.attrs | NARROW_ATTRS.get(op.type, {}) if dtype == self.dtype else op.attrs
        self.block.insert_op(at, op.type, inputs, op.outputs, attrs)

    def _cast(self, name: str, dtype: str, reader: Operator) -> str:
        """The variable, or a copy of it in `dtype`, made before `reader` if there is none yet."""
        var = self.block.var(name)
        if not self._is_dense(name) or var.dtype not in ("float32", self.dtype) or var.dtype == dtype:
            return name
        if (name, dtype) not in self.copies:
            copy = self.block.program.new_name(f"{name}.cast_{dtype}")
            self.block.insert_op(
                reader.index,
                "cast",
                {"X": name},
                {"Out": copy},
                {
                    "in_dtype": dtypes.NUMBERS[var.dtype],
                    "out_dtype": dtypes.NUMBERS[dtype],
                    "op_role": reader.attr("op_role", 0),
                    "op_device": reader.attr("op_device", ""),
                    "op_callstack": reader.callstack,
                },
            )
            self.block.var(copy).stop_gradient = var.stop_gradient
            self.copies[name, dtype] = copy
        return self.copies[name, dtype]


def named_by_blocks(block: Block) -> Iterator[str]:
    """The variables that loops and branches of a block name, inside too."""
    for op in block.ops:
        if runs_block(op):
            yield from op.input_names + op.output_names
    for inner in block.program.blocks:
        if inner is not block:
            for op in inner.ops:
                yield from op.input_names + op.output_names


def _at(op: Operator) -> str:
    place = place_of(op.callstack)
    return f" at {place}" if place else ""
