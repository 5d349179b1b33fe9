# Program transformations on descriptions: pruning, selection by role, renumbering of blocks.
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from . import dtypes, roles
from ._core import ProgramError
from .operator import EMPTY_NAME, names_in_attrs
from .schemas import attr_types

_TRAINING = roles.BACKWARD | roles.OPTIMIZE | roles.LR_SCHEDULE

Description = dict[str, Any]


def for_test(program: Description) -> Description:
    """Without operators of backward, optimizer and learning-rate schedule, and with is_test set."""
    kept = without(program, _TRAINING)
    return {**kept, "blocks": [{**block, "ops": [_testing(op) for op in block["ops"]]} for block in kept["blocks"]]}


def without(program: Description, left_out_roles: int) -> Description:
    """Without the operators that have any of these roles, and variables that only they name."""
    return _keeping(program, lambda op: not _role(op) & left_out_roles)


def only(program: Description, kept_roles: int) -> Description:
    """With the operators that have any of these roles, and without variables that only others name."""
    return _keeping(program, lambda op: bool(_role(op) & kept_roles))


def _keeping(program: Description, is_kept: Callable[[Description], bool]) -> Description:
    blocks = []
    for block in program["blocks"]:
        kept = [op for op in block["ops"] if is_kept(op)]
        left_out = [op for op in block["ops"] if not is_kept(op)]
        gone = _named(left_out) - _named(kept)
        vars = [var for var in block["vars"] if var["name"] not in gone or _is_kept(var)]
        blocks.append({**block, "ops": kept, "vars": vars})
    return _owned_blocks({**program, "blocks": blocks})


def pruned(program: Description, needed: list[int], interface: list[str]) -> Description:
    """The program with only these operators of block 0, the blocks that they run without operators of which nothing is
    read, and the variables that are named there or in `interface`."""
    block = program["blocks"][0]
    kept = [block["ops"][i] for i in needed]
    result = _without_unread(_owned_blocks({**program, "blocks": [{**block, "ops": kept}, *program["blocks"][1:]]}))
    named = set(interface).union(*(_named(inner["ops"]) for inner in result["blocks"]))
    vars = [var for var in block["vars"] if var["name"] in named]
    return {**result, "blocks": [{**result["blocks"][0], "vars": vars}, *result["blocks"][1:]]}


def _without_unread(program: Description) -> Description:
    """Without the operators of inner blocks that `_unread` finds, the blocks that only they run, and what only they read."""
    unread, blocks, removed = _unread(program["blocks"]), [], []
    for i, block in enumerate(program["blocks"]):
        kept = [op for k, op in enumerate(block["ops"]) if (i, k) not in unread]
        left_out = [op for k, op in enumerate(block["ops"]) if (i, k) in unread]
        gone = _named(left_out) - _named(kept)
        blocks.append({**block, "ops": kept, "vars": [var for var in block["vars"] if var["name"] not in gone]})
        removed += left_out
    reads = set().union(*(_read(op) for op in removed))
    blocks = [{**block, "ops": [_without_inputs(op, reads, blocks) for op in block["ops"]]} for block in blocks]
    return _owned_blocks({**program, "blocks": blocks})


# The ports that list what an operator's block reads, in any order.
_READ_BY_BLOCKS = {"while": "X", "conditional_block": "Input", "recurrent": "parameters"}


def _without_inputs(op: Description, names: set[str], blocks: list[Description]) -> Description:
    """The operator without those of the names that it lists because its block read them, and that its block reads no more."""
    port = _READ_BY_BLOCKS.get(op["type"])
    if port is None:
        return op
    inside = [_without_inputs(one, names, blocks) for index in _blocks_of(op) for one in blocks[index]["ops"]]
    unread = names - _named(inside) - _texts(op)
    inputs = [(slot, [name for name in found if slot != port or name not in unread]) for slot, found in op["inputs"]]
    return {**op, "inputs": inputs}


