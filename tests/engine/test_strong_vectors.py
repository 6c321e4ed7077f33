"""Vectors that blocks tell each other by strong accesses are never seen in parts, as on GPUs."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg

# Even blocks write pairs of one number, odd ones read them meanwhile and count those that differ.
SOURCE = """
extern "C" __global__ void tell(TYPE *cells, const int *place, unsigned *torn, int rounds) {
    TYPE *cell = cells + 2 * place[threadIdx.x];
    for (int r = 0; r < rounds; r++) {
        TYPE a = r, b = r;
        if (blockIdx.x % 2 == 0) {
            asm volatile("st.HOW.v2.NAME [%0], {%1, %2};" :: "l"(cell), "LETTER"(a), "LETTER"(b) : "memory");
        } else {
            asm volatile("ld.HOW.v2.NAME {%0, %1}, [%2];" : "=LETTER"(a), "=LETTER"(b) : "l"(cell));
            if (a != b) atomicAdd(torn, 1);
        }
    }
}
"""
TYPES = {"u32": ("unsigned", "r"), "u64": ("unsigned long long", "l"), "f64": ("double", "d")}


@pytest.mark.parametrize("how", ["relaxed.gpu.global", "volatile"])
@pytest.mark.parametrize("name", TYPES)
def test_strong_vectors_are_whole(name: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", "2")
    written, letter = TYPES[name]
    words = {"TYPE": written, "HOW": how, "NAME": name, "LETTER": letter}
    source = SOURCE
    for word, text in words.items():
        source = source.replace(word, text)
    cells = np.zeros(64, np.dtype(name.replace("u32", "u4").replace("64", "8")))
    place, torn = np.random.default_rng(1).permutation(32).astype(np.int32), np.zeros(1, np.uint32)
    wg.run(wg.compile(source, "tell"), 8, 32, (cells, place, torn, 2000), device="cpu")
    assert torn[0] == 0
    assert (cells[::2] == cells[1::2]).all()


def test_what_is_only_read_may_be_read_only() -> None:
    source = """extern "C" __global__ void sum(const volatile double2 *x, double *y) { *y = x->x + x->y; }"""
    x, y = np.array([3.0, 4.0]), np.zeros(1)
    x.flags.writeable = False
    wg.run(wg.compile(source, "sum"), 1, 1, (x, y), device="cpu")
    assert y[0] == 7
