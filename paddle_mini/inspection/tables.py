# Tables as plain text and as HTML, and numbers with units.
from __future__ import annotations

import html
from collections.abc import Sequence

Cells = Sequence[Sequence[str]]


def text_table(header: Sequence[str], rows: Cells, left: int) -> str:
    """Columns as wide as their longest cell; the first `left` are aligned to the left, the others to the right."""
    table = [list(header), *map(list, rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    lines = [
        "  ".join(cell.ljust(width) if i < left else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
        for row in table
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


def html_table(header: Sequence[str], rows: Cells, left: int, notes: Sequence[str] = ()) -> str:
    """The same table for notebooks, with lines of text below it."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(_cell(cell, tag, i < left) for i, cell in enumerate(cells)) + "</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    below = "".join(f"<div>{html.escape(note)}</div>" for note in notes)
    return f"<table><thead>{row(header, 'th')}</thead><tbody>{body}</tbody></table>{below}"


def _cell(text: str, tag: str, left: bool) -> str:
    return f'<{tag} style="text-align:{"left" if left else "right"}">{html.escape(text)}</{tag}>'


def counted(number: float | None) -> str:
    """1,234; "-" for None."""
    return "-" if number is None else f"{number:,.0f}"


def scaled(number: float | None, unit: str = "") -> str:
    """1.23 M; "-" for None."""
    if number is None:
        return "-"
    for prefix in ("", "k", "M", "G", "T"):
        if abs(number) < 999.5 or prefix == "T":
            digits = f"{number:.3g}" if prefix or number != int(number) else f"{int(number)}"
            return f"{digits} {prefix}{unit}".rstrip()
        number /= 1000
    raise AssertionError("the loop returns")
