"""Orders, dominators and natural loops of any flow graph: a list of each node's successors.

Belongs here: nothing about what the nodes are; PTX has blocks (blocks.py), and so has machine code
(sass/graph.py). A loop is a back edge, to a node that dominates its source, and all nodes from which the
source is reached without passing that header. Jumps into the middle of a loop make none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def post_order(successors: list[tuple[int, ...]], root: int) -> list[int]:
    """The nodes that can be reached from a root, each behind all that it leads to but for loops."""
    seen = {root}
    order: list[int] = []
    stack = [(root, iter(successors[root]))]
    while stack:
        node, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(successors[target])))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def find_loops(successors: list[tuple[int, ...]], root: int = 0) -> dict[int, set[int]]:
    """The natural loops of what can be reached from a root, by header."""
    order = post_order(successors, root)[::-1]
    spans = _dominated(successors, order)
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for target in successors[node]:
            predecessors[target].append(node)
    loops: dict[int, set[int]] = {}
    for node in order:
        for header in successors[node]:
            first, last = spans[header]
            if not first <= spans[node][1] <= last:
                continue  # the header does not dominate the block
            body = loops.setdefault(header, {header})
            work = [node]
            while work:
                inside = work.pop()
                if inside not in body:
                    body.add(inside)
                    work += predecessors[inside]
    return loops


def control_dependents(
    successors: Mapping[int, tuple[int, ...]], header: int, branches: Iterable[int]
) -> set[int]:
    """The nodes of a loop that some of its branches decide about in a round, by Ferrante's definition.

    `successors` are those of the loop's nodes; at the header, and wherever else they lead, a round ends.
    """
    nodes = list(successors)
    number = {node: k for k, node in enumerate(nodes) if node != header}
    end, first = len(nodes), nodes.index(header)
    before: list[list[int]] = [[] for _ in range(end + 1)]
    for node in nodes:
        for target in successors[node] or (end,):
            before[number.get(target, end)].append(number.get(node, first))
    sources = [tuple(dict.fromkeys(one)) for one in before]
    behind = _immediate_dominators(sources, post_order(sources, end)[::-1])  # what all ways on come to
    found: set[int] = set()
    for branch in branches:
        stop = behind.get(number.get(branch, first), end)
        for target in successors[branch]:
            node = number.get(target, end)
            while node not in (stop, end):
                found.add(nodes[node])
                node = behind.get(node, end)
    return found


def _immediate_dominators(successors: list[tuple[int, ...]], order: list[int]) -> dict[int, int]:
    """Each block's parent in the dominator tree, by Cooper, Harvey and Kennedy's algorithm."""
    position = {node: index for index, node in enumerate(order)}
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for target in successors[node]:
            predecessors[target].append(node)
    parent: dict[int, int] = {order[0]: order[0]}

    def meet(a: int, b: int) -> int:
        while a != b:
            while position[a] > position[b]:
                a = parent[a]
            while position[b] > position[a]:
                b = parent[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            known = [p for p in predecessors[node] if p in parent]
            best = known[0]
            for other in known[1:]:
                best = meet(best, other)
            if parent.get(node) != best:
                parent[node] = best
                changed = True
    return parent


def _dominated(successors: list[tuple[int, ...]], order: list[int]) -> dict[int, tuple[int, int]]:
    """The numbers of the blocks that each block dominates: the first, and its own, which is the last."""
    parent = _immediate_dominators(successors, order)
    below: dict[int, list[int]] = {node: [] for node in order}
    for node in order[1:]:
        below[parent[node]].append(node)
    down = post_order([tuple(below.get(node, ())) for node in range(len(successors))], order[0])
    last = {node: number for number, node in enumerate(down)}
    first: dict[int, int] = {}
    for node in down:  # a block follows all that it dominates
        first[node] = min([last[node], *(first[one] for one in below[node])])
    return {node: (first[node], last[node]) for node in order}
