# append_backward: the operators that compute gradients, appended to a program.
#
# The steps are PaddlePaddle's, and so are the names: x@GRAD, and those of gradient_names.py.
from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from . import _core, dtypes, roles
from ._core import printable
from .backward_blocks import block_gradient, declare, runs_block
from .block import Block
from .errors import near, shown
from .gradient_formulas import formula_of, write_formula
from .gradient_names import GradientNames, finished, gradient_of, with_sums
from .operator import Operator
from .operator_gradients import correct_declarations, gradient_ops
from .overwritten import Overwrites, end_gradients
from .transaction import atomic, before_setting
from .variable import Parameter, Variable, names_of

Names = Iterable[Variable | str] | None
Description = dict[str, Any]


@atomic
def append_backward(loss: Variable, parameter_list: Names = None, no_grad_set: Names = None) -> list[tuple[Parameter, Variable]]:
    """Appends the operators that compute d(loss)/d(parameter) for every parameter that leads to the
    loss and is trainable.

    loss: any shape; its gradient begins with ones, so the gradients are those of its sum.
    parameter_list: returns pairs only for these. no_grad_set: variables to stop at, besides those
    whose stop_gradient is set.
    Returns (parameter, gradient) in the order the parameters were created.
    Raises ProgramError where an operator on the way has no gradient, saying why.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> loss = pm.layers.mean(pm.layers.fc(x, 1, bias_attr=False))
        >>> (weight, gradient), = pm.append_backward(loss)
        >>> gradient.shape
        (8, 1)
    """
    block = _block_of(loss)
    chosen = None if parameter_list is None else set(names_of(parameter_list, "parameter_list"))
    _require_parameters(chosen or (), block)
    for op in block.ops:
        if loss.name in op.output_names:
            op.set_attr("op_role", op.attr("op_role", 0) | roles.LOSS)
    stops = _stops(block, no_grad_set)
    made = _append(block, [loss], [None], stops, wanted=None)
    pairs = [
        (parameter, block.var(made[parameter.name]))
        for parameter in block.program.all_parameters()
        if parameter.name in made and (chosen is None or parameter.name in chosen)
    ]
    _tell_role_vars(block, pairs)
    return pairs


@atomic
def gradients(
    targets: Variable | Sequence[Variable],
    inputs: Variable | str | Sequence[Variable | str],
    target_gradients: Any = None,
    no_grad_set: Names = None,
) -> list[Variable | None]:
    """Appends the operators that compute the gradient of the sum of `targets` with respect to each
    of `inputs`, variables or their names, even where their stop_gradient is set.

    target_gradients: the gradient of each target, of its shape; None: ones.
    Returns one variable for each input: None where the targets do not depend on it.
    no_grad_set: as of append_backward.
    Called again on what depends on a gradient, it gives gradients of gradients. Where an operator has none, ProgramError
    names it.
    Example:
        >>> x = pm.layers.data("x", [3])
        >>> slope, = pm.gradients(x * x, x)
        >>> pm.Executor().run(feed={"x": np.array([1, 2, 3], "float32")}, fetch_list=[slope])[0]
        array([2., 4., 6.], dtype=float32)
        >>> curvature, = pm.gradients(slope, x)
        >>> pm.Executor().run(feed={"x": np.array([1, 2, 3], "float32")}, fetch_list=[curvature])[0]
        array([2., 2., 2.], dtype=float32)
    """
    target_list, input_list = _as_list(targets), _as_list(inputs)
    if not target_list:
        raise _core.ProgramError("gradients: targets is empty, give a variable or a list of them")
    seeds = [None] * len(target_list) if target_gradients is None else _as_list(target_gradients)
    if len(seeds) != len(target_list):
        raise _core.ProgramError(f"{len(seeds)} target_gradients for {len(target_list)} targets")
    blocks = [_block_of(target) for target in target_list]
    block = blocks[0]
    if any(one is not block for one in blocks):
        raise _core.ProgramError("gradients: the targets are variables of several programs")
    for target, seed in zip(target_list, seeds):
        _require_like(target, seed)
    names = names_of([block.var(item) if isinstance(item, str) else item for item in input_list], "inputs")
    wanted = set(names)
    made = _append(block, target_list, seeds, _stops(block, no_grad_set) - wanted, wanted)
    return [block.var(made[name]) if name in made else None for name in names]


