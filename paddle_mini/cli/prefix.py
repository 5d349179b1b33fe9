# paddle-mini prefix: prints the directory of the optimizers' C library.
from __future__ import annotations

import argparse
from pathlib import Path

from .. import _core


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Prints the directory that has the C library's header and files for builds: "
        'PKG_CONFIG_PATH="$(paddle-mini prefix)/lib/pkgconfig", or cmake '
        '-DCMAKE_PREFIX_PATH="$(paddle-mini prefix)".'
    )
    parser.set_defaults(command=_prefix)


def _prefix(_: argparse.Namespace) -> None:
    # Beside the libraries, which an editable installation keeps apart from the package's Python files.
    folder = Path(_core.__file__).parent / "capi"
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not there: this installation has no C library")
    print(folder)
