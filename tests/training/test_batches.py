"""Data of every kind reaches the program with the same bits, and data that does not fit is refused before anything changes."""

import numpy as np
import pytest

import paddle_mini as pm
from training_model import BATCH, INPUTS, ROWS, arrays, everything, fit, trainer

DATA = arrays()


def batches():
    for first in range(0, ROWS, BATCH):
        yield {name: array[first : first + BATCH] for name, array in DATA.items()}


class Foreign:
    """A tensor of another library: NumPy reads it by __array__."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Table:
    """A data frame: columns by name."""

    def __init__(self, columns):
        self.columns, self._columns = list(columns), columns

    def to_numpy(self):
        raise AssertionError("columns have different dtypes")

    def __getitem__(self, name):
        return type("Series", (), {"to_numpy": lambda _: self._columns[name]})()


class ForeignLoader:
    """A loader of another library: len, and batches as lists of tensors, the labels without a second dimension."""

    def __len__(self):
        return ROWS // BATCH

    def __iter__(self):
        return ([Foreign(batch["x"]), Foreign(batch["label"][:, 0])] for batch in batches())


class Samples:
    """A data set of another library: samples by index, without an iterator."""

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        return {name: Foreign(array[index]) for name, array in DATA.items()}


@pytest.fixture(scope="module")
def expected():
    return fit(trainer(), DATA)


KINDS = {
    "samples by index": Samples,
    "tuple": lambda: (DATA["x"], DATA["label"]),
    "other dtypes": lambda: {"x": DATA["x"].astype("float64"), "label": DATA["label"].astype("int8")},
    "lists": lambda: {name: array.tolist() for name, array in DATA.items()},
    "no second dimension": lambda: {"x": DATA["x"][:, None, :], "label": DATA["label"][:, 0]},
    "tensors": lambda: {name: Foreign(array) for name, array in DATA.items()},
    "loader": lambda: pm.data.Loader(DATA).batch(BATCH),
    "loader without batches": lambda: pm.data.Loader([(x, int(label[0])) for x, label in zip(*DATA.values())]),
    "loader with workers": lambda: pm.data.Loader(DATA).batch(BATCH).prefetch(2, workers=2),
    "list of batches": lambda: list(batches()),
    "function": lambda: batches,
    "function of the epoch": lambda: lambda epoch: batches() if epoch in (0, 1) else 1 / 0,
    "another loader": ForeignLoader,
    "tables": lambda: [Table({"label": batch["label"][:, 0], "x": batch["x"]}) for batch in batches()],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_gives_the_same_bits(kind, expected):
    assert fit(trainer(), KINDS[kind]()) == expected


def columns_network():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        age, price = pm.layers.data("age", [-1, 1]), pm.layers.data("price", [-1, 1])
        loss = pm.layers.mean(pm.layers.square_error_cost(pm.layers.fc(age, 1), price))
    pm.seed(3)
    return pm.Trainer(loss, pm.optimizer.SGD(0.1), startup=startup, exe=pm.Executor(), scope=pm.Scope())


def test_a_data_frame():
    pandas = pytest.importorskip("pandas")
    columns = {"price": np.linspace(0, 1, 20), "age": np.arange(20) / 20}
    assert fit(columns_network(), pandas.DataFrame(columns)) == fit(columns_network(), columns)


def without(name):
    return {key: value for key, value in DATA.items() if key != name}


WRONG = {
    "missing": (
        {"x": DATA["x"], "labels": DATA["label"]},
        "data: the data has no 'label'; the program reads x, label, the data has x, labels; is that 'labels'?",
    ),
    "unknown": ({**DATA, "weight": DATA["x"]}, "data: the data has 'weight', which the program does not read: x, label"),
    "missing in a batch": ([without("x")], "data: batch 0 has no 'x'; the program reads x, label, batch 0 has label"),
    "number of values": ([(DATA["x"],)], "data: batch 0 is 1 value; the program reads x, label, in this order"),
    "kind of batch": ([7], "data: batch 0 is of type int; the program reads x, label, in this order"),
    "shape": ({**DATA, "x": DATA["x"][:, :4]}, "data: 'x' is [40, 4], the program wants [-1, 6]"),
    "transposed": ([{**DATA, "x": DATA["x"].T}], "data: batch 0: 'x' is [6, 40], the program wants [-1, 6]"),
    "dtype": (
        [{**DATA, "label": DATA["x"][:, :1]}],
        "data: batch 0: 'label' is an array of float32, the program wants int64; convert it first",
    ),
    "strings": (
        {**DATA, "x": np.full((ROWS, INPUTS), "a")},
        "data: 'x' is an array of <U1, the program wants float32; convert it first",
    ),
    "rows of different lengths": (
        {**DATA, "x": [*DATA["x"].tolist()[:7], [1.0], *DATA["x"].tolist()[8:]]},
        "data: 'x': row 7 has shape [1], those before it [6]; pad sequences of different lengths, or feed a LoDTensor",
    ),
    "no row": (
        [{**DATA, "label": [*DATA["label"].tolist()[:-1], None]}],
        "data: batch 0: 'label': row 39 has shape [], those before it [1]; pad sequences of different lengths, or feed a "
        "LoDTensor",
    ),
    "rows in a row": (
        {**DATA, "x": [[[1.0, 2.0], [3.0]], *DATA["x"].tolist()[1:]]},
        "data: 'x': row 0: row 1 has shape [1], those before it [2]; pad sequences of different lengths, or feed a LoDTensor",
    ),
    "samples": (
        list(zip(DATA["x"], DATA["label"][:, 0])),
        "data: batch 0: 'x' is [6], the program wants [-1, 6], the rows of a batch: for single samples give "
        "pm.data.Loader(samples)",
    ),
    "rows": ({**DATA, "x": DATA["x"][1:]}, "data: the arrays have different numbers of rows: {'x': 39, 'label': 40}"),
    "no rows": ({name: array[:0] for name, array in DATA.items()}, "data has no batches"),
    "no batches": ([], "data has no batches"),
    "no batches of a loader": (pm.data.Loader(DATA).batch(64, drop_last=True), "data has no batches"),
    "function without a result": (
        lambda: None,
        "data: the function returned None, it must return an iterable: a list or a generator",
    ),
    "not data": (7, "data is 7: give arrays, a Loader, an iterable of batches or a function that returns one"),
}


@pytest.mark.parametrize("case", WRONG)
def test_data_that_does_not_fit_is_refused_before_anything_changes(case, tmp_path):
    data, message = WRONG[case]
    for of in (trainer(), trainer()):
        ops = len(of.main.global_block().ops)
        with pytest.raises((pm.ProgramError, pm.ShapeError)) as refused:
            of.fit(data, 2, progress=False, checkpoints=tmp_path / "run")
        assert str(refused.value) == message
        assert len(of.main.global_block().ops) == ops and not of.scope.names() and not (tmp_path / "run").exists()
    of = trainer()
    with pytest.raises((pm.ProgramError, pm.ShapeError)) as refused:
        of.fit(DATA, 2, validation=data, progress=False)
    assert str(refused.value) == message.replace("data", "validation", 1)
    assert not of.scope.names()


@pytest.mark.parametrize(
    "dtype, values", [("int64", np.uint64([2**64 - 1])), ("int32", np.int64([2**32 + 5])), ("uint8", [-1]), ("float32", [1e300])]
)
def test_numbers_beyond_the_dtype_are_refused(dtype, values):
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        x = pm.layers.data("x", [-1, 1], dtype)
        loss = pm.layers.mean(pm.layers.fc(pm.layers.cast(x, "float32"), 1))
    of = pm.Trainer(loss, pm.optimizer.SGD(0.1), startup=startup, scope=pm.Scope())
    for data in ({"x": values}, [{"x": values}]):
        with pytest.raises(pm.ShapeError, match=f"'x' is an array of .*, which is beyond {dtype}"):
            of.fit(data, progress=False)
    assert not of.scope.names()


def test_means_are_weighted_by_the_variable_with_a_batch_dimension():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        scale, x = pm.layers.data("scale", [1]), pm.layers.data("x", [-1, 2])
        loss = pm.layers.mean(pm.layers.elementwise_mul(pm.layers.fc(x, 1), scale))
    of = pm.Trainer(loss, pm.optimizer.SGD(0.1), startup=startup, scope=pm.Scope())
    x = np.random.default_rng(0).normal(size=(5, 2)).astype("float32")
    scale = np.ones(1, "float32")
    whole, parts = [{"scale": scale, "x": x}], [{"scale": scale, "x": x[:4]}, {"scale": scale, "x": x[4:]}]
    of.give_values()
    assert of.evaluate(whole)["loss"] == pytest.approx(of.evaluate(parts)["loss"], rel=1e-6)


def test_batches_that_are_kept_are_copies():
    def reusing():
        buffer = {name: np.empty_like(array[:BATCH]) for name, array in DATA.items()}
        for batch in batches():
            for name, array in batch.items():
                buffer[name][...] = array
            yield buffer

    of, expected = trainer(), trainer()
    assert fit(of, reusing, overfit_batches=3) == fit(expected, list(batches()), overfit_batches=3)
    of, expected = (trainer(averaging=pm.averaging.Uniform()) for _ in range(2))  # averages read the validation data again
    fit(of, DATA, epochs=1, validation=reusing())
    fit(expected, DATA, epochs=1, validation=list(batches()))
    assert everything(of) == everything(expected) and of.history.rows == expected.history.rows


def test_a_later_batch_that_does_not_fit_is_named():
    data = [*batches()]
    data[3] = {**data[3], "x": data[3]["x"][:, :5]}
    with pytest.raises(pm.ShapeError, match=r"^data: batch 3: 'x' is \[8, 5\], the program wants \[-1, 6\]$"):
        fit(trainer(), data)


def test_an_iterator_that_would_end_is_refused_before_anything_changes():
    of = trainer()
    with pytest.raises(pm.ProgramError, match="data is an iterator, which ends after the first of 2 epochs: give the function"):
        fit(of, batches())
    with pytest.raises(pm.ProgramError, match="validation is an iterator, which ends after the first of 2 epochs"):
        fit(of, DATA, validation=batches())
    rows = (dict(zip(DATA, row)) for row in zip(*DATA.values()))
    with pytest.raises(pm.ProgramError, match="data is an iterator, which ends"):
        fit(of, pm.data.Loader(rows))
    assert not of.scope.names()
    expected = fit(trainer(), DATA, epochs=1)
    rows = (dict(zip(DATA, row)) for row in zip(*DATA.values()))
    assert fit(trainer(), batches(), epochs=1) == fit(trainer(), pm.data.Loader(rows), epochs=1) == expected


def test_averages_are_evaluated_on_an_iterator_too():
    of, expected = trainer(averaging=pm.averaging.Uniform()), trainer(averaging=pm.averaging.Uniform())
    fit(of, DATA, epochs=1, validation=batches())
    fit(expected, DATA, epochs=1, validation=list(batches()))
    assert of.history.rows == expected.history.rows and "averaged_val_loss" in of.history.last


def test_an_iterator_that_ends_too_early_says_where():
    with pytest.raises(pm.ProgramError, match="data is an iterator and ended after 2 of 3 batches of epoch 2"):
        fit(trainer(), batches(), epochs=2, steps_per_epoch=3)


def test_validation_without_the_loss():
    of = trainer()
    test = of.main.clone(for_test=True)
    predicted = next(op.output("Out")[0] for op in reversed(test.global_block().ops) if op.type == "softmax")
    without = pm.Trainer(of.measures["loss"], pm.optimizer.SGD(0.1), startup=of.startup, test=test.prune(["x"], [predicted]))
    with pytest.raises(pm.ProgramError, match="validation: the test program does not have 'loss', 'mean_0.tmp_0'"):
        fit(without, DATA, validation=DATA)


def test_values_of_bfloat16_are_numbers():
    """Losses, metrics and rates; runs give bfloat16 as its bits."""
    x = pm.layers.data("x", [-1, 1], "bfloat16")
    loss = pm.layers.mean(pm.layers.fc(x, 1, param_attr=pm.initializer.Constant(2.0), bias_attr=False))
    data = {"x": np.full((4, 1), 0x3F80, "uint16")}  # ones
    history = pm.fit(
        loss,
        data,
        pm.optimizer.SGD(0.5),
        validation=data,
        metrics={"twice": loss * 2.0},
        callbacks=[pm.training.LearningRateLogger()],
        progress=False,
    )
    assert history.last == {
        "epoch": 1, "step": 1, "loss": 2.0, "twice": 4.0, "val_loss": 1.5, "val_twice": 3.0, "learning_rate": 0.5,
    }  # fmt: skip
