# Penn Treebank as Mikolov prepared it: which word comes next (book chapter 4).
"""Samples: n numbers of words that follow each other; the last is what is to be predicted.
Vocabularies: words. The beginning and the end of a sentence are words too.

Mikolov et al., "Recurrent neural network based language model", 2010.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from .._core import ProgramError
from .archive import Path, lines, named_members
from .dataset import UNKNOWN, DataSet, Sample, count, numbers, vocabulary

BEGIN, END = "<s>", "<e>"


def load(path: Path, n: int = 5, min_word_freq: int = 50) -> DataSet:
    """From simple-examples.tgz, or a folder with ptb.train.txt and ptb.valid.txt: a sentence a line.
    Words that don't occur more than min_word_freq times are <unk>. ProgramError when a file is missing."""
    texts = named_members(path, "ptb.train.txt", "ptb.valid.txt")
    train, valid = ([line.split() for line in lines(text)] for text in texts)
    return _data_set(train, valid, n, min_word_freq)


def synthetic(seed: int = 0, n: int = 5, sentences: int = 1200, words: int = 60) -> DataSet:
    """Stands for the Penn Treebank: sentences in which each word is followed by one of three others, the
    first of them in seven of ten cases."""
    random = np.random.default_rng(seed)
    names = np.array([f"w{i}" for i in range(words)])
    following = np.array([random.permutation(words)[:3] for _ in range(words)])
    text: list[list[str]] = []
    for length in random.integers(4, 12, sentences):
        sentence = [int(random.integers(words))]
        for choice in random.choice(3, length - 1, p=[0.7, 0.2, 0.1]):
            sentence.append(int(following[sentence[-1], choice]))
        text.append(names[sentence].tolist())
    kept = sentences * 9 // 10
    return _data_set(text[:kept], text[kept:], n, 0)


def _data_set(train: list[list[str]], test: list[list[str]], n: int, rare: int) -> DataSet:
    if n < 2:
        raise ProgramError(f"imikolov: n is {n}, a word and what is before it are at least 2")
    counts = count([BEGIN, *sentence, END] for sentence in [*train, *test])
    words = vocabulary(counts, last=[UNKNOWN], more_than=rare)
    for mark in (BEGIN, END):
        words.setdefault(mark, len(words))
    return DataSet(_grams(train, words, n), _grams(test, words, n), {"words": words})


def _grams(sentences: Iterable[list[str]], words: Mapping[str, int], n: int) -> list[Sample]:
    rows = (numbers([BEGIN, *sentence, END], words) for sentence in sentences)
    return [tuple(row[i : i + n]) for row in rows for i in range(len(row) - n + 1)]
