# Loggers that append lines to a text file.
from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from .._core import ProgramError, printable
from ..json_values import json_value
from .protocol import figures

_L = TypeVar("_L", bound="_LineLogger")


class _LineLogger:
    """A file to which a logger appends lines. Each line is written at once, so a process that is killed leaves complete lines and
    at most one part of a line, which the next logger of the file removes."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self.path, "ab+")  # noqa: SIM115 (close() closes it)
        try:
            self._remove_partial_line()
            self._file.seek(0)
            self._begin(self._file.readline().decode("utf-8", "replace"))
        except BaseException:
            self._file.close()
            raise

    def _begin(self, first_line: str) -> None:
        """Reads the first line of a file that exists."""

    def _remove_partial_line(self) -> None:
        end = self._file.seek(0, os.SEEK_END)
        block = 1 << 16
        while end > 0:
            begin = max(0, end - block)
            self._file.seek(begin)
            newline = self._file.read(end - begin).rfind(b"\n")
            if newline >= 0:
                end = begin + newline + 1
                break
            end = begin
        self._file.truncate(end)

    def _write(self, text: str) -> None:
        if self._file.closed:
            raise ProgramError(f"the logger of '{printable(self.path)}' is closed")
        self._file.write(text.encode())
        self._file.flush()

    def close(self) -> None:
        """Closes the file; a second call has no effect."""
        self._file.close()

    def __enter__(self: _L) -> _L:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class CSVLogger(_LineLogger):
    """Appends rows to a CSV file: the step, then one column for each figure of the first call. NaN and infinities are "nan",
    "inf" and "-inf". A figure that a later call leaves out is an empty cell; a figure without a column is a ProgramError.
    A file that exists is appended to; its columns stay.

    path: the file; its folder is made.
    Example:
        >>> with pm.loggers.CSVLogger("run.csv") as log:
        ...     log.log({"loss": 0.5}, step=1)
        >>> pm.loggers.CSVLogger.read("run.csv")
        [{'step': 1.0, 'loss': 0.5}]
    """

    def __init__(self, path: str | os.PathLike[str]):
        self._columns: list[str] = []
        super().__init__(path)

    def _begin(self, first_line: str) -> None:
        if first_line:
            self._columns = next(csv.reader([first_line]))
            if self._columns[:1] != ["step"]:
                raise ProgramError(f"'{printable(self.path)}' is not a file of a CSVLogger: its first column is not 'step'")

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Appends a row."""
        numbers, step = figures(values, step)
        if not self._columns:
            self._columns = ["step", *numbers]
            self._write(_csv_line(self._columns))
        unknown = next((name for name in numbers if name not in self._columns), None)
        if unknown is not None:
            raise ProgramError(
                f"'{printable(self.path)}' has no column '{printable(unknown)}'; its columns are "
                f"{printable(', '.join(self._columns), 200)}. Log to another file"
            )
        cells = [repr(numbers[name]) if name in numbers else "" for name in self._columns[1:]]
        self._write(_csv_line([str(step), *cells]))

    @staticmethod
    def read(path: str | os.PathLike[str]) -> list[dict[str, float]]:
        """The complete rows of a file, without empty cells."""
        rows = csv.DictReader(_complete_lines(path))
        return [{name: float(cell) for name, cell in row.items() if cell} for row in rows]


class JSONLinesLogger(_LineLogger):
    """Appends a JSON object for each call: {"step": 1, "loss": 0.5}. JSON has no NaN and no infinities; they are the strings
    "NaN", "Infinity" and "-Infinity", which float() of Python and Number() of JavaScript convert.

    path: the file; its folder is made. A file that exists is appended to.
    Example:
        >>> with pm.loggers.JSONLinesLogger("run.jsonl") as log:
        ...     log.log({"loss": 0.5}, step=1)
        >>> pm.loggers.JSONLinesLogger.read("run.jsonl")
        [{'step': 1.0, 'loss': 0.5}]
    """

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Appends a line."""
        numbers, step = figures(values, step)
        self._write(json.dumps(json_value({"step": step, **numbers})) + "\n")

    @staticmethod
    def read(path: str | os.PathLike[str]) -> list[dict[str, float]]:
        """The complete lines of a file."""
        return [{name: float(value) for name, value in json.loads(line).items()} for line in _complete_lines(path)]


def _csv_line(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _complete_lines(path: str | os.PathLike[str]) -> list[str]:
    text = Path(path).read_text(encoding="utf-8")
    return text[: text.rfind("\n") + 1].splitlines()
