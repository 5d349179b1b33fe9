"""The maintainers' documents agree with the code: diagrams of folders, named functions and files, the glossary."""

import ast
import functools
import pathlib
import re

import pytest

from paddle_mini.cluster.messages import REQUESTS
from test_floors import BELOW, MODULES, SOURCES, module_imports, name_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def edges(heading):
    """The arrows of the first diagram below a heading of architecture.md."""
    section = (DOCS / "architecture.md").read_text().split(f"\n## {heading}\n")[1]
    diagram = re.search(r"^```mermaid\n(.*?)^```$", section, re.S | re.M).group(1)
    return set(re.findall(r"^ +([\w/]+) --> ([\w/]+)$", diagram, re.M))


def test_the_diagram_of_cpp_is_what_may_be_included():
    assert edges("Folders of C++") == {(folder, other) for folder, below in BELOW.items() for other in below - {folder}}


def test_the_messages_of_a_job_are_all_named():
    section = (DOCS / "architecture.md").read_text().split("\n## The messages of a job\n")[1].split("\n## ")[0]
    names = {name for requests in REQUESTS.values() for name in requests}
    assert names - set(re.findall(r"\w+", section)) == set()


def folder_of(module):
    """ "cluster/servers" for paddle_mini.cluster.servers.held, "" for paddle_mini.program."""
    parts = module.split(".")[1:]
    return "/".join(parts if (ROOT / "paddle_mini").joinpath(*parts).is_dir() else parts[:-1])


def test_the_diagram_of_python_is_what_is_imported():
    pairs = {(folder_of(name_of(path)), folder_of(target)) for path in MODULES for target in module_imports(path)}
    assert edges("Folders of Python") == {(folder, other) for folder, other in pairs if folder and other and folder != other}


# Definitions in the code: for `path:name` in a page.


@functools.cache
def python_names(path):
    found = set()

    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                found.add(prefix + child.name)
                visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, (ast.Assign, ast.AnnAssign)):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                found.update(prefix + name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))

    visit(ast.parse(path.read_text()), "")
    return found


@functools.cache
def cpp_text(path):
    return re.sub(r"//[^\n]*", "", path.read_text())


def bodies_of(text, kind):
    """From each brace that opens a class, structure or enumeration of this name to its closing brace."""
    bodies = []
    for begin in re.finditer(rf"^\s*(?:class|struct|enum class|enum) {kind}\b[^;{{]*{{", text, re.M):
        depth, end = 1, begin.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        bodies.append(text[begin.start() : end])
    return "\n".join(bodies)


def cpp_defines(path, name):
    text = cpp_text(path)
    *outer, last = name.split("::")
    if outer:
        member = rf"\b{last}(\(|;| = )"
        return bool(re.search(rf"\b{outer[-1]}(<\w+>)?::{last}\(", text) or re.search(member, bodies_of(text, outer[-1])))
    function = rf"^(?:\w[\w:<>,&* ]*[ &*]|){last}\("
    constant = rf"^(?:inline )?(?:constexpr|const) [^;(]*\b{last}\b"
    return bool(bodies_of(text, last) or re.search(function, text, re.M) or re.search(constant, text, re.M))


def defines(path, name):
    if path.suffix == ".py":
        return name in python_names(path)
    return cpp_defines(path, name)


NAMED = re.compile(r"`((?:cpp|python|paddle_mini|proto|tests|docs|examples|benchmarks)/[\w./-]+?)(?::([A-Za-z_][\w.:]*))?`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_functions_that_are_named_exist(page):
    missing = [
        f"{path}:{name}"
        for path, name in NAMED.findall(page.read_text())
        if not re.search("NAME|FAMILY", path) and (not (ROOT / path).exists() or (name and not defines(ROOT / path, name)))
    ]
    assert missing == []


def test_what_is_not_there_is_found_missing():
    """The test above can fail: names of other files, of missing members, of comments."""
    run = ROOT / "cpp/executor/run.cc"
    assert defines(run, "Plan::run") and not defines(run, "Plan::unbind") and not defines(run, "Session::run")
    executor = ROOT / "cpp/executor/executor.cc"
    assert defines(executor, "Executor::seed") and not defines(executor, "Executor::apply")
    segment = ROOT / "cpp/executor/segment.h"
    assert defines(segment, "RunOp::fused") and not defines(segment, "RunOp::joined")
    wire = ROOT / "paddle_mini/cluster/wire.py"
    assert defines(wire, "unpack") and not defines(wire, "Client.request") and not defines(wire, "stamp")
    assert sum(1 for _, name in NAMED.findall((DOCS / "architecture.md").read_text()) if name) > 50


def test_each_decision_has_its_parts_and_is_listed():
    records = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    assert [int(path.name[:4]) for path in records] == list(range(1, len(records) + 1))
    for path in records:
        assert re.findall(r"^\*\*([\w ]+)\.\*\* ", path.read_text(), re.M) == [
            "Context",
            "Choice",
            "Measured",
            "What would change it",
        ], path.name
    listed = re.findall(r"^(\d+)\. \[(.*)\]\((.*)\)$", (DOCS / "decisions/README.md").read_text(), re.M)
    titles = [path.read_text().split("\n")[0][2:].split(". ", 1) for path in records]
    assert listed == [(number, title, path.name) for (number, title), path in zip(titles, records)]


def terms():
    """For each line of the glossary: the word, and the identifiers of its second column."""
    rows = re.findall(r"^\| ([^|]+) \| (`[^|]+) \| [^|]+ \| [^|]*\|$", (DOCS / "glossary.md").read_text(), re.M)
    return [(word, re.findall(r"`([^`]+)`", code)) for word, code in rows]


def test_each_term_of_the_glossary_is_in_the_code():
    cpp = {word for path in SOURCES for word in re.findall(r"\w+", cpp_text(path))}
    python = {word for path in MODULES for word in re.findall(r"\w+", path.read_text())}
    assert len(terms()) > 60
    assert [term for word, code in terms() for term in code if term not in cpp | python] == []


def test_each_word_of_the_glossary_stands_there_once():
    words = [word for word, _ in terms()]
    assert sorted(set(words)) == sorted(words)
    lines = [
        line for line in (DOCS / "glossary.md").read_text().splitlines() if line.startswith("| ") and "in the code" not in line
    ]
    assert len(lines) == len(words), "a line without four columns, or without an identifier"
