"""Handles of the C interface: every function refuses wrong ones and NULL, and released objects are ended."""

import ctypes
import re

import pytest

import paddle_mini as pm
from c_calls import ARGUMENT, OK, PROTOTYPES, C, Failed, Handles, Tensor, done, names, options, out, tensor, tensors
from small_model import SmallModel, batch

KINDS = ("program", "scope", "executor", "signature", "predictor", "values")


@pytest.fixture
def handles():
    with Handles() as made:
        yield made


@pytest.fixture
def prefix(tmp_path):
    model = SmallModel()
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope)
    return str(tmp_path / "m")


def one_of_each(handles, prefix):
    program = handles.program_load_file(f"{prefix}.pdmodel".encode())
    return {
        "program": program,
        "scope": handles.scope_create(),
        "executor": handles.executor_create(None),
        "signature": handles.signature_create(program, None, 0, None, 0),
        "predictor": handles.predictor_load(prefix.encode(), None, 0),
        "values": handles.values_create(),
    }


def valid_arguments(parameters, handles, keep, prefix):
    """Arguments of one call that are valid as far as their types tell, by the names of the parameters."""
    found = {}
    for parameter in parameters.split(","):
        kind, name = re.fullmatch(r"\s*(.*?)(\w+)", parameter, re.S).groups()
        kind = kind.replace(" ", "")
        if kind.startswith("pm_") and kind[3:] in KINDS:
            found[name] = handles[kind[3:]]
        elif "*" not in kind:
            found[name] = {"count": 1, "feed_count": 1, "fetch_count": 0, "size": 3, "calls": 1}.get(name, 0)
        elif kind == "constchar*":
            found[name] = {"path": b"/nothing", "name": b"x", "stage": b"plan", "prefix": prefix.encode()}.get(name, b"text")
        elif kind == "constpm_tensor*":
            found[name] = tensor(batch(0)["x"]) if name == "value" else tensors([batch(0)["x"]])
            keep.append(found[name])
            found[name] = ctypes.addressof(found[name])
        elif kind == "constpm_options*":
            found[name] = None
        elif kind == "constchar*const*":
            found[name] = names("x") if name != "fetches" else None
        elif kind == "constvoid*":
            found[name] = b"abc"
        else:
            found[name] = ctypes.addressof(keep.append(Tensor()) or keep[-1])
    return found


TAKING_HANDLES = [prototype for prototype in PROTOTYPES if re.search(f"pm_({'|'.join(KINDS)}) ", prototype[1])]


@pytest.mark.parametrize(
    "name, parameters", TAKING_HANDLES, ids=lambda value: value if value.startswith("pm_") and " " not in value else ""
)
def test_wrong_handles(handles, prefix, name, parameters):
    """0, numbers that are not handles, those of other kinds, and released ones, for each handle of each function."""
    keep, right, released = [], one_of_each(handles, prefix), one_of_each(handles, prefix)
    for handle in released.values():
        done(C.pm_release(handle))
    arguments = valid_arguments(parameters, right, keep, prefix)
    for argument in [one for one, value in arguments.items() if value in right.values() and isinstance(value, int) and value]:
        kind = next(kind for kind, value in right.items() if value == arguments[argument])
        wrong = [1, 2**63, 2**64 - 1, released[kind], *(right[other] for other in KINDS if other != kind)]
        may_be_none = argument in ("fetched", "outputs")
        for handle in wrong if may_be_none else [0, *wrong]:
            status = getattr(C, name)(*{**arguments, argument: handle}.values())
            message = C.pm_last_error().decode()
            assert status == ARGUMENT and message, (name, argument, handle, message)
            assert handle not in right.values() or f"expected a pm_{kind}" in message


@pytest.mark.parametrize(
    "name, parameters", [one for one in PROTOTYPES if "*" in one[1]], ids=lambda value: value if " " not in value else ""
)
def test_pointers_that_are_null(handles, prefix, name, parameters):
    keep, arguments = [], {}
    arguments = valid_arguments(parameters, one_of_each(handles, prefix), keep, prefix)
    may_be_null = {"options", "feeds", "fetches", "names", "kind", "elements", "parameter_bytes", "prepared_calls", "inputs"}
    may_be_null -= {"feeds", "inputs", "names"}  # the counts are 1
    pointers = [one for one in arguments if re.search(rf"\*(const\*)?\s*{one}\b", parameters.replace("* const*", "*const*"))]
    for argument in pointers:
        status = getattr(C, name)(*{**arguments, argument: None}.values())
        if argument not in may_be_null:
            assert status == ARGUMENT and "NULL" in C.pm_last_error().decode(), (name, argument, status)


def test_a_place_of_the_table_is_used_again(handles):
    """Its old handles stay refused."""
    old = []
    for _ in range(1000):
        scope = out(C.pm_scope_create)
        assert all(C.pm_scope_wait(one) == ARGUMENT for one in old[-3:])
        assert scope not in old
        old.append(scope)
        done(C.pm_release(scope))
        assert C.pm_release(scope) == ARGUMENT and b"released" in C.pm_last_error()
    assert C.pm_release(0) == OK
    assert len({one & 0xFFFFF for one in old}) < 100


def test_objects_live_as_long_as_others_need_them(handles, prefix):
    program = out(C.pm_program_load_file, f"{prefix}.pdmodel".encode())
    scope = out(C.pm_scope_create)
    done(C.pm_scope_load(scope, program, f"{prefix}.pdiparams".encode(), 0))
    first = out(C.pm_predictor_create, program, scope, None)
    clone = out(C.pm_predictor_clone, first, None)
    for handle in (program, scope, first):
        done(C.pm_release(handle))
    values = handles.values_create()
    done(C.pm_predictor_run(clone, tensors([batch(0)["x"]]), 1, values))
    done(C.pm_release(clone))


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"size": 8}, "size of the options"),
        ({"threads": -1}, "threads is -1"),
        ({"has_seed": 2}, "has_seed is 2"),
        ({"files": -1}, "files"),
        ({"max_loop_steps": -1}, "max_loop_steps"),
        ({"place": b"moon:0"}, "moon:0"),
        ({"place": b"gpu:9"}, "gpu"),
        ({"threads": 2**31 - 1}, "threads"),
    ],
    ids=str,
)
def test_options_that_are_refused(fields, words):
    made, handle = options(), ctypes.c_uint64()
    for field, value in fields.items():
        setattr(made, field, value)
    with pytest.raises(Failed, match=words):
        done(C.pm_executor_create(ctypes.byref(made), ctypes.byref(handle)))
    assert handle.value == 0


def test_each_function_has_a_prototype_that_the_tests_read():
    assert len(PROTOTYPES) == 37 and C.pm_version() == 1
    assert out(C.pm_kernel_level, kind=ctypes.c_char_p).decode() == pm._core.kernel_library()["level"]


def test_libraries_of_operators_that_are_refused(tmp_path):
    text = tmp_path / "text.so"
    text.write_text("not a library")
    for path, words in [(None, "path is NULL"), (b"/missing/op.so", "missing"), (bytes(text), "text.so")]:
        with pytest.raises(Failed, match=words):
            done(C.pm_load_operators(path))
