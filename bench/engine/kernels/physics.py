"""Grids and particles: heat, diffusion, waves, fluids, gravity, molecules."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

CHIP = 512
IMAGE = (700, 1002)
SPACE = (48, 96, 128)
LATTICE = 500, 400
WATER = 600
BODIES = 2048
ATOMS, SKIN, CUTOFF = 22, 2.9, 2.5
PARTICLES, CELLS = 9000, 12

Random = np.random.Generator
F = np.float32


# ------------------------------------------------------------------------------------ grids
def _chip(rng: Random) -> Arguments:
    power, temp = rng.random((CHIP, CHIP), F), 320 + 20 * rng.random((CHIP, CHIP), F)
    return power, temp, np.zeros((CHIP, CHIP), F), np.int32(CHIP), F(0.1), F(0.12), F(0.01), F(0.5)


def _hotspot(power: Any, temp: Any, out: Any, side: Any, rx: Any, ry: Any, rz: Any, step: Any) -> None:
    for _ in range(2):
        around = np.pad(temp, 1, mode="edge")
        down = around[2:, 1:-1] + around[:-2, 1:-1] - 2 * temp
        across = around[1:-1, 2:] + around[1:-1, :-2] - 2 * temp
        temp = temp + step * (power + down * ry + across * rx + (80 - temp) * rz)
    out[:] = temp


def _picture(rng: Random) -> Arguments:
    rows, cols = IMAGE
    r, c = np.arange(rows, dtype=np.int32), np.arange(cols, dtype=np.int32)
    return (
        np.exp(rng.random((rows, cols), F)),
        *np.zeros((5, rows, cols), F),
        np.maximum(r - 1, 0),
        np.minimum(r + 1, rows - 1),
        np.maximum(c - 1, 0),
        np.minimum(c + 1, cols - 1),
        F(0.053),
        np.int32(rows),
        np.int32(cols),
    )


def _srad(
    j: Any,
    c: Any,
    dn: Any,
    ds: Any,
    dw: Any,
    de: Any,
    up: Any,
    down: Any,
    left: Any,
    right: Any,
    q0: Any,
    *_: Any,
) -> None:
    dn[:], ds[:], dw[:], de[:] = j[up] - j, j[down] - j, j[:, left] - j, j[:, right] - j
    g2 = (dn * dn + ds * ds + dw * dw + de * de) / (j * j)
    total = (dn + ds + dw + de) / j
    q = (g2 / 2 - total * total / 16) / (1 + total / 4) ** 2
    c[:] = np.clip(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0, 1)


def _space(rng: Random) -> Arguments:
    nz, ny, nx = SPACE
    now, before, speed = 2 + rng.random(SPACE, F), 1 + rng.random(SPACE, F), 0.05 * rng.random(SPACE, F)
    return np.zeros(SPACE, F), now, before, speed, np.int32(nx), np.int32(ny), np.int32(nz)


def _wave(out: Any, now: Any, before: Any, speed: Any, *_: Any) -> None:
    inner = (slice(2, -2),) * 3
    total = -7.5 * now.astype(np.float64)
    for axis in range(3):
        near = np.roll(now, 1, axis).astype(np.float64) + np.roll(now, -1, axis)
        far = np.roll(now, 2, axis).astype(np.float64) + np.roll(now, -2, axis)
        total += 4 / 3 * near - far / 12
    out[inner] = (2 * now - before + speed * total)[inner]


_C = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
_BACK = [0, 3, 4, 1, 2, 7, 8, 5, 6]
_WEIGHT = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)[:, None, None]


def _lattice(rng: Random) -> Arguments:
    width, height = LATTICE
    f = (_WEIGHT * (0.9 + 0.2 * rng.random((9, height, width)))).astype(F)
    y, x = np.mgrid[:height, :width]
    solid = ((x - 60) ** 2 + (y - 100) ** 2 < 400) | (y == 0) | (y == height - 1)
    return f, np.zeros_like(f), solid.astype(np.uint8), F(1.7), np.int32(width), np.int32(height)


def _lbm(given: Any, out: Any, solid: Any, omega: Any, *_: Any) -> None:
    f = np.stack([np.roll(given[q], (cy, cx), (0, 1)) for q, (cx, cy) in enumerate(_C)]).astype(np.float64)
    rho = f.sum(axis=0)
    ux = sum(cx * f[q] for q, (cx, _) in enumerate(_C)) / rho
    uy = sum(cy * f[q] for q, (_, cy) in enumerate(_C)) / rho
    along = np.stack([3 * (cx * ux + cy * uy) for cx, cy in _C])
    rest = _WEIGHT * rho * (1 + along + along * along / 2 - 1.5 * (ux * ux + uy * uy))
    out[:] = np.where(solid != 0, f[_BACK], f + omega * (rest - f))


def _water(rng: Random) -> Arguments:
    shape = WATER, WATER
    y, x = np.mgrid[:WATER, :WATER]
    wet = (x - 100) ** 2 + (y - 200) ** 2 > 50**2
    h, hu, hv = 2 + rng.random(shape, F), 1 + rng.random(shape, F), 1 + rng.random(shape, F)
    return h * wet, hu * wet, hv * wet, *np.zeros((3, *shape), F), F(0.02), np.int32(WATER)


def _face(hl: Any, nl: Any, tl: Any, hr: Any, nr: Any, tr: Any) -> Any:
    ul, ur = (np.where(h > 1e-3, n / np.where(h > 1e-3, h, 1), 0) for h, n in ((hl, nl), (hr, nr)))
    fast = np.maximum(np.abs(ul) + np.sqrt(9.81 * hl), np.abs(ur) + np.sqrt(9.81 * hr)) / 2
    return (
        (nl + nr) / 2 - fast * (hr - hl),
        (nl * ul + 4.905 * hl * hl + nr * ur + 4.905 * hr * hr) / 2 - fast * (nr - nl),
        (tl * ul + tr * ur) / 2 - fast * (tr - tl),
    )


def _shallow(h: Any, hu: Any, hv: Any, oh: Any, ohu: Any, ohv: Any, scale: Any, side: Any) -> None:
    h, hu, hv = (one.astype(np.float64) for one in (h, hu, hv))
    fh, fn, ft = _face(*(a[1:-1, :-1] for a in (h, hu, hv)), *(a[1:-1, 1:] for a in (h, hu, hv)))
    gh, gn, gt = _face(*(a[:-1, 1:-1] for a in (h, hv, hu)), *(a[1:, 1:-1] for a in (h, hv, hu)))
    inner = slice(1, -1), slice(1, -1)
    for out, old, across, down in ((oh, h, fh, gh), (ohu, hu, fn, gt), (ohv, hv, ft, gn)):
        out[inner] = old[inner] - scale * (np.diff(across, axis=1) + np.diff(down, axis=0))


# ------------------------------------------------------------------------------------ particles
def _bodies(rng: Random) -> Arguments:
    bodies = rng.random((BODIES, 4), F)
    return np.zeros((BODIES, 4), F), bodies, F(1e-2), np.int32(BODIES)


def _nbody(force: Any, bodies: Any, soft: Any, n: Any) -> None:
    place, mass = bodies[:, :3].astype(np.float64), bodies[:, 3]
    apart = place[None] - place[:, None]
    s = mass / ((apart * apart).sum(axis=2) + soft) ** 1.5
    force[:, :3] = (apart * s[:, :, None]).sum(axis=1)


def _atoms(rng: Random) -> Arguments:
    """Atoms near the points of a lattice; the lists hold who is nearer than the skin."""
    step, n = 1.1, ATOMS**3
    box = ATOMS * step
    grid = np.stack(tuple(np.mgrid[:ATOMS, :ATOMS, :ATOMS]), axis=-1).reshape(-1, 3)
    place = ((grid + 0.2 * rng.random((n, 3))) * step).astype(F)
    around = np.stack(tuple(np.mgrid[-3:4, -3:4, -3:4]), axis=-1).reshape(-1, 3)
    around = around[np.any(around != 0, axis=1)]
    other = (grid[:, None] + around) % ATOMS
    ids = (other[..., 0] * ATOMS + other[..., 1]) * ATOMS + other[..., 2]
    apart = place[:, None] - place[ids]
    apart -= box * np.rint(apart / box)
    near = (apart * apart).sum(axis=2) < SKIN**2
    counts = near.sum(axis=1).astype(np.int32)
    order = np.argsort(~near, axis=1, kind="stable")[:, : counts.max()]
    lists = np.take_along_axis(ids, order, axis=1).astype(np.int32)
    atoms = np.concatenate([place, np.zeros((n, 1), F)], axis=1)
    return (
        np.zeros((n, 4), F),
        atoms,
        np.ascontiguousarray(lists.T),
        counts,
        F(box),
        F(CUTOFF**2),
        np.int32(n),
    )


def _lennard_jones(force: Any, atoms: Any, lists: Any, counts: Any, box: Any, cutoff: Any, n: Any) -> None:
    place = atoms[:, :3].astype(np.float64)
    force.fill(0)
    for j in range(len(lists)):
        apart = place - place[lists[j]]
        apart -= box * np.rint(apart / box)
        r2 = (apart * apart).sum(axis=1)
        r2[(r2 >= cutoff) | (j >= counts)] = np.inf
        i6 = r2**-3.0
        force[:, :3] += apart * (i6 / r2 * (48 * i6 - 24))[:, None]
        force[:, 3] += 2 * i6 * (i6 - 1)


def _particles(rng: Random) -> Arguments:
    size = F(0.1)
    place = (0.999 * CELLS * size * rng.random((3, PARTICLES))).astype(F)
    x, y, z = (place / size).astype(np.int32)
    cell = (z * CELLS + y) * CELLS + x
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(CELLS**3 + 1)).astype(np.int32)
    return (
        np.zeros(PARTICLES, F),
        *place[:, order].copy(),
        starts,
        np.int32(CELLS),
        size,
        F(0.02),
        np.int32(PARTICLES),
    )


def _density(
    density: Any, x: Any, y: Any, z: Any, cells: Any, side: Any, size: Any, mass: Any, n: Any
) -> None:
    place = np.stack([x, y, z]).astype(np.float64)
    h2 = float(size) ** 2
    for first in range(0, n, 500):
        part = slice(first, first + 500)
        r2 = sum((one[None, :] - one[part, None]) ** 2 for one in place)
        density[part] = (np.maximum(h2 - r2, 0) ** 3).sum(axis=1)
    density *= mass * 315 / (64 * np.pi * float(size) ** 9)


CASES = [
    Case(
        "hotspot_tile",
        (blocks(CHIP, 12), blocks(CHIP, 12)),
        (16, 16),
        _chip,
        _hotspot,
        results=(2,),
        python=False,
    ),
    Case(
        "srad_coefficients",
        blocks(IMAGE[0] * IMAGE[1], 256),
        256,
        _picture,
        _srad,
        results=(1, 2, 3, 4, 5),
        close=0.005,
        python=False,
    ),
    Case("wave3d", (SPACE[2] // 32, SPACE[1] // 8), (32, 8), _space, _wave, python=False),
    Case(
        "lbm_d2q9",
        (blocks(LATTICE[0], 32), blocks(LATTICE[1], 4)),
        (32, 4),
        _lattice,
        _lbm,
        results=(1,),
        python=False,
    ),
    Case(
        "shallow_water",
        (blocks(WATER, 16), blocks(WATER, 16)),
        (16, 16),
        _water,
        _shallow,
        results=(3, 4, 5),
        close=0.005,
        python=False,
    ),
    Case("nbody_tile", BODIES // 256, 256, _bodies, _nbody, close=0.01, python=False, numpy=False),
    Case(
        "lj_neighbours",
        blocks(ATOMS**3, 128),
        128,
        _atoms,
        _lennard_jones,
        close=0.01,
        python=False,
        numpy=False,
    ),
    Case("sph_density", blocks(PARTICLES, 64), 64, _particles, _density, python=False, numpy=False),
]
