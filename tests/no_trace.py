"""A failed call must leave no trace in the default programs: neither bytes, nor names, nor state that exists only in
Python."""

import pytest

import paddle_mini as pm
from paddle_mini.block import Block
from paddle_mini.transaction import transaction


class Fault(Exception):
    """Exceptions that the package neither raises nor catches itself."""


def state_of(program):
    return (
        program.to_bytes(),
        dict(program._names),
        program._seeds,
        program.current_block().idx,
        program.backward_count,
        dict(program.minimizers),
        dict(program.schedules),
        [(op.type, op.attrs) for block in program.blocks for op in block.ops],
        {var.name: {**vars(var), "block": var.block.idx} for var in program.list_vars()},
    )


def programs():
    return [state_of(pm.default_main_program()), state_of(pm.default_startup_program())]


def leaves_no_trace(call, kind=Exception):
    """The error that a call must raise."""
    before = programs()
    with pytest.raises(kind) as raised:
        call()
    assert programs() == before
    return raised.value


class FailAfter:
    """Allows this many operators to be appended, to any program, and raises after the last one; None: never."""

    def __init__(self, monkeypatch, count=None):
        self.count, self.seen, insert = count, 0, Block.insert_op

        def insert_op(block, *args, **kwargs):
            op = insert(block, *args, **kwargs)
            self.seen += 1
            if self.seen == self.count:
                raise Fault(f"after operator {self.count}, {op.type}")
            return op

        monkeypatch.setattr(Block, "insert_op", insert_op)


def fails_after_each_operator(monkeypatch, call, kind=Fault):
    """Makes the call fail after every operator that it appends; afterwards it has the same result as in a new program."""
    with monkeypatch.context() as patch:
        counter = FailAfter(patch)
        before = programs()
        try:
            with transaction():
                call()
                raise Fault("all of it")
        except Fault:
            pass
        assert programs() == before
    assert counter.seen
    for count in range(1, counter.seen + 1):
        with monkeypatch.context() as patch:
            FailAfter(patch, count)
            leaves_no_trace(call, kind)
    return counter.seen
