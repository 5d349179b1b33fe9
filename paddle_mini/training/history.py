# History: the values of each epoch, as a table, columns or a picture.
from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._core import ProgramError
from ..errors import listed, shown

Row = dict[str, float]


def plain_numbers(owner: str, values: Mapping[str, Any]) -> Row:
    """The values as numbers of Python, which a checkpoint holds. ProgramError with the owner for anything else."""
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
            raise ProgramError(f"{owner}: the value {shown(name)} of the epoch is {shown(value)}, it must be a number by a name")
    return {name: float(value) if isinstance(value, (float, np.floating)) else int(value) for name, value in values.items()}


class History:
    """One row an epoch: "epoch" and "step", counted from 1, and the values by name.

    `stopped`: why training ended before the last epoch; None if it did not.
    rows: the epochs so far.

    >>> history = pm.training.History([{"epoch": 1, "step": 40, "loss": 0.5}])
    >>> history["loss"]
    [0.5]
    """

    def __init__(self, rows: list[Row] | None = None):
        self.rows: list[Row] = [] if rows is None else rows
        self.stopped: str | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> list[float]:
        """A column: its value of each epoch, NaN where an epoch has none."""
        if column not in self.columns():
            raise ProgramError(f"the history has no {shown(column)}; it has {listed(self.columns()) or 'no epoch'}")
        return [row.get(column, float("nan")) for row in self.rows]

    @property
    def last(self) -> Row:
        """The values of the last epoch; empty before the first."""
        return dict(self.rows[-1]) if self.rows else {}

    def columns(self) -> list[str]:
        """The names of all values, in the order in which they appeared."""
        return list({name: None for row in self.rows for name in row})

    def to_dict(self) -> dict[str, list[float]]:
        """The columns by name."""
        return {column: self[column] for column in self.columns()}

    def table(self) -> str:
        """The rows as aligned text."""
        columns = self.columns()
        lines = [columns, *([_text(row.get(column)) for column in columns] for row in self.rows)]
        widths = [max(map(len, cells)) for cells in zip(*lines)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines)

    def plot(self) -> Any:
        """A matplotlib Figure with a panel for each kind of value: loss and val_loss share one. ProgramError without
        matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ProgramError("History.plot needs matplotlib: pip install matplotlib") from None
        panels: dict[str, list[str]] = {}
        for column in self.columns():
            if column not in ("epoch", "step"):
                panels.setdefault(column.split("[")[0].removeprefix("averaged_").removeprefix("val_"), []).append(column)
        figure = Figure(figsize=(4 * max(len(panels), 1), 3), layout="constrained")
        for place, (kind, columns) in enumerate(panels.items(), 1):
            axes = figure.add_subplot(1, len(panels), place)
            for column in columns:
                axes.plot(self["epoch"], self[column], label=column, marker="." if len(self) < 30 else "")
            axes.set(xlabel="epoch", title=kind)
            axes.legend()
        return figure

    def __str__(self) -> str:
        return self.table() + (f"\nstopped: {self.stopped}" if self.stopped else "")

    def __repr__(self) -> str:
        return f"<History of {len(self)} epochs: {listed(self.columns())}>"

    def _repr_html_(self) -> str:
        columns = self.columns()
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        rows = "".join("<tr>" + "".join(f"<td>{_text(row.get(c))}</td>" for c in columns) + "</tr>" for row in self.rows)
        return f"<table><tr>{head}</tr>{rows}</table>" + (f"<p>stopped: {html.escape(self.stopped)}</p>" if self.stopped else "")


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:d}" if isinstance(value, int) else f"{value:.5g}"


def values_text(values: Mapping[str, float]) -> str:
    """Values in one line: "loss 0.51, accuracy 0.8"."""
    return ", ".join(f"{name} {_text(value)}" for name, value in values.items() if name not in ("epoch", "step"))
