# Changes: the rows that changed since a state, with which it becomes the state of a later moment, to the bit.
import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import ProgramError
from snapshots import AVERAGES, CHANGES, PIECES, ROWS, WIDTH, made, some_rows

LAZY = [{}, {"averaging": AVERAGES}, {"l2_rate": 0.1}]


def whole(snapshot):
    with snapshot:
        found = b"".join(bytes(piece) for piece in snapshot.pieces(1000))
        assert len(found) == snapshot.size
    return found


def restored(one, state, changes):
    zeros = np.zeros(one.shape, one.dtype)
    return pm.optimizer.NativeOptimizer(one.config, zeros, state, changes)


def after_rows(kind, **fields):
    one = made(kind, **fields)
    one.update_rows(*some_rows(0))
    return one


@pytest.mark.parametrize("fields", LAZY, ids=str)
@pytest.mark.parametrize("kind", ["SGD", "SGD with momentum", "Adagrad", "Adam"])
def test_a_state_and_its_changes(kind, fields):
    """All changes are relative to one state, also after a second snapshot of changes."""
    one = after_rows(kind, **fields)
    base = whole(one.snapshot())
    for step in range(1, 5):
        CHANGES["rows"](one, step)
        CHANGES["no rows"](one, step)
        one.rows([3, 1])
        changes = whole(one.snapshot_changes())
        assert restored(one, base, changes).state() == one.state()
    assert len(changes) < len(base) / 2


@pytest.mark.parametrize("meanwhile", ["rows", "no rows", "read", "dense"])
@pytest.mark.parametrize("fields", LAZY, ids=str)
def test_updates_while_changes_are_read(fields, meanwhile):
    """They are of the moment of the snapshot, whatever is updated meanwhile."""
    one = after_rows("Adam", **fields)
    base = whole(one.snapshot())
    CHANGES["rows"](one, 1)
    before, found = one.state(), bytearray()
    with one.snapshot_changes() as snapshot:
        for step, piece in enumerate(snapshot.pieces(-(-snapshot.size // PIECES))):
            found += piece
            CHANGES[meanwhile](one, step)
    assert restored(one, base, bytes(found)).state() == before
    assert (one.state() != before) is (meanwhile != "read" or "l2_rate" in fields), "reading only applies decay"


def test_the_size_is_that_of_the_rows_that_changed():
    value = np.zeros((10000, 16), "float32")
    config = made("Adam").config
    one = pm.optimizer.NativeOptimizer(config, value)
    one.update_rows([1], value[:1])
    base = whole(one.snapshot())
    sizes = []
    for rows in ([], [5], [5, 9999], list(range(64))):
        one.update_rows(rows, np.ones((len(rows), 16), "float32"))
        changes = whole(one.snapshot_changes())
        assert restored(one, base, changes).state() == one.state()
        sizes.append(len(changes))
    row = 3 * 16 * 4  # the parameter and two moments
    assert np.diff(sizes).tolist() == [row, row, 63 * row]
    assert sizes[0] < 10000 / 8 + 300


def test_when_everything_may_have_changed():
    """Before a snapshot of all, and after a dense update, or rows that are updated like zeros."""
    for change in ("dense", "delta"):
        one = after_rows("Adam")
        assert one.snapshot_changes() is None
        whole(one.snapshot())
        assert len(whole(one.snapshot_changes())) < 500
        CHANGES[change](one, 1)
        assert one.snapshot_changes() is None
    one = made("Adam", row_policy="LikeZeros")
    whole(one.snapshot())
    one.update_rows(*some_rows(1))
    assert one.snapshot_changes() is None
    one = made("Adam")
    base = whole(one.snapshot())
    one.set_learning_rate(0.25)
    assert restored(one, base, whole(one.snapshot_changes())).learning_rate == 0.25
    one.update_rows(*some_rows(1))
    assert one.snapshot_changes() is None, "the first update by rows begins their stamps"


def test_refusals():
    one = after_rows("Adam")
    base = whole(one.snapshot())
    one.update_rows(*some_rows(1))
    changes = whole(one.snapshot_changes())
    later = one.state()
    with pytest.raises(ProgramError, match="has changes after so many updates: 1, it must be 2"):
        restored(one, later, changes)
    for wrong, message in (
        (changes[:-1], "checksum is wrong"),
        (changes[:100] + bytes([changes[100] ^ 1]) + changes[101:], "checksum is wrong"),
        (base, "not changes of a state"),
        (b"", "no changes"),
    ):
        with pytest.raises(ProgramError, match=message):
            restored(one, base, wrong)
    with pytest.raises(ProgramError, match="not a state of this library"):
        restored(one, changes, changes)
    smaller = pm.optimizer.NativeOptimizer(one.config, np.zeros((ROWS - 1, WIDTH)))
    smaller.update_rows([1], np.zeros((1, WIDTH)))
    with pytest.raises(ProgramError, match="changes of rows: 700, it must be 699"):
        restored(smaller, smaller.state(), changes)
    with one.snapshot(), pytest.raises(ProgramError, match="another snapshot of this optimizer exists"):
        one.snapshot_changes()
