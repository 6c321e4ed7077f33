"""Whole programs: copies, launches and kernels add up, and stand beside the host's time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.models.test_saved_work import bench
from tests.report.test_bench_report import HOST, ROW
from warpglass import devices
from warpglass.models.whole_program import copies_of, whole_time
from warpglass.records.kernel_time import ModelledTime
from warpglass.report.bench_whole import print_whole
from warpglass.report.console import text_console, text_of


@pytest.mark.parametrize("name", devices.names())
def test_every_gpu_has_a_link(name: str):
    device = devices.get(name)
    copies = copies_of(device)
    assert copies is not None
    assert device.host_link_gb_s is not None
    assert 0.4 * copies.pinned <= copies.pageable + 14 <= copies.pinned + 14 < device.host_link_gb_s + 14
    assert copies.measured == (name == "h200")


def test_the_parts_of_a_program_add_up():
    h200 = devices.get("h200")
    found = whole_time(h200, 100e-6, 4, 55_000_000, 0)
    assert found is not None
    assert found.launches == pytest.approx(4 * 2.75e-6)
    assert found.kernels == pytest.approx(89e-6)
    assert found.to_device == pytest.approx(1e-3 + 8e-6)
    assert found.to_host == 0
    assert found.seconds == pytest.approx(100e-6 + 1.008e-3)
    paged = whole_time(h200, 100e-6, 4, 14_000_000, 0, pinned=False)
    assert paged is not None
    assert paged.to_device == pytest.approx(1e-3 + 8e-6)


def test_the_table_sets_them_beside_the_host():
    """Course notes of a reduction: 134 MB take longer to copy than to add, whatever the kernel does."""
    time = ModelledTime(device="p100", name="Tesla P100-PCIE-16GB", seconds=300e-6)
    row = replace(ROW, modelled=(time,), copied=(2**27, 2**15), launches=1)
    console = text_console(160)
    print_whole(bench(replace(HOST, seconds=0.05), row), console)
    text = text_of(console)
    assert "whole programs on Tesla P100-PCIE-16GB (modelled)" in text
    assert (
        "134.2 MB go to the GPU and 32.8 kB come back, from pinned memory at 13.8 GB/s, else at 6.88" in text
    )
    line = text.splitlines()[-1].split()
    assert line[:3] == ["2", "complete_unroll_warps8<double>", "C++"]
    assert line[-3:] == ["19.84", "ms", "4.96"]
