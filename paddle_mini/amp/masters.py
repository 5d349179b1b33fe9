# make_masters: the parameters of a program in 16 bits, each beside its master, which is float32 and which training changes.
from __future__ import annotations

from collections.abc import Iterator

from .. import dtypes
from .._core import ProgramError, printable
from ..guards import default_startup_program
from ..operator import Operator
from ..optimizer.pairs import Pairs
from ..program import Program
from ..roles import BACKWARD, OPTIMIZE, op_role_guard
from ..variable import Parameter, Variable
from .casts import STATISTICS, named_by_blocks
from .lists import AutoMixedPrecisionLists, has_16_bits

Masters = dict[str, Parameter]


def make_masters(loss: Variable, dtype: str, lists: AutoMixedPrecisionLists) -> Masters:
    """Gives `dtype` to the trainable float32 parameters that only operators with 16-bit forms read, and makes a master for each;
    the startup program initializes the master and rounds it. Runs before insert_casts.

    Returns the masters by the parameter's name. ProgramError if the startup program does not initialize a parameter.
    """
    block, startup = loss.block, default_startup_program()
    read_otherwise = {loss.name, *lists.black_variables, *named_by_blocks(block), *_read_wide(block.ops, lists)}
    read = {name for op in block.ops for name in op.input_names}
    chosen = [
        parameter
        for parameter in block.program.all_parameters()
        if parameter.trainable
        and parameter.dtype == "float32"
        and parameter.kind == dtypes.TENSOR
        and parameter.name in read - read_otherwise
    ]
    missing = next((parameter.name for parameter in chosen if not startup.global_block().has_var(parameter.name)), None)
    if missing is not None:
        raise ProgramError(
            f"level O2 makes '{printable(missing)}' a parameter of {dtype}, but the startup program does not initialize it: "
            "give minimize the startup program of the network"
        )
    return {parameter.name: _make_master(parameter, dtype, startup) for parameter in chosen}


def _read_wide(ops: list[Operator], lists: AutoMixedPrecisionLists) -> Iterator[str]:
    """The variables that are read by operators in float32, as statistics, or as rows of a table."""
    for op in ops:
        wide = op.type in lists.black or not has_16_bits(op.type) or op.attr("is_sparse", False)
        for port, names in op.inputs.items():
            if wide or port in STATISTICS.get(op.type, ()):
                yield from names


def _make_master(parameter: Parameter, dtype: str, startup: Program) -> Parameter:
    begin = startup.global_block()
    name = parameter.block.program.new_name(f"{parameter.name}_fp32_master")
    master = parameter.block.create_parameter(name, parameter.shape, "float32", trainable=False)
    master.copy_training(parameter)
    master.set_rounded(parameter)
    begin.create_var(name, shape=parameter.shape, dtype="float32", persistable=True, stop_gradient=True)
    for op in begin.ops:
        op.rename(parameter.name, name)
    for var in (parameter, begin.var(parameter.name)):
        var.set_info({**var.info(), "dtype": dtype})
    begin.append_op("cast", {"X": name}, {"Out": parameter.name}, _cast_attrs("float32", dtype))
    return master


def of_masters(params_grads: Pairs, masters: Masters) -> Pairs:
    """The pairs that optimizers see: masters with gradients of float32 in place of 16-bit parameters."""
    pairs = []
    for parameter, gradient in params_grads:
        master = masters.get(parameter.name)
        if master is None:
            pairs.append((parameter, gradient))
            continue
        block = gradient.block
        name = block.program.new_name(f"{gradient.name}.cast_float32")
        with op_role_guard(BACKWARD):
            block.append_op("cast", {"X": gradient}, {"Out": name}, _cast_attrs(gradient.dtype, "float32"))
        pairs.append((master, block.var(name)))
    return pairs


def round_masters(params_grads: Pairs, masters: Masters) -> None:
    """After the steps: each 16-bit parameter becomes its master, rounded."""
    for parameter, gradient in params_grads:
        master = masters.get(parameter.name)
        if master is not None:
            with op_role_guard(OPTIMIZE, [parameter, gradient]):
                block = gradient.block
                block.append_op("cast", {"X": master}, {"Out": parameter}, _cast_attrs("float32", parameter.dtype))


def _cast_attrs(source: str, target: str) -> dict[str, int]:
    return {"in_dtype": dtypes.NUMBERS[source], "out_dtype": dtypes.NUMBERS[target]}
