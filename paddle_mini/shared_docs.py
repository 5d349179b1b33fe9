# Descriptions of what many functions share, their common arguments and errors, each written once.
from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any


def describe_shared(things: Iterable[Any], arguments: Mapping[str, str], errors: Mapping[str, str] | None = None) -> None:
    """Completes docstrings of functions and classes, before their examples: with the descriptions of those of their
    parameters that they do not name, and with errors, by class."""
    for thing in dict.fromkeys(things):  # some have two names
        if thing.__doc__ is None:  # python -OO leaves docstrings out
            continue
        parameters = _parameters(thing.__init__ if inspect.isclass(thing) else thing)
        text, example, code = _without_margin(thing.__doc__).partition("\nExample:\n")
        names = [name for name in parameters if name in arguments and not _names(text, name)]
        given: dict[str, list[str]] = {}
        for name in names:
            given.setdefault(arguments[name], []).append(name)
        described = [f"{', '.join(alike)}: {description}" for description, alike in given.items()]
        thing.__doc__ = _completed(text, described, errors or {}) + example + code


def _without_margin(text: str) -> str:
    """inspect.cleandoc takes ten times as long, at every import. The second line that is not empty has the margin."""
    margin = re.search(r"\n( *)\S", text)
    return text.replace("\n" + margin[1], "\n").strip() if margin else text.strip()


def _names(text: str, name: str) -> bool:
    """Whether it is one of the words of the text: an expression with \\b takes five times as long."""
    at = text.find(name)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(name) : at + len(name) + 1]
        if "_" not in around and not any(character.isalnum() for character in around):
            return True
        at = text.find(name, at + 1)
    return False


def _parameters(function: Any) -> tuple[str, ...]:
    if hasattr(function, "__signature__"):
        return tuple(function.__signature__.parameters)
    code = getattr(inspect.unwrap(function), "__code__", None)  # inspect.signature takes ten times as long, at every import
    return () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _completed(text: str, described: list[str], errors: Mapping[str, str]) -> str:
    before, returns, after = text.partition("\nReturns:\n")
    if not returns:  # prose
        kinds = [f"{kind} for {cause}" for kind, cause in errors.items()]
        raised = [f"Raises {', '.join(kinds)}."] if kinds else []
        return "\n".join([text, *(f"{line}." for line in described), *raised])
    if described and "\nArgs:\n" not in before:
        before += "\n\nArgs:"
    lines = [before, *(f"    {line}" for line in described), returns[1:] + after]
    if errors and "\nRaises:\n" not in text:
        lines += ["Raises:", *(f"    {kind}: for {cause}" for kind, cause in errors.items())]
    return "\n".join(lines)
