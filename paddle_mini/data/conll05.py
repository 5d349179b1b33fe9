# CoNLL-2005: who did what to whom (book chapter 7).
"""Samples, one for each verb of a sentence, every one of them a list with an element for each word: (words, the words
two before the verb, one before it, the verb's own, one and two after it, verb, mark, labels). The six after `words`
are the same at every word; mark is 1 at the verb and the two words on each side of it. Vocabularies: words, verbs,
labels. Labels are B- at the first word of a phrase, I- inside it and O outside; they are numbered for chunk_eval with
the scheme IOB: B- and I- of one kind, then of the next, and O last.

Carreras and Màrquez, "Introduction to the CoNLL-2005 Shared Task: Semantic Role Labeling", 2005.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._core import ProgramError
from .archive import Path, lines, named_members
from .dataset import UNKNOWN, DataSet, Sample, count, numbers, vocabulary

BEFORE, AFTER = "bos", "eos"  # words before the first and after the last
_LABEL = re.compile(r"^(?:\(([^*()]+))?\*(\))?$")


class _Clause(NamedTuple):
    words: list[str]
    verb: str
    labels: list[str]


def load(path: Path, test_ratio: float = 0.1, min_word_freq: int = 0) -> DataSet:
    """From conll05st-tests.tar.gz, whose test.wsj.words and test.wsj.props are read, or a folder with these,
    plain or .gz. The last test_ratio of the clauses are to test.
    ProgramError when a file is missing or the two don't belong together."""
    words, props = (lines(text) for text in named_members(path, "test.wsj.words", "test.wsj.props"))
    return _data_set(list(_clauses(words, props)), test_ratio, min_word_freq)


def synthetic(seed: int = 0, clauses: int = 600) -> DataSet:
    """Synthetic substitute for the Wall Street Journal: an agent does something, to something, somewhere, sometimes in
    the passive, which turns who and whom; the parts have one to three words."""
    random = np.random.default_rng(seed)

    def part(label: str, kind: str) -> list[list[str]]:
        length = random.integers(1, 4)
        own = ["the", *(["old"] if length == 3 else [])] if length > 1 else []
        own.append(f"{kind}{random.integers(12)}")
        return [[word, ("I-" if i else "B-") + label] for i, word in enumerate(own)]

    made = []
    for _ in range(clauses):
        verb, passive = f"verb{random.integers(10)}", random.random() < 0.4
        first, second = ("A1", "A0") if passive else ("A0", "A1")
        tokens = [
            *part(first, "noun"),
            *([["was", "O"]] if passive else []),
            [verb, "B-V"],
            *([["by", "O"]] if passive else []),
            *part(second, "noun"),
        ]
        if random.random() < 0.5:
            tokens += [["in", "B-AM-LOC"], *([word, "I-AM-LOC"] for word, _ in part("AM-LOC", "place"))]
        tokens.append([".", "O"])
        made.append(_Clause([word for word, _ in tokens], verb, [label for _, label in tokens]))
    return _data_set(made, 0.1, 0)


def _data_set(clauses: list[_Clause], test_ratio: float, rare: int) -> DataSet:
    kinds = sorted({label[2:] for clause in clauses for label in clause.labels if label != "O"})
    known = {
        "words": vocabulary(count(clause.words for clause in clauses), [UNKNOWN, BEFORE, AFTER], more_than=rare),
        "verbs": vocabulary(count([clause.verb] for clause in clauses)),
        "labels": vocabulary({}, [f"{mark}-{kind}" for kind in kinds for mark in "BI"] + ["O"]),
    }
    samples: list[Sample] = []
    for clause in clauses:
        length, place = len(clause.words), clause.labels.index("B-V")
        around = [BEFORE, BEFORE, *clause.words, AFTER, AFTER][place : place + 5]
        samples.append(
            (
                numbers(clause.words, known["words"]),
                *([word] * length for word in numbers(around, known["words"])),
                [known["verbs"][clause.verb]] * length,
                [int(abs(i - place) <= 2) for i in range(length)],
                [known["labels"][label] for label in clause.labels],
            )
        )
    kept = len(samples) - round(len(samples) * test_ratio)
    return DataSet(samples[:kept], samples[kept:], known)


def _clauses(words: list[str], props: list[str]) -> Iterator[_Clause]:
    """A clause for each sentence and each of its verbs. Sentences end with an empty line; the first column of props names
    a verb at its word, and every further column has the brackets that belong to one verb."""
    if len(words) != len(props):
        raise ProgramError(f"there are {len(words)} lines of words and {len(props)} of props")
    sentence: list[str] = []
    rows: list[list[str]] = []
    for number, (word, prop) in enumerate(zip([*words, ""], [*props, ""]), 1):
        if bool(word.strip()) != bool(prop.strip()):
            raise ProgramError(f"line {number} of words and of props: one ends a sentence, the other does not")
        if word.strip():
            sentence.append(word.strip())
            rows.append(prop.split())
        elif rows:
            yield from _clauses_of(sentence, rows, number)
            sentence, rows = [], []


def _clauses_of(sentence: list[str], rows: list[list[str]], number: int) -> Iterator[_Clause]:
    verbs = [row[0] for row in rows if row[0] != "-"]
    if {len(row) for row in rows} != {1 + len(verbs)}:
        raise ProgramError(f"the sentence that ends at line {number} of props has {len(verbs)} verbs and other columns")
    for verb, column in zip(verbs, list(zip(*rows))[1:]):
        labels, inside = [], ""
        for text in column:
            match = _LABEL.match(text)
            if match is None or (match[1] and inside):
                raise ProgramError(f"the sentence that ends at line {number} of props has the label '{text}'")
            inside = match[1] or inside
            labels.append(("B-" if match[1] else "I-") + inside if inside else "O")
            inside = "" if match[2] else inside
        if labels.count("B-V") < 1:
            raise ProgramError(f"the sentence that ends at line {number} of props has no (V*) for '{verb}'")
        yield _Clause(sentence, verb, labels)
