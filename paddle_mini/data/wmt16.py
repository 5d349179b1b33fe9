# WMT16 multimodal task: captions in English and German (book chapter 8).
"""Samples: (source, target, next): numbers of words. source begins with <s> and ends with <e>; target is the
translation after <s>, and next is the same one word on: it ends with <e>. Vocabularies: source, target.

Elliott et al., "Multi30K: Multilingual English-German Image Descriptions", 2016.
"""

from __future__ import annotations

import numpy as np

from .._core import ProgramError, printable
from ..errors import shown
from .archive import Path, lines, members
from .dataset import UNKNOWN, DataSet, Sample, count, numbers, vocabulary

BEGIN, END = "<s>", "<e>"
Pair = tuple[list[str], list[str]]


def load(path: Path, source_words: int = 10_000, target_words: int = 10_000, source: str = "en") -> DataSet:
    """From wmt16.tar.gz or a folder with train and test: on each line English, a tab, German.

    source_words, target_words: sizes of the vocabularies, which hold the most frequent words of train;
    source: "en" or "de". ProgramError when a file is missing or a line is something else."""
    if source not in ("en", "de"):
        raise ProgramError(f"wmt16: source is {shown(source)}, it must be 'en' or 'de'")
    texts = {name.rsplit("/", 1)[-1]: content for name, content in members(path, r"(^|/)(train|test)$")}
    for part in ("train", "test"):
        if part not in texts:
            raise ProgramError(f"'{path}' has no file '{part}'")
    train, test = (_pairs(part, lines(texts[part]), source == "de") for part in ("train", "test"))
    return _data_set(train, test, source_words, target_words)


def synthetic(seed: int = 0, train: int = 1500, test: int = 150, words: int = 20) -> DataSet:
    """Synthetic substitute for the captions: sentences of three to six words. Each word has one translation, the
    last, a verb, comes first, and "a" becomes one of two words by what follows."""
    random = np.random.default_rng(seed)
    made: list[Pair] = []
    for length in random.integers(2, 5, train + test):
        nouns, verb = random.integers(0, words, length - 1), random.integers(0, words)
        english = [word for noun in nouns for word in (["a"] if noun % 3 == 0 else []) + [f"noun{noun}"]]
        german = [word for noun in nouns for word in (["ein" if noun % 2 else "eine"] if noun % 3 == 0 else []) + [f"Wort{noun}"]]
        made.append(([*english, f"verb{verb}"], [f"tut{verb}", *german]))
    return _data_set(made[:train], made[train:], 1000, 1000)


def _data_set(train: list[Pair], test: list[Pair], source_words: int, target_words: int) -> DataSet:
    source, target = (
        vocabulary(count(pair[side] for pair in train), [BEGIN, END, UNKNOWN], at_most=size)
        for side, size in enumerate((source_words, target_words))
    )

    def samples(pairs: list[Pair]) -> list[Sample]:
        return [
            (numbers([BEGIN, *first, END], source), numbers([BEGIN, *second], target), numbers([*second, END], target))
            for first, second in pairs
        ]

    return DataSet(samples(train), samples(test), {"source": source, "target": target})


def _pairs(name: str, rows: list[str], swapped: bool) -> list[Pair]:
    pairs = []
    for i, row in enumerate(rows, 1):
        sides = [side.split() for side in row.split("\t")]
        if len(sides) != 2:
            raise ProgramError(
                f"line {i} of '{printable(name)}' has {len(sides)} columns, it must have 2: English, a tab, German"
            )
        pairs.append((sides[1], sides[0]) if swapped else (sides[0], sides[1]))
    return pairs