def _unread(blocks: list[Description]) -> set[tuple[int, int]]:
    """Where operators of inner blocks stand, (block, place), that only write variables of their own block which no operator
    that is kept reads. It may be one of any block and at any place: a loop runs its block again, and a block of gradients reads
    variables of its forward block."""
    found: set[tuple[int, int]] = set()
    own = [{var["name"] for var in block["vars"] if not var["persistable"]} for block in blocks]
    for block in blocks:
        for op in block["ops"]:
            for index in _blocks_of(op):
                own[index] -= _texts(op) | _named([op])
    readers = Counter(name for block in blocks for op in block["ops"] for name in _read(op))
    places = [(i, k) for i, block in enumerate(blocks) if i > 0 for k in range(len(block["ops"]))]
    while True:
        before = len(found)
        for place in reversed(places):
            inside = [(at, op) for at, op in _and_inside(place, blocks) if at not in found]
            reads = Counter(name for _, op in inside for name in _read(op))
            written = _written(blocks[place[0]]["ops"][place[1]], blocks)
            if inside and written and written <= own[place[0]] and all(readers[name] == reads[name] for name in written):
                found.update(at for at, _ in inside)
                readers -= reads
        if len(found) == before:
            return found


def _and_inside(place: tuple[int, int], blocks: list[Description]) -> Iterator[tuple[tuple[int, int], Description]]:
    """An operator and those of the blocks that it runs, with their places."""
    op = blocks[place[0]]["ops"][place[1]]
    yield place, op
    for index in _blocks_of(op):
        for k in range(len(blocks[index]["ops"])):
            yield from _and_inside((index, k), blocks)


def _written(op: Description, blocks: list[Description]) -> set[str]:
    """The variables that an operator writes, including those that its blocks write in the blocks around them."""
    written = _of_slots(op["outputs"])
    for index in _blocks_of(op):
        inner = set().union(*(_written(one, blocks) for one in blocks[index]["ops"]))
        written |= inner - {var["name"] for var in blocks[index]["vars"]}
    return written


def _texts(op: Description) -> set[str]:
    """The strings in an operator's attributes, which may be names of variables."""
    one = {value for _, attr_type, value in op["attrs"] if attr_type == dtypes.STRING}
    return one.union(*(values for _, attr_type, values in op["attrs"] if attr_type == dtypes.STRINGS))


def _owned_blocks(program: Description) -> Description:
    """The program without the blocks that no operator runs; the others are renumbered, in their order."""
    owned, blocks = [0], program["blocks"]
    for index in owned:
        owned += [inner for op in blocks[index]["ops"] for inner in _blocks_of(op)]
    number = {-1: -1, **{index: i for i, index in enumerate(sorted(set(owned)))}}
    return {
        **program,
        "blocks": [
            {
                **blocks[index],
                "idx": number[index],
                "parent_idx": number[blocks[index]["parent_idx"]],
                "forward_block_idx": number.get(blocks[index]["forward_block_idx"], -1),
                "ops": [{**op, "attrs": [_renumbered(attr, number) for attr in op["attrs"]]} for op in blocks[index]["ops"]],
            }
            for index in sorted(set(owned))
        ],
    }


def _renumbered(attr: Any, number: dict[int, int]) -> Any:
    name, attr_type, value = attr
    if attr_type == dtypes.BLOCK:
        return name, attr_type, number[value]
    return (name, attr_type, [number[index] for index in value]) if attr_type == dtypes.BLOCKS else attr


def _role(op: Description) -> int:
    return next((value for name, _, value in op["attrs"] if name == "op_role"), 0)


def _testing(op: Description) -> Description:
    attrs = [(name, attr_type, True if name == "is_test" else value) for name, attr_type, value in op["attrs"]]
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


def _blocks_of(op: Description) -> list[int]:
    """The blocks that an operator runs."""
    one = [value for _, attr_type, value in op["attrs"] if attr_type == dtypes.BLOCK]
    return one + [index for _, attr_type, values in op["attrs"] if attr_type == dtypes.BLOCKS for index in values]


def _of_slots(slots: Any) -> set[str]:
    return {name for _, names in slots for name in names if name != EMPTY_NAME}


def _read(op: Description) -> set[str]:
    return _of_slots(op["inputs"]).union(names_in_attrs((attr_type, value) for _, attr_type, value in op["attrs"]))


def _named(ops: list[Description]) -> set[str]:
    return {name for op in ops for name in _read(op) | _of_slots(op["outputs"])}
