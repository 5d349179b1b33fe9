"""The gallery lists every example with its first sentence, and its pictures are there, small, and without dates."""

import importlib.util
import pathlib
import re

import pytest

from thorough import thorough

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/gallery.md").read_text()


@pytest.fixture(scope="module")
def gallery():
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("make_gallery", ROOT / "docs/make_gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_listed(gallery):
    assert PAGE[PAGE.index(gallery.BEGIN) :] == "\n".join(gallery.listing()) + "\n", "run .venv/bin/python docs/make_gallery.py"
    assert [path for path in gallery.sources() if len(gallery.first_sentence(path)) < 10] == []


def test_examples_that_run_have_a_section(gallery):
    sections = re.findall(r"^## (\S+\.py)$", PAGE, re.M)
    assert sections == [*gallery.RUNS, *gallery.STORED]
    assert all(gallery.first_sentence(ROOT / "examples" / name) in PAGE for name in sections)


def test_pictures_are_there_and_small():
    shown = set(re.findall(r"!\[.*?\]\(gallery/(.*?)\)", PAGE))
    stored = {path.name: path.read_bytes() for path in (ROOT / "docs/gallery").iterdir()}
    assert shown == stored.keys() and len(shown) >= 5
    for name, content in stored.items():
        assert 1_000 < len(content) < 60_000, name
        assert b"</svg>" in content and b"<dc:date>" not in content, name


@thorough
def test_a_picture_has_the_same_bytes_when_it_is_drawn_again(gallery, tmp_path):
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    for folder in ("first", "second"):
        gallery.PICTURES = tmp_path / folder
        text = list(gallery.section("first_day/sentences.py", [], gallery.history))
    assert (tmp_path / "first/sentences.svg").read_bytes() == (tmp_path / "second/sentences.svg").read_bytes()
    assert "test accuracy: 0.9" in "\n".join(text)
