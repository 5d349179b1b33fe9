# The trace of a profile in Chrome's trace event format: complete events ("ph": "X") with ts and dur in microseconds.
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .profiler import Site

_PROCESS = 1


def trace_text(sites: list[Site], events: list[Any], runs: list[Any]) -> str:
    """The trace as JSON. Every thread is a row; the events of a run are inside the run's event on its thread."""
    threads = sorted({thread for _, thread, *_ in events} | {thread for _, thread, *_ in runs})
    lines = [_named("process_name", 0, "paddle_mini")]
    callers = {thread for _, thread, *_ in runs}
    for thread in threads:
        kind = "runs" if thread in callers else "queue of a device"
        lines.append(_named("thread_name", thread, f"thread {thread} ({kind})"))
    for number, thread, begin, duration in runs:
        lines.append(_complete(f"run {number}", "run", thread, begin, duration, {}))
    for number, thread, run, begin, duration in events:
        site = sites[number]
        known = {"line": site.line, "place": site.place, "bytes": site.bytes, "flops": site.flops}
        facts = {"run": run, "outputs": site.outputs[:4], **{name: value for name, value in known.items() if value is not None}}
        lines.append(_complete(site.operator, "operator", thread, begin, duration, facts))
    return '{"displayTimeUnit": "ms", "traceEvents": [\n' + ",\n".join(map(json.dumps, lines)) + "\n]}\n"


def _complete(name: str, category: str, thread: int, begin: float, duration: float, args: dict[str, Any]) -> dict[str, Any]:
    place = {"pid": _PROCESS, "tid": thread}
    return {"name": name, "cat": category, "ph": "X", "ts": begin, "dur": duration, **place, "args": args}


def _named(kind: str, thread: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": _PROCESS, "tid": thread, "args": {"name": name}}
