"""One definition rule: a qualified name of C++ is defined in one source, so that libraries may be linked in any way."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path for folder in ("cpp", "python") for pattern in ("*.h", "*.cc", "*.cu") for path in (ROOT / folder).rglob(pattern)
)
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
BRACE = re.compile(r"([^{};]*)([{};])")
NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:]*)\s*$")
TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(\w+)\s*(?:final\s*)?(?::[^:].*)?$", re.S)


def types_in(text):
    """Qualified names of the types that are defined in namespaces with a name."""
    scopes, found = [], set()  # a scope is a name, or None if names are local to the file or a type's
    for before, sign in BRACE.findall(NOT_CODE.sub(" ", text)):
        if sign == "}":
            scopes.pop()
        if sign != "{":
            continue
        space, kind = NAMESPACE.search(before), TYPE.search(before)
        if kind and None not in scopes:
            found.add("::".join([*scopes, kind[1]]))
        scopes.append(space[1] if space and space[1] else None)
    return found


def test_types_are_found_in_sources():
    text = """namespace a::b { // struct Comment {
      class One : public Base<int> { struct Inner {}; }; struct Declared; enum class Two { X };
      namespace { struct Own {}; }  template <class T> struct Three { void run() { struct Local {}; } };
      template <> struct Three<int> {};  const char* text = "struct Text {";
    } struct Four {};"""
    assert types_in(text) == {"a::b::One", "a::b::Two", "a::b::Three", "Four"}


def test_each_type_is_defined_in_one_file():
    places = {}
    for path in SOURCES:
        for name in types_in(path.read_text()):
            places.setdefault(name, set()).add(without_device(path))
    assert len(places) > 300
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def without_device(path):
    """The path without its device: for math/cpu/gemm.cc and math/gpu/gemm.cu, or adam_cpu.h and adam_gpu.h, a kernel
    library has one."""
    return re.sub(r"/(cpu|gpu)/|_(cpu|gpu)$", lambda found: "/" if found[1] else "", str(path.relative_to(ROOT).with_suffix("")))


def test_a_file_for_each_device_counts_as_one():
    for one, other in [("math/cpu/gemm.cc", "math/gpu/gemm.cu"), ("ops/adam_cpu.h", "ops/adam_gpu.h")]:
        assert without_device(ROOT / "cpp" / one) == without_device(ROOT / "cpp" / other)
    assert without_device(ROOT / "cpp/ops/adam.cc") != without_device(ROOT / "cpp/ops/adamw.cc")


def compiled(build):
    """The object files that build.ninja names, with the sources that each is compiled from: one, or a group. Other objects in
    the folder are of an older build, or of a build inside of it. Other sources that the build generates are left out, and
    objects that are older than their source."""
    named = re.findall(
        r"^build ((?:\$.|[^\s:])+\.o): (?:CXX|CUDA)_COMPILER\S* ((?:\$.|\S)+)", (build / "build.ninja").read_text(), re.M
    )
    found = {}
    for pair in named:
        name, source = (re.sub(r"\$(.)", r"\1", path) for path in pair)
        path, source = build / name, pathlib.Path(source).resolve()
        if not path.exists() or not source.exists() or path.stat().st_mtime < source.stat().st_mtime:
            continue
        sources = [source]
        if source.parent.name == "Unity":
            sources = [pathlib.Path(one).resolve() for one in re.findall(r'#include "(.*)"', source.read_text())]
        if source.parent == build / "cuda":  # the copies of math/gpu that the emulation compiles
            sources = [ROOT / "cpp/math/gpu" / source.name.replace("_on_host.cc", ".cu")]
        ours = {one for one in sources if one.is_relative_to(ROOT) and not one.is_relative_to(build) and one.exists()}
        if ours:
            found[str(path)] = ours
    return found


def test_only_objects_of_this_build_are_read(tmp_path):
    relu, sign, gemm = ROOT / "cpp/ops/relu.cc", ROOT / "cpp/ops/sign.cc", ROOT / "cpp/math/gpu/gemm.cu"
    (tmp_path / "Unity").mkdir()
    (tmp_path / "Unity/unity_0.cxx").write_text(f'#include "{relu}"\n\n#include "{sign}"\n')
    (tmp_path / "cuda").mkdir()
    for name in ("cuda/gemm_on_host.cc", "table.cc"):
        (tmp_path / name).touch()
    for name in ("relu.cc.o", "renamed.cc.o", "gemm_on_host.cc.o", "table.cc.o", "unity_0.cxx.o"):
        (tmp_path / name).touch()
    (tmp_path / "build.ninja").write_text(
        f"build relu.cc.o: CXX_COMPILER__kernels_Release {relu} || order\n"
        f"build gemm_on_host.cc.o: CXX_COMPILER__emulation_Release {tmp_path}/cuda/gemm_on_host.cc\n"
        f"build unity_0.cxx.o: CXX_COMPILER__kernels_Release {tmp_path}/Unity/unity_0.cxx\n"
        f"build table.cc.o: CXX_COMPILER__kernels_Release {tmp_path}/table.cc\n"
        f"build not_compiled_yet.cc.o: CXX_COMPILER__kernels_Release {relu}\n"
        "build all.o: CUSTOM_COMMAND relu.cc.o\n"
    )
    assert compiled(tmp_path) == {
        f"{tmp_path}/relu.cc.o": {relu},
        f"{tmp_path}/gemm_on_host.cc.o": {gemm},
        f"{tmp_path}/unity_0.cxx.o": {relu, sign},
    }


def conflicts(build):
    """Functions and tables of paddle_mini that objects without a common source define, and one entry for all others: inline
    functions and templates are defined wherever they are used, in the same way."""
    objects = {path: {without_device(one) for one in sources} for path, sources in compiled(build).items()}
    listed = subprocess.run(["nm", "-A", "-P", "-g", "--defined-only", *objects], capture_output=True, text=True)
    sources, strong = {}, set()
    for line in listed.stdout.splitlines():
        path, name, kind = re.match(r"(.*?): (\S+) (\S)", line).groups()
        if "11paddle_mini" in name:
            sources.setdefault(name, []).append(objects[path])
            strong |= {name} if kind in "TDRB" else set()
    return len(strong), {name: sources[name] for name in strong if not set.intersection(*sources[name])}


def test_each_function_is_defined_in_one_source():
    build = ROOT / "build"
    if not (build / "build.ninja").exists():
        pytest.skip("it was built elsewhere")
    count, twice = conflicts(build)
    names = subprocess.run(["c++filt", *twice], capture_output=True, text=True).stdout.split("\n") if twice else []
    assert count > 500 and dict(zip(names, twice.values())) == {}
