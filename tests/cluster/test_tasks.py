"""Data tasks: each once per pass, at least once with failures; late reports are ignored; nothing stalls."""

import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fake_clock import Clock
from paddle_mini.cluster.coordinator.tasks import Tasks
from paddle_mini.cluster.errors import AlreadyInitialised, Malformed, NotInitialised
from paddle_mini.cluster.values import Task, TaskAnswer, TaskId


def some(chunks=3, per_task=1, **given):
    clock = Clock()
    tasks = Tasks(clock, **given)
    tasks.set_data([f"part-{i}" for i in range(chunks)], per_task)
    return tasks, clock


def get(tasks, trainer, pass_number, serial=None):
    """The only task of a reply; for any other answer, the answer."""
    given = tasks.get(trainer, pass_number, serial)
    assert len(given.tasks) == (given.answer is TaskAnswer.TASK)
    return given.tasks[0] if given.tasks else given.answer


def finish(tasks, task, failed=False):
    return tasks.end(TaskId(task.task, task.epoch), failed)


def fail(tasks, task):
    return finish(tasks, task, failed=True)


def answer(tasks, pass_number=0, trainer="0"):
    return tasks.get(trainer, pass_number).answer


def test_each_chunk_once_a_pass():
    tasks, _ = some(chunks=25, per_task=10)
    for pass_number in range(3):
        read = []
        while True:
            got = get(tasks, "0", pass_number)
            if got is TaskAnswer.OVER:
                break
            read += got.chunks
            assert finish(tasks, got)
        assert read == [f"part-{i}" for i in range(25)]


def test_answers():
    tasks, _ = some(chunks=2)
    assert answer(tasks, 1) == TaskAnswer.LATER
    one, two = get(tasks, "0", 0), get(tasks, "1", 0)
    assert one.task != two.task
    assert answer(tasks) == TaskAnswer.NONE_NOW
    assert finish(tasks, one)
    assert answer(tasks) == TaskAnswer.NONE_NOW and answer(tasks, 1) == TaskAnswer.LATER
    assert finish(tasks, two)
    assert answer(tasks) == TaskAnswer.OVER and answer(tasks, 2) == TaskAnswer.LATER
    assert answer(tasks, 1) == TaskAnswer.TASK
    assert answer(tasks, 0) == TaskAnswer.EARLIER


def test_a_request_that_comes_again_takes_no_further_task():
    tasks, _ = some(chunks=3)
    first = get(tasks, "0", 0, (1, 0))
    assert get(tasks, "0", 0, (1, 0)) == first and get(tasks, "1", 0, (1, 0)).task != first.task
    tasks.restore(json.loads(json.dumps(tasks.snapshot())))
    assert get(tasks, "0", 0, (1, 0)) == first
    assert finish(tasks, first)
    assert get(tasks, "0", 0, (1, 0)) is TaskAnswer.NONE_NOW and tasks.counts()["todo"] == 1
    last = get(tasks, "0", 0, (1, 1))
    assert get(tasks, "0", 0, (1, 0)) is TaskAnswer.NONE_NOW
    tasks.release("0", failed=True)
    assert get(tasks, "0", 0, (2, 0)).task == last.task  # its next incarnation


def test_a_task_comes_back_at_exactly_its_timeout():
    tasks, clock = some(chunks=1, timeout=20.0)
    first = get(tasks, "0", 0)
    clock.pass_by(19.999)
    assert answer(tasks, trainer="1") == TaskAnswer.NONE_NOW
    clock.now = 1020.0
    again = get(tasks, "1", 0)
    assert again.task == first.task and again.epoch == first.epoch + 1


def test_what_comes_late_is_ignored():
    tasks, clock = some(chunks=1, timeout=20.0)
    first = get(tasks, "0", 0)
    clock.pass_by(20.0)
    assert not finish(tasks, first)  # not assigned yet
    again = get(tasks, "1", 0)
    assert not finish(tasks, first) and not fail(tasks, first)
    assert tasks.counts()["pending"] == 1
    assert finish(tasks, again)
    assert not finish(tasks, again)  # reported twice


def test_a_finish_of_an_earlier_pass_is_ignored():
    tasks, _ = some(chunks=1)
    first = get(tasks, "0", 0)
    assert finish(tasks, first)
    assert answer(tasks, 1) == TaskAnswer.TASK
    assert not finish(tasks, first)


def test_a_bad_task_is_left_out_after_the_limit_and_holds_nobody_up():
    tasks, _ = some(chunks=3, failure_limit=3)
    order = []
    while True:
        got = get(tasks, "0", 0)
        if got is TaskAnswer.OVER:
            break
        order.append(got.task)
        (fail if got.task == 0 else finish)(tasks, got)
    assert order == [0, 1, 2, 0, 0]
    assert tasks.counts() == {"pass": 0, "todo": 0, "pending": 0, "done": 2, "failed": 1}
    assert [get(tasks, "0", 1).task for _ in range(3)] == [0, 1, 2]  # the next pass retries it


def test_what_is_left_out_and_what_takes_too_long_is_logged(caplog):
    tasks, clock = some(chunks=2, timeout=20.0, failure_limit=2)
    fail(tasks, get(tasks, "a", 0))
    assert not caplog.messages
    assert get(tasks, "a", 0).task == 1
    clock.pass_by(20.0)
    assert get(tasks, "b", 0).task == 0
    assert caplog.messages == ["trainer a has had data task 1 for longer than task_timeout, 20 s"]
    clock.pass_by(20.0)
    assert get(tasks, "b", 0).task == 1
    assert caplog.messages[-1] == "data task 0, ['part-0'], failed or was lost 2 times: it is left out of pass 0"


