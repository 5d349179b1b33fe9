"""Names, comments, docstrings and messages use the terms of the field; docs/glossary.md lists them."""

import io
import pathlib
import re
import tokenize

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ["paddle_mini"]
"""Folders of Python whose prose follows the table; others join as their texts are revised."""

PROSE = {
    r"\b(nobody|somebody|someone|anyone|no one|whoever)\b": "the process, caller or object that acts",
    r"\bwhole numbers?\b": "integer",
    r"\banew\b": "again, from the beginning",
    r"\belse than\b": "other than",
    r"\bsuch a one\b": "if present",
    r"\b(go|goes|going|gone|went) on\b": "continue, resume",
    r"\bbegu?i?ns? again\b": "restart",
    r"\bon (its|their) way\b": "in flight, pending",
    r"\bhear[sd]? of\b": "received a message from",
    r"\bprocessors?\b(?!_)": "CPU",
    r"\b(is|are|was|were) no (?!longer\b|more\b)\w+": "is not a …, does not exist",
    r"\bput right\b": "corrected",
    r"^(What|Who)\b(?!.*\?)": "the thing itself as subject: 'The result of …', 'Whether …'",
}
"""Patterns, and what to write instead."""

NAMES = {
    "Meeting": "Rendezvous",
    "Around": "OptimizerWrapper",
    "Applier": "AverageSwapper",
    "Rounds": "SyncBarrier",
    "Halves": "SplitProgram",
    "told_storage": "storage_errors",
    "told_of": "translate_errors",
    "said_by": "overridden_method",
    "speaking": "log_context",
    "TrainerPart": "TrainerProcess",
    "ServerPart": "ServerProcess",
    "last_words": "flush_events",
    "fall_silent": "stop_heartbeat",
    "whole_number": "integer",
}
"""Identifiers, and the term to use instead."""


def words(source):
    """Pairs of line and text: identifiers as they are; comments and strings without their delimiters, joined to one line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string, True
        elif token.type in (tokenize.COMMENT, tokenize.STRING):
            text = re.sub(r'^#\s*|^[rbfu]*("""|"|\')\s*|("""|"|\')$', "", token.string, flags=re.I)
            yield token.start[0], " ".join(text.split()), False


def found(source):
    """Lines with a pattern or a name of the tables."""
    for line, text, is_name in words(source):
        if is_name:
            if text in NAMES:
                yield f"{line}: {text}: {NAMES[text]}"
            continue
        for pattern, better in PROSE.items():
            match = re.search(pattern, text)
            if match:
                yield f"{line}: '{match[0]}': {better}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_terms_of_the_field(folder):
    hits = [
        f"{path.relative_to(ROOT)}:{hit}" for path in sorted((ROOT / folder).rglob("*.py")) for hit in found(path.read_text())
    ]
    assert hits == []


def test_each_pattern_is_found():
    """The test above can fail, and ordinary sentences pass."""
    bad = ["nobody knows", "a whole number", "it begins anew", "the job goes on", "this is no matrix", "on the processor"]
    for text in bad:
        assert list(found(f"# {text}\n")), text
    assert list(found('def f():\n    """What is returned."""\n')) and list(found("Meeting = 1\n"))
    assert not list(found('# The job continues; it is no longer needed.\nx = "an integer"\n'))
