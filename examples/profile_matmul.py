"""What tiles in shared memory save a matrix product, counted: reads of global memory and what they cost."""

from pathlib import Path

import numpy as np

import warpglass as wg

N, TILE = 128, 16
SHOWN = ("global_load_requests", "gld_transactions", "gld_efficiency", "shared_load_transactions")


def profile(name: str) -> wg.Profile:
    """Profile one version and verify its product."""
    rng = np.random.default_rng(1)
    a, b, c = (rng.random((N, N), dtype=np.float32) for _ in range(3))
    kernel = wg.load(Path(__file__).with_name("matmul.cu"), name)
    found = wg.profile(kernel, (N // TILE, N // TILE), (TILE, TILE), (a, b, c, np.int32(N)))
    assert np.allclose(c, a @ b, rtol=1e-5)
    return found


def main() -> None:
    """Compare both versions; what the arithmetic of tiles says must be what was counted."""
    naive, tiled = profile("naive").metrics, profile("tiled").metrics
    for name in SHOWN:
        print(f"{name:26} {naive[name]:10,.0f} -> {tiled[name]:8,.0f}")
    warps = N * N // 32
    assert naive["global_load_requests"] == warps * 2 * N  # each asks for elements of a and of b, N times
    assert naive["global_load_requests"] == TILE * tiled["global_load_requests"]
    assert naive["flop_count_sp"] == tiled["flop_count_sp"] == 2 * N**3
    assert tiled["shared_bank_conflicts"] == 0
    print(f"tiles of {TILE} x {TILE}: one read of global memory in {TILE} is left")


if __name__ == "__main__":
    main()