def test_all_failed():
    tasks, _ = some(chunks=2, failure_limit=1)
    for _ in range(2):
        got = get(tasks, "0", 0)
        assert fail(tasks, got)
    assert answer(tasks, 0) == answer(tasks, 1) == TaskAnswer.ALL_FAILED


@pytest.mark.parametrize("lost, left_out", [(True, 1), (False, 0)])
def test_who_is_not_there_any_more_gives_back(lost, left_out):
    tasks, _ = some(chunks=3, failure_limit=1)
    get(tasks, "0", 0)
    mine = get(tasks, "1", 0)
    tasks.release("0", failed=lost)
    assert tasks.counts() == {"pass": 0, "todo": 2 - left_out, "pending": 1, "done": 0, "failed": left_out}
    assert finish(tasks, mine)


def test_the_data_set_is_what_the_first_one_says():
    tasks, _ = some(chunks=3)
    get(tasks, "0", 0)
    before = tasks.snapshot()
    tasks.set_data(["part-0", "part-1", "part-2"], 1)
    assert tasks.snapshot() == before
    with pytest.raises(AlreadyInitialised, match="another data set: 3 chunks"):
        tasks.set_data(["part-0", "part-1"], 1)
    with pytest.raises(AlreadyInitialised):
        tasks.set_data(["part-0", "part-1", "part-2"], 2)
    assert tasks.snapshot() == before


@pytest.mark.parametrize(
    "chunks, per_task", [([], 1), ("abc", 1), ([1], 0), ([1], True), ([1], 1.0), ([{1}], 1), ([float("nan")], 1)]
)
def test_no_data_set(chunks, per_task):
    tasks = Tasks(Clock())
    with pytest.raises(Malformed):
        tasks.set_data(chunks, per_task)
    with pytest.raises(NotInitialised):
        get(tasks, "0", 0)


class Reading(RuleBasedStateMachine):
    """Trainers that read, finish, fail, forget and are lost, and a coordinator that is restarted, against invariants of
    every such job."""

    def __init__(self):
        super().__init__()
        self.clock = Clock()
        self.tasks = self.new()
        self.tasks.set_data(list(range(7)), 2)
        self.held, self.late, self.pass_number = {}, [], 0
        self.finished = {0: []}  # by pass: numbers of tasks whose finish was counted

    def new(self):
        return Tasks(self.clock, timeout=10.0, failure_limit=2)

    def forget(self, chosen):
        for key in [key for key in self.held if chosen(key)]:
            self.late.append(key[:2])
            del self.held[key]

    @rule(trainer=st.sampled_from("012"), ahead=st.integers(-1, 2))
    def get(self, trainer, ahead):
        asked = self.pass_number + ahead
        got = get(self.tasks, trainer, asked)
        if isinstance(got, Task):
            assert asked in (self.pass_number, self.pass_number + 1)
            if asked > self.pass_number:
                assert not self.held
                self.pass_number = asked
                self.finished[asked] = []
            assert got.task not in [task for task, _, _ in self.held], "one task is with two trainers"
            assert got.task not in self.finished[self.pass_number]
            assert got.chunks == list(range(7))[2 * got.task : 2 * got.task + 2]
            self.held[got.task, got.epoch, trainer] = self.clock.now + 10
        else:
            expected = {
                TaskAnswer.EARLIER: asked < self.pass_number,
                TaskAnswer.LATER: asked > self.pass_number,
                TaskAnswer.NONE_NOW: asked == self.pass_number and bool(self.held),
                TaskAnswer.OVER: asked == self.pass_number and not self.held,
                TaskAnswer.ALL_FAILED: not self.held,
            }
            assert expected[got]

    @precondition(lambda self: self.held)
    @rule(data=st.data(), failed=st.booleans())
    def end(self, data, failed):
        key = data.draw(st.sampled_from(sorted(self.held)))
        task, epoch, _ = key
        del self.held[key]
        self.late.append((task, epoch))
        assert self.tasks.end(TaskId(task, epoch), failed)
        if not failed:
            self.finished[self.pass_number].append(task)

    @precondition(lambda self: self.late)
    @rule(data=st.data(), failed=st.booleans())
    def say_something_late(self, data, failed):
        before = self.tasks.snapshot()
        task, epoch = data.draw(st.sampled_from(self.late))
        assert not self.tasks.end(TaskId(task, epoch), failed)
        assert self.tasks.snapshot() == before

    @rule(seconds=st.sampled_from([1, 4, 9, 10]))
    def pass_by(self, seconds):
        self.clock.pass_by(seconds)
        self.forget(lambda key: self.held[key] <= self.clock.now)

    @rule(trainer=st.sampled_from("012"), lost=st.booleans())
    def end_of_a_trainer(self, trainer, lost):
        self.tasks.release(trainer, lost)
        self.forget(lambda key: key[2] == trainer)

    @rule()
    def restart(self):
        state = json.loads(json.dumps(self.tasks.snapshot()))
        self.tasks = self.new()
        self.tasks.restore(state)
        assert json.loads(json.dumps(self.tasks.snapshot())) == state
        self.held = dict.fromkeys(self.held, self.clock.now + 10)  # each has its whole time again

    @invariant()
    def every_task_is_somewhere_once(self):
        counts = self.tasks.counts()
        assert counts["pending"] == len(self.held)
        assert sum(counts[where] for where in ("todo", "pending", "done", "failed")) == 4
        assert sorted(task for task, failed in self.tasks.snapshot()["ended"] if not failed) == sorted(
            set(self.finished[self.pass_number])
        )


TestReading = Reading.TestCase
TestReading.settings = settings(max_examples=60, stateful_step_count=40)
