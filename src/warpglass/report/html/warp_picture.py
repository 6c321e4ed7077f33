"""The warp view as a picture: 32 lanes, and the sectors or banks that they touch, or the way that they went.

Belongs here: where boxes and lines stand, in units of the SVG, and the sentence that says the same. The
template draws them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...records.warp_views import BANKS, LANES, SECTOR, WORD, WarpView

_CELL, _LEFT, _TOP = 24, 8, 22  # width of a lane, margins
_FLOOR = 120  # where sectors or banks begin
_ROW = 34  # height of a row of sectors
_LINE = 4  # sectors of a 128-byte line
_LINES_IN_ROW = 8
_DEEPEST = 12  # words of a bank that are drawn


@dataclass(frozen=True, slots=True)
class Box:
    """A box with a label; `role` chooses its colour."""

    x: float
    y: float
    width: float
    height: float
    text: str
    role: str
    title: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes and lines (x1, y1, x2, y2) of an SVG of this size, with the sentence that says the same."""

    name: str
    heading: str
    sentence: str
    boxes: tuple[Box, ...]
    wires: tuple[tuple[float, float, float, float], ...]
    width: float
    height: float


def picture_of(view: WarpView, name: str) -> Picture:
    """The picture of a warp view."""
    where = f"line {view.line}: " if view.line else f"PTX line {view.ptx}: "
    if view.kind == "branch":
        return _branch(view, name, where)
    return (_banks if view.space == "shared" else _sectors)(view, name, where)


