"""The chapters of docs/tutorial run as they are printed, in order, in one folder."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHAPTERS = sorted((ROOT / "docs/tutorial").glob("[0-9]*.md"))
BLOCK = re.compile(r'^```(\S+)(?: title="([^"\n]*)")?\n(.*?)^```$', re.S | re.M)
NEEDS = {"07-serving": "06-saving"}  # a chapter that reads what another one saved


def blocks(chapter):
    """Language, file name or "", and text of each block."""
    return BLOCK.findall((ROOT / f"docs/tutorial/{chapter}.md").read_text())


class Reader:
    """Copies the files that have names, and runs each chapter's program once."""

    def __init__(self, folder):
        self.folder, self.printed = folder, {}
        for path in CHAPTERS:
            for _, name, text in blocks(path.stem):
                if name:
                    (folder / name).write_text(text)

    def run(self, chapter):
        if chapter not in self.printed:
            if chapter in NEEDS:
                self.run(NEEDS[chapter])
            program = "".join(text for language, name, text in blocks(chapter) if language == "python" and not name)
            self.printed[chapter] = self.call([sys.executable, "-W", "error", "-c", program])
            for line in (line for language, _, text in blocks(chapter) if language == "sh" for line in text.splitlines()):
                name, *arguments = line.split()
                self.printed[chapter] += self.call([pathlib.Path(sys.executable).parent / name, *arguments])
        return self.printed[chapter]

    def call(self, command):
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": ".", "PM_OPERATORS": str(self.folder / "operators")},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return Reader(tmp_path_factory.mktemp("tutorial"))


@pytest.mark.parametrize("chapter", [path.stem for path in CHAPTERS])
def test_chapter(reader, chapter):
    assert reader.run(chapter) or chapter == "10-operator"


def test_the_spirals_are_learned(reader):
    reader.run("09-cluster")
    right = float(re.search(r"right: ([\d.]+)", reader.printed["09-cluster"])[1])
    assert right > 0.8


def test_the_test_of_the_operator_passes(reader):
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={reader.folder}", "test_softcube.py"]
    assert " passed" in reader.call([sys.executable, *words])


def test_the_index_lists_the_chapters():
    index = (ROOT / "docs/tutorial/index.md").read_text()
    assert re.findall(r"\]\((.*)\.md\)", index) == [path.stem for path in CHAPTERS]
