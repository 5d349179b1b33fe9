# The command paddle-mini: trains, runs and inspects saved programs, starts jobs, and reports the supported devices.
from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import paddle_mini as pm
from paddle_mini import _core
from paddle_mini._core import printable
from paddle_mini.cluster.checkpoint_command import add_checkpoint
from paddle_mini.cluster.launch_command import add_launch
from paddle_mini.environment import described, value_of
from paddle_mini.errors import printable_lines
from paddle_mini.io.model import fetch_names, prefix_of
from paddle_mini.io.regular_files import open_regular
from paddle_mini.show import provenance_text
from paddle_mini.termination import STATUS, Terminated, sigterm_heeded
from paddle_mini.verify_command import add_verify

EPILOG = (
    "Exit status: 0 done, 1 a program, a file or the data is wrong, 2 the command line is wrong, 130 stopped, 143 by SIGTERM. "
    "PM_DEBUG=1 shows tracebacks."
)


def main(words: Sequence[str] | None = None) -> int:
    """Executes a command line; returns the exit status."""
    arguments = _parser().parse_args(words)
    try:
        with sigterm_heeded():
            status = arguments.command(arguments)
            sys.stdout.flush()
            return status or 0
    except KeyboardInterrupt as stopped:
        return _status_of(stopped)
    except BrokenPipeError:  # the reader has closed the pipe, as in `paddle-mini show … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if value_of("PM_DEBUG") not in ("", "0"):
            raise
        kind = "" if isinstance(error, (pm.Error, OSError)) else f"{type(error).__name__}: "
        print(f"paddle-mini: {printable_lines(f'{kind}{error}')}", file=sys.stderr)
        return 1


