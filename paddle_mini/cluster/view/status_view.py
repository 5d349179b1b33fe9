# status_view: live status of a job on a terminal: tables with `rich`, else one line every few seconds.
from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any, TextIO

from .watch import OnStatus, RequestStatus, ServerStatus, Snapshot, TrainerStatus, request_status

LINE_SECONDS = 5.0
"""Seconds between two plain lines."""
TRAINERS = ("trainer", "steps", "steps/s", "applied", "dropped", "saved", "restarts", "silent")
SERVERS = ("server", "version", "in", "out", "behind", "checkpoint", "errors", "restarts", "silent")

REQUESTS = ("answered by", "request", "count", "half below", "99 % below")

Table = tuple[Sequence[str], list[list[str]]]


@contextmanager
def status_view(stream: TextIO) -> Iterator[OnStatus]:
    """A function that shows snapshots on a stream; the last one remains visible."""
    live = _live(stream)
    if live is None:
        lines = _Lines(stream)
        yield lines
        lines.end()
        return
    with live:
        yield lambda now: live.update(_rich(now), refresh=True)


def tables(now: Snapshot) -> list[Table]:
    """One for trainers, one for servers and one for requests: headings, and a row for each. behind: the mean, and the
    worst; checkpoint: number and age; requests: those of all servers together."""
    found: list[Table] = [(TRAINERS, [_trainer(one) for one in now.trainers]), (SERVERS, [_server(one) for one in now.servers])]
    requests = [("coordinator", name, one) for name, one in now.coordinator.items()]
    names = sorted({name for server in now.servers for name in server.requests})
    requests += [("servers", name, _together(server.requests.get(name) for server in now.servers)) for name in names]
    return found + [(REQUESTS, [_request(*one) for one in requests])] * bool(requests)


def line(now: Snapshot) -> str:
    """A snapshot in one line; behind: the mean over the servers."""
    servers, behind = now.servers, [one.behind for one in now.servers if one.behind is not None]
    present = [one for one in now.trainers if one.silent is not None]
    items = [
        f"{now.seconds:.0f} s",
        f"{len(present)} trainer" + "s" * (len(present) != 1),
        f"{sum(one.steps for one in now.trainers)} steps",
        f"{sum(one.steps_per_second for one in present):.1f} steps/s",
        f"{size(sum(one.received_per_second for one in servers))}/s in",
        f"{size(sum(one.given_per_second for one in servers))}/s out",
    ]
    items += [f"{sum(behind) / len(behind):.1f} behind"] if behind else []
    items += events(now)
    return ", ".join(items + [text for text in (tasks(now), collective(now), savers(now)) if text])


def last_line(now: Snapshot) -> str:
    """The totals of a finished job, without rates, which would be 0, and without what was to be done later."""
    items = [f"finished {sum(one.steps for one in now.trainers):,} steps in {seconds(now.seconds)}", *events(now)]
    return ", ".join(items + [text for text in (tasks(now),) if text])


def pushes(counts: Mapping[str, int]) -> str:
    """The counts of a JobResult: "pushes: 1,000, of which 990 were applied, and 10 dropped as they came too late"."""
    sent = counts["sent"]
    text = f"pushes: {sent:,}" + (
        ", all applied" if counts["applied"] == sent else f", of which {counts['applied']:,} were applied"
    )
    if counts["dropped"]:
        text += f", and {counts['dropped']:,} dropped as they came too late"
    if counts["repeated"]:
        text += f"; {counts['repeated']:,} messages were sent again, which changes nothing"
    if counts["lost"]:
        text += f"; the effect of {counts['lost']:,} was lost when a server restarted from an earlier checkpoint"
    return text


def collective(now: Snapshot) -> str:
    """ "step 7 of 3 trainers, 1 waits", or "" in other modes."""
    if now.collective is None:
        return ""
    waiting = len(now.collective.waiting)
    return f"step {now.collective.step} of {len(now.collective.members)} trainers" + (f", {waiting} wait" if waiting else "")


def events(now: Snapshot) -> list[str]:
    """Counts of dropped pushes, restarts and checkpoint errors."""
    counts = (
        (sum(one.dropped for one in now.trainers), "dropped"),
        (sum(one.restarts for one in now.trainers) + sum(one.restarts for one in now.servers) + now.restarts, "restarts"),
        (sum(one.checkpoint_errors for one in now.servers), "checkpoint errors"),
    )
    return [f"{count} {word}" for count, word in counts if count]


