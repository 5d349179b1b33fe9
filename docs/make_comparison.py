"""Writes the table of docs/comparison.md: lines of the programs in examples/first_day, and their results.

python docs/make_comparison.py                  # counts the lines again
python docs/make_comparison.py --peers PYTHON   # runs all programs first; PYTHON has torch, keras and scikit-learn
"""

import argparse
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tokenize
import urllib.request

DOCS = pathlib.Path(__file__).resolve().parent
FOLDER = DOCS.parent / "examples/first_day"
RESULTS = FOLDER / "results.json"
PAGE = DOCS / "comparison.md"
BEGIN, END = "<!-- by docs/make_comparison.py -->\n", "<!-- end -->\n"
TASKS = {  # the programs of a task: what it is
    "line": "fit a line to 13 features",
    "digits": "convolutional network: validation, early stopping, resuming, averages",
    "sentences": "classify sentences of any length",
    "averages": "evaluate with and without averaged parameters",
    "saving serving": "save a model; serve it from another process",
}
LIBRARIES = {"": "paddle_mini", "_keras": "Keras", "_torch": "PyTorch"}  # by the end of the file's name


def lines_of_code(source):
    """Lines with code: without comments, docstrings and empty lines."""
    lines, begins = set(), True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            begins = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
            if not (begins and token.type == tokenize.STRING):
                lines.update(range(token.start[0], token.end[0] + 1))
            begins = False
    return len(lines)


def counts(task, library):
    """The lines of a task's programs."""
    return sum(lines_of_code((FOLDER / f"{program}{library}.py").read_text()) for program in task.split())


def run(python, task, library, folder):
    """The numbers that a task's programs print at the end; for a server the accuracy of its answers."""
    environment = {**os.environ, "KERAS_BACKEND": "torch"}
    *before, last = ([str(python), str(FOLDER / f"{program}{library}.py")] for program in task.split())
    for command in before:
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)
    if last[1].endswith(f"serving{library}.py"):
        with subprocess.Popen(last, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            try:
                return [accuracy_of_answers(int(server.stdout.readline()))]
            finally:
                server.terminate()
    done = subprocess.run(last, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return [float(value) for value in re.findall(r"^.*test (?:error|accuracy): ([\d.]+)$", done.stdout, re.M)]


def accuracy_of_answers(port):
    """The part of the test images whose digits a server names."""
    sys.path.insert(0, str(FOLDER))
    from samples import digits

    images, labels = digits()[2]
    request = urllib.request.Request(f"http://127.0.0.1:{port}", json.dumps(images.tolist()).encode())
    with urllib.request.urlopen(request, timeout=60) as reply:
        return round(float((json.load(reply) == labels).mean()), 4)


def run_all(peers):
    """The results of all programs, {library: {task: numbers}}, and the versions of the peers."""
    results = {}
    for library, name in LIBRARIES.items():
        results[name] = {}
        for task in TASKS:
            with tempfile.TemporaryDirectory() as folder:
                results[name][task] = run(peers if library else sys.executable, task, library, folder)
            print(f"{name}: {task}: {results[name][task]}", file=sys.stderr)
    words = "import keras, torch; print(torch.__version__.partition('+')[0], keras.__version__)"
    printed = subprocess.run([peers, "-c", words], env={**os.environ, "KERAS_BACKEND": "torch"}, capture_output=True, text=True)
    results["versions"] = dict(zip(("PyTorch", "Keras"), printed.stdout.split()))
    return results


def table(results):
    """The lines of the table."""
    versions = results["versions"]
    names = [f"{name} {versions[name]}" if name in versions else name for name in LIBRARIES.values()]
    yield "| program | " + " | ".join(names) + " |"
    yield "|---|" + "---:|" * len(names)
    for task, text in TASKS.items():
        cells = [
            f"{counts(task, library)} ({', '.join(f'{value:.4g}' for value in results[name][task])})"
            for library, name in LIBRARIES.items()
        ]
        yield f"| {text} | " + " | ".join(cells) + " |"
    yield "| all | " + " | ".join(str(sum(counts(task, library) for task in TASKS)) for library in LIBRARIES) + " |"


def page(text, results):
    """The page with this table."""
    head, tail = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    return head + "\n" + "\n".join(table(results)) + "\n\n" + tail


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=pathlib.Path, metavar="PYTHON")
    peers = parser.parse_args().peers
    if peers:
        RESULTS.write_text(json.dumps(run_all(peers.absolute()), indent=1) + "\n")
    PAGE.write_text(page(PAGE.read_text(), json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