def _status_of(stopped: KeyboardInterrupt) -> int:
    return STATUS if isinstance(stopped, Terminated) else 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(printable_lines(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "paddle-mini", epilog=EPILOG, description="Trains, runs and shows programs saved as PREFIX.pdmodel and PREFIX.pdiparams."
    )
    parser.add_argument("--version", action="version", version=f"paddle_mini {pm.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    train = commands.add_parser("train", help="train a program that save_program wrote", epilog=EPILOG)
    _add_common(train)
    train.add_argument(
        "--startup",
        type=prefix_of,
        metavar="PREFIX",
        help="run this program for initial values, instead of reading PREFIX.pdiparams",
    )
    train.add_argument("--steps", type=_whole, default=1, help="how many times to run the program (default 1)")
    train.add_argument(
        "--batch",
        type=_positive,
        metavar="K",
        help="each step is fed the next K rows of every array, from the start again at the end",
    )
    train.add_argument(
        "--every", type=_positive, default=10, metavar="N", help="print what is fetched every N steps (default 10)"
    )
    train.add_argument("--seed", type=_whole, help="of random operators that have no seed of their own")
    train.add_argument("--save", type=prefix_of, metavar="PREFIX", help="write the program and its variables afterwards")
    train.set_defaults(command=_train)

    run = commands.add_parser("run", help="run a program once", epilog=EPILOG)
    _add_common(run)
    run.add_argument("--out", type=Path, metavar="DIR", help="write what is fetched to DIR/NAME.npy")
    run.set_defaults(command=_run)

    show = commands.add_parser("show", help="print a program and what it consists of")
    show.add_argument("prefix", type=prefix_of, metavar="PREFIX", help="PREFIX or PREFIX.pdmodel")
    show.add_argument(
        "--plan",
        action="append",
        type=_shape,
        metavar="NAME=2,3",
        help="print the plan of a run for feeds of these shapes as well",
    )
    show.set_defaults(command=_show)

    doctor = commands.add_parser("doctor", help="what this build is, what it runs on and why")
    doctor.set_defaults(command=_doctor)

    prefix = commands.add_parser(
        "prefix",
        help="where the optimizers' C library is, for pkg-config and CMake",
        description="Prints the directory that has the C library's header and files for builds: "
        'PKG_CONFIG_PATH="$(paddle-mini prefix)/lib/pkgconfig", or cmake '
        '-DCMAKE_PREFIX_PATH="$(paddle-mini prefix)".',
    )
    prefix.set_defaults(command=_prefix)

    add_launch(commands)
    add_checkpoint(commands)
    add_verify(commands)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prefix", type=prefix_of, metavar="PREFIX", help="PREFIX or PREFIX.pdmodel")
    parser.add_argument(
        "--feed",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=FILE",
        help="feed a variable from an .npy file; may be repeated",
    )
    parser.add_argument(
        "--fetch", action="append", default=[], metavar="NAME[,NAME]", help="what to print; default: the program's own fetches"
    )
    parser.add_argument(
        "--max-loop-steps",
        type=_positive,
        metavar="N",
        help="how many steps each loop of a program may take in one run (default: no bound)",
    )


def _train(arguments: argparse.Namespace) -> int:
    scope, exe = pm.Scope(), pm.Executor(pm.CPUPlace(), max_loop_steps=arguments.max_loop_steps)
    if arguments.seed is not None:
        pm.seed(arguments.seed)
    if arguments.startup is None:
        program = pm.io.load_program(arguments.prefix, scope)
    else:
        exe.run(_read_program(arguments.startup), scope=scope)
        program = _read_program(arguments.prefix)
    feeds, fetches, status = _read_feeds(arguments.feed), _fetches(program, arguments.fetch), 0
    try:
        for step, feed in zip(range(1, arguments.steps + 1), _batches(feeds, arguments.batch)):
            values = exe.run(program, feed, fetches, scope)
            if fetches and (step % arguments.every == 0 or step in (1, arguments.steps)):
                print(
                    f"step {step}", *(f" {printable(name)} {_short(value)}" for name, value in zip(fetches, values)), flush=True
                )
    except KeyboardInterrupt as stopped:  # it comes between steps, so the state can be saved
        status = _status_of(stopped)
    if arguments.save:
        pm.io.save_program(arguments.save, program, scope)
        print(f"saved {printable(arguments.save)}.pdmodel")
    return status


def _run(arguments: argparse.Namespace) -> None:
    scope = pm.Scope()
    program = pm.io.load_program(arguments.prefix, scope)
    fetches = _fetches(program, arguments.fetch)
    if not fetches:
        raise pm.ProgramError("the program has no fetch operators: name its outputs with --fetch")
    exe = pm.Executor(pm.CPUPlace(), max_loop_steps=arguments.max_loop_steps)
    values = exe.run(program, _read_feeds(arguments.feed), fetches, scope)
    for name, value in zip(fetches, values):
        array = value.to_dense() if isinstance(value, pm.SelectedRows) else value
        print(f"{printable(name)} {list(array.shape)} {array.dtype}  {_short(array)}")
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            np.save(arguments.out / f"{_file_name(name)}.npy", array)


def _show(arguments: argparse.Namespace) -> None:
    program = _read_program(arguments.prefix)
    print(program)
    print()
    ops = Counter(op.type for block in program.blocks for op in block.ops)
    counted = (f"{count} {kind}" if count > 1 else kind for kind, count in ops.most_common())
    print(f"{sum(ops.values())} operators: {', '.join(counted)}")
    parameters = program.all_parameters()
    elements = sum(int(np.prod(var.shape)) for var in parameters)
    print(f"{len(parameters)} parameters with {elements:,} elements")
    if program.provenance:
        text = provenance_text(program.provenance)
        print(f"provenance: {printable(text, 4 * len(text))}")
    for suffix in (".pdmodel", ".pdiparams"):
        path = Path(arguments.prefix + suffix)
        print(f"{printable(path)}: {f'{path.stat().st_size:,} bytes' if path.exists() else 'not there'}")
    if arguments.plan:
        print()
        print(_plan(program, dict(arguments.plan)))


def _plan(program: pm.Program, shapes: dict[str, list[int]]) -> str:
    """The plan depends only on shapes and dtypes, so all values are zeros."""
    scope, variables = pm.Scope(), program.global_block().vars
    for name in pm.io.parameters.parameter_names(program):
        scope.set(name, np.zeros(variables[name].shape, variables[name].dtype))
    unknown = [name for name in shapes if name not in variables]
    if unknown:
        raise pm.ProgramError(f"'{printable(unknown[0])}' is not a variable of the program")
    feed = {name: np.zeros(shape, variables[name].dtype) for name, shape in shapes.items()}
    return pm.Executor(pm.CPUPlace()).plan_text(program, feed, _fetches(program, []), scope)


def _doctor(_: argparse.Namespace) -> None:
    library = _core.kernel_library()
    beside = Path(sys.executable).parent / "pm_run"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    facts = [
        ("paddle_mini", f"{pm.__version__} in {Path(pm.__file__).parent}"),
        ("python", f"{sys.version.split()[0]}, {sys.executable}"),
        ("numpy", np.__version__),
        ("CPU", f"{cores} cores, runs {' '.join(_core.processor_levels())}"),
        ("kernels", f"{library['level']}: {library['reason']}"),
        ("", library["path"]),
        ("operators", str(len(_core.op_types()))),
        ("cuda", _core.gpu_text()),
        ("memory", f"{memory:.1f} GiB"),
        ("pm_run", str(beside) if beside.exists() else shutil.which("pm_run") or "not found"),
    ]
    for name, fact in facts:
        print(f"{name:12}{fact}")
    print("environment")
    for name, value, does in described():
        print(f"  {name:16}{f'={printable(value)}' if value else 'not set'}  ({does})")


def _prefix(_: argparse.Namespace) -> None:
    # Beside the libraries, which an editable installation keeps apart from the package's Python files.
    folder = Path(_core.__file__).parent / "capi"
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not there: this installation has no C library")
    print(folder)


def _read_program(prefix: str) -> pm.Program:
    program = pm.io.read_program(prefix)
    program.handle()  # verified before it is used or shown
    return program


def _read_feeds(pairs: list[tuple[str, str]]) -> dict[str, np.ndarray]:
    feeds = {}
    for name, path in pairs:
        with open(path, "rb", opener=open_regular) as file:
            if file.read(6) != b"\x93NUMPY":
                raise pm.ProgramError(f"'{path}' is not an .npy file")
            file.seek(0)
            try:
                feeds[name] = np.load(file, allow_pickle=False)
            except ValueError as error:
                raise pm.ProgramError(f"'{path}': {error}") from None
    return feeds


def _batches(feeds: dict[str, np.ndarray], size: int | None) -> Iterator[dict[str, np.ndarray]]:
    """The feeds of the steps, as an infinite iterator."""
    if size is None:
        while True:
            yield feeds
    rows = {name: array.shape[0] if array.ndim else 0 for name, array in feeds.items()}
    if len(set(rows.values())) > 1:
        listed = ", ".join(f"{printable(name)} {count}" for name, count in rows.items())
        raise pm.ShapeError(f"the arrays have different numbers of rows: {listed}")
    for name, count in rows.items():
        if count < size:
            raise pm.ShapeError(f"feed '{printable(name)}' {list(feeds[name].shape)} has fewer than {size} rows")
    count = min(rows.values(), default=size) // size
    while True:
        for first in range(0, count * size, size):
            yield {name: array[first : first + size] for name, array in feeds.items()}


def _fetches(program: pm.Program, arguments: list[str]) -> list[str]:
    names = [name for item in arguments for name in item.split(",")]
    return names or fetch_names(program)


def _short(value: Any) -> str:
    flat = np.ravel(value.to_dense() if isinstance(value, pm.SelectedRows) else value)
    shown = [f"{item:.7g}" if flat.dtype.kind == "f" else str(item) for item in flat[:6]]
    return " ".join(shown + ["…"] if flat.size > 6 else shown)


def _file_name(name: str) -> str:
    """A variable's name is never a path."""
    plain = name.replace("/", "_").replace("\0", "_")
    return "_" if plain in (".", "..") else plain


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"'{printable(word)}' is not NAME=FILE")
    return name, value


def _shape(word: str) -> tuple[str, list[int]]:
    name, dims = _pair(word)
    try:
        return name, [_whole(dim) for dim in dims.split(",") if dim]
    except (argparse.ArgumentTypeError, ValueError):
        raise argparse.ArgumentTypeError(f"'{printable(word)}' is not NAME=2,3") from None


def _whole(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 16):
        raise argparse.ArgumentTypeError(f"'{printable(word)}' is not an integer")
    return int(word)


def _positive(word: str) -> int:
    number = _whole(word)
    if number == 0:
        raise argparse.ArgumentTypeError("it must be at least 1")
    return number
