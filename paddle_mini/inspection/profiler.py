# The profiler: times of operators by the user's lines, and a trace for Perfetto.
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from .. import _core, callsite
from .._core import ProgramError, printable
from ..io.regular_files import write_text
from ..operator import EMPTY_NAME
from .costs import Call, Value, flops, moved_bytes
from .peak import Peak, measured_peak
from .scoped import Scoped
from .tables import counted, html_table, scaled, text_table

_HEADER = ("operator", "line", "place", "calls", "total us", "mean us", "share", "bytes", "flops", "GFLOP/s", "GB/s")
_LEFT = 3


@dataclass
class ProfileRow:
    """An operator, or fused operators, of one user's line on one place."""

    operator: str
    """ "sgd + parameter_average" for fused operators; "save" for values that are kept to undo a run."""
    line: str
    place: str
    calls: int = 0
    microseconds: float = 0.0
    """Without the operators that ran inside it, in loops and branches."""
    bytes: int | None = 0
    """Sum over all calls, by the shapes of inputs and outputs; None if they are not known."""
    flops: int | None = 0

    @property
    def gflops(self) -> float | None:
        """10^9 floating-point operations for each second."""
        return self.flops / self.microseconds / 1e3 if self.flops and self.microseconds else None

    @property
    def gbytes(self) -> float | None:
        """10^9 bytes for each second."""
        return self.bytes / self.microseconds / 1e3 if self.bytes and self.microseconds else None


class Site:
    """A step of a plan as the profile saw it, with what the table and the trace show of it."""

    def __init__(self, facts: dict[str, Any]):
        self.place: str = facts["place"]
        self.calls: int = facts["calls"]
        self.microseconds: float = facts["microseconds"]
        calls = [_call(op) for op in facts["ops"]]
        lane = "" if facts["lane"] == "compute" else f" {facts['lane']}"
        self.operator = printable(" + ".join(call.type for call in calls) + lane if calls else "save", 200)
        self.line = " + ".join(dict.fromkeys(filter(None, map(_line, facts["ops"]))))
        self.outputs = [name for op in facts["ops"] for _, names in op["op"]["outputs"] for name in names if name != EMPTY_NAME]
        self.bytes = _sum([moved_bytes(call) for call in calls]) if calls else None
        self.flops = _sum([flops(call) for call in calls]) if calls else None


