"""Logs of a job's processes: with their origin, once, also from separate processes."""

import logging
import subprocess
import sys
import textwrap

import pytest

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier
from coordinators import Asked, ToService
from paddle_mini.cluster import Malformed, StorageError
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.coordinator import coordinator_file
from paddle_mini.cluster.job_settings import JobSettings
from paddle_mini.cluster.process_log import AT_ONCE, Event, EventBuffer
from paddle_mini.cluster.protocol import GetServerStatus
from paddle_mini.cluster.servers.server_process import ServerProcess
from paddle_mini.cluster.thread_engine import ThreadEngine
from paddle_mini.cluster.view.watch import Watch
from server_calls import call


def test_on_threads_it_is_said_once_with_its_origin(caplog):
    engine = ThreadEngine()

    def trained():
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        trainer.run(batch(0, 8), [loss])
        engine.kill("server 1")
        engine.restart("server 1")
        trainer.run(batch(0, 8), [loss])

    pm.cluster.run(trained, 1, 2, engine=engine, status_seconds=0.01)
    assert caplog.messages.count("trainer 0: server 1 restarted; it is at version 1 now") == 1


def test_a_failure_inside_a_server_says_which(caplog, monkeypatch, tmp_path):
    part = ServerProcess(1, JobSettings("job", 1, 2), None, ToService(None))
    monkeypatch.setitem(part.server.handlers, GetServerStatus, lambda request: 1 // 0)
    with pytest.raises(pm.cluster.ClusterError, match="ZeroDivisionError"):
        call(part, "status")
    assert caplog.messages == ["server 1: a request failed"]


def test_a_server_that_begins_again_says_which(caplog, tmp_path):
    path = tmp_path / f"server-0-{'a' * 32}.ckpt"
    path.write_bytes(b"not a checkpoint")
    ServerProcess(0, JobSettings("job", 1, 1), str(tmp_path), ToService(None))
    (message,) = caplog.messages
    assert message.startswith("server 0: ") and path.name in message


def test_who_is_lost(tmp_path, caplog):
    job = Asked(tmp_path, lease=5.0)
    job.trainer("a", 0)
    job.trainer("b", 0)  # it was restarted
    job.clock.pass_by(6)
    job.request("view")
    assert caplog.messages == ["coordinator: trainer 0 sent nothing for 5 s: the job continues without it"]


def test_the_board_gives_each_event_once():
    board = EventBuffer()
    assert board.after(0) == (0, [])
    board.add([Event(30, "a"), Event(40, "b")])
    assert board.after(0) == (2, [(30, "a"), (40, "b")]) and board.after(1) == (2, [(40, "b")])
    assert board.after(2) == (2, [])
    assert board.after(100) == (2, [(30, "a"), (40, "b")]), "of a coordinator before this one"
    for number in range(10):
        board.add([Event(30, f"{number}.{one}") for one in range(AT_ONCE)])
    given, end = [], 0
    while end < board.count:
        end, events = board.after(end)
        assert 0 < len(events) <= AT_ONCE
        given += events
    assert [text for _, text in given] == [f"{number}.{one}" for number in range(6, 10) for one in range(AT_ONCE)]


def test_a_request_that_is_refused_has_told_nothing(tmp_path, monkeypatch):
    job = Asked(tmp_path)
    job.trainer("a")

    def refuse(*given):
        raise StorageError("the disk is full")

    fields = {"role": "trainer", "number": 0, "incarnation": 1, "events": [[30, "trainer 0: end"]]}
    with monkeypatch.context() as patch, pytest.raises(StorageError):
        patch.setattr(coordinator_file.CoordinatorFiles, "append", refuse)
        job.request("leave", **fields)
    job.request("leave", **fields)
    assert job.request("status")["events"] == [[30, "trainer 0: end"]]


@pytest.mark.parametrize("events", [[[30]], [["30", "a"]], [[30, "a" * 501]], [[-1, "a"]], [[30, "a"]] * 51, [{}]])
def test_events_that_are_none(tmp_path, events):
    job = Asked(tmp_path)
    job.trainer("a")
    with pytest.raises(Malformed, match="events are at most 50|'events' is .*, it must be a list, each"):
        job.request("heartbeat", role="trainer", number=0, incarnation=1, events=events)


def test_the_watch_logs_events_once_also_of_a_new_coordinator(tmp_path, caplog):
    job = Asked(tmp_path)
    job.trainer("a")
    link = ToService(job.service)
    watch = Watch(Client(link, "job"), [])

    def say(*texts):
        job.request("heartbeat", role="trainer", number=0, incarnation=1, events=[[logging.WARNING, text] for text in texts])
        watch.look()

    say("trainer 0: 1", "trainer 0: 2")
    say("trainer 0: 3")
    watch.look()
    job.restart()
    link.service = job.service
    say("trainer 0: 4", "trainer 0: 5", "trainer 0: 6", "trainer 0: 7")
    for number in range(8, 8 + 2 * AT_ONCE):
        job.request("heartbeat", role="trainer", number=0, incarnation=1, events=[[logging.ERROR, f"trainer 0: {number}"]])
    watch.look()
    assert caplog.messages == [f"trainer 0: {number}" for number in range(1, 8 + 2 * AT_ONCE)]
    assert [record.levelno for record in caplog.records][6:8] == [logging.WARNING, logging.ERROR]


def test_a_part_in_a_process_of_its_own_sends_what_it_logs():
    script = textwrap.dedent("""
        import logging
        from paddle_mini.cluster.process_log import EventBuffer, ProcessLogger, events_sent, pending_events, forward_log

        forward_log("server 1")
        log = ProcessLogger("paddle_mini.cluster.servers.server")
        log.info("not needed")
        log.warning("%d%%", 1)
        logging.getLogger("paddle_mini.cluster.other").error("server 1: two")
        first = pending_events()
        assert first == pending_events() == [(30, "server 1: 1%"), (40, "server 1: two")]
        try:
            1 // 0
        except ZeroDivisionError:
            log.exception("x" * 1000)
        events_sent(first)
        (level, text), = pending_events()
        assert text.startswith("server 1: xxx") and text.endswith("ZeroDivisionError: integer division or modulo by "
                                                                  "zero")
        EventBuffer().add(pending_events())
        sent = pending_events()
        for number in range(300):
            log.warning("%d", number)
        events_sent(sent)
        assert pending_events()[0] == (30, "server 1: 100") and len(pending_events()) == 50
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
