"""Flow of threads through a graph: what enters a block leaves it.

Belongs here: solving for blocks and edges of which conservation leaves no choice, nothing heuristic. It
serves graphs of PTX and of machine code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

OUTSIDE = -1  # where threads come from and go to

Edge = tuple[int, int]


class Flow:
    """A graph in which the threads of some blocks are known; `propagate` finds those that follow.

    `successors` may contain OUTSIDE; threads come from there to `entries`. `born` are those that leave a
    block in excess of those that enter it: warps that part in it are two from there on.
    """

    def __init__(
        self,
        successors: Sequence[Sequence[int]],
        entries: Iterable[int],
        born: Mapping[int, int] | None = None,
    ):
        self.known: dict[int, Fraction] = {}
        self.born = born or {}
        self.edges: dict[Edge, Fraction] = {}
        self.outgoing: list[list[Edge]] = [
            [(number, target) for target in dict.fromkeys(targets)]
            for number, targets in enumerate(successors)
        ]
        self.incoming: list[list[Edge]] = [[] for _ in successors]
        for edges in self.outgoing:
            for edge in edges:
                if edge[1] != OUTSIDE:
                    self.incoming[edge[1]].append(edge)
        for number in entries:
            self.incoming[number].append((OUTSIDE, number))

    def learn(self, number: int, threads: Fraction) -> None:
        """Settle a block, unless it is already."""
        self.known.setdefault(number, threads)

    def propagate(self) -> None:
        """Settle what follows from conservation, until nothing more does."""
        changed = True
        while changed:
            changed = False
            for number in range(len(self.outgoing)):
                changed |= self._balance(number, self.incoming[number], 0)
                changed |= self._balance(number, self.outgoing[number], self.born.get(number, 0))

    def _balance(self, number: int, sides: Sequence[Edge], born: int) -> bool:
        """Settle what one side of a block leaves no choice about; tell whether anything was."""
        unknown = [edge for edge in sides if edge not in self.edges]
        if not sides or (not unknown and number in self.known):
            return False
        total = sum((self.edges[edge] for edge in sides if edge in self.edges), Fraction(0))
        if number not in self.known:
            if not unknown:
                self.known[number] = max(total - born, Fraction(0))
            return not unknown
        # Where evidence and conservation disagree there is less than nothing left: nothing, then.
        rest = max(self.known[number] + born - total, Fraction(0))
        if len(unknown) == 1 or not rest:
            self.edges |= dict.fromkeys(unknown, Fraction(0)) | {unknown[0]: rest}
            return True
        return False
