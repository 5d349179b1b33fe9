"""Loader: order, maps, batches, and states in the middle of an epoch."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from loader_functions import SENTENCES, doubled, first_row, noisy
from paddle_mini.data import Loader

ROWS = 20
DATA = {"x": np.arange(ROWS, dtype="float32")[:, None], "y": np.arange(ROWS)}


def epoch(loader):
    return [{name: value.tolist() for name, value in batch.items()} for batch in loader]


def ys(loader):
    return [batch["y"].tolist() for batch in loader]


def samples():
    for x, y in zip(*DATA.values()):
        yield {"x": x, "y": y}


SOURCES = {
    "arrays": lambda: DATA,
    "sequence": lambda: list(samples()),
    "iterable": lambda: {number: sample for number, sample in enumerate(samples())}.values(),
    "function": lambda: samples,
}


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_gives_the_same_batches(source):
    loader = Loader(SOURCES[source]()).map(doubled).batch(6)
    for _ in range(2):
        batches = list(loader)
        assert [batch["y"].tolist() for batch in batches] == [[*range(a, min(a + 6, ROWS))] for a in (0, 6, 12, 18)]
        assert all(batch["x"].dtype == np.float32 and (batch["x"][:, 0] == 2 * batch["y"]).all() for batch in batches)


def test_samples_are_dicts_tuples_or_values():
    assert list(Loader([3, 1, 2])) == [3, 1, 2]
    assert [sample["y"] for sample in Loader(DATA)] == [*range(ROWS)]
    ((a, b), *_) = Loader((DATA["x"], DATA["y"])).batch(3)
    assert a.shape == (3, 1) and b.tolist() == [0, 1, 2]
    ((a, b), *_) = Loader(list(zip(*DATA.values()))).batch(3)
    assert a.shape == (3, 1) and b.tolist() == [0, 1, 2]


def test_an_epoch_has_each_sample_once_in_an_order_of_its_own():
    loader = Loader(DATA).shuffle(seed=4).batch(6)
    first, second = ys(loader), ys(loader)
    assert first != second and sorted(sum(first, [])) == sorted(sum(second, [])) == [*range(ROWS)]
    again = Loader(DATA).shuffle(seed=4).batch(6)
    assert [ys(again), ys(again)] == [first, second]
    assert ys(Loader(DATA).shuffle(seed=5).batch(6)) != first


def test_shuffling_within_a_buffer():
    order = sum(ys(Loader(samples).shuffle(seed=1, buffer_size=5).batch(4)), [])
    assert sorted(order) == [*range(ROWS)] != order
    assert [sorted(order[i : i + 5]) for i in range(0, ROWS, 5)] == [[*range(i, i + 5)] for i in range(0, ROWS, 5)]


def test_len_is_the_number_of_items():
    for loader in (Loader(DATA), Loader(DATA).batch(6), Loader(DATA).batch(6, drop_last=True), Loader(DATA).batch(5)):
        assert len(loader) == len(list(loader))
    with pytest.raises(TypeError, match="has no length"):
        len(Loader(samples))


def test_random_maps_depend_on_seed_epoch_and_sample_only():
    loader = Loader(DATA).map(noisy, random=True).map(noisy, random=True).shuffle(seed=2).batch(6)
    ordered = Loader(DATA).map(noisy, random=True).map(noisy, random=True)

    def by_sample(batches):
        return {y: x[0] for batch in batches for x, y in zip(batch["x"], batch["y"])}

    first, second = by_sample(epoch(loader)), by_sample(epoch(loader))
    assert all(first[y] != second[y] for y in first)
    ordered._work = ordered._work._replace(seed=2)
    assert by_sample(epoch(ordered.batch(3))) == first
    noises = np.array([first[y] - y for y in first])
    assert len(set(noises.tolist())) == ROWS and 0.8 < noises.std() < 2.5


def forgets_to_return(sample):
    dict(sample)


@pytest.mark.parametrize("kind", ["sample", "batch"])
def test_a_map_that_returns_nothing_is_named(kind):
    loader = Loader(DATA).map(forgets_to_return).batch(6) if kind == "sample" else Loader(DATA).batch(6).map(forgets_to_return)
    with pytest.raises(pm.ProgramError, match=f"'forgets_to_return' of {kind} 0 returned None, it must return the {kind}$"):
        list(loader)


def test_a_table_gives_rows():
    pandas = pytest.importorskip("pandas")
    loader = Loader(pandas.DataFrame({"x": [1.0, 2.0, 3.0], "y": [4, 5, 6]})).batch(2)
    assert epoch(loader) == [{"x": [1, 2], "y": [4, 5]}, {"x": [3], "y": [6]}]


def test_states_of_other_data_are_refused():
    loader = Loader(DATA).batch(6)
    loader.load_state_dict({"epoch": np.int64(1), "position": np.int64(4)})
    assert list(loader) == [] and loader.state_dict() == {"epoch": 2, "position": 0}
    with pytest.raises(pm.ProgramError, match="position 5 is beyond the 4 items of an epoch"):
        loader.load_state_dict({"epoch": 1, "position": 5})
    assert loader.state_dict() == {"epoch": 2, "position": 0}


def shift(sample):
    sample["x"] += 1
    return sample


def test_maps_of_batches():
    assert ys(Loader(DATA).batch(6).map(first_row)) == [[0], [6], [12], [18]]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("given", range(5))
def test_a_state_continues_in_the_middle_of_an_epoch(source, given):
    def make():
        return Loader(SOURCES[source]()).map(noisy, random=True).shuffle(seed=3, buffer_size=10).batch(6)

    whole = make()
    expected = [epoch(whole), epoch(whole), epoch(whole)]
    loader = make()
    epoch(loader)
    list(itertools.islice(loader, given))
    state = loader.state_dict()
    assert state == {"epoch": 1, "position": given}
    resumed = make()
    resumed.load_state_dict(state)
    assert resumed.state_dict() == state
    assert epoch(resumed) == expected[1][given:] and resumed.state_dict() == {"epoch": 2, "position": 0}
    assert epoch(resumed) == expected[2]


def test_an_iterator_that_is_not_the_last_one_changes_no_state():
    loader = Loader(DATA).batch(5)
    first = iter(loader)
    second = iter(loader)
    next(second)
    list(itertools.islice(first, 3))
    assert loader.state_dict() == {"epoch": 1, "position": 1}
    list(first)
    assert loader.state_dict() == {"epoch": 1, "position": 1}
    loader.load_state_dict({"epoch": 7, "position": 2})
    list(second)
    assert loader.state_dict() == {"epoch": 7, "position": 2} and len(list(loader)) == 2


def test_a_map_can_not_change_the_arrays_of_the_data():
    data = {"x": np.zeros((4, 2)), "y": np.arange(4)}
    with pytest.raises(pm.ProgramError, match="'shift' of sample 0 failed: ValueError: .*read-only"):
        list(Loader(data).map(shift).batch(2))
    assert not data["x"].any() and data["x"].flags.writeable


def test_what_was_given_is_not_computed_again():
    read = []
    loader = Loader(DATA).map(lambda sample: read.append(int(sample["y"])) or sample).batch(5)
    loader.load_state_dict({"epoch": 0, "position": 2})
    list(loader)
    assert read == [*range(10, 20)]


def test_an_iterator_is_read_once():
    loader = Loader(samples()).batch(6)
    assert ys(loader)[0] == [*range(6)]
    for again in (loader, loader.map(first_row)):
        with pytest.raises(
            pm.ProgramError, match="the data is an iterator, which can be read once: give a function that makes it"
        ):
            list(again)


def test_errors_name_the_sample_and_have_their_cause():
    def fails(sample):
        return 1 // (int(sample["y"]) - 13)

    class Broken(list):
        def __getitem__(self, index):
            return [][index] if index == 4 else index

    def ends_badly():
        yield from range(3)
        raise OSError("the disk is gone")

    for loader, message, cause in (
        (
            Loader(DATA).map(fails).batch(6),
            "'fails' of sample 13 failed: ZeroDivisionError: integer division or modulo by zero",
            ZeroDivisionError,
        ),
        (Loader(DATA).shuffle(seed=1).map(fails), "'fails' of sample 13 failed", ZeroDivisionError),
        (Loader(DATA).batch(6).map(lambda batch: batch["z"]), "'<lambda>' of batch 0 failed: KeyError: 'z'", KeyError),
        (Loader(Broken(range(9))).batch(2), "reading sample 4 failed: IndexError", IndexError),
        (Loader(ends_badly), "reading sample 3 failed: OSError: the disk is gone", OSError),
        (Loader(SENTENCES).batch(5, pad={0: 0}, length=lambda words: words[0]), "'<lambda>' of sample 3 failed: Ind", IndexError),
    ):
        with pytest.raises(pm.ProgramError, match="^Loader: " + message) as failed:
            list(loader)
        assert isinstance(failed.value.__cause__, cause)


WORDS = [{"w": [1]}, {"w": [1, 2]}]
BYTES = [{"w": np.uint8(one["w"])} for one in WORDS]
NAMED = [{**one, "w_length": 7} for one in WORDS]


def test_what_is_refused():
    for make, message in (
        (lambda: Loader(7), "Loader: data is 7: give arrays"),
        (lambda: Loader("text"), "Loader: data is 'text'"),
        (lambda: Loader({"x": np.ones(3), "y": np.ones(4)}), r"equally many rows; there are 'x' \[3\], 'y' \[4\]"),
        (lambda: Loader(()), "equally many rows; there are none"),
        (lambda: Loader((np.float32(1),)), r"there are '0' \[\]"),
        (lambda: Loader(samples).shuffle(), "the data has no length: give buffer_size"),
        (lambda: Loader(DATA).shuffle(seed=-1), "seed is -1, it must be an integer, at least 0"),
        (lambda: Loader(DATA).batch(0), "size is 0, it must be an integer, at least 1"),
        (lambda: Loader(DATA).batch(2).batch(2), "the loader has batches"),
        (lambda: Loader(DATA).prefetch(0), "ahead is 0"),
        (lambda: Loader(DATA).prefetch(1, workers=-1), "workers is -1"),
        (lambda: Loader(DATA).map(3), "Loader.map: 3 is not a function"),
        (lambda: Loader(DATA).load_state_dict({"epoch": 1}), "is not the result of state_dict"),
        (lambda: Loader(DATA).load_state_dict(None), "None is not the result of state_dict"),
        (
            lambda: list(Loader([[1, 2], [3]]).batch(2)),
            r"a sample of the batch has 1 values, the first one has 2 values; a sequence is one value of a sample, such as",
        ),
        (
            lambda: list(Loader([{"w": words} for words in SENTENCES]).batch(2)),
            r"'w' of a batch has shapes \[1\], \[3\]: give batch",
        ),
        (
            lambda: list(Loader([{"w": [1]}, {"v": [1]}]).batch(2)),
            "a sample of the batch has the keys v, the first one has the keys w",
        ),
        (lambda: list(Loader([{"a": 1}, {"a": 3, "b": 4}]).batch(2)), "has the keys a, b, the first one has the keys a"),
        (lambda: list(Loader([(1,), (3, 4)]).batch(2)), "a sample of the batch has 2 values, the first one has 1 values"),
        (lambda: list(Loader([(1,), 3]).batch(2)), "a sample of the batch is 3, the first one has 1 values"),
        (lambda: Loader(WORDS).batch(2, pad=["w"]), r"pad is \['w'\], it must be a dict of the number for each key"),
        (lambda: Loader(WORDS).batch(2, pad={"w": "x"}), "pad has 'x' for 'w', it must be a number"),
        (lambda: Loader(DATA).batch(2, length=3), "length is 3, it must be a function of a sample, such as len"),
        (lambda: Loader(DATA).batch(2, feeder="x"), "feeder is 'x', it must be a DataFeeder"),
        (lambda: list(Loader([{"w": ["a"]}]).batch(2, pad={"w": 0})), "'w' can't be padded with a number, it is of <U1"),
        (lambda: list(Loader(WORDS).batch(2, pad={"w": 0.5})), "pad fills 'w', int64, with 0.5, the program wants int64"),
        (lambda: list(Loader(WORDS).batch(2, pad={"w": float("nan")})), "pad fills 'w', int64, with nan"),
        (lambda: list(Loader(BYTES).batch(2, pad={"w": -1})), "pad fills 'w', uint8, with -1, which is beyond uint8"),
        (lambda: list(Loader([{"w": 1}, {"w": 2}]).batch(2, pad={"w": 0})), "'w' can't be padded, it must be sequences of equal"),
        (lambda: list(Loader(NAMED).batch(2, pad={"w": 0})), "a sample has 'w_length', the name for the lengths that pad adds"),
        (lambda: list(Loader(WORDS).batch(2, length=lambda sample: None)), "the length of sample 0 is None, it must be a number"),
        (lambda: list(Loader(lambda: None).batch(2)), "the function returned None, it must return an iterable: a list or a gen"),
        (lambda: list(Loader([{"w": [1]}]).batch(2, pad={"v": 0})), "pad names 'v', a sample has w"),
        (lambda: list(Loader([1, 2]).batch(2, pad={"v": 0})), "pad needs samples that are dicts or tuples, not int"),
        (lambda: list(Loader([(np.ones((2, 2)),), (np.ones((2, 3)),)]).batch(2, pad={0: 0})), "0 can't be padded"),
    ):
        with pytest.raises((pm.ProgramError, pm.ShapeError), match=message):
            make()
