# Programs made from programs: descriptions in, descriptions out.
from __future__ import annotations

from typing import Any, Callable, Dict, List, Set

from . import dtypes, roles
from ._core import ProgramError
from .contracts import attr_types
from .operator import EMPTY_NAME

_TRAINING = roles.BACKWARD | roles.OPTIMIZE | roles.LR_SCHEDULE

Description = Dict[str, Any]


def for_test(program: Description) -> Description:
    """Without operators of backward, optimizer and learning-rate schedule, and with is_test set."""
    kept = without(program, _TRAINING)
    return {**kept, "blocks": [{**block, "ops": [_testing(op) for op in block["ops"]]} for block in kept["blocks"]]}


def without(program: Description, left_out_roles: int) -> Description:
    """Without the operators that have any of these roles, and what only they name."""
    return _keeping(program, lambda op: not _role(op) & left_out_roles)


def only(program: Description, kept_roles: int) -> Description:
    """With the operators that have any of these roles, and without what only others name."""
    return _keeping(program, lambda op: bool(_role(op) & kept_roles))


def _keeping(program: Description, is_kept: Callable[[Description], bool]) -> Description:
    blocks = []
    for block in program["blocks"]:
        kept = [op for op in block["ops"] if is_kept(op)]
        left_out = [op for op in block["ops"] if not is_kept(op)]
        gone = _named(left_out) - _named(kept)
        vars = [var for var in block["vars"] if var["name"] not in gone or _is_kept(var)]
        blocks.append({**block, "ops": kept, "vars": vars})
    owned = {index for block in blocks for op in block["ops"] for index in _blocks_of(op)}
    while blocks[1:] and len(blocks) - 1 not in owned:  # those before them keep their numbers
        blocks.pop()
    return {**program, "blocks": blocks}


def pruned(program: Description, feeds: List[str], fetches: List[str]) -> Description:
    """Only the operators of block 0 that compute `fetches` from `feeds`, and what they name."""
    block = program["blocks"][0]
    needed, kept = set(fetches) - set(feeds), []
    first_writer: Dict[str, int] = {}
    for i, op in enumerate(block["ops"]):
        for name in _of_slots(op["outputs"]):
            first_writer.setdefault(name, i)
    for i, op in reversed(list(enumerate(block["ops"]))):
        written = _of_slots(op["outputs"])
        if not written & needed:
            continue
        kept.append(op)
        # A branch that is not taken leaves the value that an operator before it gave.
        needed -= {name for name in written if not (_has_block(op) and first_writer[name] < i)}
        needed |= _of_slots(op["inputs"]) - set(feeds)
    named = _named(kept) | set(feeds) | set(fetches)
    inner = program["blocks"][1:] if any(_has_block(op) for op in kept) else []
    vars = [var for var in block["vars"] if var["name"] in named or inner]
    persistable = {var["name"] for var in block["vars"] if var["persistable"]}
    missing = sorted(needed - persistable)
    if missing:
        raise ProgramError(f"the fetches need '{missing[0]}', which is neither fed nor computed: "
                           f"the feeds are {', '.join(feeds) or 'none'}")
    return {**program, "blocks": [{**block, "ops": kept[::-1], "vars": vars}] + inner}


def _role(op: Description) -> int:
    return next((value for name, _, value in op["attrs"] if name == "op_role"), 0)


def _testing(op: Description) -> Description:
    attrs = [(name, attr_type, True if name == "is_test" else value)
             for name, attr_type, value in op["attrs"]]
    if all(name != "is_test" for name, _, _ in attrs) and _takes_is_test(op["type"]):
        attrs.append(("is_test", dtypes.BOOLEAN, True))
    return {**op, "attrs": attrs}


def _takes_is_test(op_type: str) -> bool:
    try:
        return "is_test" in attr_types(op_type)
    except ProgramError:  # an operator of another build
        return False


def _is_kept(var: Description) -> bool:
    return bool(var["is_parameter"] or var["need_check_feed"])


def _has_block(op: Description) -> bool:
    return bool(_blocks_of(op))


def _blocks_of(op: Description) -> List[int]:
    """The blocks that an operator runs."""
    one = [value for _, attr_type, value in op["attrs"] if attr_type == dtypes.BLOCK]
    return one + [index for _, attr_type, values in op["attrs"] if attr_type == dtypes.BLOCKS for index in values]


def _of_slots(slots: Any) -> Set[str]:
    return {name for _, names in slots for name in names if name != EMPTY_NAME}


def _named(ops: List[Description]) -> Set[str]:
    return {name for op in ops for name in _of_slots(op["inputs"]) | _of_slots(op["outputs"])}
