# DataSet: what every data set gives, and the vocabularies in it.
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Sample = tuple[Any, ...]
Vocabulary = dict[str, int]

UNKNOWN = "<unk>"


class DataSet(NamedTuple):
    """Samples to train and to test with, tuples in the order that the module of the data set documents; and, by
    name, the numbers that stand for words: 0, 1, 2, ...

    vocabularies: a dict from words to numbers for each name.
    Example:
        >>> digits = pm.data.mnist.synthetic(train=100, test=10)
        >>> image, label = digits.train[0]
        >>> image.shape, len(digits.test)
        ((1, 28, 28), 10)
    """

    train: Sequence[Sample]
    test: Sequence[Sample]
    vocabularies: Mapping[str, Vocabulary] = {}


def vocabulary(
    counts: Mapping[str, int], first: Sequence[str] = (), last: Sequence[str] = (), more_than: int = 0, at_most: int | None = None
) -> Vocabulary:
    """Numbers for the words that occur more than `more_than` times: the most frequent first, of equally
    frequent ones the first in the alphabet. `first` precede and `last` follow them, regardless of frequency.
    at_most: the maximum number of all words."""
    fixed = {*first, *last}
    words = sorted(
        (word for word, count in counts.items() if count > more_than and word not in fixed),
        key=lambda word: (-counts[word], word),
    )
    if at_most is not None:
        words = words[: max(at_most - len(first) - len(last), 0)]
    return {word: number for number, word in enumerate([*first, *words, *last])}


def count(sentences: Iterable[Iterable[str]]) -> Counter[str]:
    """How often each word occurs."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence)
    return counts


def numbers(words: Iterable[str], known: Mapping[str, int]) -> list[int]:
    """The numbers of words; that of <unk> for one that is not known."""
    unknown = known[UNKNOWN]
    return [known.get(word, unknown) for word in words]
