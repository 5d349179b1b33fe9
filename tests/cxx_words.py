"""Comments and string literals of C++ sources, for tests of wording."""

import re
from collections.abc import Iterator

TOKEN = re.compile(
    r"""
      (?P<line>//[^\n]*)                            # a comment to the end of the line
    | (?P<block>/\*.*?\*/)
    | R"(?P<tag>[^(\s]*)\((?P<raw>.*?)\)(?P=tag)"   # a raw string
    | "(?P<string>(?:\\.|[^"\\\n])*)"
    | '(?:\\.|[^'\\\n])+'                           # a character, which may be a quotation mark
    """,
    re.VERBOSE | re.DOTALL,
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\s+"[^"\n]*"', re.MULTILINE)


def texts(source: str) -> Iterator[tuple[int, str, bool]]:
    """Triples: line number, text, whether it is a comment. Adjacent literals, or comments, are one text."""
    source = INCLUDE.sub("", source)
    start, kind, end, parts = 0, "", 0, []
    for token in TOKEN.finditer(source):
        now = next((name for name in ("line", "block", "raw", "string") if token[name] is not None), "")
        between = source[end : token.start()]
        joins = now == kind and now in ("line", "string") and not between.strip() and between.count("\n") < 2
        if parts and not joins:
            yield start, " ".join("".join(parts).split()), kind in ("line", "block")
            parts = []
        if now:
            if not parts:
                start = source.count("\n", 0, token.start()) + 1
            parts.append(re.sub(r"^/[/*]+|\*/$", "", token[now]) + (" " if now == "line" else ""))
        kind, end = now, token.end()
    if parts:
        yield start, " ".join("".join(parts).split()), kind in ("line", "block")
