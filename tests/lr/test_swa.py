"""SWALR: a schedule, then the constant rate of stochastic weight averaging."""

import math

import pytest

import paddle_mini as pm


def rates(schedule, count):
    found = []
    for _ in range(count):
        found.append(schedule())
        schedule.step()
    return found


def test_a_number_goes_over_to_the_rate_along_a_cosine():
    found = rates(pm.lr.SWALR(0.8, 0.2, start=3, anneal_steps=4), 10)
    wanted = [0.8] * 3 + [0.8 - 0.6 * (1 - math.cos(math.pi * t / 4)) / 2 for t in range(5)] + [0.2] * 2
    assert found == pytest.approx(wanted, rel=1e-15)


def test_a_schedule_is_followed_until_the_start_and_then_left_in_a_line():
    def inner():
        return pm.lr.ExponentialDecay(1.0, 0.5)

    before = rates(inner(), 4)
    found = rates(pm.lr.SWALR(inner(), 0.05, start=3, anneal_steps=2, strategy="linear"), 8)
    middle = (before[3] + 0.05) / 2
    assert found == pytest.approx(before + [middle] + [0.05] * 3, rel=1e-15)


def test_no_annealing_is_a_step():
    assert rates(pm.lr.SWALR(0.5, 0.1, start=2, anneal_steps=0), 4) == [0.5, 0.5, 0.1, 0.1]


@pytest.mark.parametrize("stop", [1, 4, 7])
def test_it_goes_on_from_its_state(stop):
    def schedule():
        return pm.lr.SWALR(pm.lr.NaturalExpDecay(0.5, 0.1), 0.05, start=5, anneal_steps=3)

    whole, first, second = schedule(), schedule(), schedule()
    expected = rates(whole, 10)
    found = rates(first, stop)
    second.set_state_dict(first.state_dict())
    assert found + rates(second, 10 - stop) == expected


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: pm.lr.SWALR(pm.lr.ReduceOnPlateau(0.1), 0.1, 3), "ReduceOnPlateau"),
        (lambda: pm.lr.SWALR(0.1, -1.0, 3), "swa_lr"),
        (lambda: pm.lr.SWALR(0.1, 0.1, -3), "start"),
        (lambda: pm.lr.SWALR(0.1, 0.1, 3, strategy="steps"), "'cos' or 'linear'"),
        (lambda: pm.lr.SWALR(pm.lr.NoamDecay(64, 10), 0.1, 3).set_state_dict({"last_epoch": 1, "last_lr": 0.1}), "SWALR_LR"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(pm.ProgramError, match=words):
        make()
