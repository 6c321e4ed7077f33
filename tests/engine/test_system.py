"""The CUDA runtime in kernels: printf, assert, malloc and free."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from warpglass.errors import KernelFault

SOURCE = r"""
#include <cstdio>
#include <cassert>
extern "C" {
__global__ void hello(int n) {
    int i = threadIdx.x;
    if (i % 2) printf("block %d thread %d of %d\n", blockIdx.x, i, n);
}
__global__ void many_types(const char *unused) {
    int count = printf("%c %s %5.1f|%-4d|%08llx|%+d %%\n", 'x', "text", 2.25, 7, 1ull << 33, 5);
    printf("%d", count);
}
__global__ void two_calls(int n) { printf("<%d", threadIdx.x); printf(">"); }
__global__ void from_shared(int n) {
    __shared__ char word[8];
    if (threadIdx.x < 3) word[threadIdx.x] = 'a' + threadIdx.x;
    if (threadIdx.x == 3) word[3] = 0;
    __syncthreads();
    if (threadIdx.x == 0) printf("%s %.2s", word, word);
}
__global__ void before_fault(int *x, int n) { printf("seen"); x[n] = 1; }
__global__ void bad_format(long long at) { printf((const char *)at); }
__global__ void check(int *out, int n) {
    assert(blockIdx.x * 32 + threadIdx.x < n);  // the assertion
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}
struct Node { int value; Node *next; };
__global__ void lists(int *out, int n) {
    Node *head = nullptr;
    int i = threadIdx.x, s = 0;
    for (int k = 0; k < n; k++) {
        Node *one = (Node *)malloc(sizeof(Node));
        one->value = i * k; one->next = head; head = one;
    }
    for (Node *one = head; one; one = one->next) s = 3 * s + one->value;
    while (head) { Node *next = head->next; free(head); head = next; }
    out[blockIdx.x * 32 + i] = s;
}
__global__ void keep(int **out) {
    int i = threadIdx.x;
    out[i] = (int *)malloc(4 * (i + 1));
    for (int k = 0; k <= i; k++) out[i][k] = k;
}
__global__ void use(int **in, int *out, int extra) { int i = threadIdx.x; out[i] = in[i][i + extra]; }
__global__ void release(int **in) { free(in[threadIdx.x]); }
__global__ void release_within(int **in) { free((char *)in[threadIdx.x] + 4); }
__global__ void exhaust(int *out, long long size) {
    int got = 0;
    while (malloc(size)) got++;
    out[threadIdx.x] = got;
}
__global__ void with_new(int *out, int n) {
    int *x = new int[n], s = 0;
    for (int k = 0; k < n; k++) x[k] = threadIdx.x + k;
    for (int k = 0; k < n; k++) s += x[k];
    delete[] x;
    out[threadIdx.x] = s;
}
}
"""


def kernel(name: str) -> wg.Kernel:
    """A kernel of the source, compiled for the engine."""
    return wg.compile(SOURCE, name, language="cuda")


# ---------------------------------------------------------------------------------------- printf
def test_output_comes_in_block_order(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    kernel("hello")[40, 5](5)
    expected = [f"block {block} thread {thread} of 5" for block in range(40) for thread in (1, 3)]
    assert capsys.readouterr().out.splitlines() == expected


def test_types_and_the_number_of_arguments(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    kernel("many_types")[1, 1](np.zeros(1, np.int8))
    assert capsys.readouterr().out == "x text   2.2|7   |200000000|+5 %\n6"


def test_lanes_of_a_call_come_together(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    kernel("two_calls")[1, 3](0)
    assert capsys.readouterr().out == "<0<1<2>>>"


def test_strings_in_shared_memory(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    kernel("from_shared")[1, 32](0)
    assert capsys.readouterr().out == "abc ab"


def test_output_before_a_fault_is_not_lost(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KernelFault):
        kernel("before_fault")[1, 1](np.zeros(4, np.int32), 4)
    assert capsys.readouterr().out == "seen"


@pytest.mark.parametrize("address", [8, -1, 1 << 52])
def test_format_at_a_wrong_address(mode: str, address: int) -> None:
    with pytest.raises(KernelFault, match="where it may not"):
        kernel("bad_format")[1, 1](address)


# ---------------------------------------------------------------------------------------- assert
def test_assertion_names_expression_and_line(mode: str) -> None:
    line = next(number for number, text in enumerate(SOURCE.splitlines(), 1) if "the assertion" in text)
    out = np.zeros(128, np.int32)
    kernel("check")[4, 32](out, 128)
    assert out.all()
    with pytest.raises(
        KernelFault, match=r"assertion `blockIdx.x \* 32 \+ threadIdx.x < n` failed"
    ) as caught:
        kernel("check")[4, 32](out, 70)
    error = caught.value
    assert error.cuda_name == "cudaErrorAssert"
    assert (error.place.kind, error.place.line) == ("trap", line)
    assert (error.place.block, error.place.thread) == ((2, 0, 0), (6, 0, 0))


def test_assertion_in_a_file_names_the_file(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "checked.cu"
    path.write_text('#include <cassert>\nextern "C" __global__ void k(int n) {\n  assert(n > 1);\n}\n')
    with pytest.raises(KernelFault, match=r"checked.cu:3\)"):
        wg.load(path, "k")[1, 1](1)


# ---------------------------------------------------------------------------------------- malloc, free
def test_lists(mode: str) -> None:
    out = np.zeros(96, np.int32)
    kernel("lists")[3, 32](out, 6)
    expected = [sum(3**k * i * k for k in range(6)) for i in range(32)]
    assert out.tolist() == expected * 3


def test_memory_lives_until_it_is_freed(mode: str) -> None:
    pointers, out = np.zeros(32, np.uint64), np.zeros(32, np.int32)
    kernel("keep")[1, 32](pointers)
    assert len(set(pointers.tolist())) == 32
    kernel("use")[1, 32](pointers, out, 0)
    assert out.tolist() == list(range(32))
    kernel("release")[1, 32](pointers)
    with pytest.raises(KernelFault, match="freed it already") as caught:
        kernel("use")[1, 32](pointers, out, 0)
    assert caught.value.place.kind == "use-after-free"


def test_addresses_repeat(mode: str) -> None:
    first, second = np.zeros(32, np.uint64), np.zeros(32, np.uint64)
    for pointers in (first, second):
        wg.reset("cpu")
        kernel("keep")[8, 32](pointers)
    assert first.tolist() == second.tolist()


def test_access_behind_an_allocation(mode: str) -> None:
    pointers = np.zeros(32, np.uint64)
    kernel("keep")[1, 32](pointers)
    with pytest.raises(KernelFault, match="got from malloc, but it has 4 bytes") as caught:
        kernel("use")[1, 32](pointers, np.zeros(32, np.int32), 1)
    assert caught.value.place.kind == "out-of-bounds"


def test_freeing_twice(mode: str) -> None:
    pointers = np.zeros(32, np.uint64)
    kernel("keep")[1, 32](pointers)
    kernel("release")[1, 32](pointers)
    with pytest.raises(KernelFault, match=r"free\(0x[0-9a-f]+\): block .* has freed it already") as caught:
        kernel("release")[1, 32](pointers)
    assert caught.value.place.kind == "use-after-free"


def test_freeing_what_no_malloc_gave(mode: str) -> None:
    pointers = np.zeros(32, np.uint64)
    kernel("keep")[1, 32](pointers)
    with pytest.raises(KernelFault, match="no malloc gave this address"):
        kernel("release_within")[1, 32](pointers)


def test_a_full_heap_gives_null(mode: str) -> None:
    out = np.zeros(2, np.int32)
    kernel("exhaust")[1, 2](out, 1 << 20)
    assert 6 <= out.sum() <= 8
    assert math.isclose(out[0], out[1], abs_tol=1)


def test_new_and_delete(mode: str) -> None:
    out = np.zeros(32, np.int32)
    kernel("with_new")[1, 32](out, 10)
    assert out.tolist() == [10 * i + 45 for i in range(32)]
