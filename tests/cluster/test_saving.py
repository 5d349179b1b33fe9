"""Saving: one elected trainer, a separate folder, complete under its name or absent; averages; without a cluster."""

import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinators import Asked, ToService
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.errors import Malformed, StaleToken, StorageError, Timeout
from paddle_mini.cluster.trainers.membership import Membership
from paddle_mini.cluster.trainers.saving import save_alone, save_elected
from paddle_mini.cluster.trainers.trainer import save_if_elected


def writing(text):
    """A model of two files, which must come from one save."""

    def write(folder):
        assert os.listdir(folder) == []
        for name in ("model.pdmodel", "model.pdiparams"):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)

    return write


def model_in(path):
    """The values passed to writing(); None if the model is absent."""
    if not os.path.isdir(path):
        return None
    texts = {(path / name).read_text() for name in ("model.pdmodel", "model.pdiparams")}
    assert len(texts) == 1 and len(os.listdir(path)) == 2
    return texts.pop()


class Approvals:
    """Replies of a coordinator, in order; the last one is repeated."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self, saves):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def test_the_elected_one_saves_to_its_own_folder_and_parents_are_made(tmp_path):
    out = tmp_path / "some" / "where"
    assert save_elected(out, "3", Approvals(7), writing("a")) == str(out / "3")
    assert model_in(out / "3") == "a"
    assert save_elected(out, "4", Approvals(None), writing("b")) is None
    assert os.listdir(out) == ["3"]


def test_a_model_takes_the_place_of_the_one_before(tmp_path):
    for text in "abc":
        save_elected(tmp_path, "0", Approvals(1), writing(text))
        assert model_in(tmp_path / "0") == text and os.listdir(tmp_path) == ["0"]


def test_two_that_believe_to_be_elected_write_two_whole_models(tmp_path):
    def write_while_another_saves(folder):
        save_elected(tmp_path, "1", Approvals(2), writing("b"))
        writing("a")(folder)

    save_elected(tmp_path, "0", Approvals(1), write_while_another_saves)
    assert model_in(tmp_path / "0") == "a" and model_in(tmp_path / "1") == "b"


@pytest.mark.parametrize("then", [None, 2])
def test_a_saver_that_another_one_followed_puts_nothing_in_place(tmp_path, then):
    save_elected(tmp_path, "0", Approvals(1), writing("old"))
    with pytest.raises(StaleToken, match="another one was elected since"):
        save_elected(tmp_path, "0", Approvals(1, then), writing("new"))
    assert model_in(tmp_path / "0") == "old" and os.listdir(tmp_path) == ["0"]


def test_with_a_coordinator(tmp_path):
    job = Asked(tmp_path / "job", lease=1e6)
    a, b = job.trainer("a"), job.trainer("b")
    out = str(tmp_path / "out")

    def asking(trainer):
        return lambda saves: job.request("ask_save", **trainer, directory=out, seconds=60)["token"]

    assert save_elected(out, "0", asking(a), writing("a")) and save_elected(out, "1", asking(b), writing("b")) is None

    def slow(folder):
        writing("slow")(folder)
        job.clock.pass_by(60)
        assert save_elected(out, "1", asking(b), writing("b"))

    with pytest.raises(StaleToken):
        save_elected(out, "0", asking(a), slow)
    assert model_in(tmp_path / "out" / "0") == "a" and model_in(tmp_path / "out" / "1") == "b"
    job.clock.pass_by(60)

    def slow_but_alone(folder):
        writing("in the end")(folder)
        job.clock.pass_by(3600)

    assert save_elected(out, "0", asking(a), slow_but_alone)
    assert model_in(tmp_path / "out" / "0") == "in the end"


class Counted(ToService):
    """The connection to a coordinator for several threads; wait() returns at the next request for the right to save."""

    def __init__(self, service):
        super().__init__(service)
        self.changed, self.asked = threading.Condition(), 0

    def send(self, requests, timeout):
        with self.changed:
            self.asked += sum(b"ask_save" in request.header for request in requests)
            self.changed.notify_all()
            return super().send(requests, timeout)

    def wait(self):
        with self.changed:
            now = self.asked
            assert self.changed.wait_for(lambda: self.asked > now, timeout=60)


def test_who_saves_stays_elected_while_it_writes(tmp_path):
    job = Asked(tmp_path / "job", lease=1e6)
    link = Counted(job.service)
    saver, other = (Membership(number, 0, Client(link, "job"), 0.001, dict) for number in range(2))

    def slow(folder):
        writing("a")(folder)
        for _ in range(3):
            job.clock.pass_by(40)
            assert save_if_elected(other, tmp_path / "out", 60, writing("b")) is None
            link.wait()

    try:
        saver.join()
        other.join()
        assert save_if_elected(saver, tmp_path / "out", 60, slow)
        saver.stop_heartbeat()  # a heartbeat may still be in flight
        job.clock.pass_by(60)
        assert save_if_elected(other, tmp_path / "out", 60, writing("b"))
    finally:
        saver.stop_heartbeat()
        other.stop_heartbeat()
    assert model_in(tmp_path / "out" / "0") == "a" and model_in(tmp_path / "out" / "1") == "b"


def test_a_slow_save_with_a_short_lease_is_not_ended(tmp_path):
    """No other is elected while the trainer that saves is in the job, however short the lease is beside the heartbeats."""
    job = Asked(tmp_path / "job", lease=10.0)
    link = ToService(job.service)
    saver, other = (Membership(number, 0, Client(link, "job"), 1e6, dict) for number in range(2))
    saver.join(), other.join()
    for member in (saver, other):
        member.stop_heartbeat()  # the test sends them

    def slow(folder):
        for _ in range(20):
            job.clock.pass_by(9.5)
            saver._heartbeat(), other._heartbeat()
            assert save_if_elected(other, tmp_path / "out", 0.01, writing("b")) is None
        writing("a")(folder)

    assert save_if_elected(saver, tmp_path / "out", 0.01, slow)
    assert save_if_elected(other, tmp_path / "out", 0.01, writing("b")) is None
    job.clock.pass_by(0.01)
    assert save_if_elected(other, tmp_path / "out", 0.01, writing("b")), "it is over as soon as it was promised"
    assert model_in(tmp_path / "out" / "0") == "a" and model_in(tmp_path / "out" / "1") == "b"


def test_a_restart_of_the_coordinator_does_not_end_a_save(tmp_path):
    job = Asked(tmp_path / "job", lease=10.0)
    link = ToService(job.service)
    saver, other = (Membership(number, 0, Client(link, "job"), 1e6, dict) for number in range(2))
    saver.join(), other.join()
    for member in (saver, other):
        member.stop_heartbeat()

    def slow(folder):
        job.clock.pass_by(3600)  # it was away for an hour
        job.restart()
        link.service = job.service
        assert save_if_elected(other, tmp_path / "out", 0.01, writing("b")) is None
        writing("a")(folder)

    assert save_if_elected(saver, tmp_path / "out", 0.01, slow)
    assert model_in(tmp_path / "out" / "0") == "a"


@pytest.mark.parametrize("when", ["asking", "writing", "asking again"])
def test_errors_reach_who_saves_and_nothing_is_left(tmp_path, when):
    save_elected(tmp_path, "0", Approvals(1), writing("old"))
    asked = []

    def approve(saves):
        asked.append(1)
        if when == "asking" or (when == "asking again" and len(asked) == 2):
            raise Timeout("the coordinator does not answer")
        return 1

    def write(folder):
        writing("new")(folder)
        if when == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt if when == "writing" else Timeout):
        save_elected(tmp_path, "0", approve, write)
    assert model_in(tmp_path / "0") == "old" and os.listdir(tmp_path) == ["0"]


class Dead(BaseException):
    """The process was killed: it must not change anything afterwards."""


CALLS = ["open", "mkdir", "rename", "fsync", "unlink", "rmdir", "scandir", "listdir"]


def deadly(patch, step, death):
    """From its call number `step` on, the system only raises what death() returns; returns the count."""
    count = [0]

    def guarded(function):
        def call(*given, **more):
            count[0] += 1
            if count[0] > step:
                raise death()
            return function(*given, **more)

        return call

    for name in CALLS:
        patch.setattr(os, name, guarded(getattr(os, name)))
    return count


@pytest.mark.parametrize("death", [Dead, lambda: OSError(28, "No space left on device")], ids=["killed", "disk full"])
def test_an_end_at_any_step_leaves_a_whole_model(tmp_path, monkeypatch, death):
    writes, steps = writing("new"), 0
    while True:
        out = tmp_path / str(steps)
        save_elected(out, "0", Approvals(1), writing("old"))
        with monkeypatch.context() as patch:
            deadly(patch, steps, death)
            try:
                save_elected(out, "0", Approvals(1), writes)
                ended = False
            except (Dead, OSError, StorageError):
                ended = True
        aside = model_in(out / "0.previous")
        assert aside in (None, "old") and model_in(out / "0") in ("old", "new", *[None] * (aside == "old"))
        save_elected(out, "0", Approvals(1), writing("next"))
        assert model_in(out / "0") == "next" and os.listdir(out) == ["0"]
        if not ended:
            break
        steps += 1
    assert steps > 8


def test_what_was_set_aside_is_put_back_before_anything_else(tmp_path):
    save_elected(tmp_path, "0", Approvals(1), writing("old"))
    (tmp_path / "0").rename(tmp_path / "0.previous")
    with pytest.raises(KeyboardInterrupt):
        save_elected(tmp_path, "0", Approvals(1), lambda folder: (_ for _ in ()).throw(KeyboardInterrupt))
    assert model_in(tmp_path / "0") == "old" and os.listdir(tmp_path) == ["0"]


def test_a_file_where_a_folder_should_be(tmp_path):
    (tmp_path / "0").write_text("mine")
    with pytest.raises(StorageError, match="is a file"):
        save_alone(tmp_path, writing("a"))
    with pytest.raises(StorageError, match="can't save to"):
        save_alone(tmp_path / "0" / "below", writing("a"))
    assert (tmp_path / "0").read_text() == "mine" and os.listdir(tmp_path) == ["0"]


def test_files_of_others_stay(tmp_path):
    for name in (".0.notours", ".1.01234567", "notes.txt", ".0.0123456g"):
        (tmp_path / name).write_text("theirs")
    (tmp_path / ".0.01234567").mkdir()  # left by an incarnation of trainer 0 that was killed
    save_alone(tmp_path, writing("a"))
    assert sorted(os.listdir(tmp_path)) == [".0.0123456g", ".0.notours", ".1.01234567", "0", "notes.txt"]


def test_alone(tmp_path):
    assert save_alone(tmp_path, writing("a")) == str(tmp_path / "0")
    assert save_alone(tmp_path, writing("b"), "1") is None
    assert model_in(tmp_path / "0") == "a"


@settings(max_examples=100)
@given(st.text(max_size=5) | st.sampled_from(["..", "../x", "/etc", "a\0b", "", ".0", "0.previous", "x" * 101, "a\n"]))
def test_ids_that_are_no_names_of_folders(trainer_id):
    if trainer_id.isascii() and trainer_id.isalnum():
        return
    try:
        save_elected("/nowhere", trainer_id, lambda saves: None, writing("a"))
    except Malformed:
        return
    assert not set(trainer_id) & set("/\0") and trainer_id[0] not in "._-" and not trainer_id.endswith(".previous")
