"""What surfaces are asked: stores, loads and reductions at coordinates inside and outside."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import driver as d
from .cases import words

Array = np.ndarray[Any, Any]
_AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}
SIZES = {"1d": (37, 0, 0), "2d": (19, 13, 0), "3d": (9, 7, 5), "a1d": (37, 0, 5), "a2d": (19, 13, 5)}


@dataclass(frozen=True)
class Surface:
    """One surface and one instruction; `whole` coordinates stay within, others go beyond."""

    name: str
    instruction: str
    geometry: str
    kind: str = "u32"
    channels: int = 1
    bytes: int = 4  # per access, 1 if x counts elements
    whole: bool = False
    once: bool = False  # no two threads at one place
    count: int = 256


def coordinates(case: Surface) -> str:
    names = [f"%a{k}" for k in range(_AXES[case.geometry])]
    if case.geometry.startswith("a"):
        names = [names[-1], *names[:-1]]
    names += [names[-1]] * (4 - len(names) if len(names) == 3 else 0)
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def values(case: Surface) -> Array:
    """What the array holds at first."""
    width, height, depth = SIZES[case.geometry]
    shape = (max(depth, 1), max(height, 1), width, case.channels)
    dtype = np.dtype(d.FORMATS[case.kind][1])
    raw = words(f"surface{case.kind}{shape}", int(np.prod(shape)))
    if dtype.kind == "f":
        return (raw / 2.0**31 - 1).astype(dtype).reshape(shape)
    return raw.astype(dtype).reshape(shape)


def inputs(case: Surface) -> Array:
    """Rows: coordinates, then values from %a4 on."""
    rows = np.zeros((case.count, d.ROW), np.uint32)
    width, height, depth = SIZES[case.geometry]
    extents = [width, height, depth][: _AXES[case.geometry]]
    if case.geometry == "a1d":
        extents = [width, depth]
    if case.once:
        flat = np.arange(int(np.prod(extents)))[: case.count]
        rows = rows[: len(flat)]
        order = np.argsort(words(case.name + "o", len(flat)), kind="stable")
        for axis, extent in enumerate(extents):
            rows[:, axis] = (flat % extent)[order]
            flat = flat // extent
        rows[:, 0] += (words(case.name + "x", len(rows)) % np.uint32(5) == 0).astype(np.uint32) * np.uint32(
            width
        )
    else:
        for axis, extent in enumerate(extents):
            margin = 0 if case.whole else 3
            number = words(f"{case.name}/{axis}", case.count) % np.uint32(extent + 2 * margin)
            rows[:, axis] = (number.astype(np.int32) - margin).view(np.uint32)
    element = d.FORMATS[case.kind][1]
    size = int(element[1]) * case.channels if case.bytes > 1 or ".b." in case.instruction else 1
    rows[:, 0] = (rows[:, 0].view(np.int32) * size).view(np.uint32)
    rows[:, 4:8] = words(case.name + "v", 4 * len(rows)).reshape(-1, 4)
    return rows


def instruction(case: Surface) -> str:
    """The PTX; %a4 to %a7 are stored, %r0 to %r3 loaded."""
    opcode = case.instruction
    at = f"[%obj, {coordinates(case)}]"
    if opcode.startswith("suq"):
        return f"{opcode} %r0, [%obj];"
    if ".b8" in opcode or ".b16" in opcode:
        lanes = int(opcode.split(".v")[1][0]) if ".v" in opcode else 1
        names = [f"%h{k}" for k in range(lanes)]
        vector = names[0] if lanes == 1 else "{" + ", ".join(names) + "}"
        if opcode.startswith("sust"):
            moves = " ".join(f"cvt.u16.u32 %h{k}, %a{4 + k};" for k in range(lanes))
            return f"{moves} {opcode} {at}, {vector};"
        zeros = " ".join(f"mov.b16 %h{k}, 0;" for k in range(lanes))
        moves = " ".join(f"cvt.u32.u16 %r{k}, %h{k};" for k in range(lanes))
        return f"{zeros} {opcode} {vector}, {at}; {moves}"
    if ".b64" in opcode or ".u64" in opcode:
        lanes = int(opcode.split(".v")[1][0]) if ".v" in opcode else 1
        names = [f"%w{k}" for k in range(lanes)]
        vector = names[0] if lanes == 1 else "{" + ", ".join(names) + "}"
        packs = " ".join(f"mov.b64 %w{k}, {{%a{4 + 2 * k}, %a{5 + 2 * k}}};" for k in range(lanes))
        if not opcode.startswith("suld"):
            return f"{packs} {opcode} {at}, {vector};"
        moves = " ".join(f"mov.b64 {{%r{2 * k}, %r{2 * k + 1}}}, %w{k};" for k in range(lanes))
        return f"{opcode} {vector}, {at}; {moves}"
    lanes = int(opcode.split(".v")[1][0]) if ".v" in opcode else 1
    first = "%r" if opcode.startswith("suld") else "%a"
    names = [f"{first}{k + (4 if first == '%a' else 0)}" for k in range(lanes)]
    vector = names[0] if lanes == 1 else "{" + ", ".join(names) + "}"
    return f"{opcode} {vector}, {at};" if opcode.startswith("suld") else f"{opcode} {at}, {vector};"


def ask(case: Surface) -> tuple[Array, Array]:
    """What the instruction gives, and the array afterwards (bytes)."""
    held = values(case)
    flags = d.SURFACE | d.LAYERED * case.geometry.startswith("a")
    array = d.array_of(held, case.kind, SIZES[case.geometry], flags)
    given = d.run(instruction(case), d.surface(array), inputs(case))
    after = np.zeros_like(held)
    size = SIZES[case.geometry]
    d.copy_array(array, after, (size[0] * case.channels * held.itemsize, *size[1:]), out=True)
    return given, after.view(np.uint8).reshape(-1)


_ACCESSES = {
    "b8": ("u8", 1),
    "b16": ("u16", 1),
    "b32": ("u32", 1),
    "b64": ("u32", 2),
    "v2.b8": ("u8", 2),
    "v2.b16": ("u16", 2),
    "v2.b32": ("u32", 2),
    "v2.b64": ("u32", 4),
    "v4.b8": ("u8", 4),
    "v4.b16": ("u16", 4),
    "v4.b32": ("u32", 4),
}


def all_surfaces() -> Iterator[Surface]:
    """Every case."""
    for geometry, (access, (kind, channels)) in itertools.product(_AXES, _ACCESSES.items()):
        element = int(d.FORMATS[kind][1][1]) * channels
        for clamp in ("zero", "clamp"):
            name = f"suld.b.{geometry}.{access}.{clamp}"
            yield Surface(name, name, geometry, kind, channels, element)
        name = f"sust.b.{geometry}.{access}.zero"
        yield Surface(name, name, geometry, kind, channels, element, once=True)
    for geometry in _AXES:
        name = f"sust.b.{geometry}.b32.trap"
        yield Surface(name, name, geometry, whole=True, count=1)
    for kind, channels in itertools.product(d.FORMATS, (1, 2, 4)):
        for vector in ("v4.", "v2.", ""):
            opcode = f"sust.p.2d.{vector}b32.zero"
            yield Surface(f"{opcode}/{kind}x{channels}", opcode, "2d", kind, channels, 1, once=True)
    for operation, type_ in itertools.product(
        ("add", "min", "max", "and", "or"), ("u32", "s32", "b32", "u64")
    ):
        if (operation in ("and", "or")) == (type_ == "b32") and not (type_ == "u64" and operation != "add"):
            opcode = f"sured.b.{operation}.2d.{type_}.zero"
            channels = 2 if type_ == "u64" else 1
            yield Surface(opcode, opcode, "2d", "u32", channels, 4 * channels)
            if type_ in ("u32", "b32"):
                opcode = f"sured.p.{operation}.2d.b32.zero"
                yield Surface(opcode, opcode, "2d", "u32", 1, 1)
    for word in ("width", "height", "depth"):
        for geometry in _AXES:
            opcode = f"suq.{word}.b32"
            yield Surface(f"{opcode}/{geometry}", opcode, geometry, count=1)
