"""paddle-mini launch: runs a script as a job; its errors, Ctrl-C, resuming."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.cli import main
from paddle_mini.cluster.convert import read_parameters

COMMAND = [sys.executable, "-c", "import sys; from paddle_mini.cli import main; sys.exit(main())", "launch"]
TRAIN = textwrap.dedent("""
    import argparse
    import sys

    import beside
    import numpy as np
    import paddle_mini as pm

    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--fail", type=int, default=-1)
    parser.add_argument("--models")
    options = parser.parse_args()


    def train():
        x = pm.layers.data("x", shape=[-1, 4])
        out = pm.layers.fc(x, 1, param_attr=pm.ParamAttr("w", pm.initializer.Constant(0.5)))
        loss = pm.layers.mean(out)
        pm.optimizer.SGD(0.5).minimize(loss)
        exe = pm.Executor()
        exe.run(pm.default_startup_program())
        trainer = pm.cluster.join()
        for step in range(options.steps):
            trainer.run({"x": beside.rows(step)}, [loss])
            if step == options.fail and trainer.number == trainer.trainers - 1:
                raise ValueError("what was read is wrong")
            if step == 2:
                sys.stdout.write(f"trainer {trainer.number} continues\\n")  # print() of two threads may be mixed
                sys.stdout.flush()
        if options.models:
            pm.cluster.save_model(options.models, [x], [out])


    if __name__ == "__main__":
        train()
""")
BESIDE = """
import numpy as np


def rows(step):
    return np.full((2, 4), step % 5, "float32")
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(TRAIN)
    (tmp_path / "code" / "beside.py").write_text(BESIDE)
    return tmp_path


