"""Program.provenance: copies and files of the program contain it, and it does not affect the computation."""

import re

import pytest

import paddle_mini as pm
from paddle_mini.cli import main
from small_model import SmallModel, batch

FACTS = {"parameters": "average", "scheme": "Window(4)", "steps": 14, "length": 5.5, "averaged": ["é", "b"], "of": {"a": None}}
FIELD = bytes([(1000 << 3 | 2) & 0x7F | 0x80, (1000 << 3 | 2) >> 7])  # field number 1000, of bytes


def with_text(model, text):
    """The bytes of a program with this text as its provenance."""
    return model.main.to_bytes() + FIELD + bytes([len(text)]) + text


@pytest.fixture
def model():
    return SmallModel()


def test_a_program_has_none_at_first(model):
    assert model.main.provenance == {} and FIELD not in model.main.to_bytes()


def test_it_stays_in_copies_and_bytes(model):
    model.main.provenance = FACTS
    for copy in (
        model.main,
        model.main.clone(),
        model.main.clone(for_test=True),
        model.main.prune([model.x], [model.logits]),
        pm.Program.from_bytes(model.main.to_bytes()),
    ):
        assert copy.provenance == FACTS
        again = pm.Program.from_bytes(copy.to_bytes())
        assert again.provenance == FACTS and again.to_bytes() == copy.to_bytes()


def test_copies_have_their_own(model):
    model.main.provenance = FACTS
    copy = model.main.clone()
    copy.provenance = {"parameters": "raw"}
    assert model.main.provenance == FACTS
    model.main.provenance["steps"] = 3
    assert model.main.provenance == FACTS


def test_without_it_the_bytes_are_what_they_were(model):
    before = model.main.to_bytes()
    model.main.provenance = FACTS
    assert model.main.to_bytes() != before
    model.main.provenance = {}
    assert model.main.to_bytes() == before


def test_a_file_comes_back_byte_for_byte(model, tmp_path):
    """Its text too, for every way of writing it."""
    for text in (b'{"b":1,   "a": [1.0]}', '{"name": "é"}'.encode(), b"no JSON", b"{}"):
        data = with_text(model, text)
        program = pm.Program.from_bytes(data)
        assert program.to_bytes() == data
        pm.io.save_program(tmp_path / "m", program, model.scope)
        assert (tmp_path / "m.pdmodel").read_bytes().endswith(data)
        assert pm.io.read_program(tmp_path / "m").clone().to_bytes() == data
    assert pm.Program.from_bytes(with_text(model, '{"name": "é"}'.encode())).provenance == {"name": "é"}


@pytest.mark.parametrize("text", [b"no JSON", b"[1, 2]", b"3", b'{"a": 1', b"null", b'"a"'])
def test_what_is_no_object_is_refused_where_it_is_read(model, text):
    program = pm.Program.from_bytes(with_text(model, text))
    with pytest.raises(pm.ProgramError, match="provenance is not a JSON object"):
        _ = program.provenance
    assert model.exe.run(program, batch(0), [model.loss.name], model.scope)[0] == model.step()


def test_what_is_no_text_is_no_program(model):
    with pytest.raises(pm.ProgramError, match="UTF-8"):
        pm.Program.from_bytes(with_text(model, b"\xff\xfe"))


@pytest.mark.parametrize(
    "facts", [{"a": object()}, [1, 2], "text", 3, {(1, 2): 3}], ids=["object", "list", "text", "number", "key"]
)
def test_what_json_has_not_is_refused(model, facts):
    model.main.provenance = FACTS
    with pytest.raises(pm.ProgramError, match="provenance is not a JSON object"):
        model.main.provenance = facts
    assert model.main.provenance == FACTS


def test_it_changes_nothing_that_is_computed(model):
    before = model.step()
    model.main.provenance = FACTS
    assert model.step() == before


def test_show_prints_it(model, tmp_path, capsys):
    pm.io.save_program(tmp_path / "m", model.main, model.scope)
    assert main(["show", str(tmp_path / "m")]) == 0
    assert "provenance" not in capsys.readouterr().out
    model.main.provenance = {**FACTS, "averaged": [f"fc_{i}.w_0" for i in range(30)]}
    pm.io.save_program(tmp_path / "m", model.main, model.scope)
    assert main(["show", str(tmp_path / "m")]) == 0
    (line,) = re.findall("^provenance: .*$", capsys.readouterr().out, re.M)
    assert "scheme 'Window(4)'" in line and "steps 14" in line and "… 30 in all" in line and len(line) < 300
    (tmp_path / "m.pdmodel").write_bytes(with_text(SmallModel(), b"no JSON"))
    assert main(["show", str(tmp_path / "m")]) == 1
    assert "provenance is not a JSON object" in capsys.readouterr().err
