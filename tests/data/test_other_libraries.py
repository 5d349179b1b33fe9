"""Tensors of PyTorch, JAX, Arrow and pandas as feeds, as values of a scope, and as data of fit; skipped where they are
not installed."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini._core import as_array
from programs import run

L = pm.layers


def doubled(value, dtype="float32"):
    with pm.program_guard(pm.Program(), pm.Program()):
        return run(L.scale(L.data("x", [-1, 2], dtype=dtype), scale=2.0), x=value)[0]


def regression():
    x, y = L.data("x", [-1, 4]), L.data("y", [-1, 1])
    return L.mean(L.square_error_cost(L.fc(x, 1), y))


def rows(count=64):
    random = np.random.default_rng(0)
    inputs = random.normal(size=(count, 4)).astype("float32")
    return inputs, inputs.sum(1, keepdims=True)


def test_torch_feeds():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.float32).reshape(3, 2)
    assert np.shares_memory(as_array(tensor, "x"), tensor.numpy())
    assert doubled(tensor).tolist() == (2 * tensor).tolist()
    assert doubled(tensor.t().contiguous().t()).tolist() == (2 * tensor).tolist()
    assert doubled(tensor[::2]).tolist() == (2 * tensor[::2]).tolist()
    half = tensor.to(torch.bfloat16)
    bits = doubled(half, "bfloat16")
    assert torch.equal(torch.from_numpy(bits.view("int16")).view(torch.bfloat16), 2 * half)
    for dtype in ("int32", "int64", "uint8", "int8", "float16", "float64"):
        assert doubled(tensor.to(getattr(torch, dtype)), dtype).tolist() == (2 * tensor).tolist()
    with pytest.raises(pm.ShapeError, match="feed 'x' is of type Tensor, .*detach"):
        doubled(tensor.clone().requires_grad_())
    with pytest.raises(pm.ShapeError, match="feed 'x' is an array of float64, the program wants float32"):
        doubled(tensor.double())
    with pytest.raises(pm.ShapeError, match="feed 'x' is of type Tensor"):
        doubled(torch.empty(3, 2, device="meta"))
    if torch.cuda.is_available():
        with pytest.raises(pm.ShapeError, match="feed 'x' is of type Tensor in the memory of a device"):
            doubled(tensor.cuda())


def test_torch_reads_values():
    torch = pytest.importorskip("torch")
    scope = pm.Scope()
    scope.set("w", torch.arange(4.0))
    shared = scope.get("w", copy=False)
    tensor = torch.from_dlpack(shared)
    assert tensor.data_ptr() == shared.__array_interface__["data"][0] and tensor.tolist() == [0, 1, 2, 3]
    scope.set("w", tensor + 1)
    assert tensor.tolist() == [0, 1, 2, 3] and scope.get("w").tolist() == [1, 2, 3, 4]
    scope.set("b", tensor.to(torch.bfloat16))
    assert scope.info("b")["dtype"] == "bfloat16"
    assert torch.from_dlpack(scope.get("b", copy=False)).view(torch.bfloat16).tolist() == [0, 1, 2, 3]
    fetched = pm.LoDTensor(np.ones((2, 3), "float32"), [[0, 2]])
    assert torch.from_dlpack(fetched).shape == (2, 3)


@pytest.mark.parametrize("workers", [0, 2])
def test_torch_loader(workers):
    torch = pytest.importorskip("torch")
    inputs, targets = rows()
    data = torch.utils.data.TensorDataset(torch.from_numpy(inputs), torch.from_numpy(targets))
    loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=False, num_workers=workers)
    pm.seed(1)
    theirs = pm.fit(regression(), loader, pm.optimizer.SGD(0.1), epochs=3, validation=loader, scope=pm.Scope())
    with pm.program_guard(pm.Program(), pm.Program()):
        pm.seed(1)
        batches = [(inputs[i : i + 16], targets[i : i + 16]) for i in range(0, 64, 16)]
        ours = pm.fit(regression(), batches, pm.optimizer.SGD(0.1), epochs=3, validation=batches, scope=pm.Scope())
    assert theirs["loss"] == ours["loss"] and theirs["val_loss"] == ours["val_loss"]


class Samples:
    """A data set as torch wants one: samples are dicts of tensors."""

    def __init__(self, torch):
        inputs, targets = rows()
        self.inputs, self.targets = torch.from_numpy(inputs), torch.from_numpy(targets)

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(index)
        return {"x": self.inputs[index], "y": self.targets[index]}


def test_torch_data_set_in_a_loader_of_ours():
    torch = pytest.importorskip("torch")
    inputs, _ = rows()
    loader = pm.data.Loader(Samples(torch)).batch(16).prefetch(2, workers=2)
    batches = list(loader)
    assert np.array_equal(np.concatenate([batch["x"] for batch in batches]), inputs)
    history = pm.fit(regression(), loader, pm.optimizer.SGD(0.1), epochs=2)
    assert history["loss"][1] < history["loss"][0]


def test_torch_data_set():
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(*map(torch.from_numpy, rows()))
    history = pm.fit(regression(), data, pm.optimizer.SGD(0.1), epochs=3, batch_size=16)
    assert history["loss"][2] < history["loss"][0]


def test_torch_dicts():
    torch = pytest.importorskip("torch")
    loader = torch.utils.data.DataLoader(Samples(torch), batch_size=20, shuffle=True, generator=torch.Generator().manual_seed(0))
    history = pm.fit(regression(), loader, pm.optimizer.SGD(0.1), epochs=3)
    assert history["loss"][2] < history["loss"][0]


def test_torch_tensors_as_rows():
    torch = pytest.importorskip("torch")
    inputs, targets = map(torch.from_numpy, rows())
    for data in ({"x": inputs, "y": targets}, (inputs, targets)):
        with pm.program_guard(pm.Program(), pm.Program()):
            history = pm.fit(regression(), data, pm.optimizer.SGD(0.1), epochs=2, scope=pm.Scope())
            assert history["loss"][1] < history["loss"][0]


def test_jax():
    pytest.importorskip("jax")
    import jax.numpy as jnp

    array = jnp.arange(6, dtype="float32").reshape(3, 2)
    assert np.shares_memory(as_array(array, "x"), np.asarray(array))
    assert doubled(array).tolist() == (2 * array).tolist()
    assert (
        doubled(array.astype("bfloat16"), "bfloat16").tolist() == np.asarray(2 * array.astype("bfloat16")).view("uint16").tolist()
    )
    assert doubled(array @ jnp.ones((2, 2))).tolist() == (2 * (array @ jnp.ones((2, 2)))).tolist()
    scope = pm.Scope()
    scope.set("w", array)
    assert scope.get("w").tolist() == array.tolist()
    assert jnp.asarray(scope.get("w", copy=False)).tolist() == array.tolist()
    scope.set("flags", array > 2)
    assert scope.get("flags").tolist() == (array > 2).tolist()


def test_arrow():
    arrow = pytest.importorskip("pyarrow")
    scope = pm.Scope()
    for values in ([1.5, 2.5], [1, 2], [True, False]):
        scope.set("w", arrow.array(values))
        assert scope.get("w").tolist() == values
    numbers = arrow.array(np.arange(4, dtype="float32"))
    assert np.shares_memory(as_array(numbers, "x"), numbers.to_numpy())
    x = L.data("v", [-1])
    assert run(L.scale(x, scale=2.0), v=numbers.slice(1))[0].tolist() == [2, 4, 6]
    assert run(L.scale(x, scale=2.0), v=arrow.chunked_array([numbers, numbers]))[0].tolist() == [0, 2, 4, 6] * 2
    inputs, _ = rows()
    columns = {f"c{i}": arrow.array(inputs[:, i]) for i in range(4)}
    table = arrow.table(columns)
    stacked = np.stack([table[name] for name in table.column_names], 1)
    assert np.array_equal(stacked, inputs)


def test_pandas():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": random.normal(size=50), "b": random.integers(0, 5, 50)})
    frame["y"] = 3 * frame["a"] - frame["b"]
    a, b, y = (L.data(name, [-1, 1]) for name in ("a", "b", "y"))
    loss = L.mean(L.square_error_cost(L.fc([a, b], 1), y))
    history = pm.fit(loss, frame, pm.optimizer.SGD(0.05), epochs=20, batch_size=10, validation=frame[:10])
    assert history["loss"][-1] < 0.1 * history["loss"][0] and len(history["val_loss"]) == 20
    batches = [part for _, part in frame.groupby("b")]
    pm.fit(loss, batches, epochs=1)
    scope = pm.Scope()
    scope.set("w", frame["a"])
    assert scope.get("w").tolist() == frame["a"].tolist()
    filtered = frame[frame["b"] > 0]  # its rows are not numbered from 0
    loader = pm.data.Loader({name: filtered[name] for name in frame}).batch(8)
    assert np.array_equal(np.concatenate([batch["y"] for batch in loader]), filtered["y"].to_numpy())
