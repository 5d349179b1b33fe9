# `make release` refuses wheels that are incomplete, too large or for a newer glibc; its bill of materials names pinned versions.
import hashlib
import json
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

import pytest
from release import checks, sbom, settings, targets, wheels

import paddle_mini as pm

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIBRARY = pathlib.Path(pm._core.__file__).parent / "libpaddle_mini.so"
INFO = f"paddle_mini-{pm.__version__}.dist-info"
FILES = [
    "paddle_mini/__init__.py",
    "paddle_mini/_core.cpython-312-x86_64-linux-gnu.so",
    "paddle_mini/libpaddle_mini.so",
    "paddle_mini/libpaddle_mini_optimizer.so",
    "paddle_mini/libpaddle_mini_kernels_v2.so",
    "paddle_mini/libpaddle_mini_kernels_v3.so",
    "paddle_mini/libpaddle_mini_kernels_v4.so",
    "paddle_mini/capi/include/paddle_optimizer.h",
    "paddle_mini/cxx/include/core/op_table.h",
    f"paddle_mini-{pm.__version__}.data/scripts/pm_run",
    f"{INFO}/licenses/LICENSE",
]


def wheel_of(folder, platform="manylinux_2_28_x86_64", files=FILES, contents=b"a file"):
    path = folder / f"paddle_mini-{pm.__version__}-cp312-cp312-{platform}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in files:
            archive.writestr(name, contents)
    return path


def test_a_complete_wheel_has_no_faults(tmp_path):
    assert checks.faults_of(wheel_of(tmp_path)) == []


def test_a_large_wheel_is_refused(tmp_path):
    wheel = wheel_of(tmp_path)
    size = wheel.stat().st_size
    assert checks.faults_of(wheel, {"x86_64": size}) == []
    assert checks.faults_of(wheel, {"x86_64": size - 1}) == [f"it has {size:,} bytes, the limit is {size - 1:,}"]


def test_a_wheel_that_was_not_audited_is_refused(tmp_path):
    wheel = wheel_of(tmp_path, platform="linux_x86_64")
    assert checks.faults_of(wheel) == ["its platform is linux_x86_64, expected manylinux_2_28_MACHINE"]


@pytest.mark.parametrize(
    "lacking", [name for name in FILES if "capi" not in name and "cxx" not in name and "dist-info" not in name]
)
def test_a_wheel_that_lacks_a_file_is_refused(tmp_path, lacking):
    wheel = wheel_of(tmp_path, files=[name for name in FILES if name != lacking])
    assert checks.faults_of(wheel) == [f"it lacks {'pm_run' if 'pm_run' in lacking else lacking}"]


def test_a_wheel_without_licences_is_refused(tmp_path):
    assert checks.faults_of(wheel_of(tmp_path, files=FILES[:-1])) == ["it lacks the licences"]


def test_another_file_is_no_wheel(tmp_path):
    assert checks.faults_of(tmp_path / "paddle_mini.zip") == ["paddle_mini.zip is not the name of a wheel"]


def test_a_library_that_needs_a_newer_glibc_is_refused():
    data, machine = LIBRARY.read_bytes(), platform.machine()
    assert checks.faults_of_binary("library.so", data, machine, (99, 0)) == []
    (fault,) = checks.faults_of_binary("library.so", data, machine, (2, 1))
    assert re.fullmatch(r"library.so needs glibc 2\.\d+(\.\d+)?, newer than 2\.1", fault)


def test_a_library_for_another_machine_is_refused(tmp_path):
    other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
    wheel = wheel_of(tmp_path, platform=f"manylinux_2_28_{other}", contents=LIBRARY.read_bytes())
    fault = f"paddle_mini/libpaddle_mini.so is for {checks.MACHINES[platform.machine()]}, expected {checks.MACHINES[other]}"
    assert fault in checks.faults_of(wheel, {})


