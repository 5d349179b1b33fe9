"""The project's folder, and what pyproject.toml says."""

from __future__ import annotations

import pathlib
import sys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # a requirement of scikit-build-core there

ROOT = pathlib.Path(__file__).parent.parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
VERSION = PROJECT["version"]
BUILD_REQUIRES = SETTINGS["build-system"]["requires"]
