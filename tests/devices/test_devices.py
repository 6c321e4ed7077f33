"""The device tables are complete, consistent and found by every name that people use."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from warpglass import devices
from warpglass.devices import device as tables
from warpglass.devices.device import all_devices, capabilities, limits_of, source_texts

# Published peaks in GFLOP/s (FP32, FP64), computed by hand from multiprocessors, clock and lanes.
PEAKS = {
    "8800gtx": (346, 0),
    "m2070": (1030, 515),
    "gtx980": (4981, 156),
    "v100": (15667, 7834),
    "rtx3050-laptop": (7127, 111.4),
    "a100": (19492, 9746),
    "h100": (66908, 33454),
    "rtx4090": (82575, 1290),
    "b200": (74450, 37225),
    "rtx5090": (104753, 1637),
}


@pytest.mark.parametrize(("key", "peaks"), PEAKS.items())
def test_peaks(key: str, peaks: tuple[float, float]):
    device = devices.get(key)
    assert (device.fp32_gflops, device.fp64_gflops) == pytest.approx(peaks, rel=0.003)


@pytest.mark.parametrize("key", devices.names())
def test_every_number_has_a_known_source(key: str):
    device = devices.get(key)
    measured = {
        name.removeprefix("kernel_time.") for name in device.sources if name.startswith("kernel_time.")
    }
    assert measured == set(device.kernel_time)
    assert {name for name in device.sources if "." not in name} - {"l2_bandwidth_gb_s"} == {
        "multiprocessors",
        "clock_mhz",
        "memory_type",
        "memory_gb",
        "memory_bus_bits",
        "memory_clock_mhz",
        "bandwidth_gb_s",
        "l2_kib",
        "host_link_gb_s",
    }
    assert set(device.sources.values()) <= set(source_texts())


@pytest.mark.parametrize("key", devices.names())
def test_bandwidth_follows_from_clock_and_bus(key: str):
    device = devices.get(key)
    assert device.computed_bandwidth_gb_s == pytest.approx(device.bandwidth_gb_s, rel=0.03)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("h100", "h100"),
        ("H200", "h200"),
        ("gtx980", "gtx980"),
        ("GTX 980", "gtx980"),
        ("a100", "a100"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("Tesla V100-SXM2-16GB", "v100"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("rtx 3050", "rtx3050-laptop"),
    ],
)
def test_names_people_use(name: str, key: str):
    assert devices.get(name).key == key


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(devices.UnknownDevice, match="'h1000' .did you mean h100..; known: .*gtx980.*h100"):
        devices.get("h1000")


def test_no_two_devices_share_a_name():
    plain = [
        name.lower().replace(" ", "").replace("-", "")
        for device in all_devices().values()
        for name in {device.key, *device.aliases}
    ]
    assert len(plain) == len(set(plain))


@pytest.mark.parametrize("capability", capabilities())
def test_limits_hang_together(capability: tuple[int, int]):
    limits = limits_of(capability)
    assert limits.threads_per_sm % 32 == 0
    assert limits.threads_per_block <= limits.threads_per_sm
    assert limits.shared_per_block <= limits.shared_per_block_optin
    assert limits.shared_per_block_optin + limits.shared_reserved <= limits.shared_per_sm
    assert limits.registers_per_block <= limits.registers_per_sm
    assert not limits.carveouts or limits.carveouts[-1] == limits.shared_per_sm


def test_spot_checks_against_the_programming_guide():
    volta, hopper, oldest = limits_of((7, 0)), limits_of((9, 0)), limits_of((1, 0))
    assert (volta.shared_per_sm, volta.shared_per_block_optin) == (96 * 1024, 96 * 1024)
    assert (hopper.shared_per_block_optin, hopper.shared_reserved, hopper.warps_per_sm) == (
        227 * 1024,
        1024,
        64,
    )
    assert (oldest.threads_per_block, oldest.block_dims, oldest.grid_dims) == (
        512,
        (512, 512, 64),
        (65535, 65535, 1),
    )
    assert limits_of((2, 1)).grid_dims[0] == 65535
    assert limits_of((3, 0)).grid_dims[0] == 2**31 - 1


def test_a_table_that_lacks_a_number_says_which() -> None:
    whole = tomllib.loads((Path(tables.__file__).parent / "gpus" / "l4.toml").read_text("utf-8"))
    assert tables._device("l4", whole).name == "NVIDIA L4"
    short = {name: entry for name, entry in whole.items() if name != "clock_mhz"}
    with pytest.raises(ValueError, match=r"gpus/l4\.toml says nothing of clock_mhz"):
        tables._device("l4", short)
    with pytest.raises(ValueError, match=r"gpus/l4\.toml has clock_khz, which no GPU has"):
        tables._device("l4", {**whole, "clock_khz": whole["clock_mhz"]})
