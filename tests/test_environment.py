"""The environment variables that the code reads are in one table, which doctor prints and docs/security.md shows."""

import pathlib
import re

import pytest

from paddle_mini import cli, environment

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = [
    path
    for folder in ("cpp", "python", "paddle_mini")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".h", ".cc", ".cu", ".py") and path.parent.name != "release"  # which is not installed
]


def read_in(text):
    """Names of variables, and calls that read one that is not a literal."""
    calls = re.findall(r"(?:getenv\(|environ\.get\(|environ\[)([^)\]]*)", text)
    names = set(re.findall(r'"((?:PM|RAY)_[A-Z_]+)"', text))
    return names | {literal.group(1) for literal in (re.match(r'"(\w+)"', call) for call in calls) if literal}, [
        call for call in calls if not call.startswith('"')
    ]


def test_every_variable_that_is_read_is_in_the_table():
    found, others = set(), {}
    for path in SOURCES:
        names, indirect = read_in(path.read_text())
        found |= names
        if indirect:
            others[str(path.relative_to(ROOT))] = indirect
    assert found == set(environment.VARIABLES)
    # Variable names passed to these are literals in the sources, and so are found above.
    assert set(others) == {"cpp/cuda/vendor_library.cc", "cpp/executor/passes.cc", "paddle_mini/environment.py"}


def test_nothing_reads_the_environment_past_the_table():
    allowed = ("environment.py", "ray_head.py")  # the second sets a variable for Ray
    readers = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if path.suffix == ".py" and re.search(r"environ\b(?!ment)", path.read_text()) and path.name not in allowed
    ]
    assert [name for name in readers if re.search(r"os\.environ", (ROOT / name).read_text())] == []


@pytest.mark.parametrize("name", environment.VARIABLES)
def test_doctor_and_the_document_say_what_each_does(name, capsys, monkeypatch):
    if name not in (
        "PM_CPU",
        "PM_LOG",
        "PM_FILL",
        "PM_CUDA_LIBRARY",
    ):  # these are read at the start of the process, or change the results of doctor
        monkeypatch.setenv(name, "a\x1b[31m")
    assert cli.main(["doctor"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.split()[:1] == [name])
    assert environment.VARIABLES[name] in line and line.isprintable()
    row = next(row for row in (ROOT / "docs/security.md").read_text().splitlines() if row.startswith(f"| `{name}` |"))
    assert row == f"| `{name}` | {environment.VARIABLES[name]} |"


def test_doctor_names_variables_that_nothing_reads(capsys, monkeypatch):
    monkeypatch.setenv("PM_NUMTHREADS", "2")
    assert cli.main(["doctor"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.split()[:1] == ["PM_NUMTHREADS"]]
    assert line.endswith("is not read; did you mean 'PM_NUM_THREADS'?")
