"""All that textures are asked: formats, address modes, geometries, rounding, levels, by group."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from . import driver as d
from .cases import Case

_INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32")
_BORDER = (0.25, -1.5, 3.0, 0.125)


def formats() -> Iterator[Case]:
    """Every channel format, as it is and as normalised floats."""
    for kind, channels in itertools.product((*_INTEGERS, "f16", "f32"), (1, 2, 4)):
        whole = kind in _INTEGERS
        base = Case(f"{kind}x{channels}", kind=kind, channels=channels, modes=("border",) * 3, border=_BORDER)
        yield replace(base, name=f"{base.name}/element", flags=d.AS_INTEGER * whole, count=192)
        if not whole or kind[1:] != "32":
            yield replace(base, name=f"{base.name}/point", count=192)
            yield replace(base, name=f"{base.name}/linear", linear=True, count=384)
    yield Case("u8x4/srgb/point", kind="u8", channels=4, size=(64, 4, 0), flags=d.SRGB, count=512)
    yield Case(
        "u8x4/srgb/linear", kind="u8", channels=4, size=(64, 4, 0), flags=d.SRGB, linear=True, count=512
    )
    yield Case(
        "u8x1/all",
        kind="u8",
        geometry="1d",
        size=(256, 0, 0),
        texels="index",
        coordinates="sweep",
        more={"span": (0.5, 256.5)},
    )
    yield Case(
        "u8x1/srgb/all",
        kind="u8",
        geometry="1d",
        size=(256, 0, 0),
        texels="index",
        flags=d.SRGB,
        coordinates="sweep",
        more={"span": (0.5, 256.5)},
    )
    yield Case(
        "s8x1/all",
        kind="s8",
        geometry="1d",
        size=(256, 0, 0),
        texels="index",
        coordinates="sweep",
        more={"span": (0.5, 256.5)},
    )
    for kind in ("u16", "s16"):
        yield Case(
            f"{kind}x1/many", kind=kind, geometry="1d", size=(16384, 0, 0), coordinates="inside", count=1024
        )


def addressing() -> Iterator[Case]:
    """Address modes, normalised or not, with both filters."""
    sizes = {"1d": (37, 0, 0), "2d": (19, 13, 0), "3d": (9, 7, 5)}
    for geometry, mode, flags, linear in itertools.product(sizes, d.MODES, (0, d.NORMALIZED), (False, True)):
        name = f"{geometry}/{mode}/{'normalized' if flags else 'plain'}/{'linear' if linear else 'point'}"
        yield Case(
            name,
            geometry,
            size=sizes[geometry],
            modes=(mode,) * 3,
            flags=flags,
            linear=linear,
            border=_BORDER,
            count=512,
        )
    for modes in (("wrap", "mirror", "clamp"), ("mirror", "border", "wrap"), ("border", "clamp", "mirror")):
        for geometry, linear in itertools.product(("2d", "3d"), (False, True)):
            name = f"{geometry}/{'+'.join(modes)}/{'linear' if linear else 'point'}"
            yield Case(
                name,
                geometry,
                size=sizes[geometry],
                modes=modes,
                flags=d.NORMALIZED,
                linear=linear,
                border=_BORDER,
            )


def layers() -> Iterator[Case]:
    """Layered textures, cubemaps, and both."""
    for geometry, size in {"a1d": (37, 0, 5), "a2d": (19, 13, 5)}.items():
        for flags, linear in itertools.product((0, d.NORMALIZED), (False, True)):
            name = f"{geometry}/{flags}/{'linear' if linear else 'point'}"
            yield Case(name, geometry, size=size, flags=flags, linear=linear)
    for geometry, size in {"cube": (8, 8, 6), "acube": (8, 8, 18)}.items():
        for linear, seamless in itertools.product((False, True), (0, d.SEAMLESS)):
            name = f"{geometry}/{'linear' if linear else 'point'}/{'seamless' if seamless else 'seams'}"
            yield Case(name, geometry, size=size, flags=d.NORMALIZED | seamless, linear=linear, count=1024)


def gathers() -> Iterator[Case]:
    """tld4."""
    for component, mode in itertools.product("rgba", d.MODES):
        for flags in (0, d.NORMALIZED):
            yield Case(
                f"tld4.{component}/{mode}/{flags}",
                channels=4,
                modes=(mode,) * 3,
                flags=flags,
                border=_BORDER,
                instruction=f"tld4.{component}",
            )
    yield Case("tld4.r/linear", instruction="tld4.r", linear=True)
    yield Case("tld4.r/u8", kind="u8", instruction="tld4.r")


_EXTENTS = (2, 5, 64, 100, 1000, 3000, 16384)


def rounding() -> Iterator[Case]:
    """How coordinates become texels and weights, and how weighted texels are added."""
    for extent in _EXTENTS:
        size = (extent, 0, 0)
        spans = ((0.0, min(extent, 4.0)), (max(extent - 4.0, 0.0), float(extent)))
        for part, span in enumerate(spans):
            for flags, linear in itertools.product((0, d.NORMALIZED), (False, True)):
                name = f"sweep{extent}/{part}/{flags}/{'linear' if linear else 'point'}"
                yield Case(
                    name,
                    "1d",
                    size=size,
                    flags=flags,
                    linear=linear,
                    coordinates="sweep",
                    texels="index",
                    more={"span": span},
                    count=1024,
                )
        for flags, linear in itertools.product((0, d.NORMALIZED), (False, True)):
            name = f"inside{extent}/{flags}/{'linear' if linear else 'point'}"
            yield Case(
                name,
                "1d",
                size=size,
                flags=flags,
                linear=linear,
                coordinates="inside",
                texels="index",
                count=768,
            )
    for geometry, size in {"1d": (64, 0, 0), "2d": (31, 29, 0), "3d": (13, 11, 9)}.items():
        for kind in ("f32", "f16", "u8", "s8", "u16", "s16"):
            yield Case(
                f"sums/{geometry}/{kind}",
                geometry,
                kind=kind,
                size=size,
                linear=True,
                coordinates="inside",
                count=768,
            )
        yield Case(
            f"sums/{geometry}/f32/even",
            geometry,
            size=size,
            linear=True,
            coordinates="inside",
            texels="even",
            count=768,
        )
    for half in range(2):
        yield Case(
            f"corners/{half}",
            "3d",
            channels=4,
            size=(2, 2, 2),
            linear=True,
            coordinates="middle",
            texels=f"corner{half}",
            count=1024,
        )
    big = Case(
        "sums/1d/f32/huge",
        "1d",
        size=(64, 0, 0),
        linear=True,
        coordinates="inside",
        texels="random",
        count=1024,
    )
    yield replace(big, kind="f32")


def memory() -> Iterator[Case]:
    """Linear and pitched memory, integer coordinates."""
    for kind, channels in (("f32", 1), ("f32", 4), ("u8", 1), ("s16", 2), ("u32", 4), ("f16", 1)):
        whole = d.AS_INTEGER * (kind in _INTEGERS)
        yield Case(
            f"linear/{kind}x{channels}",
            "1d",
            kind,
            channels,
            (57, 0, 0),
            resource="linear",
            flags=whole,
            coordinates="integers",
            border=_BORDER,
        )
    yield Case("linear/u8/normalized", "1d", "u8", 4, (57, 0, 0), resource="linear", coordinates="integers")
    for mode, flags, linear in itertools.product(d.MODES, (0, d.NORMALIZED), (False, True)):
        yield Case(
            f"pitch2D/{mode}/{flags}/{linear}",
            "2d",
            size=(21, 11, 0),
            resource="pitch2D",
            modes=(mode,) * 3,
            flags=flags,
            linear=linear,
            border=_BORDER,
        )
    for geometry, size in {"1d": (37, 0, 0), "2d": (19, 13, 0), "3d": (9, 7, 5), "a2d": (19, 13, 5)}.items():
        for mode in ("clamp", "border"):
            yield Case(
                f"integers/{geometry}/{mode}",
                geometry,
                size=size,
                coordinates="integers",
                modes=(mode,) * 3,
                border=_BORDER,
            )


def mipmaps() -> Iterator[Case]:
    """Levels of detail."""
    for geometry, size in {"1d": (64, 0, 0), "2d": (32, 16, 0), "3d": (16, 8, 8), "a2d": (32, 16, 3)}.items():
        base = Case(
            f"mip/{geometry}",
            geometry,
            size=size,
            levels=4,
            mipmap=(False, 0.0, 0.0, 9.0),
            flags=d.NORMALIZED,
            coordinates="inside",
            count=1024,
        )
        for linear, between in itertools.product((False, True), (False, True)):
            name = f"{base.name}/{'linear' if linear else 'point'}/{'linear' if between else 'point'}"
            mixed = replace(base, linear=linear, mipmap=(between, 0.0, 0.0, 9.0))
            yield replace(mixed, name=f"{name}/level", instruction=".level")
            yield replace(mixed, name=f"{name}/base")
            if geometry != "a2d":
                yield replace(mixed, name=f"{name}/grad", instruction=".grad")
        yield replace(
            base, name=f"{base.name}/bias", instruction=".level", mipmap=(True, 0.75, 0.5, 2.25), linear=True
        )
    yield Case(
        "mip/index",
        "1d",
        size=(64, 0, 0),
        levels=6,
        mipmap=(True, 0.0, 0.0, 9.0),
        flags=d.NORMALIZED,
        instruction=".level",
        texels="step",
        coordinates="inside",
        count=1024,
    )
    yield Case("mip/none/level", flags=d.NORMALIZED, linear=True, instruction=".level", coordinates="inside")
    yield Case("mip/none/grad", flags=d.NORMALIZED, linear=True, instruction=".grad", coordinates="inside")


_QUERIES = ("width", "height", "depth")


def queries() -> Iterator[Case]:
    """txq."""
    for word in _QUERIES:
        for geometry, size in {
            "1d": (37, 0, 0),
            "2d": (19, 13, 0),
            "3d": (9, 7, 5),
            "a2d": (19, 13, 5),
        }.items():
            yield Case(
                f"txq.{word}/{geometry}",
                geometry,
                "f16",
                2,
                size,
                instruction=f"txq.{word}.b32",
                count=1,
                flags=d.NORMALIZED,
                linear=True,
                modes=("mirror", "wrap", "border"),
            )


def all_cases() -> list[Case]:
    """Every case, by name."""
    groups: Sequence[Any] = (formats, addressing, layers, gathers, rounding, memory, mipmaps, queries)
    return [case for group in groups for case in group()]
