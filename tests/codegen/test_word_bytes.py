"""Bytes that lanes load one by one from their rows and join again."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.codegen.lanes.word_bytes import WordBytes

SOURCE = """
typedef unsigned char Byte;
#define EACH(name, ...) \\
extern "C" __global__ void name(Byte* rows, const Byte* vector, unsigned* out, int n) { \\
  int i = blockIdx.x * blockDim.x + threadIdx.x; \\
  Byte* row = rows + i * 64; \\
  unsigned sum = 0; \\
  for (int k = 0; k < n; k += 4) { __VA_ARGS__ } \\
  out[i] = sum; \\
}
#define PAIR(a, b) __byte_perm(row[a], row[b], 0x7740)

EACH(in_order, sum = sum * 3 + __byte_perm(PAIR(k, k + 1), PAIR(k + 2, k + 3), 0x5410);)
EACH(reversed, sum = sum * 3 + __byte_perm(PAIR(k + 3, k + 2), PAIR(k + 1, k), 0x5410);)
EACH(in_part, sum = sum * 3 + __byte_perm(PAIR(k + 3, k), PAIR(k + 1, k + 1), 0x2514);)
EACH(of_sums, sum = sum * 3 + __byte_perm(row[k] + row[k + 1], PAIR(k + 2, k + 3), 0x5410);)
EACH(changed, unsigned low = PAIR(k, k + 1); row[k + 2] = k; \\
  sum = sum * 3 + __byte_perm(low, PAIR(k + 2, k + 3), 0x5410);)
EACH(dot, for (int j = k; j < k + 4; j++) sum += row[j] * vector[j];)
EACH(signed_dot, for (int j = k; j < k + 4; j++) sum += (signed char)row[j] * (signed char)vector[j];)
"""
BLOCK = 96


def _run(name: str, engine: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    rows, vector = rng.integers(0, 256, (2 * BLOCK, 64), np.uint8), rng.integers(0, 256, 64, np.uint8)
    out = np.zeros(2 * BLOCK, np.uint32)
    with engine_mode(engine):
        wg.run(wg.compile(SOURCE, name), 2, BLOCK, (rows, vector, out, np.int32(64)), device="cpu")
    return out, rows


@pytest.mark.parametrize(
    "name", ["in_order", "reversed", "in_part", "of_sums", "changed", "dot", "signed_dot"]
)
def test_joined_bytes_are_those_of_the_reference(name: str) -> None:
    (expected, stored), (found, changed) = (_run(name, engine) for engine in CPU_ENGINES)
    assert expected.tobytes() == found.tobytes()
    assert stored.tobytes() == changed.tobytes()
    assert len(np.unique(found)) > BLOCK


@pytest.mark.parametrize(("name", "whole"), [("in_order", True), ("reversed", False), ("of_sums", False)])
def test_bytes_in_order_are_the_word(name: str, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is shuffled for it."""
    found: list[bool] = []
    picked = WordBytes.picked

    def note(self: WordBytes, *args: object) -> object:
        value = picked(self, *args)  # pyright: ignore[reportArgumentType]
        words = [word for word, _ in self._lanes.access.parts_of_words.values()]
        found.append(value.ir in words)
        return value

    monkeypatch.setattr(WordBytes, "picked", note)
    monkeypatch.setenv("WARPGLASS_CACHE", "")
    _run(name, "kinds")
    assert any(found) == whole
