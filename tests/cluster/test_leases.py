"""Leases: one trainer at a time, until exactly their end, with increasing tokens."""

import pytest

from fake_clock import Clock
from paddle_mini.cluster.coordinator.leases import Leases
from paddle_mini.cluster.errors import Malformed


def leases():
    clock = Clock()
    return Leases(clock), clock


def test_one_of_many_is_approved():
    rights, _ = leases()
    assert [rights.acquire("save", str(i), 1, 60.0) for i in range(5)] == [1, None, None, None, None]
    assert rights.acquire("save", "0", 1, 60.0) == 1
    assert rights.acquire("elsewhere", "1", 1, 60.0) == 2


def test_at_exactly_the_end_another_may_be_approved():
    rights, clock = leases()
    rights.acquire("save", "0", 1, 60.0)
    clock.pass_by(59.999)
    assert rights.acquire("save", "1", 1, 60.0) is None
    clock.now = 1060.0
    assert rights.acquire("save", "1", 1, 60.0) == 2
    assert not rights.holds("save", "0", 1, 1) and rights.holds("save", "1", 1, 2)


def test_asking_again_extends_the_lease_and_never_shortens_it():
    rights, clock = leases()
    rights.acquire("save", "0", 1, 60.0)
    clock.pass_by(30)
    assert rights.acquire("save", "0", 1, 60.0) == 1
    clock.pass_by(1)
    assert rights.acquire("save", "0", 1, 1.0) == 1
    clock.now = 1089.999
    assert rights.acquire("save", "1", 1, 60.0) is None
    clock.now = 1090.0
    assert rights.acquire("save", "1", 1, 60.0) == 2


def test_who_was_slow_but_alone_keeps_its_token():
    rights, clock = leases()
    assert rights.acquire("save", "0", 1, 60.0) == 1
    clock.pass_by(3600)
    assert rights.acquire("save", "0", 1, 60.0) == 1
    clock.pass_by(3600)
    assert rights.acquire("save", "1", 1, 60.0) == 2
    clock.pass_by(3600)
    assert rights.acquire("save", "0", 1, 60.0) == 3


def test_a_later_life_takes_over_and_an_earlier_one_is_refused():
    rights, _ = leases()
    assert rights.acquire("save", "0", 1, 60.0) == 1
    assert rights.acquire("save", "0", 2, 60.0) == 2
    assert rights.acquire("save", "0", 1, 60.0) is None


@pytest.mark.parametrize(
    "trainer, seconds", [("", 1.0), ("0", 0.0), ("0", -1.0), ("0", 86400.1), ("0", float("inf")), ("0", float("nan"))]
)
def test_no_lease(trainer, seconds):
    rights, _ = leases()
    with pytest.raises(Malformed):
        rights.acquire("save", trainer, 1, seconds)
    assert rights.snapshot() == {"held": [], "last": [["token", 0]]}


def test_rights_of_long_ago_are_forgotten_and_tokens_still_rise():
    rights, clock = leases()
    for i in range(1000):
        assert rights.acquire(f"save {i}", "0", 1, 1.0) == i + 1
        clock.pass_by(1)
    assert len(rights.snapshot()["held"]) <= 101
    assert rights.acquire("save 0", "1", 1, 1.0) == 1001
