"""What a thread loads and drops is no read; what it uses is one, in whatever form compilers put it."""

from __future__ import annotations

import pytest

from tests.engines import CPU_ENGINES

from .twins import Twins, floats

HEAD = """extern "C" __global__ void k(float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
"""
# The line that reads is run by the thread that writes the element, or by one of another warp.
TWINS = {
    "chosen": """
  float v = t == @ ? s[0] * 2 + 1 : 0;
  s[t] = 2;  // BUG: shared-race
  y[t] = v;""",
    "in_a_loop": """
  float v = 0;
  for (int k = 0; k < n; ++k)
    if (t == @) v += s[0] * x[k];
  s[t] = 2;  // BUG: shared-race
  y[t] = v;""",
    "two_steps": """
  float v = 1;
  if (t == @) v = s[0] + s[32 * (t / 32)];
  if (t < n) v += 1;
  s[t] = 2;  // BUG: shared-race
  y[t] = v;""",
    "two_tests": """
  float v = t == @ && n > 3 ? s[0] : 1;
  s[t] = 2;  // BUG: shared-race
  y[t] = v;""",
}


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("name", TWINS)
def test_shared_memory(name: str, engine: str) -> None:
    text = f"{HEAD}{TWINS[name]}\n}}"
    Twins(text, lambda: (*floats(64, 64)(), 7), "0", hole="40").verify(engine)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("where", ["s", "g"])
def test_variables(where: str, engine: str) -> None:
    text = f"""
__device__ float g[1];
extern "C" __global__ void k(float* y) {{
  __shared__ float s[1];
  const int t = threadIdx.x;
  if (t == 0) s[0] = g[0] = 1;
  const float v = t == @ ? {where}[0] : 3;
  y[t] = v;
  if (t == 0) {where}[0] = v + 1;
}}"""
    twins = Twins(text, floats(64), "0", hole="40")
    kinds = {finding.kind for finding in twins.check(engine, fixed=False).findings}
    assert kinds == {"shared-race" if where == "s" else "global-race"}
    assert twins.check(engine, fixed=True).findings == ()
