"""The view of a job on a terminal, and in lines."""

import io
import re
import sys

import pytest

from paddle_mini.cluster import CollectiveStatus, ServerStatus, Snapshot, TrainerStatus
from paddle_mini.cluster.view.status_view import LINE_SECONDS, clock, last_line, line, pushes, seconds, size, status_view, tables
from paddle_mini.cluster.view.watch import request_status

NOW = Snapshot(
    75.0,
    (TrainerStatus(0, 0.2, 0, 1234567, 56.25, 20, 20, 0, 1), TrainerStatus(1, None, 2, 10, 5.0, 8, 7, 1)),
    (
        ServerStatus(0, 0.5, 0, 1234567, 4000, 10, 123456789.0, 20, 999.0, 1.5, 12, 123, 400.0, 12.5, 0),
        ServerStatus(1, None, 1, 3, checkpoint_errors=2, lost=True),
    ),
    {"pass": 1, "todo": 1, "pending": 2, "done": 3, "failed": 4},
    {"out/[red]": 1},
    1,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_one_line():
    assert line(NOW) == (
        "75 s, 1 trainer, 1234577 steps, 56.2 steps/s, 123 MB/s in, 999 B/s out, 1.5 behind, "
        "1 dropped, 4 restarts, 2 checkpoint errors, pass 1: 3 of 10 tasks done, 4 failed, "
        "trainer 1 saves to out/[red]"
    )


@pytest.mark.parametrize(
    "count, text",
    [(0, "0 B"), (999, "999 B"), (1234, "1.23 kB"), (5e9, "5 GB"), (999_999, "1 MB"), (999_400, "999 kB"), (2e12, "2 TB")],
)
def test_sizes(count, text):
    assert size(count) == text


def test_the_time_of_a_job():
    assert [clock(one) for one in (0.9, 75.0, 90061.5, 360000)] == ["00:00:00", "00:01:15", "25:01:01", "100:00:00"]


def test_seconds():
    assert [seconds(one) for one in (0.0, 9.5, 59.6, 400.0)] == ["0.0 s", "9.5 s", "60 s", "7 min"]
    assert [seconds(one) for one in (2e-5, 0.0034, 0.099)] == ["20 µs", "3.4 ms", "99 ms"]


def test_the_end_of_a_job_that_went_well_reads_so():
    done = NOW._replace(tasks={"pass": 0, "todo": 0, "pending": 0, "done": 20, "failed": 0}, saving={}, restarts=0)
    done = done._replace(trainers=(TrainerStatus(0, None, 0, 1000), TrainerStatus(1, None, 0, 234)), servers=done.servers[:1])
    assert last_line(done) == "finished 1,234 steps in 75 s, pass 0: 20 of 20 tasks done"
    assert last_line(NOW).startswith("finished 1,234,577 steps in 75 s, 1 dropped, 4 restarts, 2 checkpoint errors")
    well = {"sent": 1000, "applied": 1000, "dropped": 0, "repeated": 0, "lost": 0}
    assert pushes(well) == "pushes: 1,000, all applied"
    assert pushes({**well, "applied": 990, "dropped": 10, "repeated": 3, "lost": 2}) == (
        "pushes: 1,000, of which 990 were applied, and 10 dropped as they came too late; 3 messages were sent again, which "
        "changes nothing; the effect of 2 was lost when a server restarted from an earlier checkpoint"
    )


def test_requests_of_all_servers_are_one_row():
    push, view = request_status([0, 3, 1]), request_status([0] * 20 + [5])
    servers = tuple(one._replace(requests={"push": push}) for one in NOW.servers)
    headings, rows = tables(NOW._replace(servers=servers, coordinator={"view": view}))[2]
    assert headings == ("answered by", "request", "count", "half below", "99 % below")
    assert rows == [["coordinator", "view", "5", "1.02 ms", "1.02 ms"], ["servers", "push", "8", "1.41 µs", "2 µs"]]


def test_a_collective_job_shows_its_members():
    now = NOW._replace(collective=CollectiveStatus(7, (0, 1, 2), (3,)))
    assert "step 7 of 3 trainers, 1 wait" in line(now) and "step" not in last_line(now).replace("steps", "")


def test_the_tables_fit_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with status_view(stream) as show:
        show(NOW._replace(trainers=()))
        show(NOW)
    last = stream.getvalue().split("\x1b[2K")[-1]  # clears a line of the previous picture
    assert [row.split() for row in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", last).splitlines()] == [
        "trainer steps steps/s applied dropped saved restarts silent".split(),
        "0 1,234,567 56.2 20 0 1 0 0.2 s".split(),
        "1 10 – 7 1 0 2 left".split(),
        "server version in out behind checkpoint errors restarts silent".split(),
        "0 1,234,567 123 MB/s 999 B/s 1.5 (12) #123, 7 min 0 0 0.5 s".split(),
        "1 3 0 B/s 0 B/s – (0) – 2 1 lost".split(),
        "00:01:15 pass 1: 3 of 10 tasks done, 4 failed trainer 1 saves to out/[red]".split(),
    ]


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_lines_where_there_are_no_tables(stream, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.live", None)
    out = stream()
    with status_view(out) as show:
        for tenth in range(121):
            show(NOW._replace(seconds=tenth / 10))
    assert [text.split(",")[0] for text in out.getvalue().splitlines()] == ["5 s", "10 s", "finished 1"] and LINE_SECONDS == 5
    with status_view(out):
        pass  # a job that ends before it was shown
