# The benchmarks: measures figures, prints one table and writes it to results/.
from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

from environments import PACKAGES
from figures import FIGURES, Row, Settings
from measuring import HERE

HEADINGS = ("figure", "ours", "peer", "ratio", "bar", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(FIGURES), help="measure these; the rest is left out")
    parser.add_argument("--rounds", type=int, default=25, help="of each runtime, in turn; medians of them (default 25)")
    parser.add_argument("--threads", type=int, default=1, help="of each runtime, which has as many CPUs (default 1)")
    parser.add_argument("--cpus", help="every process runs on these, in taskset's notation (default: the last ones)")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    allowed = sorted(os.sched_getaffinity(0))
    if not 1 <= arguments.threads <= len(allowed):
        parser.error(f"--threads must be from 1 to {len(allowed)}, the CPUs of this process")
    cpus = arguments.cpus or ",".join(map(str, allowed[-arguments.threads :]))
    settings = Settings(arguments.rounds, cpus, arguments.threads)
    rows: list[Row] = []
    for name in arguments.only or FIGURES:
        print(f"== measuring {name}", file=sys.stderr)
        rows += FIGURES[name](settings)
    table = markdown(rows)
    print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps([row._asdict() for row in rows], indent=1, ensure_ascii=False) + "\n")
    if not arguments.only:
        cpu = cpu_facts()
        path = HERE / "results" / f"{slug(cpu)}{settings.suffix()}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(report(cpu, settings, table))
        print(f"== written to {path}", file=sys.stderr)


def markdown(rows: list[Row]) -> str:
    """One table, columns as wide as their widest cell."""
    lines = [cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *lines)]
    written = [HEADINGS, tuple("-" * width for width in widths), *lines]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in written)


def cells(row: Row) -> tuple:
    ours = "" if row.ours is None else f"{row.ours:.3g} {row.unit}"
    theirs = "" if row.theirs is None else f" {row.theirs:.3g}"
    verdict = {True: "met", False: "**missed**", None: row.note}[row.met]
    return (row.figure, ours, row.peer + theirs, "" if row.ratio is None else f"{row.ratio:.2f} ×", row.bar, verdict)


def cpu_facts() -> dict[str, str]:
    """A field of /proc/cpuinfo for the first CPU."""
    text = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    return {key.strip(): value.strip() for key, value in (line.split(":", 1) for line in text.splitlines() if ":" in line)}


def slug(cpu: dict[str, str]) -> str:
    name = re.sub(r"\((R|TM)\)|CPU|Processor|@.*", " ", cpu.get("model name", "unknown"))
    return "-".join(re.findall(r"[a-z0-9]+", f"{name} family {cpu.get('cpu family')} model {cpu.get('model')}".lower()))


def write_table(subject: str, name: str, how: str, lines: list[str], settings: Settings) -> None:
    """Writes results/NAME-CPU.md: what was measured on this CPU, and how."""
    cpu = cpu_facts()
    heading = f"# {subject}: {cpu.get('model name')} (family {cpu.get('cpu family')}, model {cpu.get('model')})\n\n"
    how = f"Threads of each runtime: {settings.threads}; {how}medians of {settings.rounds} rounds in turn.\n\n"
    path = HERE / "results" / f"{name}-{slug(cpu)}{settings.suffix()}.md"
    path.write_text(heading + how + "\n".join(lines) + "\n")


def report(cpu: dict[str, str], settings: Settings, table: str) -> str:
    peers = "\n".join(f"* {name}: {', '.join(packages)}" for name, packages in PACKAGES.items())
    how = f"Threads of each runtime, on as many cores: {settings.threads}; medians of {settings.rounds} rounds in turn"
    vectors = next((name for name in ("avx512f", "avx2") if name in cpu.get("flags", "").split()), "neither AVX-512 nor AVX2")
    return (
        f"# {cpu.get('model name')} (family {cpu.get('cpu family')}, model {cpu.get('model')}, {vectors})\n\n"
        f"{how}. What the figures are: "
        f"[benchmarks](../../docs/benchmarks.md).\n\n{table}\n\nPeers:\n\n{peers}\n"
    )


if __name__ == "__main__":
    main()
