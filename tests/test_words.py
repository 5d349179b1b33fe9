"""Names, comments, docstrings, messages and documents use the terms of the field; docs/glossary.md lists them."""

import io
import pathlib
import re
import tokenize
from collections.abc import Iterator

import pytest

import cxx_words

ROOT = pathlib.Path(__file__).resolve().parents[1]
PYTHON = ["paddle_mini", "tests", "python", "benchmarks", "examples", "docs"]
CXX = ["cpp", "python", "tests"]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]

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
    r"(?<![Tt]here )\b(is|are|was|were) no (?!longer\b|more\b)\w+": "is not a …, does not exist",
    r"\bput right\b": "corrected",
    r"\bbehind (the|it|its|them|their|this|that|where|training)\b": "after, at the end of, asynchronously",
    r"\b[Nn]ot so where\b|\bwhere for that\b": "a sentence with subject and verb",
    r"\bstretch(es|ed|ing)?\b": "broadcast, tile, segment",
    r"\bcoins?\b|\btoss(es|ed|ing)?\b": "Bernoulli mask, sample",
    r"\bnumbers of two bytes\b": "16-bit floats",
    r"\b(all|both) or (none|neither)\b": "must be given together",
    r"^Of\b": "a noun first: 'For …', or the thing itself",
    # The headings of docs/decisions are questions without a question mark.
    r"^(What|Who)\b(?!.*\?| would change it\b)": "the thing itself as subject: 'The result of …', 'Whether …'",
}
"""Patterns, and what to write instead."""

COMMENTS = {r"^of\b": "a noun first: 'for', 'from', or the thing itself"}
"""Patterns for comments only: a string that begins so may be a part of a message."""

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
    "Applied": "SwappedValues",
    "Ledger": "DeduplicationLog",
    "begin_anew": "reset",
    "contract": "op_schema",
    "give_up": "cancel",
    "processor_levels": "cpu_levels",
}
"""Identifiers, and the term to use instead."""

ANY = {
    kind: re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    for kind, patterns in {"string": PROSE, "comment": PROSE | COMMENTS}.items()
}
"""One pattern for those of a kind of text, since most texts have none of them."""

Text = tuple[int, str, str]  # line, text, kind: name, comment or string


def words(source: str) -> Iterator[Text]:
    """Identifiers; strings without their delimiters and fields; comments on adjacent lines as one text."""
    line, parts = -1, []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if parts and (token.type != tokenize.COMMENT or token.start[0] != line + 1) and token.type != tokenize.NL:
            yield line, " ".join(" ".join(parts).split()), "comment"
            parts = []
        if token.type == tokenize.NAME:
            yield token.start[0], token.string, "name"
        elif token.type == tokenize.STRING:
            text = re.sub(r'^[rbfu]*("""|"|\')\s*|("""|"|\')$', "", token.string, flags=re.I)
            yield token.start[0], " ".join(re.sub(r"\{[^{}]*\}", "", text).split()), "string"
        elif token.type == tokenize.COMMENT:
            line, parts = token.start[0], [*parts, token.string.lstrip("# ")]


def cxx_texts(source: str) -> Iterator[Text]:
    for line, text, is_comment in cxx_words.texts(source):
        yield line, text, "comment" if is_comment else "string"


def paragraphs(document: str) -> Iterator[Text]:
    """The paragraphs, headings, items and rows of a Markdown document, without code."""
    document = re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), document, flags=re.S)
    line = 1
    for block in re.split(r"(\n(?=\s*\n|\s*[*#|-]|\s*\d+\.\s))", document):
        text = re.sub(r"`[^`]*`", "`…`", block)
        yield line, re.sub(r"^[\s*#|>-]+", "", " ".join(text.split())), "string"
        line += block.count("\n")


def found(texts: Iterator[Text]) -> Iterator[str]:
    """Lines with a pattern or a name of the tables."""
    for line, text, kind in texts:
        if kind == "name":
            if text in NAMES:
                yield f"{line}: {text}: {NAMES[text]}"
            continue
        if not ANY[kind].search(text):
            continue
        for pattern, better in {**PROSE, **(COMMENTS if kind == "comment" else {})}.items():
            match = re.search(pattern, text)
            if match:
                yield f"{line}: '{match[0]}' in '{text[max(0, match.start() - 40) : match.end() + 40]}': {better}"


def hits(folder: str, suffixes: tuple[str, ...], texts) -> list[str]:
    paths = sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes and path.name != "test_words.py")
    assert paths
    return [f"{path.relative_to(ROOT)}:{hit}" for path in paths for hit in found(texts(path.read_text()))]


@pytest.mark.parametrize("folder", PYTHON)
def test_python_uses_the_terms_of_the_field(folder):
    assert hits(folder, (".py",), words) == []


@pytest.mark.parametrize("folder", CXX)
def test_cxx_uses_the_terms_of_the_field(folder):
    assert hits(folder, (".c", ".cc", ".cu", ".h"), cxx_texts) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_use_the_terms_of_the_field(document):
    assert list(found(paragraphs((ROOT / document).read_text()))) == []


BAD = ["nobody knows", "a whole number", "it begins anew", "the job goes on", "this is no matrix", "on the processor"]


def test_each_pattern_is_found():
    """The tests above can fail, and ordinary sentences pass."""
    for text in BAD:
        assert list(found(words(f"# {text}\n"))) and list(found(cxx_texts(f"// {text}\n"))), text
        assert list(found(cxx_texts(f'f("{text[:4]}"\n  "{text[4:]}");\n'))) and list(found(paragraphs(f"\n* {text}\n"))), text
    assert list(found(words('def f():\n    """What is returned."""\n'))) and list(found(words("Meeting = 1\n")))
    assert list(found(cxx_texts("int x;  // of the job\n"))) and not list(found(cxx_texts('fail("element ", i, " of X");\n')))
    assert not list(
        found(words('# The job continues; it is no longer needed.\n# There is no more.\nx = f"an integer {whole}"\n'))
    )
    assert not list(found(cxx_texts("// The value, for\n// of two lines.\nchar c = '\"';  // it's a quotation mark\n")))
    assert not list(found(paragraphs("The name\nof a `whole number`.\n```\nnobody\n```\n")))
