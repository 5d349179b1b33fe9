"""The example of fit: its length, its accuracy, and what it saves."""

import importlib.util
import io
import pathlib
import tokenize

import numpy as np

import paddle_mini as pm

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/fit_digits.py"


def lines_of_code(source):
    """Lines with code: without comments, docstrings and empty lines."""
    lines, begins = set(), True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            begins = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
            if not (begins and token.type == tokenize.STRING):
                lines.update(range(token.start[0], token.end[0] + 1))
            begins = False
    return len(lines)


def test_the_example_is_short():
    assert lines_of_code('"""Not\ncounted."""\n\n# Not counted.\nx = """\n"""\ny = [\n    x\n]\n') == 5
    assert lines_of_code(EXAMPLE.read_text()) <= 25


def test_the_example_trains_saves_and_continues(tmp_path):
    spec = importlib.util.spec_from_file_location("fit_digits", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pm.seed(1)
    history = module.main(tmp_path, epochs=7, train=1500)
    assert history.last["averaged_val_accuracy"] > 0.9
    with pm.scope_guard(pm.Scope()) as scope, pm.program_guard(pm.Program(), pm.Program()):
        exe = pm.Executor()
        program, _, fetches = pm.io.load_inference_model(tmp_path / "digits", exe, scope=scope)
        images, labels = zip(*pm.data.mnist.synthetic(train=1500).test[:100])
        (predicted,) = exe.run(program, {"image": np.stack(images)}, fetches, scope=scope)
        assert (predicted.argmax(1) == np.array(labels)).mean() > 0.9
    with pm.scope_guard(pm.Scope()), pm.program_guard(pm.Program(), pm.Program()):
        assert module.main(tmp_path, epochs=7, train=1500).rows == history.rows
