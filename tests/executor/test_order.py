"""order: steps of several queues that access the same bytes run one after the other, in this run and the next ones."""

from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_mini import _core

TOUCH = st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(1, 4), st.booleans()).map(
    lambda touch: (touch[0], touch[1], touch[1] + touch[2], touch[3])
)
STEPS = st.lists(st.tuples(st.integers(0, 3), st.lists(TOUCH, max_size=4)), min_size=1, max_size=12)
RUNS = 3


def meet(a, b):
    return any(x[0] == y[0] and x[1] < y[2] and y[1] < x[2] and (x[3] or y[3]) for x in a[1] for y in b[1])


def all_before(steps, waits):
    """For each step of each run, every step that is done when it begins."""
    count, before, last = len(steps), {}, {}
    for run in range(RUNS):
        for i, (queue, _) in enumerate(steps):
            known = set()
            for other in ([last[queue]] if queue in last else []) + [(run if w < i else run - 1, w) for w in waits[i]]:
                if other in before:
                    known |= before[other] | {other}
            before[run, i], last[queue] = known, (run, i)
    return before, count


@settings(max_examples=300)
@given(STEPS)
def test_steps_that_meet_are_ordered(steps):
    waits = _core.find_waits(steps, 4)
    before, count = all_before(steps, waits)
    for run in range(RUNS):
        for i, step in enumerate(steps):
            for earlier, j in [(r, j) for r in range(run + 1) for j in range(count) if (r, j) < (run, i)]:
                if meet(steps[j], step):
                    assert (earlier, j) in before[run, i], f"step {i} of run {run} does not wait for {j} of run {earlier}"


@settings(max_examples=300)
@given(STEPS)
def test_nobody_waits_without_need(steps):
    """Without any one of the waits, two conflicting steps have no order."""
    waits = _core.find_waits(steps, 4)

    def ordered(waits):
        before, count = all_before(steps, waits)
        return all(
            (r, j) in before[run, i]
            for run in range(RUNS)
            for i, step in enumerate(steps)
            for r in range(run + 1)
            for j in range(count)
            if (r, j) < (run, i) and meet(steps[j], step)
        )

    for i, others in enumerate(waits):
        assert all(steps[other][0] != steps[i][0] for other in others), "a queue works in order anyway"
        in_run = [other for other in others if other < i]
        for other in in_run:
            fewer = [list(w) for w in waits]
            fewer[i].remove(other)
            assert not ordered(fewer), f"step {i} need not wait for {other}"


def test_an_average_behind_training():
    """Queues: 0 the device, 1 its link, 2 the host. The update waits only for the copy of its own parameter."""
    p, q, staged_p, staged_q, average = 0, 1, 2, 3, 4
    steps = [
        (0, [(p, 0, 8, False), (q, 0, 8, False)]),  # 0 forward, backward
        (0, [(p, 0, 8, True)]),
        (0, [(q, 0, 8, True)]),  # 1, 2 updates
        (1, [(p, 0, 8, False), (staged_p, 0, 8, True)]),  # 3, 4 copies
        (1, [(q, 0, 8, False), (staged_q, 0, 8, True)]),
        (2, [(staged_p, 0, 8, False), (average, 0, 8, True)]),  # 5, 6 averages
        (2, [(staged_q, 0, 8, False), (average, 8, 16, True)]),
    ]
    assert _core.find_waits(steps, 3) == [[], [3], [4], [1, 5], [2, 6], [3], [4]]
