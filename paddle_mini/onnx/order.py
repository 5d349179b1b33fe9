# Nodes in the order in which they are read: ONNX requires it, but some tools append casts at the end of a graph.
from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any


def inner_graphs(node: Any) -> Iterator[Any]:
    """The graphs in the attributes of a node."""
    for attr in node.attribute:
        yield from [attr.g] if attr.HasField("g") else attr.graphs


def names_read(node: Any) -> Iterator[str]:
    """The names that a node reads, also those that its inner graphs read."""
    yield from node.input
    for graph in inner_graphs(node):
        yield from (output.name for output in graph.output)
        for inner in graph.node:
            yield from names_read(inner)


def sort_nodes(graph: Any) -> bool:
    """Moves nodes that read a value after the one that writes it, and returns whether any had to move. A cycle stays."""
    moved = any([sort_nodes(inner) for node in graph.node for inner in inner_graphs(node)])
    writer = {name: index for index, node in enumerate(graph.node) for name in node.output if name}
    sources = {index: {writer[name] for name in names_read(node) if name in writer} for index, node in enumerate(graph.node)}
    if all(source < index for index, found in sources.items() for source in found):
        return moved
    try:
        nodes = [graph.node[index] for index in TopologicalSorter(sources).static_order()]
    except CycleError:
        return moved
    set_nodes(graph, nodes)
    return True


def set_nodes(graph: Any, nodes: list[Any]) -> None:
    """Replaces the nodes of a graph by these, of which some may be its own."""
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
