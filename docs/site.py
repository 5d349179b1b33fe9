"""Hooks of the documentation site: pages of the API reference, one for each public module, and links to files outside docs."""

from __future__ import annotations

import html
import importlib
import inspect
import re
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
    "paddle_mini.clip": "Clipping",
    "paddle_mini.regularizer": "Regularizers",
    "paddle_mini.initializer": "Initializers",
    "paddle_mini.io": "Files",
    "paddle_mini.data": "Data",
    "paddle_mini.devices": "Devices",
    "paddle_mini.cluster": "Jobs",
}


def public_names(module: Any) -> list[str]:
    """The functions and classes of __all__, or what the module itself makes public."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return [name for name in names if callable(getattr(module, name))]


def signature_of(thing: Any) -> str:
    try:
        return str(inspect.signature(thing))
    except ValueError:  # a function of the C++ module; its docstring begins with it
        return ""


def section_of(name: str, thing: Any, heading: str) -> list[str]:
    """A heading, the signature and the docstring, with its lines as they are; then the public methods of a class."""
    described = html.escape(inspect.getdoc(thing) or "")
    text = [f"{heading} {name.rpartition('.')[2]}", "", "```python", f"{name}{signature_of(thing)}", "```", ""]
    text += ['<div class="docstring" markdown="0">' + described + "</div>", ""]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        methods = {method: value for method, value in inspect.getmembers(thing, callable) if not method.startswith("_")}
        for method, value in methods.items():
            if inspect.getdoc(value):
                text += section_of(f"{name.rpartition('.')[2]}.{method}", value, heading + "#")
    return text


def page_of(name: str) -> str:
    module = importlib.import_module(name)
    text = [f"# {MODULES[name]}: `{name}`", "", f'<div class="docstring">{html.escape(module.__doc__ or "")}</div>', ""]
    for member in public_names(module):
        text += section_of(f"{name}.{member}", getattr(module, member), "##")
    return "\n".join(text)


def on_config(config: Any) -> Any:
    (reference,) = (entry["Reference"] for entry in config.nav if "Reference" in entry)
    reference += [{title: f"reference/{name}.md"} for name, title in MODULES.items()]
    return config


def on_files(files: Files, config: Any) -> Files:
    for name in MODULES:
        files.append(File.generated(config, f"reference/{name}.md", content=page_of(name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link to a file outside docs becomes its path: the site does not contain it."""
    folder = (DOCS / page.file.src_path).parent

    def shown(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        return link[0] if target.is_relative_to(DOCS) else f"{link[1]} (`{target.relative_to(DOCS.parent)}`)"

    return re.sub(r"\[([^\]]*)\]\((\.\.?/[^)#]*)\)", shown, markdown)
