"""Calls of device functions: what comes back, from wherever and however they are called."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import warpglass as wg
from warpglass.errors import KernelFault, UnsupportedError

N = 64  # threads of a block: two warps

SOURCE = r"""
#define NOINLINE __noinline__ __device__
typedef int (*Function)(int);
struct Point { double x, y; int n; };
struct Wide { int a[12]; };

NOINLINE int twice(int x) { return 2 * x + 1; }
NOINLINE int both(int x) { return twice(x) + 3 * twice(x + 1); }
NOINLINE Point swapped(Point p, int k) { Point r; r.x = p.y + k; r.y = p.x; r.n = p.n + k; return r; }
NOINLINE int fold(Wide w, int at) {
    int s = 0; for (int i = 0; i < 12; i++) s = 3 * s + w.a[(i + at) % 12]; return s; }
NOINLINE void exchange(int &a, int &b) { int t = a; a = b; b = t; }
NOINLINE char narrow(char c, bool up) { return up ? c + 1 : c - 1; }
NOINLINE float mean(float a, double b, short c) { return (float)((a + b + c) / 3); }
NOINLINE int meet(int *tile, int x) { tile[threadIdx.x] = x; __syncthreads(); int r = tile[threadIdx.x ^ 33];
                                      __syncthreads(); return r; }
NOINLINE int pair_sum(int x) { return x + __shfl_xor_sync(~0u, x, 1); }
NOINLINE int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
NOINLINE int fibonacci(int n) { if (n < 2) return n; int a = fibonacci(n - 1); return a + fibonacci(n - 2); }
NOINLINE int even(int n);
NOINLINE int odd(int n) { if (n == 0) return 0; int r = even(n - 1); return r + 2 * (n & 1); }
NOINLINE int even(int n) { if (n == 0) return 1; int r = odd(n - 1); return r ^ n; }
NOINLINE int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
NOINLINE void sort(int *x, int low, int high) {
    if (low >= high) return;
    int pivot = x[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (x[i] < pivot) i++;
        while (x[j] > pivot) j--;
        if (i <= j) exchange(x[i++], x[j--]);
    }
    sort(x, low, j);
    sort(x, i, high);
}
// Every level has an array of its own, which the next one gets by reference.
NOINLINE int descend(int depth, int *above) {
    int here[4] = {depth, above[0], above[1], above[2]};
    if (depth == 0) return here[1] + 10 * here[2] + 100 * here[3];
    int below = descend(depth - 1, here);
    return below + here[0] + (above[0] += 1);
}
__device__ int plus(int x) { return x + 1; }
__device__ int times(int x) { return 3 * x; }
__device__ int deep(int x) { return fibonacci(x & 7); }
__device__ Function functions[] = {plus, times, deep};
__constant__ Function constant_functions[] = {times, plus};
NOINLINE int apply(Function f, int x) { return f(f(x)); }
struct Shape { int k; __device__ Shape(int k) : k(k) {} __device__ virtual int area(int x) { return x; }
               __device__ virtual int edge() { return -1; } };
struct Square : Shape { using Shape::Shape; __device__ int area(int x) override { return x * x; } };
struct Strip : Shape { using Shape::Shape; __device__ int area(int x) override { return x * k; }
                       __device__ int edge() override { return k; } };
NOINLINE int measure(Shape *s, int x) { return s->area(x) + 1000 * s->edge(); }
NOINLINE int at(const int *x, int i) {
    return x[i];  // line of at
}
NOINLINE int endless(int n) { return n == -1 ? 0 : 1 + endless(n + 1) * 3; }