def _append(
    block: Block, targets: list[Variable], seeds: list[Variable | None], stops: set[str], wanted: set[str] | None
) -> dict[str, str]:
    """Appends everything; returns the gradient's name for each variable that got one."""
    program = block.program
    before_setting(vars(program), "backward_count")
    program.backward_count += 1
    path = _op_path(block, {target.name for target in targets}, stops)
    reached = _reached(block, path, stops, wanted)
    path = _with_formulas(path, reached)
    stops |= _stops(block, None) - (wanted or set())
    reached = _reached(block, path, stops, wanted)
    # The names are free at a first call; later ones mark theirs.
    taken = set(block.vars) if program.backward_count > 1 else set()
    if taken and any(runs_block(op) for op in path):
        raise _core.ProgramError("the gradient of a loop or branch can be appended once to a program: make it in a clone")
    names = GradientNames(taken, "grad/" * (program.backward_count - 1))
    with_gradient = {target.name for target in targets}
    descriptions = [_seed(target, seed) for target, seed in zip(targets, seeds)]
    overwrites = Overwrites(program)
    descriptions += _of_ops(overwrites, path, set(with_gradient), reached, block.idx)
    overwrites.require_values()
    begin = len(block.ops)
    _append_all(block, finished(descriptions, names))
    written = {name for op in block.ops[begin:] for name in op.output_names}
    final = {name: names.final(gradient_of(name)) for name in reached | with_gradient}
    return {name: gradient for name, gradient in final.items() if gradient in written}


def _with_formulas(path: list[Operator], reached: set[str]) -> list[Operator]:
    """The path with formulas in place of the gradient operators whose gradients are those of their formulas."""
    result: list[Operator] = []
    with roles.op_role_guard(roles.BACKWARD):
        for op in path:
            stays = reached.isdisjoint(op.input_names) or formula_of(op) is None
            result += [op] if stays else write_formula(op)
    return result


def _of_ops(overwrites: Overwrites, path: list[Operator], produced: set[str], reached: set[str], block: int) -> list[Description]:
    """The operators for a list of forward operators, the last one first; `block` is where they will stand. `produced` are
    the variables that have a gradient: at first after the last operator, at the end before the first one."""
    if overwrites.program.is_loaded:
        for op in path:  # the first one first, because an operator's outputs follow from those before it
            if not runs_block(op) and not reached.isdisjoint(op.input_names):
                correct_declarations(op)
    descriptions: list[Description] = []
    for op in reversed(path):
        if runs_block(op):
            made = block_gradient(op, produced, reached, block, partial(_inside, overwrites), _append_all)
            descriptions += made
        else:
            made = gradient_ops(op, produced, reached)
            descriptions += made
            end_gradients(op, produced, descriptions)
        overwrites.note(op, made)
    return descriptions


def _inside(overwrites: Overwrites, path: list[Operator], produced: set[str], reached: set[str], block: int) -> list[Description]:
    """The same for the operators of a loop or branch, which only a first call differentiates: no name is taken."""
    return finished(_of_ops(overwrites, path, produced, reached, block), GradientNames(set(), ""))


def _append_all(block: Block, descriptions: list[Description], entering: Iterable[str] = ()) -> None:
    with roles.op_role_guard(roles.BACKWARD):
        for description in with_sums(descriptions, block.idx, entering):
            declare(block, description)
            block.append_op(description["type"], dict(description["inputs"]), dict(description["outputs"]), description["attrs"])


def _block_of(var: Variable) -> Block:
    if not isinstance(var, Variable):
        raise _core.ProgramError(f"gradients are those of a Variable, not of {shown(var)}")
    block = var.block
    if block.idx != 0:
        raise _core.ProgramError(f"'{printable(var.name)}' is in block {block.idx}; gradients begin in block 0")
    if not dtypes.has_gradient(var.dtype):
        raise _core.ShapeError(f"'{printable(var.name)}' is {var.dtype}; only floats and complex numbers have gradients")
    return block


