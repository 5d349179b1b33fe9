"""Writes the tables of PaddlePaddle 2's names in howto.md, from paddle_mini/paddle2_names.py: python docs/make_names.py"""

import pathlib

from paddle_mini.paddle2_names import ARGUMENTS, DIFFERENT_ARGUMENTS, OBJECTS, WITHOUT

PAGE = pathlib.Path(__file__).parent / "howto.md"
BEGIN = "<!-- from paddle2_names.py, by docs/make_names.py -->\n"


def lines():
    """The tables, each with its heading."""
    yield from ("", "Arguments that mean the same:", "", "| PaddlePaddle 2 | here | for |", "|---|---|---|")
    for other, name, functions in ARGUMENTS:
        listed = ", ".join(f"`{function}`" for function in sorted(functions.split())) or f"all that take `{name}`"
        yield f"| `{other}` | `{name}` | {listed} |"
    yield from (
        "",
        "Arguments that are an error, with this advice, some of PyTorch and Keras too:",
        "",
        "| argument | of | advice |",
        "|---|---|---|",
    )
    for (function, other), advice in DIFFERENT_ARGUMENTS.items():
        yield f"| `{other}` | {f'`{function}`' if function else 'all'} | {advice} |"
    yield from ("", "Functions and classes that mean the same:", "", "| PaddlePaddle 2 | here |", "|---|---|")
    for path, here in OBJECTS.items():
        yield f"| `{path}` | `{here}` |"
    yield from ("", "Functions and classes that are an error, with this advice:", "", "| PaddlePaddle 2 | advice |", "|---|---|")
    for path, advice in WITHOUT.items():
        yield f"| `{path}` | {advice} |"


def page(text):
    """The page with these tables: they are its end."""
    return text[: text.index(BEGIN) + len(BEGIN)] + "\n".join(lines()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
