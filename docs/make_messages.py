"""Writes the list of messages in cluster.md, from the classes of paddle_mini/cluster/protocol.py: python docs/make_messages.py"""

import dataclasses
import pathlib

from paddle_mini.cluster.messages import REQUESTS

PAGE = pathlib.Path(__file__).parent / "cluster.md"
BEGIN = "<!-- from protocol.py, by docs/make_messages.py -->\n"
TITLES = {"coordinator": "the coordinator", "server": "a parameter server", "trainer": "a trainer of collective mode"}


def _fields(kind):
    """Names of the fields; optional ones are marked with "?"."""
    return ", ".join(
        f"`{one.name}`" + "?" * (one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING)
        for one in dataclasses.fields(kind)
    )


def lines():
    """The tables, each with its heading."""
    for service, title in TITLES.items():
        yield from ("", f"Requests to {title}:", "", "| request | meaning | fields | fields of the reply |", "|---|---|---|---|")
        for kind in REQUESTS[service].values():
            yield f"| `{kind.name}` | {' '.join(kind.__doc__.split())} | {_fields(kind)} | {_fields(kind.reply)} |"


def page(text):
    """The page with the tables of these classes: they are its end."""
    return text[: text.index(BEGIN) + len(BEGIN)] + "\n".join(lines()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
