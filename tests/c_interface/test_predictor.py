"""Predictors of the C interface: the results of pm.Predictor, from many threads."""

import ctypes

import numpy as np
import pytest

import paddle_mini as pm
from c_calls import ARGUMENT, PROGRAM, SHAPE, C, Failed, Handles, arrays_of, done, options, out, tensors
from small_model import INPUTS, SmallModel
from threads import together


@pytest.fixture
def handles():
    with Handles() as made:
        yield made


@pytest.fixture
def prefix(tmp_path):
    model = SmallModel()
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope)
    return str(tmp_path / "m")


def rows(count):
    return np.random.RandomState(count).randn(count, INPUTS).astype("float32")


def predicted(predictor, array, values):
    done(C.pm_predictor_run(predictor, tensors([array]), 1, values))
    return arrays_of(values)[0]


def memory(predictor):
    sizes = ctypes.c_size_t(), ctypes.c_size_t()
    done(C.pm_predictor_memory(predictor, *map(ctypes.byref, sizes)))
    return sizes[0].value, sizes[1].value


@pytest.mark.parametrize("threads", [0, 1])
def test_many_threads_with_batches_of_any_size(handles, prefix, threads):
    python = pm.Predictor(prefix)
    wanted = {count: python(rows(count))[0].tobytes() for count in (0, 1, 2, 7, 30)}
    predictor = handles.predictor_load(prefix.encode(), ctypes.byref(options(threads=threads)), 0)
    clone = handles.predictor_clone(predictor, None)
    buffers = [handles.values_create() for _ in range(8)]

    def call(number):
        for turn in range(40):
            count = list(wanted)[(turn + number) % len(wanted)]
            found = predicted(clone if number % 2 else predictor, rows(count), buffers[number])
            assert found.tobytes() == wanted[count]

    together(*(lambda number=number: call(number) for number in range(8)))
    assert memory(predictor)[0] == memory(clone)[0] == python.parameter_bytes
    assert 1 <= memory(predictor)[1] <= 4


def test_clones_share_the_parameters(handles, prefix):
    """A change of the scope is seen by both."""
    program = handles.program_load_file(f"{prefix}.pdmodel".encode())
    scope, values = handles.scope_create(), handles.values_create()
    done(C.pm_scope_load(scope, program, f"{prefix}.pdiparams".encode(), 0))
    first = handles.predictor_create(program, scope, None)
    second = handles.predictor_clone(first, None)
    before = predicted(first, rows(2), values)
    done(C.pm_scope_set(scope, b"fc_1.b_0", tensors([np.full(3, 100, "float32")])))
    after = [predicted(one, rows(2), values) for one in (first, second)]
    assert (after[0] == after[1]).all() and (after[0] > before + 50).all()


def test_prepared_calls(handles, prefix):
    predictor, values = handles.predictor_load(prefix.encode(), None, 0), handles.values_create()
    assert memory(predictor)[1] == 1
    done(C.pm_predictor_warm_up(predictor, tensors([rows(3)]), 1, 4))
    predicted(predictor, rows(3), values)
    assert memory(predictor)[1] == 4
    assert C.pm_predictor_warm_up(predictor, tensors([rows(3)]), 1, 0) == ARGUMENT
    assert C.pm_predictor_warm_up(predictor, tensors([rows(3)]), 1, 2**64 - 1) == ARGUMENT


def test_errors_of_calls(handles, prefix):
    predictor, values = handles.predictor_load(prefix.encode(), None, 0), handles.values_create()
    before = predicted(predictor, rows(2), values)
    for wrong, status in ((rows(2)[:, :5], SHAPE), (rows(2).astype("float64"), SHAPE)):
        with pytest.raises(Failed) as failure:
            predicted(predictor, wrong, values)
        assert failure.value.status == status and "'x'" in failure.value.message
    assert C.pm_predictor_run(predictor, None, 0, values) == PROGRAM
    assert predicted(predictor, rows(2), values).tobytes() == before.tobytes()
    assert memory(predictor)[1] == 1


def test_models_that_are_refused(handles, prefix, tmp_path):
    """Nothing is half loaded: no handle is made."""
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    whole = {name: (tmp_path / name).read_bytes() for name in ("m.pdmodel", "m.pdiparams")}
    handle = ctypes.c_uint64()
    for name, data in whole.items():
        for damaged in (data[:-1], data[: len(data) // 2], b"", bytes([*data[:-1], data[-1] ^ 1])):
            (tmp_path / name).write_bytes(damaged)
            assert C.pm_predictor_load(prefix.encode(), None, 0, ctypes.byref(handle)) == PROGRAM
        (tmp_path / name).write_bytes(data)
    for other in ("train", "nothing"):
        assert C.pm_predictor_load(str(tmp_path / other).encode(), None, 0, ctypes.byref(handle)) == PROGRAM
    assert handle.value == 0
    handles.predictor_load(prefix.encode(), None, 0)


def test_a_folder_of_version_1(handles, tmp_path):
    model = SmallModel()
    pm.io.save_inference_model(tmp_path / "old", [model.x], [model.logits], scope=model.scope, model_filename="__model__")
    predictor, values = handles.predictor_load(str(tmp_path / "old").encode(), None, 0), handles.values_create()
    assert predicted(predictor, rows(3), values).tobytes() == pm.Predictor(tmp_path / "old")(rows(3))[0].tobytes()
    weights = bytearray((tmp_path / "old/fc_0.w_0").read_bytes())
    weights[-1] ^= 1
    (tmp_path / "old/fc_0.w_0").write_bytes(weights)
    with pytest.raises(Failed, match="not the parameters"):
        handles.predictor_load(str(tmp_path / "old").encode(), None, 0)
    handles.predictor_load(str(tmp_path / "old").encode(), None, 1)


def test_names_of_a_predictor(handles, prefix):
    program = handles.predictor_program(handles.predictor_load(prefix.encode(), None, 0))
    assert out(C.pm_program_name, program, 0, 0, kind=ctypes.c_char_p) == b"x"
