"""Program.to_dot: a graph that has every operator and no cycles; quoting of names."""

import re
import shutil
import subprocess

import pytest

import paddle_mini as pm
from small_model import SmallModel

L = pm.layers
NODE = re.compile(r'^ +(n\d+) \[label="((?:\\.|[^"\\])*)", ', re.M)
EDGE = re.compile(r"^ +(n\d+) -> (n\d+) ", re.M)


def training():
    return SmallModel(pm.optimizer.SGD(0.1).minimize).main


def loop():
    x = L.data("x", shape=[-1, 4])
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    L.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, L.relu(h)], [i, x])
    return pm.default_main_program()


@pytest.mark.parametrize("build", [training, loop])
def test_every_operator_is_a_node_and_edges_join_nodes(build):
    program = build()
    text = program.to_dot()
    nodes = dict(NODE.findall(text))
    types = [label.split("\\n")[0] for label in nodes.values() if "[" not in label]
    assert sorted(types) == sorted(op.type for block in program.blocks for op in block.ops)
    edges = EDGE.findall(text)
    assert edges and {node for edge in edges for node in edge} <= nodes.keys()
    assert text.count("{") == text.count("}") and text.count("subgraph") == len(program.blocks) - 1


def test_a_training_step_has_no_cycle():
    """sgd writes the parameter that it reads: its output is a node of its own."""
    following = {}
    for a, b in EDGE.findall(training().to_dot()):
        following.setdefault(a, []).append(b)
    done, open_nodes = set(), set()

    def visit(node):
        assert node not in open_nodes, "a cycle"
        if node in done:
            return
        open_nodes.add(node)
        for other in following.get(node, ()):
            visit(other)
        open_nodes.remove(node)
        done.add(node)

    for node in list(following):
        visit(node)


def test_names_are_quoted_and_the_file_has_the_text(tmp_path):
    block = pm.default_main_program().global_block()
    block.create_var('a"b\\', shape=[1], dtype="float32", need_check_feed=True)
    block.append_op("relu", {"X": 'a"b\\'}, {"Out": "y"})
    text = pm.default_main_program().to_dot(tmp_path / "program.dot")
    assert (tmp_path / "program.dot").read_text() == text
    assert any(label.startswith('a\\"b') for _, label in NODE.findall(text))


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_it():
    drawn = subprocess.run(["dot", "-Tsvg"], input=training().to_dot(), capture_output=True, text=True)
    assert drawn.returncode == 0 and "<svg" in drawn.stdout, drawn.stderr


def test_a_file_is_written_whole_or_an_error_names_it(tmp_path):
    program = pm.default_main_program()
    (tmp_path / "file").touch()
    for path in (3, "", "a\0b", tmp_path, tmp_path / "file" / "graph.dot"):
        with pytest.raises(pm.ProgramError, match="is not a path|can't"):
            program.to_dot(path)
    with pytest.raises(pm.ProgramError, match="can't write"), pm.profile() as profile:
        profile.save_trace(tmp_path)