class Profile(Scoped):
    """Result of pm.profile(): the table and the trace of the runs inside `with`."""

    def __init__(self, most_events: int = 1_000_000):
        """The recorder of profile(), with its argument."""
        if isinstance(most_events, bool) or not isinstance(most_events, int) or most_events < 0:
            raise ProgramError(f"profile(most_events={printable(repr(most_events), 60)}) is not an integer from 0 on")
        self._core = _core.Profile(most_events)
        self._expect_with("pm.profile()")

    def __enter__(self) -> Profile:
        self._entered()
        self._core.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._core.stop()

    @property
    def sites(self) -> list[Site]:
        """Every step of every plan that ran."""
        return [Site(facts) for facts in self._core.sites()]

    @property
    def rows(self) -> list[ProfileRow]:
        """By operator and line, the longest total time first."""
        rows: dict[tuple[str, str, str], ProfileRow] = {}
        for site in self.sites:
            key = site.operator, site.line, site.place
            row = rows.setdefault(key, ProfileRow(*key))
            row.calls += site.calls
            row.microseconds += site.microseconds
            row.bytes = _sum([row.bytes, None if site.bytes is None else site.bytes * site.calls])
            row.flops = _sum([row.flops, None if site.flops is None else site.flops * site.calls])
        return sorted(rows.values(), key=lambda row: -row.microseconds)

    def table(self, peak: bool = False, limit: int | None = 40) -> str:
        """The rows as text. peak: also the share of the machine's measured peak, the larger of the shares of arithmetic and of
        memory; the first call in a process measures the peak, which takes about a second. limit: how many rows; None: all."""
        measured = measured_peak() if peak else None
        header, cells = self._cells(measured, limit)
        notes = self._notes(limit)
        if measured:
            most = f"{measured.gflops:.3g} GFLOP/s, {measured.gbytes:.3g} GB/s of memory"
            notes.append(f"peak: {most}; data in caches may be faster than memory")
        return "\n".join([text_table(header, cells, _LEFT), "", *notes])

    def save_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes a trace in Chrome's format, which ui.perfetto.dev and chrome://tracing open: runs and, inside them,
        operators."""
        from .trace import trace_text

        text = trace_text(self.sites, self._core.events(), self._core.runs())
        write_text(path, text)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        header, cells = self._cells(None, 40)
        return html_table(header, cells, _LEFT, self._notes(40))

    def _cells(self, peak: Peak | None, limit: int | None) -> tuple[list[str], list[list[str]]]:
        rows = self.rows
        total = sum(row.microseconds for row in rows) or 1.0
        cells = []
        for row in rows[:limit]:
            cells.append(
                [
                    row.operator,
                    row.line,
                    row.place,
                    counted(row.calls),
                    f"{row.microseconds:,.1f}",
                    f"{row.microseconds / row.calls:,.2f}",
                    f"{100 * row.microseconds / total:.1f} %",
                    scaled(row.bytes, "B"),
                    scaled(row.flops),
                    "-" if row.gflops is None else f"{row.gflops:.3g}",
                    "-" if row.gbytes is None else f"{row.gbytes:.3g}",
                ]
                + ([_share_of(peak, row)] if peak else [])
            )
        return [*_HEADER, *(["of peak"] if peak else [])], cells

    def _notes(self, limit: int | None) -> list[str]:
        rows, runs = self.rows, self._core.runs()
        within, inside = sum(duration for *_, duration in runs), sum(row.microseconds for row in rows)
        notes = [
            f"{len(runs)} runs, {within:,.0f} us; operators {inside:,.0f} us in {counted(sum(row.calls for row in rows))} calls"
        ]
        if limit is not None and len(rows) > limit:
            notes.append(f"{len(rows) - limit} more rows: table(limit=None)")
        if self._core.dropped():
            notes.append(f"the trace lacks the last {counted(self._core.dropped())} events: profile(most_events=...)")
        return notes


def profile(most_events: int = 1_000_000) -> Profile:
    """A context manager: records the operators of all runs inside, of every executor and thread; a call without `with` has no
    effect, and a warning says so. One at a time: ProgramError inside another one. An operator costs about 0.3 us more inside and
    nothing outside; runs on devices wait for each operator.

    most_events: how many executions of operators the trace keeps, 40 bytes each; the table counts all.
    Returns the recorder, with table() and save_trace(path).
    Example:
        >>> y = pm.layers.relu(pm.layers.data("x", [-1, 64]))
        >>> with pm.profile() as profile:
        ...     out = pm.Executor().run(feed={"x": np.ones((8, 64), "float32")}, fetch_list=[y])
        >>> table = profile.table()  # print(table) shows a row for each operator
        >>> profile.save_trace("trace.json")
    """
    return Profile(most_events)


def _call(facts: dict[str, Any]) -> Call:
    op = facts["op"]

    def ports(slots: Any, infos: Any) -> dict[str, list[Value | None]]:
        # Control operators have no shapes.
        known = infos or [[None] * len(names) for _, names in slots]
        return {
            port: [None if info is None or name == EMPTY_NAME else Value.of_info(info) for name, info in zip(names, found)]
            for (port, names), found in zip(slots, known)
        }

    attrs = {name: value for name, _, value in op["attrs"]}
    return Call(op["type"], attrs, ports(op["inputs"], facts["inputs"]), ports(op["outputs"], facts["outputs"]))


def _line(facts: dict[str, Any]) -> str:
    attrs = {name: value for name, _, value in facts["op"]["attrs"]}
    return callsite.place_of(attrs.get("op_callstack") or [])


def _sum(numbers: list[int | None]) -> int | None:
    return None if any(one is None for one in numbers) else sum(one for one in numbers if one is not None)


def _share_of(peak: Peak, row: ProfileRow) -> str:
    if row.place != "cpu":
        return "-"
    shares = [one / most for one, most in ((row.gflops, peak.gflops), (row.gbytes, peak.gbytes)) if one is not None]
    return f"{100 * max(shares):.0f} %" if shares else "-"
