"""Hooks of the documentation site: pages of the API reference, one for each public module, and links to files outside docs."""

from __future__ import annotations

import html
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

DOCS = Path(__file__).parent
MODULES = {  # name: title
    "paddle_mini": "Programs and executors",
    "paddle_mini.layers": "Layers",
    "paddle_mini.nets": "Networks",
    "paddle_mini.optimizer": "Optimizers",
    "paddle_mini.averaging": "Averages",
    "paddle_mini.lr": "Learning rates",
    "paddle_mini.amp": "Mixed precision",
    "paddle_mini.clip": "Clipping",
    "paddle_mini.regularizer": "Regularizers",
    "paddle_mini.initializer": "Initializers",
    "paddle_mini.io": "Files",
    "paddle_mini.onnx": "ONNX",
    "paddle_mini.data": "Data",
    "paddle_mini.training": "Training in one call",
    "paddle_mini.loggers": "Loggers",
    "paddle_mini.devices": "Devices",
    "paddle_mini.cluster": "Jobs",
    "paddle_mini.unique_name": "Names",
}


BOOSTS = {"howto.md": 2, "fit.md": 1.5, "decisions/": 0.3}
"""Where the search looks first: answers before reasons."""


class _Plain:
    """An annotation that a signature shows without quotation marks."""

    def __init__(self, annotation: Any):
        self._text = getattr(annotation, "__forward_arg__", annotation)

    def __repr__(self) -> str:
        return self._text if isinstance(self._text, str) else inspect.formatannotation(self._text)


def signature_of(name: str, thing: Any) -> str:
    """The call with its parameters, one a line if they are many; "" for a property."""
    try:
        signature = inspect.signature(thing)
    except (ValueError, TypeError):
        return _signature_in_docstring(name, thing)
    parameters = [
        one if one.annotation is one.empty else one.replace(annotation=_Plain(one.annotation))
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    returned = signature.return_annotation
    plain = _Plain(signature.empty if inspect.isclass(thing) else returned)
    arrow = "" if inspect.isclass(thing) or returned is signature.empty else f" -> {plain!r}"
    call = f"{name}{signature.replace(parameters=parameters, return_annotation=signature.empty)}{arrow}"
    if len(call) <= 100:
        return call
    lines = "".join(f"    {line},\n" for line in _parameter_lines(signature.replace(parameters=parameters)))
    return f"{name}(\n{lines}){arrow}"


def _signature_in_docstring(name: str, thing: Any) -> str:
    """The signature with which the docstring of a function of the C++ module begins."""
    first = (inspect.getdoc(thing) or "").split("\n")[0]
    short = name.rpartition(".")[2]
    return re.sub(r"self: [\w.]+(, )?|[a-z_.]+\._core\.|collections\.abc\.", "", first) if first.startswith(f"{short}(") else ""


def _parameter_lines(signature: inspect.Signature) -> Iterator[str]:
    """The parameters, with the * before the first one that is by keyword only."""
    before = None
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and before not in (one.KEYWORD_ONLY, one.VAR_POSITIONAL):
            yield "*"
        before = one.kind
        yield str(one)


def documentation_of(thing: Any) -> list[str]:
    """The docstring, with its lines as they are; its example as code."""
    described = inspect.getdoc(thing) or ""
    if _signature_in_docstring(getattr(thing, "__name__", "."), thing):
        described = described.partition("\n")[2].strip()
    text, heading, example = described.partition("\nExample:\n")
    if not heading:
        text, heading, example = text.partition("\n>>> ")
        example = ">>> " * bool(heading) + example
    shown = ['<div class="docstring" markdown="0">' + html.escape(text.rstrip()) + "</div>", ""]
    return [*shown, "```pycon", inspect.cleandoc(example), "```", ""] if example else shown


def members_of(kind: type, documented: set[Any]) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that the class adds to its documented base classes."""
    for name, value in inspect.getmembers(kind, lambda one: callable(one) or isinstance(one, property)):
        home = next(base for base in kind.__mro__ if name in vars(base))
        known = any(hasattr(base, name) for base in kind.__mro__[1:] if base in documented)
        if not name.startswith("_") and not known and home.__module__ != "builtins" and inspect.getdoc(value):
            yield name, value


def section_of(name: str, thing: Any, heading: str, documented: set[Any]) -> list[str]:
    """A heading, the signature and the docstring; then the members of a class."""
    short = name.rpartition(".")[2]
    signature = signature_of(name, thing)
    text = [f"{heading} {short}", "", *(["```python", signature, "```", ""] if signature else []), *documentation_of(thing)]
    if inspect.isclass(thing) and issubclass(thing, Exception):
        text += ["[Messages, causes and remedies](../errors.md)", ""]
    elif inspect.isclass(thing):
        for member, value in members_of(thing, documented):
            text += section_of(f"{short}.{member}", value, heading + "#", documented)
    return text


def page_of(name: str, documented: set[Any]) -> str:
    module = importlib.import_module(name)
    text = [f"# {MODULES[name]}: `{name}`", "", *documentation_of(module)]
    for member in module.__all__:
        value = getattr(module, member)
        own = getattr(value, "__name__", member)
        if own != member and own in module.__all__:
            text += [f"## {member}", "", f"Another name of [{own}](#{own.lower()}).", ""]
        elif callable(value):
            text += section_of(f"{name}.{member}", value, "##", documented)
    return "\n".join(text)


def documented_classes() -> set[Any]:
    modules = [importlib.import_module(name) for name in MODULES]
    return {value for module in modules for name in module.__all__ if inspect.isclass(value := getattr(module, name))}


def on_config(config: Any) -> Any:
    (reference,) = (entry["Reference"] for entry in config.nav if "Reference" in entry)
    reference += [{title: f"reference/{name}.md"} for name, title in MODULES.items()]
    return config


def on_files(files: Files, config: Any) -> Files:
    documented = documented_classes()
    for name in MODULES:
        files.append(File.generated(config, f"reference/{name}.md", content=page_of(name, documented)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link to a file outside docs becomes its path: the site does not contain it."""
    page.meta["search"] = {"boost": next((boost for path, boost in BOOSTS.items() if page.file.src_path.startswith(path)), 1)}
    folder = (DOCS / page.file.src_path).parent

    def shown(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        return link[0] if target.is_relative_to(DOCS) else f"{link[1]} (`{target.relative_to(DOCS.parent)}`)"

    return re.sub(r"\[([^\]]*)\]\((\.\.?/[^)#]*)\)", shown, markdown)
