"""The bill of materials of a release, as CycloneDX: what was compiled into its wheels, what they need, hashes of files."""

from __future__ import annotations

import hashlib
import pathlib
import re
import subprocess

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

from .settings import BUILD_REQUIRES, PROJECT, ROOT

# Packages of [build-system] whose code is compiled into the wheels, with their licences; others only run in the build.
COMPILED = {"cmeel-eigen": "MPL-2.0", "pybind11": "BSD-3-Clause"}


def sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def bill(files: list[pathlib.Path]) -> str:
    """The bill as JSON. Versions and hashes of what is compiled in are read where the build takes them from."""
    described = component(PROJECT["name"], PROJECT["version"], PROJECT["license"])
    compiled = [protobuf(), gcc()]
    for requirement in map(Requirement, BUILD_REQUIRES):
        if requirement.name in COMPILED:
            compiled.append(component(requirement.name, pinned(requirement), COMPILED[requirement.name]))
    needed = [
        Component(name=requirement.name, purl=PackageURL("pypi", None, requirement.name), scope=ComponentScope.REQUIRED,
                  description=f"installed with the wheel: {requirement.specifier}")
        for requirement in map(Requirement, PROJECT["dependencies"])
    ]  # fmt: skip
    made = [
        Component(name=path.name, type=ComponentType.FILE, hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256(path))])
        for path in files
    ]
    bill = Bom(components=[*compiled, *needed, *made])
    bill.metadata.component = described
    bill.register_dependency(described, [*compiled, *needed])
    return JsonV1Dot6(bill).output_as_string(indent=2) + "\n"


def component(name: str, version: str, licence: str) -> Component:
    """A package of the Python package index."""
    return Component(
        name=name, version=version, purl=PackageURL("pypi", None, name, version), licenses=[LicenseExpression(licence)]
    )


def pinned(requirement: Requirement) -> str:
    """The version of a requirement NAME==VERSION; ValueError for others."""
    exact = [part.version for part in requirement.specifier if part.operator == "=="]
    if len(exact) != 1:
        raise ValueError(f"{requirement} is compiled into wheels, so it must name one version")
    return exact[0]


def protobuf() -> Component:
    """The source package that has upb, with the hash that the build compares."""
    text = (ROOT / "proto/CMakeLists.txt").read_text()
    version, digest = (re.search(rf"set\(PM_PROTOBUF_{name} (\S+)\)", text)[1] for name in ("VERSION", "SHA256"))
    upb = component("protobuf", version, "BSD-3-Clause AND MIT")
    upb.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=digest))
    upb.description = "upb, its C library, and utf8_range (MIT)"
    return upb


def gcc() -> Component:
    """The C++ standard library, which is linked statically."""
    version = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    return Component(name="libstdc++", version=version, licenses=[LicenseExpression("GPL-3.0-or-later WITH GCC-exception-3.1")])
