"""Mutated input of every kind, for as long as one likes: `make fuzz MINUTES=5 SEED=1`, or

    python tests/fuzz/fuzz.py [--minutes M | --mutants N] [--seed S] [--kind KIND ...] [--replay KIND NUMBER]

Each mutant is made from a number, so that --replay makes it again. Workers are processes of their own: one that dies of a
signal, or is silent for 10 seconds, is a finding as an exception of Python's is. Exit status 1 when there was a finding.
"""

import argparse
import json
import mmap
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

KINDS = {
    "programs": "mutated_programs",
    "parameters": "mutated_files",
    "states": "mutated_states",
    "calls": "mutated_calls",
    "checkpoints": "mutated_checkpoints",
    "messages": "mutated_messages",
    "optimizers": "mutated_optimizers",
    "onnx": "mutated_onnx",
}
SILENCE = 10.0  # seconds
MEMORY = 1 << 30  # bytes of address space in addition to those at a worker's start
MOST_FINDINGS = 50  # per worker


class Progress:
    """Progress of a worker, in a file that its parent can read after the worker has died."""

    NAMES = ("number", "accepted", "refused")

    def __init__(self, path):
        if not path.exists():
            path.write_bytes(bytes(8 * len(self.NAMES)))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)

    def __getitem__(self, name):
        return struct.unpack_from("<q", self.memory, 8 * self.NAMES.index(name))[0]

    def __setitem__(self, name, value):
        struct.pack_into("<q", self.memory, 8 * self.NAMES.index(name), value)


def mutator_of(kind, folder):
    """The object whose run(rng) makes and tries one mutant: True when it was accepted, False when it was refused."""
    module = __import__(KINDS[kind])
    return module.Mutants(Path(folder))


def limit_memory():
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def try_one(mutants, kind, seed, number):
    return mutants.run(random.Random(f"{kind} {seed} {number}"))


def work(kind, seed, begin, end, folder):
    """A worker: tries the mutants begin ... end - 1, and writes one line for each finding."""
    warnings.simplefilter("ignore")
    progress, mutants, findings = Progress(Path(folder) / "progress"), mutator_of(kind, folder), 0
    limit_memory()
    for number in range(begin, end):
        progress["number"] = number
        try:
            accepted = try_one(mutants, kind, seed, number)
            progress["accepted" if accepted else "refused"] += 1
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error}"[:600]
            report(folder, number, f"{text}  ({Path(last.filename).name}:{last.lineno})")
            findings += 1
            if findings >= MOST_FINDINGS:
                break
    progress["number"] = end


def report(folder, number, text):
    with open(Path(folder) / "findings", "a") as file:
        file.write(json.dumps([number, text]) + "\n")


class Run:
    """All mutants of one kind."""

    def __init__(self, kind, seed):
        self.kind, self.seed = kind, seed
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz"))
        self.progress = Progress(self.folder / "progress")
        self.seconds = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def findings(self):
        path = self.folder / "findings"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def go(self, mutants, seconds):
        """Tries this many mutants, or for this time."""
        begin, start = 0, time.monotonic()
        while begin < mutants and time.monotonic() - start < seconds and len(self.findings()) < MOST_FINDINGS:
            if not self.one_worker(begin, mutants, start + seconds):
                break
            begin = self.progress["number"] + 1
        self.seconds = time.monotonic() - start
        return self

    def one_worker(self, begin, end, stop_at):
        """Whether mutants remain after this worker's last one, which need another worker."""
        self.progress["number"] = begin
        words = [sys.executable, __file__, "--worker", self.kind, str(self.seed), str(begin), str(end), str(self.folder)]
        with open(self.folder / "said", "wb") as said:
            process = subprocess.Popen(words, stdout=said, stderr=said)
        last, since = -1, time.monotonic() + 20  # the start takes a while
        try:
            while process.poll() is None:
                time.sleep(0.05)
                number, now = self.progress["number"], time.monotonic()
                if number != last:
                    last, since = number, max(now, since if last == -1 else now)
                elif now - since > SILENCE:
                    report(self.folder, number, f"silent for {SILENCE:.0f} seconds")
                    return True
                if now > stop_at:
                    return False
            if process.returncode < 0:
                report(self.folder, self.progress["number"], f"died of {signal.Signals(-process.returncode).name}")
            elif process.returncode:
                text = (self.folder / "said").read_text(errors="replace")[-500:]
                report(self.folder, self.progress["number"], f"ended with {process.returncode}: {text}")
            return process.returncode < 0
        finally:
            process.kill()
            process.wait()

    def line(self):
        accepted, refused = self.progress["accepted"], self.progress["refused"]
        done, found = accepted + refused, self.findings()
        rate = done / self.seconds if self.seconds else 0
        return (
            f"{self.kind:12} {done:9,} mutants  {accepted:9,} accepted  {refused:9,} refused  {self.seconds:7.1f} s  "
            f"{rate:6,.0f} a second  {len(found)} findings"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="for all kinds together (default 1)")
    parser.add_argument("--mutants", type=int, help="of each kind, instead of a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=KINDS, help="may be repeated; default: all")
    parser.add_argument("--replay", nargs=2, metavar=("KIND", "NUMBER"), help="make this mutant again, with its exception")
    parser.add_argument("--worker", nargs=5, help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.worker:
        kind, seed, begin, end, folder = words.worker
        return work(kind, int(seed), int(begin), int(end), folder)
    if words.replay:
        kind, number = words.replay
        warnings.simplefilter("ignore")
        with tempfile.TemporaryDirectory() as folder:
            accepted = try_one(mutator_of(kind, folder), kind, words.seed, int(number))
            print("accepted" if accepted else "refused")
        return 0
    kinds = words.kind or list(KINDS)
    seconds = 1e9 if words.mutants else 60 * (words.minutes or 1.0) / len(kinds)
    found = False
    for kind in kinds:
        with Run(kind, words.seed) as run:
            run.go(words.mutants or 10**12, seconds)
            print(run.line(), flush=True)
            for number, text in run.findings():
                found = True
                print(f"  --seed {words.seed} --replay {kind} {number}: {text}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
