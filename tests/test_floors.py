"""Architecture rules: includes point downwards, every file belongs to one layer, no file is named util."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]

# proto < core < cuda < math < {ops, program, optimizer} < executor < {capi, python, tools}: the allowed includes of
# each layer; the library of optimizers includes its own header from capi.
BELOW = {
    "core": {"core"},
    "cuda": {"core", "cuda"},
    "math": {"core", "cuda", "math"},
    "ops": {"core", "math", "ops"},
    "program": {"core", "program"},
    "optimizer": {"core", "math", "capi", "optimizer"},
    "executor": {"core", "program", "executor"},
    "capi": {"core", "program", "executor", "capi"},
    "tools": {"core", "program", "executor", "capi", "tools"},
    "python": {"core", "program", "executor", "capi", "python"},
}
SOURCES = sorted(
    path for folder in ("cpp", "python") for pattern in ("*.h", "*.cc", "*.cu") for path in (ROOT / folder).rglob(pattern)
)
MODULES = sorted((ROOT / "paddle_mini").rglob("*.py"))


# Includes chosen by device (cpp/core/target.h), and the locations of each device's files.
DEVICES = ("cpu", "gpu")
CHOSEN = re.compile(r"^#include PM_(LAUNCHERS|KERNELS|FAMILY)\((\w+)\)$", re.M)
PLACES = {"LAUNCHERS": "math/{device}/{name}.h", "KERNELS": "ops/{name}_{device}.h", "FAMILY": "ops/family/{name}_{device}.h"}


def includes_of(text):
    """The headers that a source includes, for any device."""
    chosen = {PLACES[kind].format(device=device, name=name) for kind, name in CHOSEN.findall(text) for device in DEVICES}
    return set(re.findall(r'#include "([^"]+)"', text)) | chosen


def device_of(name):
    """The device of this file: "gpu" for math/gpu/map.h and ops/adam_gpu.h, "" for files of all devices."""
    found = re.search(r"/(cpu|gpu)/|_(cpu|gpu)\.h$", name)
    return (found[1] or found[2]) if found else "gpu" if name.startswith("cuda/") else ""


def floor_of(path):
    parts = path.relative_to(ROOT).parts
    return "python" if parts[0] == "python" else parts[1]


def test_includes_go_down():
    upward = []
    for path in SOURCES:
        for target in re.findall(r'#include "([a-z_]+)/', path.read_text()):
            if target in BELOW and target not in BELOW[floor_of(path)]:
                upward.append(f"{path.relative_to(ROOT)} includes {target}/")
    assert upward == []


def circles(arrows):
    """Names that are reachable from themselves."""

    def reach(start):
        seen, todo = set(), list(arrows.get(start, ()))
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo.extend(arrows.get(name, ()))
        return seen

    return sorted(name for name in arrows if name in reach(name))


def test_no_circle_of_includes():
    arrows = {}
    for path in SOURCES:
        name = str(path.relative_to(ROOT / "cpp")) if "cpp" in path.relative_to(ROOT).parts[0] else path.name
        arrows[name] = includes_of(path.read_text())
    assert circles(arrows) == []


def test_one_place_chooses_between_devices():
    """Differences are in a file for each device; sources shared by all devices do not test which one it is."""
    asks = [path for folder in ("math", "ops") for path in (ROOT / "cpp" / folder).rglob("*") if path.is_file()]
    assert [str(path.relative_to(ROOT)) for path in asks if "PM_GPU" in path.read_text()] == []


def test_each_device_has_what_is_chosen_by_device():
    included = {name for path in SOURCES for name in includes_of(path.read_text())}
    files = {str(path.relative_to(ROOT / "cpp")) for path in SOURCES if "cpp" in path.relative_to(ROOT).parts}
    assert len({name for path in SOURCES for _, name in CHOSEN.findall(path.read_text())}) > 80
    assert {name for name in included if device_of(name)} - files == set(), "a device lacks them"
    assert {name for name in files if re.search(r"_(cpu|gpu)\.h$", name)} - included == set(), "nothing includes them"


def test_no_file_includes_those_of_another_device():
    """Sources shared by all devices do not include those of a GPU either, except by the choice above."""
    wrong = []
    for folder in ("math", "ops"):
        for path in (ROOT / "cpp" / folder).rglob("*"):
            name = str(path.relative_to(ROOT / "cpp"))
            for target in re.findall(r'#include "([^"]+)"', path.read_text()) if path.is_file() else ():
                if device_of(target) not in ("", device_of(name)) and (device_of(name) or device_of(target) == "gpu"):
                    wrong.append(f"{name} includes {target}")
    assert wrong == []


def test_math_has_no_records():
    records = re.compile(r"\bOpSpec\b|\bops\.add\(")
    files = [path for path in (ROOT / "cpp/math").rglob("*") if path.is_file()]
    assert [str(path.relative_to(ROOT)) for path in files if records.search(path.read_text())] == []


def module_imports(path):
    """Modules of the package that are imported by this one; imports for type checkers only are excluded."""
    package = ("paddle_mini",) + path.relative_to(ROOT / "paddle_mini").parts[:-1]
    found = set()
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        base = ".".join(package[: len(package) - node.level + 1] + ((node.module,) if node.module else ()))
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            if inner != "paddle_mini._core":
                found.add(inner if inner in NAMES else base)
    return found


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path) for path in MODULES}


def test_no_circle_of_imports():
    arrows = {name_of(path): module_imports(path) for path in MODULES}
    # Importing a module imports the packages around it, except those around the importing module, which are already
    # loaded.
    for name in arrows:
        here = {name.rsplit(".", count)[0] for count in range(name.count(".") + 1)}
        arrows[name] |= {target.rsplit(".", 1)[0] for target in arrows[name] if target.count(".") > 1} - here
    assert circles(arrows) == []


def test_each_operator_has_its_test_and_each_test_its_operator():
    ops = {path.stem for path in (ROOT / "cpp/ops").glob("*.cc")}
    tests = {path.stem[5:] for path in (ROOT / "tests/ops").glob("test_*.py")}
    assert ops - tests == set(), "operators without a test"
    assert tests - ops == set(), "tests without an operator"


@pytest.mark.parametrize("folder", ["cpp", "python", "paddle_mini", "tests", "benchmarks", "examples"])
def test_no_file_is_called_util(folder):
    vague = re.compile(r"^_?(utils?|common|misc|helpers?|details?)$")
    assert [str(path) for path in (ROOT / folder).rglob("*") if vague.match(path.stem)] == []


def test_the_first_line_says_what_the_file_is():
    silent = []
    for path in SOURCES + MODULES:
        first = path.read_text().split("\n", 1)[0]
        if not re.match(r'^(// |/\* |# |""").{10,}', first):
            silent.append(str(path.relative_to(ROOT)))
    assert silent == []


