"""Exported programs in ONNX Runtime: its results are those of this runtime."""

import json
import pathlib

import numpy as np
import pytest

import example_models
import onnx_exports
from thorough import IS_THOROUGH

# ONNX Runtime does not compute these, or its definition of NaN differs.
DIFFERENT = {
    "elementwise_floordiv: each with each, broadcast": "quotients with infinities",
    "hard_shrink: special values": "NaN",
    "lrn: more neighbours than channels": "ONNX Runtime runs out of memory",
    "pad: a number": "ONNX Runtime does not pad scalars",
    "pixel_shuffle: int64": "ONNX Runtime has DepthToSpace for floats",
    "rnn: empty and too long sequences": "ONNX Runtime refuses lengths above the number of steps",
    "softshrink: special values": "NaN",
    "thresholded_relu: special values": "NaN",
    "tril_triu: truths": "before opset 14: ONNX Runtime does not have Where for truth values",
    "unique: int32 sorted": "ONNX Runtime does not have it for int32",
    "where_index: int16": "ONNX Runtime does not have it for int16",
}
# Cases of an operator, so that the test takes less than a minute; and those that export may refuse.
MOST_CASES = None if IS_THOROUGH else 5
MOST_REFUSED = 60
# The models whose programs need what ONNX does not have.
REFUSED = {
    "05": "sequences of rows",
    "first_day/sentences.py": "sequences of rows",
    "06_conv": "sequences of rows",
    "06_lstm": "sequences of rows",
    "06_stacked": "sequences of rows",
    "07": "sequences of rows",
    "m_ctr_wide_deep_auc": "outlive a run",
    "m_lod_sentiment_conv": "sequences of rows",
    "m_lstmcell_while": "arrays whose elements are written",
    "op_batch_norm_train_infer": "an output of batch_norm that ONNX does not have",
    "seq_pool_all_types": "sequences of rows",
}


def test_every_operator(onnxruntime, tmp_path):
    cases = list(onnx_exports.operator_cases(tmp_path, most=MOST_CASES))
    refused = [case.name for case in cases if case.refusal]
    written = [case for case in cases if not case.refusal]
    assert len(written) > 800 and len(refused) < MOST_REFUSED, refused
    if IS_THOROUGH:
        figures = json.loads((pathlib.Path(__file__).parents[2] / "docs/onnx_figures.json").read_text())["written"]
        assert onnx_exports.by_operator(cases) == figures, "run .venv/bin/python docs/make_onnx.py --figures"
    wrong = {}
    for case, found in zip(written, onnxruntime(written), strict=True):
        reason = found if isinstance(found, str) else onnx_exports.difference(found, case.expected)
        if reason:
            wrong[case.name] = reason
    assert {name: reason for name, reason in wrong.items() if name not in DIFFERENT} == {}


def models_in(onnxruntime, cases):
    cases = list(cases)
    refused = {case.name: case.refusal for case in cases if case.refusal}
    assert {name: text for name, text in refused.items() if REFUSED.get(name, "never") not in text} == {}
    assert all(len(text.splitlines()) <= 12 for text in refused.values())
    written = [case for case in cases if not case.refusal]
    assert not {case.name for case in written} & set(REFUSED), "they are written now"
    wrong = {}
    for case, found in zip(written, onnxruntime(written), strict=True):
        wrong[case.name] = found if isinstance(found, str) else onnx_exports.difference(found, case.expected)
    assert {name: reason for name, reason in wrong.items() if reason} == {}
    return [case.name for case in written]


def test_golden_programs(onnxruntime, tmp_path):
    assert len(models_in(onnxruntime, onnx_exports.golden_models(tmp_path))) >= 20


def test_chapters_of_the_book(onnxruntime, tmp_path, monkeypatch):
    names = models_in(onnxruntime, onnx_exports.book_models(tmp_path, monkeypatch))
    assert len(names) == 7, names


def test_examples_outside_of_the_book(onnxruntime, tmp_path, monkeypatch):
    """Every output of every operator of their programs."""

    def cases():
        for number, name in enumerate(example_models.MODELS):
            for count, model in enumerate(example_models.models_of(name, tmp_path, monkeypatch)):
                path = tmp_path / f"{number}_{count}.onnx"
                yield onnx_exports.exported(name, path, model.program, model.inputs, model.fetches, model.scope)

    names = models_in(onnxruntime, cases())
    assert {*names, *REFUSED} >= set(example_models.MODELS)


def test_each_example_is_among_them():
    found = {str(path.relative_to(example_models.EXAMPLES)) for path in example_models.EXAMPLES.rglob("*.py")}
    found = {path for path in found if not path.startswith("book/") and not path.endswith(("_torch.py", "_keras.py"))}
    models = {name.split(",")[0] for name in example_models.MODELS if not name.endswith(".ipynb")}
    assert models | example_models.WITHOUT_MODELS == found and not models & example_models.WITHOUT_MODELS


@pytest.mark.parametrize("opset", [13, 21])
def test_other_opsets(onnxruntime, tmp_path, opset):
    """The first case of each operator."""
    cases = list(onnx_exports.operator_cases(tmp_path, opset, most=1))
    written = [case for case in cases if not case.refusal]
    assert len(written) > 0.9 * len(cases)
    wrong = {}
    for case, found in zip(written, onnxruntime(written), strict=True):
        reason = found if isinstance(found, str) else onnx_exports.difference(found, case.expected)
        if reason and case.name not in DIFFERENT:
            wrong[case.name] = reason
    assert wrong == {}
    assert np.all([case.refusal for case in cases if case not in written])
