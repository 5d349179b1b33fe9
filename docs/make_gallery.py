"""Runs the quick examples, and writes docs/gallery.md with their output and pictures: python docs/make_gallery.py"""

import contextlib
import io
import json
import os
import pathlib
import re
import runpy
import sys
import tempfile

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import paddle_mini as pm

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
EXAMPLES = ROOT / "examples"
PAGE, PICTURES = DOCS / "gallery.md", DOCS / "gallery"
BEGIN = "## All examples\n"
LINES = 6  # at most, from the end of the output

# The same bytes at each run: no dates, no random names of elements.
matplotlib.rcParams.update({"svg.hashsalt": "gallery", "svg.fonttype": "none", "font.size": 9})


def history(found, _):
    """The values of each epoch."""
    return found["trainer"].history.plot()


def answers(found, folder):
    """Images of digits, with what the model that an example has saved in the folder sees in them."""
    images = found["digits"]()[2][0][:24]
    with pm.scope_guard(pm.Scope()):
        program, (image,), fetches = pm.io.load_inference_model(os.path.join(folder, "digits"))
        (predicted,) = pm.Executor().run(program, {image: images}, fetches)
    figure = Figure(figsize=(8, 1.8), layout="constrained")
    for place, (pixels, digit) in enumerate(zip(images, np.argmax(predicted, 1)), 1):
        axes = figure.add_subplot(2, 12, place)
        axes.imshow(pixels[0], cmap="gray_r")
        axes.set_axis_off()
        axes.set_title(str(digit))
    return figure


RUNS = {  # an example: its arguments, and the function that draws a picture of its variables
    "first_day/line.py": ([], None),
    "first_day/digits.py": ([], history),
    "first_day/averages.py": ([], history),
    "first_day/sentences.py": ([], history),
    "first_day/saving.py": ([], answers),
    "book/01_fit_a_line.py": ([], None),
    "book/02_recognize_digits.py": (["--net", "mlp"], None),
    "book/04_word2vec.py": ([], None),
    "book/06_understand_sentiment.py": (["--net", "lstm"], None),
}
STORED = {  # pictures of long experiments, which `make experiments` draws
    "averaging/e2_diabetes.py": "averaging/results/e2_diabetes.svg",
    "averaging/e4_precision.py": "averaging/results/e4_precision.svg",
}


def first_sentence(path):
    """The first sentence of a file's first comment or docstring, or of a notebook, after its title."""
    if path.suffix == ".ipynb":
        return json.loads(path.read_text())["cells"][0]["source"][-1].partition(". ")[0] + "."
    code = re.compile(r"(?://|#(?= )|/\*|\"\"\")\s*(.*?)\s*(?:\*/|\"\"\")?$")
    lines = []
    for line in path.read_text().splitlines():
        begin = code.match(line)
        if lines and (line.startswith('"""') or not (begin or line.startswith(" *"))):
            break
        text = begin[1] if begin else line[2:].strip() if lines else ""
        if lines and not text:
            break
        lines += [text] if text else []
    return re.split(r"(?<=\.) (?=[A-Z])", " ".join(lines))[0].rstrip(":")


def sources():
    """The examples, in the order of their paths."""
    kinds = {".py", ".c", ".h", ".go", ".ipynb"}
    return sorted(path for path in EXAMPLES.rglob("*") if path.suffix in kinds and "build" not in path.parts)


def listing():
    """The table of all examples."""
    yield from (BEGIN, "| file | |", "|---|---|")
    for path in sources():
        name = path.relative_to(ROOT)
        yield f"| [{name.relative_to('examples')}](../{name}) | {first_sentence(path)} |"


def run(name, arguments, folder):
    """An example's output and its variables. It runs in the folder, with programs and a scope of its own."""
    path, out, before = EXAMPLES / name, io.StringIO(), (sys.argv, list(sys.path), os.getcwd())
    os.chdir(folder)
    sys.argv, sys.path[:0] = [str(path), *arguments], [str(path.parent)]
    try:
        with contextlib.redirect_stdout(out), pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
            found = runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv, sys.path[:] = before[:2]
        os.chdir(before[2])
    return re.sub(r" \(\d+\.\d s\)", "", out.getvalue()), found


def section(name, arguments, draw):
    """An example's heading, output and picture."""
    with tempfile.TemporaryDirectory() as folder:
        output, found = run(name, arguments, folder)
        lines = output.strip().splitlines()
        yield from (f"## {name}\n", first_sentence(EXAMPLES / name) + "\n", f"[examples/{name}](../examples/{name})\n")
        if lines:
            yield from ("```text", *lines[-LINES:], "```\n")
        if draw is not None:
            picture = PICTURES / f"{pathlib.Path(name).stem}.svg"
            draw(found, folder).savefig(picture, metadata={"Date": None, "Creator": None})
            yield f"![{first_sentence(EXAMPLES / name)}](gallery/{picture.name})\n"


def main():
    PICTURES.mkdir(exist_ok=True)
    page = [
        "# Gallery\n",
        "Examples that run in seconds, with the end of what they print. `docs/make_gallery.py` runs them and writes this page.\n",
    ]
    for name, (arguments, draw) in RUNS.items():
        page += section(name, arguments, draw)
    for name, stored in STORED.items():
        picture = PICTURES / pathlib.Path(stored).name
        picture.write_bytes((EXAMPLES / stored).read_bytes())
        page += [f"## {name}\n", first_sentence(EXAMPLES / name) + "\n", f"![{name}](gallery/{picture.name})\n"]
    PAGE.write_text("\n".join([*page, *listing()]) + "\n")


if __name__ == "__main__":
    main()
