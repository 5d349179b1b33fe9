"""Claims of the documents: commands exist, the program in the README runs, the list of operators matches the schemas."""

import inspect
import os
import pathlib
import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import paddle_mini as pm
from docs_modules import docs_module
from thorough import some

ROOT = pathlib.Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language):
    """The fenced code blocks of the README in this language."""
    return [body for name, body in re.findall(r"^```(\w*)\n(.*?)^```$", README, re.S | re.M) if name == language]


def test_the_readmes_program_runs(tmp_path):
    (program,) = blocks("python")
    (command,) = (line for block in blocks("sh") for line in block.splitlines() if line.startswith(".venv/bin/pm_run "))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    averaged, last = (float(line.split(":")[1]) for line in done.stdout.splitlines()[:2])
    assert averaged < last
    assert sorted(path.name for path in tmp_path.iterdir()) == ["linear.pdiparams", "linear.pdmodel", "x.npy"]
    printed = subprocess.run(
        [pathlib.Path(sys.executable).parent / "pm_run", *command.split()[1:]], cwd=tmp_path, capture_output=True, text=True
    )
    assert printed.returncode == 0 and printed.stdout, printed.stderr


def test_the_programs_of_the_page_on_fit_run(tmp_path):
    """One after another, as a reader who copies them has them."""
    program = "".join(re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/fit.md").read_text(), re.S | re.M))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "averaged_val_accuracy" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"run", "model.pdiparams", "model.pdmodel"}


def scripts(page):
    """The blocks of a page that are whole programs."""
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.S | re.M)
    return [block for block in blocks if "import paddle_mini as pm" in block]


WITH_OTHER_TESTS = {"errors", "fit", "howto", "optimizer_library", "seeing"}  # where blocks share what they define, or are named
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem not in WITH_OTHER_TESTS and scripts(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_programs_of_the_page_run(page, tmp_path):
    if page.stem == "onnx":
        torch, _ = pytest.importorskip("torch"), pytest.importorskip("onnx")
        torch.onnx.export(torch.nn.Linear(6, 1), (torch.zeros(2, 6),), tmp_path / "model.onnx", input_names=["x"], dynamo=False)
    for program in scripts(page):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr


def test_the_home_page_has_a_program_that_runs():
    assert ROOT / "docs/index.md" in PAGES


def test_the_readmes_commands_exist():
    commands = [line.split("#")[0].split() for block in blocks("sh") for line in block.splitlines()]
    targets = re.findall(r"^([a-z-]+)(?= .*:|:)", (ROOT / "Makefile").read_text(), re.M)
    for words in commands:
        if words[0] == "make":
            assert words[1] in targets
        else:
            assert os.path.basename(words[0]) in ("pm_run", "paddle-mini")
            options = {word for word in words if word.startswith("--")}
            command = [os.path.basename(words[0]), *words[1:2] * (os.path.basename(words[0]) == "paddle-mini")]
            help_text = subprocess.run(
                [pathlib.Path(sys.executable).parent / command[0], *command[1:], "--help"], capture_output=True, text=True
            ).stdout
            assert all(option in help_text for option in options)


def test_the_page_on_migration_says_how_defaults_differ():
    """Claims of its rows; each default is that of the layer, and each argument gives what the row says."""
    layers, shapes = pm.layers, lambda: [parameter.shape for parameter in pm.default_main_program().all_parameters()]
    x, image = layers.data("x", [-1, 5, 8]), layers.data("image", [-1, 3, 8, 8])
    assert layers.fc(x, 3).shape == (-1, 3) and layers.fc(x, 3, num_flatten_dims=2).shape == (-1, 5, 3)
    layers.layer_norm(x), layers.layer_norm(x, begin_norm_axis=2)
    assert shapes()[-4:] == [(40,), (40,), (8,), (8,)]
    assert layers.pool2d(image, 2).shape[2:] == (7, 7) and layers.pool2d(image, 2, "max", pool_stride=2).shape[2:] == (4, 4)
    layers.rnn(layers.LSTMCell(16), x)
    assert shapes()[-2:] == [(8 + 16, 4 * 16), (4 * 16,)]
    schedule = pm.lr.CosineAnnealingDecay(0.1, T_max=2)
    assert [round(schedule.step() or schedule(), 6) for _ in range(4)] == [0.05, 0.0, 0.05, 0.1]


def test_the_page_on_migration_says_how_to_predict():
    (row,) = re.findall(r"\| `model.predict\(x\)` \| `(.*)` \|", (ROOT / "docs/migrating.md").read_text())
    x, label = pm.layers.data("x", [-1, 4]), pm.layers.data("label", [-1, 1])
    y = pm.layers.fc(x, 1)
    pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.square_error_cost(y, label)))
    exe, program = pm.Executor(), pm.default_main_program()
    exe.run(pm.default_startup_program())
    (found,) = eval(row, {"exe": exe, "program": program, "x": x, "y": y, "x_array": np.ones((2, 4), "float32")})
    assert found.shape == (2, 1)


