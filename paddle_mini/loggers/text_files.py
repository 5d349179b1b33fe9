# Loggers that append lines to a text file.
from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from .._core import ProgramError, printable
from ..errors import shown
from ..io.regular_files import naming_failures, path_of
from ..json_values import json_value
from .protocol import figures

_L = TypeVar("_L", bound="_LineLogger")
_BLOCK = 1 << 16


class _LineLogger:
    """A file to which a logger appends lines. Each line is written at once, so a process that is killed leaves complete lines and
    at most one part of a line, which the next logger of the file removes."""

    _begins: tuple[str, ...]
    """How a file begins."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path_of(path))
        with naming_failures(f"{type(self).__name__}: can't write '{self.path}'"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "ab+", buffering=0)  # noqa: SIM115 (close() closes it)
        try:
            end = self._end_of_lines()
            self._first_line = self._checked(end)
            self._file.truncate(end)
        except BaseException:
            self._file.close()
            raise

    def _end_of_lines(self) -> int:
        end = self._file.seek(0, os.SEEK_END)
        while end > 0:
            begin = max(0, end - _BLOCK)
            self._file.seek(begin)
            newline = self._file.read(end - begin).rfind(b"\n")
            if newline >= 0:
                return begin + newline + 1
            end = begin
        return end

    def _checked(self, end: int) -> str:
        """The first line, "" if none is complete. ProgramError if a logger would not have written it, or the part of a line after
        the last complete one."""
        self._file.seek(end)
        part = self._file.read(_BLOCK).decode("utf-8", "replace")
        self._file.seek(0)
        reader = io.BufferedReader(self._file)
        first = reader.readline().decode("utf-8", "replace") if end else ""
        reader.detach()
        name = f"'{printable(self.path)}' is not a file of a {type(self).__name__}, log to another path"
        if not (first.startswith(self._begins) if first else self._may_begin(part)):
            raise ProgramError(f"{name}: it begins with {shown(first or part)}, not with {shown(self._begins[0])}")
        if first and not self._may_continue(part):
            raise ProgramError(f"{name}: its last line, {shown(part)}, has no end, and is not the beginning of a logger's line")
        return first

    def _may_begin(self, part: str) -> bool:
        """Whether a killed process may have left this part of the first line."""
        return part.startswith(self._begins) or any(begin.startswith(part) for begin in self._begins)

    def _may_continue(self, part: str) -> bool:
        """Whether a killed process may have left this part of a later line."""
        return self._may_begin(part)

    def _write(self, text: str) -> None:
        """Appends the text, or raises OSError and leaves the file as it was."""
        if self._file.closed:
            raise ProgramError(f"the logger of '{printable(self.path)}' is closed")
        end = self._file.seek(0, os.SEEK_END)
        rest = text.encode()
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException:
            self._file.truncate(end)
            raise

    def close(self) -> None:
        """Closes the file; a second call has no effect."""
        self._file.close()

    def __enter__(self: _L) -> _L:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class CSVLogger(_LineLogger):
    """Appends rows to a CSV file: the step, then one column for each figure of the first call that has any; calls before it write
    nothing. NaN and infinities are "nan", "inf" and "-inf". A figure that a later call leaves out is an empty cell; a figure
    without a column is a ProgramError. A file of a CSVLogger is appended to, and its columns stay; any other is a ProgramError.

    path: the file; its folder is made.
    Example:
        >>> with pm.loggers.CSVLogger("run.csv") as log:
        ...     log.log({"loss": 0.5}, step=1)
        >>> pm.loggers.CSVLogger.read("run.csv")
        [{'step': 1.0, 'loss': 0.5}]
    """

    _begins = ("step,", "step\n")

    def __init__(self, path: str | os.PathLike[str]):
        super().__init__(path)
        self._columns = next(csv.reader([self._first_line]), [])

    def _may_continue(self, part: str) -> bool:
        return not part.strip("-+.,0123456789einfa")

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Appends a row."""
        numbers, step = figures(values, step)
        columns = self._columns or ["step", *numbers]
        unknown = next((name for name in numbers if name not in columns), None)
        if unknown is not None:
            raise ProgramError(
                f"'{printable(self.path)}' has no column '{printable(unknown)}'; its columns are "
                f"{printable(', '.join(columns), 200)}. Log to another file"
            )
        if len(columns) == 1 and not self._columns:
            return
        row = _csv_line([str(step), *(repr(numbers[name]) if name in numbers else "" for name in columns[1:])])
        self._write(row if self._columns else _csv_line(columns) + row)
        self._columns = columns

    @staticmethod
    def read(path: str | os.PathLike[str]) -> list[dict[str, float]]:
        """The complete rows of a file, without empty cells. ProgramError for a line that is not such a row."""
        (_, header), *lines = [*_complete_lines(path)] or [("", "")]
        columns = next(csv.reader([header]), [])
        rows = []
        for where, line in lines:
            cells = next(csv.reader([line]), [])
            if len(cells) > len(columns):
                raise ProgramError(f"{where} has {len(cells)} cells, and the file has {len(columns)} columns")
            rows.append({name: _number(where, name, cell) for name, cell in zip(columns, cells) if cell})
        return rows


class JSONLinesLogger(_LineLogger):
    """Appends a JSON object for each call: {"step": 1, "loss": 0.5}. JSON has no NaN and no infinities; they are the strings
    "NaN", "Infinity" and "-Infinity", which float() of Python and Number() of JavaScript convert.

    path: the file; its folder is made. A file of a JSONLinesLogger is appended to; any other is a ProgramError.
    Example:
        >>> with pm.loggers.JSONLinesLogger("run.jsonl") as log:
        ...     log.log({"loss": 0.5}, step=1)
        >>> pm.loggers.JSONLinesLogger.read("run.jsonl")
        [{'step': 1.0, 'loss': 0.5}]
    """

    _begins = ('{"step": ',)

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Appends a line."""
        numbers, step = figures(values, step)
        self._write(json.dumps(json_value({"step": step, **numbers})) + "\n")

    @staticmethod
    def read(path: str | os.PathLike[str]) -> list[dict[str, float]]:
        """The complete lines of a file. ProgramError for a line that is not an object of numbers."""
        return [_figures_of(where, line) for where, line in _complete_lines(path)]


def _figures_of(where: str, line: str) -> dict[str, float]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ProgramError(f"{where} is not JSON: {printable(error)}") from None
    if not isinstance(row, dict):
        raise ProgramError(f"{where} is {shown(row)}, not an object with figures by name")
    return {name: _number(where, name, value) for name, value in row.items()}


def _number(where: str, name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ProgramError(f"{where}: '{printable(name)}' is {shown(value)}, not a number") from None


def _csv_line(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _complete_lines(path: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """Each line with its place, for errors."""
    with naming_failures(f"can't read '{path_of(path)}'"):
        text = Path(path).read_text(encoding="utf-8")
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), 1):
        if line:
            yield f"'{printable(path)}', line {number}", line
