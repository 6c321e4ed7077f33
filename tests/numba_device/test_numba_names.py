"""What a kernel is called in reports, by the name of its entry."""

import pytest

from warpglass.numba_device.numba_names import plain_name


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("add", "add"),
        ("_Z3addPf", "add"),
        ("_Z7twosomeIfLi3EEvPT_", "twosome"),
        ("_ZN12_GLOBAL__N_13addEv", "add"),
        ("_ZN5trees7kernels6searchIjjj9AllocatorEEvPjPT_PT0_T1_T2_", "trees::kernels::search"),
        ("_ZN3foo3barIfE3runEPf", "foo::bar<float>::run"),
        ("_Z9not_there", "not_there"),
        ("_Z90short", "_Z90short"),
    ],
)
def test_names(entry: str, name: str) -> None:
    assert plain_name(entry) == name