def test_the_page_on_migration_gives_the_defaults_here():
    page = (ROOT / "docs/migrating.md").read_text()
    here = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \| [^|]+ \|$", page[page.index("## Defaults that differ") :], re.M))
    for row, functions, names in (
        ("epsilon of `batch_norm`, `layer_norm`", [pm.layers.batch_norm, pm.layers.layer_norm], ["epsilon"]),
        ("epsilon of `Adam`", [pm.optimizer.Adam], ["epsilon"]),
        ("`weight_decay` of `AdamW`", [pm.optimizer.AdamW], ["weight_decay"]),
        ("`rho`, `epsilon` of `RMSProp`", [pm.optimizer.RMSProp], ["rho", "epsilon"]),
        ("`initial_accumulator_value` of `Adagrad`", [pm.optimizer.Adagrad], ["initial_accumulator_value"]),
        ("`alpha` of `leaky_relu`", [pm.layers.leaky_relu], ["alpha"]),
        ("`slope` of `hard_sigmoid`", [pm.layers.hard_sigmoid], ["slope"]),
    ):
        for function in functions:
            parameters = inspect.signature(function).parameters
            assert [float(number) for number in here[row].split(", ")] == [parameters[name].default for name in names]


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readmes_error_is_what_is_printed(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import paddle_mini as pm\nx = pm.layers.data('x', shape=[-1, 4])\nh = pm.layers.fc(x, 8, bias_attr=False)\n"
        "bias = pm.default_main_program().global_block().create_var('bias', shape=[3], dtype='float32', persistable=True)\n"
        "\n\ny = pm.layers.elementwise_add(h, bias, axis=1)\n"
    )
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True)
    shown = next(block for block in blocks("") if "ShapeError" in block)
    found = done.stderr[done.stderr.index("ShapeError") :]
    assert found.strip().splitlines() == shown.strip().splitlines()


def test_the_list_of_operators_is_new():
    assert (ROOT / "docs/operators.md").read_text() == docs_module("make_operators").text(), (
        "run .venv/bin/python docs/make_operators.py"
    )


HOWTO = re.split(r"^## ", (ROOT / "docs/howto.md").read_text(), flags=re.M)[1:]


@pytest.mark.parametrize("section", some(HOWTO, 2), ids=lambda section: section.splitlines()[0])
def test_the_answers_of_howto_run(section, tmp_path):
    for block in re.findall(r"^```python\n(.*?)^```$", section, re.S | re.M):
        assert len(block.splitlines()) <= 15
        for module in re.findall(r"^import (\w+)", block, re.M):
            pytest.importorskip(module)
        code = f"import numpy as np\nimport paddle_mini as pm\n{block}"
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_howto_lists_the_schedules():
    (listed,) = re.findall(r"^Schedules are (.*?)\.$", (ROOT / "docs/howto.md").read_text(), re.S | re.M)
    classes = {name for name in pm.lr.__all__ if inspect.isclass(getattr(pm.lr, name))} - {"LRScheduler"}
    assert set(re.findall(r"`(\w+)`", listed)) == classes


def test_the_tables_of_names_are_new():
    text = (ROOT / "docs/howto.md").read_text()
    assert docs_module("make_names").page(text) == text, "run .venv/bin/python docs/make_names.py"


def test_the_list_of_messages_is_new():
    text = (ROOT / "docs/cluster.md").read_text()
    assert docs_module("make_messages").page(text) == text, "run .venv/bin/python docs/make_messages.py"


def test_the_table_of_onnx_operators_is_new():
    text = (ROOT / "docs/onnx.md").read_text()
    assert docs_module("make_onnx").page(text) == text, "run .venv/bin/python docs/make_onnx.py"


def test_versions_agree():
    versions = re.findall(
        r'^(?:version = "|project\(paddle_mini VERSION )([0-9.]+)',
        "\n".join((ROOT / name).read_text() for name in ("pyproject.toml", "CMakeLists.txt")),
        re.M,
    )
    assert versions == [pm.__version__] * 2


@pytest.mark.parametrize("module", ["torch", "onnx"])
def test_lives_in_one_process_with_other_users_of_protobuf(module):
    """Either may be imported first; a program is read and written on both sides."""
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed here")
    use = (
        "x = pm.layers.data('x', shape=[-1, 2]); pm.layers.fc(x, 2); "
        "assert pm.Program.from_bytes(pm.default_main_program().to_bytes()).to_bytes()"
    )
    for first, second in (("import paddle_mini as pm", f"import {module}"), (f"import {module}", "import paddle_mini as pm")):
        done = subprocess.run([sys.executable, "-c", f"{first}; {second}; {use}"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_reference_has_every_public_module():
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: make docs installs it")
    modules = {f"paddle_mini.{name}" for name in pm.__all__ if inspect.ismodule(getattr(pm, name))}
    assert set(docs_module("site").MODULES) == {"paddle_mini", *modules}


def test_names_in_documents_exist():
    """Each pm.a.b of a document, but for members of objects, which begin with a class."""
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for path in re.findall(r"\bpm\.([A-Za-z_][\w.]*\w)", page.read_text()):
            found = pm
            for name in path.split("."):
                found = getattr(found, name)  # an AttributeError names the name