extern "C" {
#define KERNEL(name, value) __global__ void name(int *out, int n) { int i = threadIdx.x; out[i] = value; }
KERNEL(direct, twice(i + n))
KERNEL(nested, both(i) - twice(n))
KERNEL(divergent, i % 3 == 0 ? twice(i) : both(i))
KERNEL(same_divergent, i % 3 ? twice(i) : twice(n) + i)
KERNEL(narrow_types, narrow((char)(i + 100), i & 1) + (int)mean(i, 2.0 * n, (short)-i))
KERNEL(shuffled, pair_sum(i % 2 ? twice(i) : i))
KERNEL(factorials, factorial(i % 13))
KERNEL(factorial_same, factorial(n))
KERNEL(fibonaccis, fibonacci(i % 9) + fibonacci(n))
KERNEL(mutual, even(i % 7) + 100 * odd(n))
KERNEL(ackermanns, ackermann(i % 3, i % 5))
KERNEL(chosen, (i % 3 == 0 ? plus : i % 3 == 1 ? times : deep)(i))
KERNEL(from_table, functions[i % 3](i) + constant_functions[n & 1](i))
KERNEL(passed_on, apply(functions[i % 2], i))
KERNEL(runaway, endless(i))
__global__ void structures(int *out, int n) {
    int i = threadIdx.x;
    Point p = {1.0 * i, 2.0, i}, q = swapped(p, n);
    Wide w; for (int k = 0; k < 12; k++) w.a[k] = i ^ k;
    out[i] = (int)q.x + 3 * (int)q.y + 5 * q.n + fold(w, i);
}
__global__ void by_reference(int *out, int n) {
    int i = threadIdx.x, a = i, b = n;
    if (i % 3) exchange(a, b);
    out[i] = 100 * a + b;
}
__global__ void barrier_within(int *out, int n) {
    __shared__ int tile[64];
    int i = threadIdx.x;
    out[i] = meet(tile, i + n) + 100 * meet(tile, i * n);
}
__global__ void sorted(int *out, int n) {
    int i = threadIdx.x, x[16];
    for (int k = 0; k < 16; k++) x[k] = (i * 7 + k * k * n) % 31;
    sort(x, 0, 15);
    int s = 0; for (int k = 0; k < 16; k++) s = 5 * s + x[k];
    out[i] = s;
}
__global__ void descended(int *out, int n) {
    int i = threadIdx.x, top[3] = {i, i + 1, i + 2};
    int r = descend(i % 4 + 1, top);
    out[i] = 10 * r + top[0];
}
__global__ void virtual_functions(int *out, int n) {
    int i = threadIdx.x;
    Square square(i); Strip strip(n);
    Shape *s = i % 3 ? (Shape *)&square : (Shape *)&strip;
    out[i] = measure(s, i);
}
__global__ void fault_within(int *out, const int *x, int n) {
    out[threadIdx.x] = at(x, threadIdx.x == 40 ? n : 0); }
__global__ void wild(int *out, long long address) {
    out[threadIdx.x] = ((Function)address)(1) + apply(plus, 1); }
}
"""


def i32(value: int) -> int:
    """Wrapped as a 32-bit integer."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def twice(x: int) -> int:
    return 2 * x + 1


def both(x: int) -> int:
    return twice(x) + 3 * twice(x + 1)


def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def even(n: int) -> int:
    return 1 if n == 0 else odd(n - 1) ^ n


def odd(n: int) -> int:
    return 0 if n == 0 else even(n - 1) + 2 * (n & 1)


def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def fold(values: list[int], start: int) -> int:
    total = 0
    for k in range(len(values)):
        total = 3 * total + values[(k + start) % len(values)]
    return total


def descend(depth: int, above: list[int]) -> int:
    here = [depth, *above[:3]]
    if depth == 0:
        return here[1] + 10 * here[2] + 100 * here[3]
    below = descend(depth - 1, here)
    above[0] += 1
    return below + here[0] + above[0]


def descended(i: int, n: int) -> int:
    top = [i, i + 1, i + 2]
    return 10 * descend(i % 4 + 1, top) + top[0]


def ordered(i: int, n: int) -> int:
    total = 0
    for value in sorted((i * 7 + k * k * n) % 31 for k in range(16)):
        total = 5 * total + value
    return total


def shuffled(i: int) -> int:
    mine = twice(i) if i % 2 else i
    other = i if i % 2 == 0 else i - 1
    return mine + (other if i % 2 else twice(i + 1))


FUNCTIONS: list[Callable[[int], int]] = [lambda x: x + 1, lambda x: 3 * x, lambda x: fibonacci(x & 7)]

