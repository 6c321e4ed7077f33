"""The warp view: what is kept of each access and branch, on kernels whose lanes are known."""

from __future__ import annotations

import numpy as np

import warpglass as wg
from warpglass.lab.profile import profile
from warpglass.records.profile import Profile
from warpglass.records.warp_views import WarpView

KERNEL = """
extern "C" __global__ void k(const float *x, float *y, int n)
{
    __shared__ float tile[64];
    int i = threadIdx.x;
    if (i < n) tile[2 * (i % 32)] = x[32 * i];
    __syncthreads();
    if (i % 32 < 8) {
        y[blockIdx.x * blockDim.x + i] = tile[2 * (i % 32)] + y[0];
        y[1024 + i] = sinf(y[i]);
    }
}
"""
STRIDED, DIVERGENT = 6, 8


def launch(*, caches: bool = True) -> Profile:
    x, y = np.ones(4096, np.float32), np.zeros(4096, np.float32)
    kernel = wg.compile(KERNEL, "k")
    return profile(kernel, 2, 40, (x, y, np.int32(40)), listing=True, caches=caches)


def only(views: tuple[WarpView, ...], **wanted: object) -> WarpView:
    found = [one for one in views if all(getattr(one, name) == value for name, value in wanted.items())]
    assert len(found) == 1, found
    return found[0]


def test_the_fullest_warp_of_each_access_is_kept():
    views = launch().views
    load = only(views, kind="load", line=STRIDED)
    assert (load.space, load.size, load.block, load.warp, load.active) == ("global", 4, 0, 0, 0xFFFFFFFF)
    assert np.diff(load.addresses).tolist() == [128] * 31
    assert len(load.sectors()) == 32
    store = only(views, kind="store", line=STRIDED)
    assert (store.space, store.addresses) == ("shared", tuple(range(0, 256, 8)))


def test_a_branch_at_which_lanes_part_goes_before_others():
    branch = next(one for one in launch().views if one.kind == "branch" and one.line == DIVERGENT)
    assert 0 < len(branch.lanes(branch.taken)) < 32
    assert len(branch.lanes()) == 32


def test_views_do_not_change_what_is_counted():
    seen = launch()
    x, y = np.ones(4096, np.float32), np.zeros(4096, np.float32)
    plain = wg.profile(wg.compile(KERNEL, "k"), 2, 40, (x, y, np.int32(40)))
    assert seen.counters == plain.counters
    assert seen.lines == plain.lines
    assert not plain.views
    assert plain.listing is None


def test_a_listing_links_source_ptx_and_machine_code():
    listing = launch(caches=False).listing
    assert listing is not None
    loads = {line.number for line in listing.ptx if "ld.global.f32" in line.text and line.line == STRIDED}
    assert loads
    assert {"@!P0 LDG.32"} == {one.text for one in listing.machine if one.ptx in loads and "LDG" in one.text}