def _require_like(target: Variable, seed: Any) -> None:
    """ProgramError or ShapeError unless seed is None or a variable of the target's shape and element type."""
    if seed is None:
        return
    if not isinstance(seed, Variable):
        raise _core.ProgramError(f"target_gradients has {shown(seed)}, it must hold variables; layers.assign(array) makes one")
    agree = len(seed.shape) == len(target.shape) and all(a == b or -1 in (a, b) for a, b in zip(seed.shape, target.shape))
    if seed.dtype != target.dtype or not agree:
        raise _core.ShapeError(f"target_gradients has '{seed}', the gradient of '{target}' must have its shape and element type")


def _stops(block: Block, no_grad_set: Names) -> set[str]:
    given = names_of(() if no_grad_set is None else no_grad_set, "no_grad_set")
    for name in given:
        if not any(name in one.vars for one in block.program.blocks):
            raise _core.ProgramError(f"no_grad_set: the program has no variable '{printable(name)}'{near(name, block.vars)}")
    return {var.name for var in block.vars.values() if var.stop_gradient}.union(given)


def _require_parameters(names: Iterable[str], block: Block) -> None:
    there = [parameter.name for parameter in block.program.all_parameters()]
    for name in names:
        if name not in there:
            raise _core.ProgramError(
                f"parameter_list: '{printable(name)}' is not a parameter of the program; it has {', '.join(there) or 'none'}"
            )


def _op_path(block: Block, targets: set[str], stops: set[str]) -> list[Operator]:
    """The operators that lead to the targets, in order."""
    relevant, path = set(targets), []
    for op in reversed(block.ops):
        # A variable that an optimizer wrote before is a leaf here.
        is_training = op.attr("op_role", 0) & (roles.OPTIMIZE | roles.LR_SCHEDULE)
        if relevant.isdisjoint(op.output_names) or is_training or op.type == "feed":
            continue
        path.append(op)
        relevant.update(name for name in op.input_names if name not in stops)
    return path[::-1]


def _reached(block: Block, path: list[Operator], stops: set[str], wanted: set[str] | None) -> set[str]:
    """The variables that need a gradient, because something to differentiate by leads to them: the
    `wanted` ones, or, when None, all with which the path begins."""

    def floating(name: str) -> bool:
        var = block.find_var(name)
        return var is not None and dtypes.has_gradient(var.dtype)

    made = {name for op in path for name in op.output_names}
    begins = {name for op in path for name in op.input_names if name not in made} if wanted is None else wanted
    reached = {name for name in begins - stops if floating(name)}
    for op in path:
        if not reached.isdisjoint(op.input_names):
            reached.update(name for name in op.output_names if name not in stops and floating(name))
    return reached


def _seed(target: Variable, seed: Variable | None) -> Description:
    """The operator that gives a target's own gradient: `seed`, or ones."""
    inputs: list[tuple[str, list[str]]] = []
    attrs: dict[str, Any] = {}
    if seed is not None:
        op_type, inputs = "assign", [("X", [seed.name])]
    elif -1 in target.shape:
        op_type, inputs, attrs = "fill_any_like", [("X", [target.name])], {"value": 1.0}
    else:
        op_type = "fill_constant"
        attrs = {"shape": target.shape, "dtype": target.dtype, "value": 1.0}
    attrs["op_role"] = roles.BACKWARD | roles.LOSS
    return {"type": op_type, "inputs": inputs, "outputs": [("Out", [gradient_of(target.name)])], "attrs": attrs}


def _tell_role_vars(block: Block, pairs: list[tuple[Parameter, Variable]]) -> None:
    """op_role_var of the operator that last writes a parameter's gradient."""
    listed: dict[int, list[str]] = {}
    writers = {name: i for i, op in enumerate(block.ops) for name in op.output_names}
    for parameter, gradient in pairs:
        listed.setdefault(writers[gradient.name], []).extend([parameter.name, gradient.name])
    for i, names in listed.items():
        block.ops[i].set_attr("op_role_var", names)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
