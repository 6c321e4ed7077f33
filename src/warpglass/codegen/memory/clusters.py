"""Lanes' accesses that lie in a few places far apart, as the rows of a tile do: one access for each.

Belongs here: which static patterns are such clusters, and the loads and stores for them. All offsets are in
elements from the pattern's lowest one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...isa.types import BITS
from ..builder import Builder, constant_vector, suffix, vector

# Clusters of one pattern up to which they beat a gather, elements of one, and elements between two of them.
_MOST, _WIDEST, _GAP = 8, 32, 8


@dataclass(frozen=True, slots=True)
class Cluster:
    """Neighbouring elements: the first one, how many a vector of them holds, and which of those are meant."""

    start: int
    width: int
    present: frozenset[int]

    @property
    def full(self) -> bool:
        """Whether the whole vector is meant."""
        return len(self.present) == self.width


def find_clusters(elements: Sequence[int]) -> list[Cluster] | None:
    """The clusters of the elements that a pattern has; None if they are too many or too wide."""
    groups: list[list[int]] = []
    for element in sorted(set(elements)):
        if groups and element - groups[-1][-1] <= _GAP:
            groups[-1].append(element)
        else:
            groups.append([element])
    found: list[Cluster] = []
    for group in groups:
        width = 1 << (group[-1] - group[0]).bit_length()
        found.append(Cluster(group[0], width, frozenset(element - group[0] for element in group)))
    return found if len(found) <= _MOST and all(one.width <= _WIDEST for one in found) else None


def find_singles(vectors: Sequence[Sequence[int]]) -> list[list[Cluster]] | None:
    """The clusters of each of several patterns if all are single elements, and few; None otherwise."""
    found = [find_clusters(elements) or [] for elements in vectors]
    singles = all(own and all(one.width == 1 for one in own) for own in found)
    return found if singles and sum(map(len, found)) <= _MOST else None


def load_clusters(
    b: Builder, host: str, type_: str, clusters: Sequence[Cluster], elements: Sequence[int]
) -> str:
    """What each lane's element holds, all of which may be read, as a vector."""
    whole = b.vector(type_)
    result = "poison"
    for cluster in clusters:
        own = [0 <= element - cluster.start < cluster.width for element in elements]
        if not any(own):
            continue
        loaded = _load(b, host, type_, cluster)
        if cluster.width == 1:
            spread = b.splat(type_, loaded)
        else:
            picks = (e - cluster.start if mine else 0 for e, mine in zip(elements, own, strict=True))
            spread = _shuffle(b, vector(type_, cluster.width), loaded, "poison", picks)
        if result == "poison":
            result = spread
        else:
            result = _shuffle(
                b, whole, result, spread, (lane + b.width * mine for lane, mine in enumerate(own))
            )
    return result


def _load(b: Builder, host: str, type_: str, cluster: Cluster) -> str:
    where = b.offset(host, cluster.start * BITS[type_] // 8)
    whole = vector(type_, cluster.width)
    if cluster.full:
        return b.load(whole, where, ", align 1")
    args = [("ptr", f"align 1 {where}"), _present(cluster), (whole, "zeroinitializer")]
    return b.call(whole, f"llvm.masked.load.{suffix(type_, cluster.width)}.p0", args)


def _present(cluster: Cluster) -> tuple[str, str]:
    bits = ("true" if k in cluster.present else "false" for k in range(cluster.width))
    return vector("i1", cluster.width), constant_vector("i1", bits)


def store_clusters(
    b: Builder,
    host: str,
    type_: str,
    clusters: Sequence[Cluster],
    elements: Sequence[int],
    value: str,
    mask: str,
) -> None:
    """Put the lanes of a mask where each has its element, which are all different."""
    lane_of = {element: lane for lane, element in enumerate(elements)}
    for cluster in clusters:
        where = b.offset(host, cluster.start * BITS[type_] // 8)
        lanes = [lane_of.get(cluster.start + k) for k in range(cluster.width)]
        if cluster.width == 1 and mask == "-1":
            one = b.value(f"extractelement {b.vector(type_)} {value}, i32 {lanes[0]}")
            b.store(type_, one, where, ", align 1")
            continue
        part = _shuffle(b, b.vector(type_), value, "poison", (lane or 0 for lane in lanes))
        whole, width = f"<{cluster.width} x {type_}>", cluster.width
        if cluster.full and mask == "-1":
            b.store(whole, part, where, ", align 1")
            continue
        acts = _shuffle(
            b,
            b.vector("i1"),
            b.mask_vector(mask),
            "zeroinitializer",
            (b.width if lane is None else lane for lane in lanes),
        )
        args = [(whole, part), ("ptr", f"align 1 {where}"), (f"<{width} x i1>", acts)]
        b.call("void", f"llvm.masked.store.v{width}{suffix(type_, 1)}.p0", args)


# ------------------------------------------------------------------------------------ lanes far apart
def load_each(b: Builder, host: str, type_: str, elements: Sequence[int]) -> str:
    """What each lane's element holds, one by one: no address is computed, as there is for a gather."""
    found = "poison"
    for lane, element in enumerate(elements):
        one = b.load(type_, b.offset(host, element * BITS[type_] // 8), ", align 1")
        found = b.value(f"insertelement {b.vector(type_)} {found}, {type_} {one}, i32 {lane}")
    return found


def store_each(b: Builder, host: str, type_: str, elements: Sequence[int], value: str) -> None:
    """Put each lane's value to its element, the highest lane last."""
    for lane, element in enumerate(elements):
        one = b.value(f"extractelement {b.vector(type_)} {value}, i32 {lane}")
        b.store(type_, one, b.offset(host, element * BITS[type_] // 8), ", align 1")


def _shuffle(b: Builder, whole: str, one: str, two: str, picks: Iterable[int]) -> str:
    chosen = [f"i32 {pick}" for pick in picks]
    return b.value(f"shufflevector {whole} {one}, {whole} {two}, <{len(chosen)} x i32> <{', '.join(chosen)}>")