def test_nothing_dangerous():
    """The code never executes text, starts a shell, or aborts on input."""
    bad = re.compile(r"\b(eval|exec)\(|os\.system|shell=True|\bpickle\b|\babort\(|\bassert\(")
    hits = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in SOURCES + MODULES
        for line in path.read_text().splitlines()
        if bad.search(line) and not line.strip().startswith(("//", "#"))
    ]
    assert hits == []


METHOD = re.compile(r"^(?!using|friend|static_assert|struct|class|enum)[^=(]*?(~?\w+|operator\s*[^\s(]+)\s*\(")


def methods_of(body):
    """The names of the functions that the body of a class declares, without those of nested classes and without overrides."""
    own, depth = "", 0
    for character in body:
        depth -= character == "}"
        own += character if depth == 0 else ";" if character == "}" else ""
        depth += character == "{"
    lines = (re.sub(r"\b(public|private|protected)\s*:|template\s*<[^>]*>", "", line).strip() for line in re.split(r"[;{}]", own))
    found = (METHOD.match(line) for line in lines if "= delete" not in line and not line.endswith("override"))
    return {match.group(1) for match in found if match} - {"void"}  # "void" belongs to a member that is a std::function


def large_classes(text, most=15):
    """Names of classes with more methods, each with whether the preceding comment gives the reason."""
    code = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), text)
    for begin in re.finditer(r"^(?:class|struct) ([\w:]+)[^;{}()]*\{", code, re.M):
        depth, end = 1, begin.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        if len(methods_of(code[begin.end() : end - 1])) > most:
            comment = re.search(r"((?://[^\n]*\n)*)(?:template <[^\n]*\n)?$", text[: begin.start()]).group(1)
            yield begin.group(1), "many methods because" in " ".join(comment.split())


def test_a_class_with_many_methods_says_why():
    found = {name: says for path in SOURCES if path.suffix == ".h" for name, says in large_classes(path.read_text())}
    assert [name for name, says in found.items() if not says] == []
    assert "Scope" in found, "the test sees large classes"