EXPECTED: dict[str, Callable[[int, int], int]] = {
    "direct": lambda i, n: twice(i + n),
    "nested": lambda i, n: both(i) - twice(n),
    "divergent": lambda i, n: both(i) if i % 3 else twice(i),
    "same_divergent": lambda i, n: twice(i) if i % 3 else twice(n) + i,
    "narrow_types": lambda i, n: (
        (i + 100 + (1 if i & 1 else -1) + 128) % 256 - 128 + int((i + 2.0 * n - i) / 3)
    ),
    "shuffled": lambda i, n: shuffled(i),
    "factorials": lambda i, n: factorial(i % 13),
    "factorial_same": lambda i, n: factorial(n),
    "fibonaccis": lambda i, n: fibonacci(i % 9) + fibonacci(n),
    "mutual": lambda i, n: even(i % 7) + 100 * odd(n),
    "ackermanns": lambda i, n: ackermann(i % 3, i % 5),
    "chosen": lambda i, n: FUNCTIONS[i % 3](i),
    "from_table": lambda i, n: FUNCTIONS[i % 3](i) + FUNCTIONS[1 - (n & 1)](i),
    "passed_on": lambda i, n: FUNCTIONS[i % 2](FUNCTIONS[i % 2](i)),
    "structures": lambda i, n: 2 + n + 3 * i + 5 * (i + n) + fold([i ^ k for k in range(12)], i),
    "by_reference": lambda i, n: 100 * n + i if i % 3 else 100 * i + n,
    "barrier_within": lambda i, n: (i ^ 33) + n + 100 * (i ^ 33) * n,
    "sorted": ordered,
    "descended": descended,
    "virtual_functions": lambda i, n: i * i - 1000 if i % 3 else i * n + 1000 * n,
}


def kernel(name: str) -> wg.Kernel:
    """A kernel of the source, compiled for the engine."""
    return wg.compile(SOURCE, name, language="cuda")


@pytest.mark.sampled(quick=8)
@pytest.mark.parametrize("name", EXPECTED)
def test_results(mode: str, name: str) -> None:
    for n in (3, 10):
        out = np.zeros(N, np.int32)
        kernel(name)[1, N](out, n)
        assert out.tolist() == [i32(EXPECTED[name](i, n)) for i in range(N)]


def test_results_of_many_blocks_agree(mode: str) -> None:
    out = np.zeros(N, np.int32)
    kernel("mutual")[300, N](out, 6)
    assert out.tolist() == [EXPECTED["mutual"](i, 6) for i in range(N)]


def test_fault_names_the_line_of_the_function(mode: str) -> None:
    line = next(number for number, text in enumerate(SOURCE.splitlines(), 1) if "line of at" in text)
    out, x = np.zeros(N, np.int32), np.zeros(8, np.int32)
    with pytest.raises(KernelFault, match=r"x\[9\]") as caught:
        kernel("fault_within")[1, N](out, x, 9)
    assert caught.value.place.line == line
    assert caught.value.place.thread == (40, 0, 0)


def test_endless_recursion_fills_the_stack(mode: str) -> None:
    with pytest.raises(KernelFault, match="stack") as caught:
        kernel("runaway")[1, N](np.zeros(N, np.int32), 0)
    assert caught.value.place.kind == "out-of-bounds"


@pytest.mark.parametrize("address", [0, 4096, -1])
def test_call_through_a_wrong_pointer(mode: str, address: int) -> None:
    with pytest.raises(KernelFault, match="calls through a pointer"):
        kernel("wild")[1, N](np.zeros(N, np.int32), address)


def test_functions_without_a_body_are_named() -> None:
    source = r"""
extern "C" __device__ int elsewhere(int x);
extern "C" __device__ int nowhere(int x);
extern "C" __global__ void k(int *out) { out[0] = elsewhere(1) + nowhere(2); }
"""
    with pytest.raises(UnsupportedError, match="elsewhere") as caught:
        wg.compile(source, "k", language="cuda", options=("-rdc=true",))[1, 1](np.zeros(1, np.int32))
    assert "nowhere" in str(caught.value)
