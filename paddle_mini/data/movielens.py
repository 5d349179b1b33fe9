# MovieLens 1M: which films people like (book chapter 5).
"""Samples: (user, gender, age, job, film, kinds of the film, words of its title, score float32 [1] in [-3, 5]).
All but the score are numbers of the vocabularies of these names: users, genders, ages, jobs, films, kinds, words;
kinds and words are lists. The score is 2 stars - 5.

Harper and Konstan, "The MovieLens Datasets", 2015.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .._core import ProgramError, printable
from .archive import Path, lines, named_members
from .dataset import DataSet, Sample, Vocabulary

_YEAR = re.compile(r"\s*\(\d{4}\)\s*$")


class _Film(NamedTuple):
    kinds: list[str]
    words: list[str]


Person = tuple[str, str, str]  # gender, age, job
Rating = tuple[str, str, float]  # person, film, stars


def load(path: Path, test_ratio: float = 0.1, seed: int = 0) -> DataSet:
    """From ml-1m.zip or a folder with users.dat, movies.dat and ratings.dat. Ratings are to test with a
    probability of test_ratio. ProgramError when a file is missing or a line is something else."""
    users, movies, ratings = (
        _fields(name, text, wanted) for (name, wanted), text in zip(_COLUMNS.items(), named_members(path, *_COLUMNS))
    )
    people = {user: (gender, age, job) for user, gender, age, job, _ in users}
    films = {film: _Film(kinds.split("|"), _YEAR.sub("", title).lower().split()) for film, title, kinds in movies}
    rated: list[Rating] = []
    for user, film, stars, _ in ratings:
        if user not in people or film not in films or stars not in ("1", "2", "3", "4", "5"):
            raise ProgramError(f"'{path}': a rating of {stars} stars by user {user} of film {film} fits nothing there")
        rated.append((user, film, float(stars)))
    return _data_set(people, films, rated, test_ratio, seed)


_COLUMNS = {"users.dat": 5, "movies.dat": 3, "ratings.dat": 4}


def synthetic(seed: int = 0, users: int = 200, films: int = 120, ratings: int = 6000) -> DataSet:
    """Stands for MovieLens: every gender, age and job likes some kinds of films more, every kind has words that
    its titles hold, some films are better than others; stars are rounded sums of these and noise."""
    random = np.random.default_rng(seed)
    ages, kinds = ["1", "18", "25", "35", "45", "50", "56"], [f"kind{i}" for i in range(8)]
    facts = np.column_stack([random.integers(n, size=users) for n in (2, len(ages), 10)])
    people = {str(i): ("MF"[gender], ages[age], str(job)) for i, (gender, age, job) in enumerate(facts, 1)}
    tastes = [random.normal(scale=0.7, size=(n, len(kinds))) for n in (2, len(ages), 10)]
    liking = sum(taste[column] for taste, column in zip(tastes, facts.T))
    made: dict[str, _Film] = {}
    member = np.zeros((films, len(kinds)))
    for i in range(films):
        own = random.permutation(len(kinds))[: random.integers(1, 4)]
        member[i, own] = 1 / len(own)
        titles = [f"word{kind * 5 + random.integers(5)}" for kind in own]
        made[str(i + 1)] = _Film([kinds[kind] for kind in own], ["the", *titles])
    quality = random.normal(scale=0.5, size=films)
    who, what = random.integers(users, size=ratings), random.integers(films, size=ratings)
    stars = 3.3 + quality[what] + np.sum(liking[who] * member[what], 1) + random.normal(scale=0.3, size=ratings)
    rated = [(str(a + 1), str(b + 1), float(c)) for a, b, c in zip(who, what, np.clip(np.rint(stars), 1, 5))]
    return _data_set(people, made, rated, 0.1, seed)


def _data_set(
    people: dict[str, Person], films: dict[str, _Film], ratings: Sequence[Rating], test_ratio: float, seed: int
) -> DataSet:
    columns: Mapping[str, Collection[str]] = {
        "users": people,
        "genders": [person[0] for person in people.values()],
        "ages": [person[1] for person in people.values()],
        "jobs": [person[2] for person in people.values()],
        "films": films,
        "kinds": [kind for film in films.values() for kind in film.kinds],
        "words": [word for film in films.values() for word in film.words],
    }
    known = {name: _numbered(values) for name, values in columns.items()}
    parts: tuple[list[Sample], list[Sample]] = [], []
    chance = np.random.default_rng(seed).random(len(ratings))
    for (user, film, stars), drawn in zip(ratings, chance):
        about = [known[name][value] for name, value in zip(("genders", "ages", "jobs"), people[user])]
        parts[int(drawn < test_ratio)].append(
            (
                known["users"][user],
                *about,
                known["films"][film],
                [known["kinds"][kind] for kind in films[film].kinds],
                [known["words"][word] for word in films[film].words],
                np.array([2 * stars - 5], np.float32),
            )
        )
    return DataSet(*parts, known)


def _numbered(values: Collection[str]) -> Vocabulary:
    return {value: number for number, value in enumerate(sorted(set(values), key=lambda value: (len(value), value)))}


def _fields(name: str, text: bytes, wanted: int) -> list[list[str]]:
    rows = [line.split("::") for line in lines(text, "latin-1") if line]
    for i, row in enumerate(rows, 1):
        if len(row) != wanted:
            raise ProgramError(f"line {i} of '{printable(name)}' has {len(row)} fields, it must have {wanted}")
    return rows