@pytest.fixture
def launch(folder):
    """Runs the command in the folder; returns its output on each stream."""

    def launch(*words, status=0):
        done = subprocess.run([*COMMAND, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == status, done.stderr
        return done.stdout, done.stderr

    return launch


def expected(steps):
    """The weight after this many steps with mean 0 ... 4 of x, by SGD with the rate 0.5."""
    return np.float32(0.5) - np.float32(0.5) * sum(step % 5 for step in range(steps))


@pytest.mark.parametrize("mode", ["async", "sync", "delta"])
def test_each_trainer_runs_the_script(launch, folder, mode):
    out, err = launch(
        "--trainers", 2, "--servers", 2, "--mode", mode, "--directory", "job", "code/train.py", "--steps", 6, "--models", "models"
    )
    assert sorted(out.splitlines()) == ["trainer 0 continues", "trainer 1 continues"]
    assert err.splitlines()[-1] == "pushes: 24, all applied"
    steps = 2 * 6 if mode == "async" else 6
    change = 2 * (expected(6) - 0.5) if steps == 12 else expected(6) - 0.5
    np.testing.assert_array_equal(read_parameters(folder / "job")["w"], np.full((4, 1), 0.5 + change))
    (saved,) = os.listdir(folder / "models")
    assert sorted(os.listdir(folder / "models" / saved)) == ["model.pdiparams", "model.pdmodel"]


def test_the_same_script_alone(folder):
    done = subprocess.run(
        [sys.executable, "code/train.py", "--models", "models"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "trainer 0 continues\n")


def test_an_error_ends_at_the_line_of_the_script(launch):
    _, err = launch("--trainers", 3, "--mode", "sync", "code/train.py", "--fail", 1, status=1)
    number = next(at for at, text in enumerate(TRAIN.splitlines(), 1) if "raise ValueError" in text)
    lines = [text for text in err.splitlines() if not re.match(r"\d+ s, ", text)]
    assert lines == [
        "paddle-mini: trainer 2: ValueError: what was read is wrong",
        f'  at code/train.py:{number}: raise ValueError("what was read is wrong")',
    ]


def test_on_ray_it_is_the_same(launch):
    pytest.importorskip("ray")
    out, err = launch("--engine", "ray", "--mode", "sync", "--trainers", 2, "code/train.py", "--fail", 4, status=1)
    assert err.splitlines()[-2:] == [
        "paddle-mini: trainer 1: ValueError: what was read is wrong",
        f"  at code/train.py:{1 + TRAIN[: TRAIN.index('raise ValueError')].count(chr(10))}: "
        'raise ValueError("what was read is wrong")',
    ]
    assert "trainer 0 continues" in out and "trainer 1 continues" in out


@pytest.mark.parametrize(
    "text, problem",
    [
        (
            "import paddle_mini as pm\nprint(1)\npm.cluster.run(print)",
            r"Malformed: trainer 0 of a job can't "
            r"run\(\) another job: .*`paddle-mini launch`\n  at script.py:3: pm.cluster.run\(print\)",
        ),
        ("import sys\nsys.exit(3)", r"ClusterError: it ended with status 3\n  at script.py:2: sys.exit\(3\)"),
        ("import paddle_mini as pm\npm.layers.data('x', [-1])\npm.layers.fc(\n", r"SyntaxError: .*script.py, line 3\)"),
        ("import json\njson.loads('{')", r"JSONDecodeError: .*\n  at script.py:2: json.loads\('\{'\)"),
        (
            "import paddle_mini as pm\npm.layers.fc(pm.layers.data('x', [-1, 3]), -5)",
            r"ProgramError: fc: size is -5.*\n"
            r"  added at script.py:2: pm.layers.fc\(pm.layers.data\('x', \[-1, 3\]\), -5\)",
        ),
        ("raise ValueError('\\n'.join(map(str, range(100))))", r"ValueError: 0\n1\n(.*\n)*98\n99\n  at script.py:1: .*"),
    ],
)
def test_what_goes_wrong_is_told_in_a_few_lines(launch, folder, text, problem):
    (folder / "script.py").write_text(text)
    _, err = launch("script.py", status=1)
    assert re.fullmatch(f"paddle-mini: (trainer 0: |){problem}\n", err), err
    assert len(err.splitlines()) <= 12 and "Traceback" not in err


@pytest.mark.parametrize("end", ["sys.exit()", "sys.exit(0)", "raise SystemExit"])
def test_scripts_that_end_by_exit(launch, folder, end):
    (folder / "script.py").write_text(f"import sys\nprint(sys.argv, __file__)\n{end}")
    out, _ = launch("script.py", "--trainers", "a b")
    assert out == f"{[str(folder / 'script.py'), '--trainers', 'a b']} {folder / 'script.py'}\n"


def test_a_script_is_its_own_main_module(launch, folder):
    (folder / "script.py").write_text(
        "import sys\n\ndef f(x: 1): pass\n\nprint(f.__annotations__, f.__module__, sys.modules['__main__'].f is f)"
    )
    assert launch("script.py")[0] == "{'x': 1} __main__ True\n"


def test_a_script_that_is_not_there(capsys, tmp_path):
    assert main(["launch", str(tmp_path / "none.py")]) == 1
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, problem",
    [
        (["--trainers", "0"], "trainers is 0, it must be at least 1"),
        (["--local-steps", "2"], "local_steps is only supported in modes delta"),
        (["--lease", "-1"], "lease is -1.0"),
        (["--address", "auto"], "address is 'auto', which only engine 'ray' supports"),
    ],
)
def test_settings_are_those_of_run(capsys, folder, words, problem):
    assert main(["launch", *words, str(folder / "code" / "train.py")]) == 1
    assert problem in capsys.readouterr().err


def test_words_that_no_option_knows(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["launch", "--mode", "fast", "train.py"])
    assert caught.value.code == 2


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_it_is_ended_with_checkpoints_and_goes_on(launch, folder, number, status):
    words = [*COMMAND, "--trainers", "2", "--servers", "2", "--directory", "job", "code/train.py", "--steps"]
    with subprocess.Popen([*words, "100000000"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        assert job.stdout.readline().endswith("continues\n")
        job.send_signal(number)
        _, err = job.communicate(timeout=60)
    assert job.returncode == status and "Traceback" not in err
    made = [json.loads((folder / "job" / f"server-{index}.json").read_text())["version"] for index in (0, 1)]
    assert max(made) >= 2  # the push of the third step is sent with the fourth one
    _, err = launch(*words[len(COMMAND) :], 4)
    applied = int(re.search(r"pushes: ([\d,]+), all applied", err)[1].replace(",", ""))
    assert applied == sum(made) + 2 * 2 * 4


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_in_collective_mode_too(launch, folder, number, status):
    words = ["--trainers", "2", "--mode", "collective", "--directory", "job", "code/train.py", "--steps"]
    command = [*COMMAND, *words, "100000000"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        assert job.stdout.readline().endswith("continues\n")
        job.send_signal(number)
        _, err = job.communicate(timeout=60)
    assert job.returncode == status and "Traceback" not in err
    checkpoints = pm.io.CheckpointManager(folder / "job" / "trainers")
    made = checkpoints.latest()
    assert made >= 2
    launch(*words, 4)
    assert checkpoints.latest() == made + 4


def test_the_error_of_run_ends_at_the_users_line():
    with pytest.raises(pm.cluster.TrainerFailed) as caught:
        pm.cluster.run(lambda: np.zeros(3).reshape(2))
    assert str(caught.value).splitlines()[-1].endswith("pm.cluster.run(lambda: np.zeros(3).reshape(2))")
    assert re.search(r"\n  at \S*test_launch.py:\d+: ", str(caught.value))