def tasks(now: Snapshot) -> str:
    """ "pass 0: 3 of 20 tasks done, 1 failed", or "" without tasks."""
    ended = {word: now.tasks[word] for word in ("todo", "pending", "done", "failed")}
    if not sum(ended.values()):
        return ""
    failed = f", {ended['failed']} failed" if ended["failed"] else ""
    return f"pass {now.tasks['pass']}: {ended['done']} of {sum(ended.values())} tasks done{failed}"


def savers(now: Snapshot) -> str:
    """ "trainer 1 saves to models", or "" if none does."""
    return ", ".join(f"trainer {trainer} saves to {directory}" for directory, trainer in now.saving.items())


def size(count: float) -> str:
    """1234567 as "1.2 MB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:  # from there on it is rounded to 1000, which .3g writes as 1e+03
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.0f} TB" if count >= 999.5 else f"{count:.3g} TB"


def clock(count: float) -> str:
    """90061 seconds as "25:01:01"."""
    minutes, rest = divmod(int(count), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest:02}"


def seconds(count: float) -> str:
    """ "20 µs", "3 ms", "0.2 s", "12 s" or "5 min"."""
    if 0 < count < 0.1:
        return f"{1e3 * count:.3g} ms" if count >= 1e-3 else f"{1e6 * count:.3g} µs"
    return f"{count:.1f} s" if count < 10 else f"{count:.0f} s" if count < 120 else f"{count / 60:.0f} min"


def _trainer(one: TrainerStatus) -> list[str]:
    return [
        str(one.number),
        f"{one.steps:,}",
        "–" if one.silent is None else f"{one.steps_per_second:.1f}",
        f"{one.applied:,}",
        f"{one.dropped:,}",
        str(one.saves),
        str(one.restarts),
        _silent(one),
    ]


def _server(one: ServerStatus) -> list[str]:
    behind = "–" if one.behind is None else f"{one.behind:.1f}"
    checkpoint = "–" if one.checkpoint_age is None else f"#{one.checkpoint}, {seconds(one.checkpoint_age)}"
    return [
        str(one.number),
        f"{one.version:,}",
        f"{size(one.received_per_second)}/s",
        f"{size(one.given_per_second)}/s",
        f"{behind} ({one.worst_behind})",
        checkpoint,
        str(one.checkpoint_errors),
        str(one.restarts),
        _silent(one),
    ]


def _silent(one: TrainerStatus | ServerStatus) -> str:
    return seconds(one.silent) if one.silent is not None else "lost" if one.lost else "left"


def _request(by: str, name: str, one: RequestStatus) -> list[str]:
    return [by, name, f"{one.answered:,}", seconds(one.p50), seconds(one.p99)]


def _together(some: Iterable[RequestStatus | None]) -> RequestStatus:
    return request_status([sum(bucket) for bucket in zip_longest(*(one.counts for one in some if one), fillvalue=0)])


class _Lines:
    def __init__(self, stream: TextIO):
        self._stream, self._shown = stream, 0.0
        self._last: Snapshot | None = None

    def __call__(self, now: Snapshot) -> None:
        self._last = now
        if now.seconds - self._shown >= LINE_SECONDS:
            self._shown = now.seconds
            print(line(now), file=self._stream, flush=True)

    def end(self) -> None:
        if self._last is not None:
            print(last_line(self._last), file=self._stream, flush=True)


def _live(stream: TextIO) -> Any:
    """None if the stream is not a terminal, or `rich` is not installed."""
    if not stream.isatty():
        return None
    try:
        from rich.console import Console
        from rich.live import Live
    except ImportError:
        return None
    # Output of the script appears above the tables, unless stdout is redirected.
    return Live(console=Console(file=stream), auto_refresh=False, redirect_stdout=sys.stdout.isatty())


def _rich(now: Snapshot) -> Any:
    from rich.console import Group
    from rich.table import Table as RichTable
    from rich.text import Text

    shown: list[Any] = []
    for headings, rows in tables(now):
        table = RichTable(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, justify="right")
        for row in rows:
            table.add_row(*row)
        shown.append(table)
    footer = [text for text in (clock(now.seconds), tasks(now), collective(now), savers(now)) if text]
    return Group(*shown, Text("  ".join(footer)))
