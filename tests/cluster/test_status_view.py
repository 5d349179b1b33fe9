"""The view of a job on a terminal, and in lines."""

import io
import re
import sys

import pytest

from paddle_mini.cluster import ServerStatus, Snapshot, TrainerStatus
from paddle_mini.cluster.view.status_view import LINE_SECONDS, line, seconds, size, status_view

NOW = Snapshot(
    75.0,
    (TrainerStatus(0, 0.2, 0, 1234567, 56.25, 20, 20, 0, 1), TrainerStatus(1, None, 2, 10, 5.0, 8, 7, 1)),
    (
        ServerStatus(0, 0.5, 0, 1234567, 4000, 10, 123456789.0, 20, 999.0, 1.5, 12, 123, 400.0, 12.5, 0),
        ServerStatus(1, None, 1, 3, checkpoint_errors=2),
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


@pytest.mark.parametrize("count, text", [(0, "0 B"), (999, "999 B"), (1234, "1.23 kB"), (5e9, "5 GB")])
def test_sizes(count, text):
    assert size(count) == text


def test_seconds():
    assert [seconds(one) for one in (0.0, 9.5, 59.6, 400.0)] == ["0.0 s", "9.5 s", "60 s", "7 min"]


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
        "1 10 – 7 1 0 2 gone".split(),
        "server version in out behind checkpoint errors restarts silent".split(),
        "0 1,234,567 123 MB/s 999 B/s 1.5 (12) #123, 7 min 0 0 0.5 s".split(),
        "1 3 0 B/s 0 B/s – (0) – 2 1 gone".split(),
        "00:01:15 pass 1: 3 of 10 tasks done, 4 failed trainer 1 saves to out/[red]".split(),
    ]


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_lines_where_there_are_no_tables(stream, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.live", None)
    out = stream()
    with status_view(out) as show:
        for tenth in range(121):
            show(NOW._replace(seconds=tenth / 10))
    assert [text.split(",")[0] for text in out.getvalue().splitlines()] == [
        "5 s",
        "10 s",
        "over after 12 s",
    ] and LINE_SECONDS == 5
    with status_view(out):
        pass  # a job that ends before it was shown