def test_the_bill_of_materials_has_what_the_build_pins(tmp_path):
    made = tmp_path / "made.whl"
    made.write_bytes(b"a wheel")
    bill = json.loads(sbom.bill([made]))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    product = bill["metadata"]["component"]
    assert (product["name"], product["version"]) == ("paddle_mini", pm.__version__)
    parts = {part["name"]: part for part in bill["components"]}
    assert set(parts) == {"protobuf", "libstdc++", "cmeel-eigen", "pybind11", "numpy", "made.whl"}
    for name in ("cmeel-eigen", "pybind11"):
        assert f"{name}=={parts[name]['version']}" in settings.BUILD_REQUIRES
    cmake = (ROOT / "proto/CMakeLists.txt").read_text()
    upb = next(part for part in bill["components"] if part["name"] == "protobuf" and "version" in part)
    assert f"PM_PROTOBUF_VERSION {upb['version']})" in cmake and f"PM_PROTOBUF_SHA256 {upb['hashes'][0]['content']})" in cmake
    assert parts["made.whl"]["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"a wheel").hexdigest()}]
    assert all("licenses" in part for part in bill["components"] if "version" in part)


def test_what_is_compiled_in_names_one_version():
    with pytest.raises(ValueError, match=r"pybind11>=3 is compiled into wheels, so it must name one version"):
        sbom.pinned(sbom.Requirement("pybind11>=3"))


def test_headers_are_found_with_their_interpreter(monkeypatch, tmp_path):
    version = "{}.{}".format(*sys.version_info)
    (tmp_path / f"python{version}").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    found = targets.find_python(version)
    assert found and (pathlib.Path(found.include) / "Python.h").exists() and found.tag == f"cp3{sys.version_info[1]}"


def test_an_interpreter_that_does_not_run_or_is_another_version_is_left_out(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    for version, script in [("3.10", "exit 127"), ("3.12", f"echo 3.11 {sys.prefix}")]:
        executable = tmp_path / f"python{version}"
        executable.write_text(f"#!/bin/sh\n{script}\n")
        executable.chmod(0o755)
    assert targets.pythons(["3.10", "3.12"], []) == ([], ["3.10", "3.12"])


def test_headers_may_be_given(tmp_path):
    (tmp_path / "Python.h").touch()
    assert targets.pythons(["3.14"], [f"3.14={tmp_path}"]) == ([targets.Python("3.14", str(tmp_path))], [])
    with pytest.raises(ValueError, match=r"there is no Python\.h in nowhere"):
        targets.pythons(["3.14"], ["3.14=nowhere"])
    with pytest.raises(ValueError, match=r"--headers 2\.7=/usr: expected one of 3\.10, "):
        targets.pythons(["3.14"], ["2.7=/usr"])


def test_debians_headers_serve_another_machine(tmp_path):
    include = tmp_path / "include/python3.12"
    include.mkdir(parents=True)
    python, folder = targets.Python("3.12", str(include)), tmp_path / "made"
    assert python.headers("aarch64", folder) == str(include) and not folder.exists()
    configured = tmp_path / "include/x86_64-linux-gnu/python3.12/pyconfig.h"
    configured.parent.mkdir(parents=True)
    configured.write_text("of x86_64")
    for _ in range(2):
        assert python.headers("aarch64", folder) == f"{include};{folder}"
        assert (folder / "aarch64-linux-gnu/python3.12/pyconfig.h").read_text() == "of x86_64"


def test_the_wheel_for_gpus_adds_a_library_to_the_same_version(tmp_path):
    library = tmp_path / "built.so"
    library.write_bytes(b"kernels")
    wheel = wheels.write_cuda_wheel(library, "manylinux_2_28_x86_64", tmp_path)
    assert wheel.name == f"paddle_mini_cuda13-{pm.__version__}-py3-none-manylinux_2_28_x86_64.whl"
    assert checks.faults_of(wheel, {}) == []
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("paddle_mini/libpaddle_mini_cuda.so") == b"kernels"
        metadata = archive.read(f"paddle_mini_cuda13-{pm.__version__}.dist-info/METADATA").decode()
    assert f"Requires-Dist: paddle_mini=={pm.__version__}\n" in metadata and "Requires-Dist: nvidia-cublas>=13,<14\n" in metadata
    target = tmp_path / "installed"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target, wheel]
    subprocess.run(command, check=True)
    assert (target / "paddle_mini/libpaddle_mini_cuda.so").read_bytes() == b"kernels"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ([sys.executable, "-c", "import sys; sys.exit('Operation not permitted')"], "Operation not permitted"),
        (["no-unshare"], "no-unshare is missing"),
    ],
)
def test_a_system_that_makes_no_network_namespace_is_named(monkeypatch, command, why):
    monkeypatch.setattr(wheels, "NO_NETWORK", command)
    assert wheels.why_no_namespace() == why


def test_the_trial_of_a_wheel_gives_the_same_results_again():
    command = [sys.executable, "-W", "error", ROOT / "python/release/smoke.py", ROOT / "examples/ctypes/train.py"]
    first, second = (subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2))
    assert first == second and re.fullmatch(r"[0-9a-f]{16}\n", first)


def test_a_function_that_no_library_has_is_named():
    files = {path.name: path.read_bytes() for path in (LIBRARY, pathlib.Path(pm._core.__file__))}
    assert checks.strangers(files) == []
    alone = checks.strangers({"_core.so": files[pathlib.Path(pm._core.__file__).name]})
    assert alone and all("paddle_mini" in fault and fault.startswith("_core.so calls ") for fault in alone)
