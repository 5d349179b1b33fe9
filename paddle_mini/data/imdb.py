# IMDB reviews: did the writer like the film (book chapter 6).
"""Samples: (words, label): numbers of words, and 0 for a review that likes the film, 1 for one that does not.
Vocabularies: words.

Maas et al., "Learning Word Vectors for Sentiment Analysis", 2011.
"""

from __future__ import annotations

import re
import string

import numpy as np

from .._core import ProgramError
from .archive import Path, lines, members
from .dataset import UNKNOWN, DataSet, count, numbers, vocabulary

_REVIEW = r"(^|/)(train|test)/(pos|neg)/[^/]*\.txt$"
_WITHOUT_MARKS = str.maketrans("", "", string.punctuation)
Review = tuple[list[str], int]


def load(path: Path, min_word_freq: int = 150) -> DataSet:
    """From aclImdb_v1.tar.gz or the folder in it: a file a review. Words are in lower case, without
    punctuation; those that don't occur more than min_word_freq times are <unk>.
    ProgramError when one kind of reviews is missing."""
    parts: dict[str, list[Review]] = {"train": [], "test": []}
    for name, content in members(path, _REVIEW):
        part, kind = re.search(_REVIEW, name).group(2, 3)  # type: ignore[union-attr]
        text = " ".join(lines(content)).translate(_WITHOUT_MARKS).lower()
        parts[part].append((text.split(), int(kind == "neg")))
    for part, reviews in parts.items():
        if {label for _, label in reviews} != {0, 1}:
            raise ProgramError(f"'{path}' lacks reviews: files {part}/pos/*.txt or {part}/neg/*.txt")
    return _data_set(parts["train"], parts["test"], min_word_freq)


def synthetic(seed: int = 0, train: int = 800, test: int = 200) -> DataSet:
    """Stands for the reviews: words without meaning, among them some that praise or blame; "not" before one of
    these turns it. Each review has more of what it is than of the other."""
    random = np.random.default_rng(seed)
    reviews: list[Review] = []
    for label in random.integers(0, 2, train + test):
        parts = [[f"word{i}"] for i in random.integers(0, 80, random.integers(8, 25))]
        kinds = random.choice([label, label, label, label, 1 - label], 5)
        kinds[:3] = label
        for kind in kinds:
            turned = random.random() < 0.3
            word = ("bad" if kind != turned else "good") + str(random.integers(5))
            parts.insert(int(random.integers(len(parts) + 1)), ["not", word] if turned else [word])
        reviews.append(([word for part in parts for word in part], int(label)))
    return _data_set(reviews[:train], reviews[train:], 0)


def _data_set(train: list[Review], test: list[Review], rare: int) -> DataSet:
    known = vocabulary(count(words for words, _ in train), last=[UNKNOWN], more_than=rare)
    train_samples, test_samples = ([(numbers(words, known), label) for words, label in reviews] for reviews in (train, test))
    return DataSet(train_samples, test_samples, {"words": known})