def badness(view: WarpView) -> float:
    """How much the lanes of a view cost beyond the least: passes, sectors, or ways."""
    if view.kind == "branch":
        return 1.0 if 0 < len(view.lanes(view.taken)) < len(view.lanes()) else 0.0
    if view.space == "shared":
        return float(passes(view) - _groups(view))
    asked = len(view.lanes()) * view.size
    return len(view.sectors()) - -(-asked // SECTOR)


def passes(view: WarpView) -> int:
    """How often shared memory is passed for one access: in groups of lanes of 128 bytes, each its most."""
    lanes = LANES // _groups(view)
    return sum(
        max(map(len, _words_of_banks(view, range(first, first + lanes)).values()), default=0)
        for first in range(0, LANES, lanes)
    )


def _groups(view: WarpView) -> int:
    return max(1, min(4, view.size // WORD))


def _words_of_banks(view: WarpView, lanes: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for lane in lanes:
        if view.active >> lane & 1:
            for word in view.units_of(lane, WORD):
                words = found.setdefault(word % BANKS, [])
                if word not in words:
                    words.append(word)
    return found


def _lane_x(lane: int) -> float:
    return _LEFT + _CELL * lane


def _lane_boxes(view: WarpView, roles: Sequence[str], titles: Sequence[str]) -> list[Box]:
    return [
        Box(_lane_x(lane), _TOP, _CELL - 2, 24, str(lane), roles[lane], f"lane {lane}: {titles[lane]}")
        for lane in range(LANES)
    ]


def _who(view: WarpView) -> str:
    return f"block {view.block}, warp {view.warp}"


def _branch(view: WarpView, name: str, where: str) -> Picture:
    taken, active = set(view.lanes(view.taken)), set(view.lanes())
    roles = ["taken" if x in taken else "other" if x in active else "idle" for x in range(LANES)]
    said = {"taken": "jumps", "other": "goes on", "idle": "not active"}
    parted = 0 < len(taken) < len(active)
    sentence = f"{_who(view)}: {len(taken)} of {len(active)} active lanes jump" + (
        ", the others go on; the two ways run one after the other."
        if parted
        else "; the warp stays together."
    )
    boxes = _lane_boxes(view, roles, [said[role] for role in roles])
    heading = f"{where}branch, {'lanes part' if parted else 'lanes stay together'} ({view.text})"
    return Picture(name, heading, sentence, tuple(boxes), (), 2 * _LEFT + _CELL * LANES, 60)


def _roles(view: WarpView) -> tuple[list[str], list[str]]:
    active = set(view.lanes())
    roles = ["lane" if lane in active else "idle" for lane in range(LANES)]
    titles = [
        f"{view.size} bytes at {view.addresses[lane]:#x}" if lane in active else "not active"
        for lane in range(LANES)
    ]
    return roles, titles


def _sectors(view: WarpView, name: str, where: str) -> Picture:
    touched = view.sectors()
    lines = sorted({sector // _LINE for sector in touched})
    width = (_CELL * LANES) / (_LINES_IN_ROW * _LINE)
    boxes = _lane_boxes(view, *_roles(view))
    centre: dict[int, tuple[float, float]] = {}
    for place, line in enumerate(lines):
        row, column = divmod(place, _LINES_IN_ROW)
        for part in range(_LINE):
            sector = line * _LINE + part
            x, y = _LEFT + (column * _LINE + part) * width, _FLOOR + row * _ROW
            used = sector in touched
            centre[sector] = (x + width / 2, y)
            title = f"sector {sector * SECTOR:#x}, {'moved' if used else 'not touched'}"
            gap = 4 if part == _LINE - 1 else 1
            boxes.append(Box(x, y, width - gap, 22, "", "sector" if used else "empty", title))
    wires = [
        (_lane_x(lane) + _CELL / 2 - 1, _TOP + 24, *centre[sector])
        for lane in view.lanes()
        for sector in view.units_of(lane, SECTOR)
    ]
    asked = len({byte for lane in view.lanes() for byte in view.units_of(lane, 1)})
    moved = SECTOR * len(touched)
    sentence = (
        f"{_who(view)}: {len(view.lanes())} active lanes ask for {asked} different bytes in {len(touched)} "
        f"sectors of {len(lines)} lines; {100 * asked / moved if moved else 0:.0f} % of what moves is used."
    )
    heading = f"{where}{view.kind}, {view.space} memory, {len(touched)} sectors ({view.text})"
    height = _FLOOR + _ROW * (1 + max(0, len(lines) - 1) // _LINES_IN_ROW)
    return Picture(name, heading, sentence, tuple(boxes), tuple(wires), 2 * _LEFT + _CELL * LANES, height)


def _banks(view: WarpView, name: str, where: str) -> Picture:
    words = _words_of_banks(view, range(LANES))
    boxes = _lane_boxes(view, *_roles(view))
    place: dict[int, tuple[float, float]] = {}
    for bank in range(BANKS):
        own = words.get(bank, [])
        boxes.append(
            Box(_lane_x(bank), _FLOOR, _CELL - 2, 20, str(bank), "bank" if own else "empty", f"bank {bank}")
        )
        for depth, word in enumerate(own[:_DEEPEST]):
            y = _FLOOR + 24 + 14 * depth
            title = f"word {word} in bank {bank}"
            boxes.append(Box(_lane_x(bank), y, _CELL - 2, 12, "", "conflict" if depth else "sector", title))
        place.update({word: (_lane_x(bank) + _CELL / 2 - 1, _FLOOR) for word in own})
    wires = [
        (_lane_x(lane) + _CELL / 2 - 1, _TOP + 24, *place[word])
        for lane in view.lanes()
        for word in list(view.units_of(lane, WORD))[:1]
    ]
    deepest = max(map(len, words.values()), default=0)
    count = passes(view)
    least = _groups(view)
    sentence = (
        f"{_who(view)}: lanes want at most {deepest} different words of one bank, so the access passes over "
        f"shared memory {count} time{'' if count == 1 else 's'}; {least} would do."
    )
    heading = f"{where}{view.kind}, shared memory, {count} passes ({view.text})"
    height = _FLOOR + 30 + 14 * min(deepest, _DEEPEST)
    return Picture(name, heading, sentence, tuple(boxes), tuple(wires), 2 * _LEFT + _CELL * LANES, height)
