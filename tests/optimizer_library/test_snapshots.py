# Snapshots: the state of one moment, to the bit, whatever updates happen while it is read.
import threading

import pytest

from one_parameter import KINDS
from paddle_mini import ProgramError
from snapshots import AVERAGES, CHANGES, PIECES, dense, generator, made, some_rows


def read_while(one, change):
    """The snapshot's bytes, with a change before each piece, the first one included."""
    found = bytearray()
    with one.snapshot() as snapshot:
        pieces = snapshot.pieces(-(-snapshot.size // PIECES))
        for step in range(PIECES):
            change(one, step)
            found += next(pieces)
        assert len(found) == snapshot.size
    return bytes(found)


@pytest.mark.parametrize("change", ["dense", "delta", "numbers"])
@pytest.mark.parametrize("kind", KINDS)
def test_dense(kind, change):
    one, through = (made(kind, averaging=AVERAGES) for _ in range(2))
    for step in range(3):
        one.update(dense(step))
        through.update(dense(step))
    before = one.state()
    assert read_while(one, CHANGES[change]) == before
    for step in range(PIECES):
        CHANGES[change](through, step)
    assert one.state() == through.state(), "a snapshot changes nothing"
    assert one.state() != before


@pytest.mark.parametrize("first", [True, False], ids=["first rows", "later rows"])
@pytest.mark.parametrize(
    "fields",
    [{"averaging": AVERAGES}, {"l2_rate": 0.1}, {"row_policy": "LikeZeros", "l2_rate": 0.1, "averaging": AVERAGES}],
    ids=str,
)
@pytest.mark.parametrize("kind", ["SGD", "SGD with momentum", "Adagrad", "Adam"])
def test_tables(kind, fields, first):
    """Rows with averages, with decay that reading applies, and the first update by rows, which changes all averages."""
    random = generator("order")
    one = made(kind, **fields)
    one.update(dense(100))
    if not first:
        one.update_rows(*some_rows(101))
    before = one.state()
    some = ["rows"] if first else ["rows", "read", "no rows"]

    def change(one, step):
        CHANGES[random.choice(some)](one, step)

    assert read_while(one, change) == before
    assert one.state() != before


def test_only_what_changes_is_copied():
    """A snapshot that is released, or read, has no effect on updates; the next one is of the new moment."""
    one = made("Adam")
    for _ in range(3):
        before = one.state()
        snapshot = one.snapshot()
        assert b"".join(bytes(piece) for piece in snapshot.pieces(1 << 20)) == before
        with pytest.raises(ProgramError, match="another snapshot of this optimizer exists"):
            one.snapshot()
        snapshot.close()
        snapshot.close()
        one.update(dense(1))
        assert one.state() != before


def test_the_optimizer_is_released_first():
    one = made("Adam")
    one.update(dense(1))
    before, snapshot = one.state(), one.snapshot()
    one.update(dense(2))
    one.close()
    assert b"".join(bytes(piece) for piece in snapshot.pieces(1000)) == before


def test_two_threads():
    """One updates as fast as it can while the other reads."""
    one, stop = made("Adam", averaging=AVERAGES), threading.Event()
    updated = threading.Event()

    def update():
        step = 0
        while not stop.is_set():
            one.update(dense(step % 7))
            step += 1
            updated.set()

    for _ in range(5):
        before, snapshot, thread = one.state(), one.snapshot(), threading.Thread(target=update)
        stop.clear()
        updated.clear()
        thread.start()
        found = bytearray()
        for number, piece in enumerate(snapshot.pieces(777)):
            if number == 10:
                updated.wait()
            found += piece
        stop.set()
        thread.join()
        snapshot.close()
        assert bytes(found) == before
