"""Virtual cuRAND, cuFFT, cuSOLVER and cuSPARSE as C calls them. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import KINDS, OnDevice, call, close, library, random

from warpglass.numba_device.keeping import compile_lto


# ---------------------------------------------------------------------------------------- cuRAND
def generator(rand: Any, kind: int, seed: int, offset: int = 0) -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    assert rand.curandCreateGenerator(ctypes.byref(made), kind) == 0
    assert rand.curandSetPseudoRandomGeneratorSeed(made, ctypes.c_ulonglong(seed)) == 0
    assert rand.curandSetGeneratorOffset(made, ctypes.c_ulonglong(offset)) == 0
    return made


@pytest.mark.parametrize("kind", [100, 121, 161])
def test_offsets_lead_into_the_same_sequence(kind: int) -> None:
    rand = library("libcurand.so.10")
    whole, parts = OnDevice(np.zeros(10_000, "u4")), OnDevice(np.zeros(5_000, "u4"))
    assert call(rand.curandGenerate, generator(rand, kind, 7), whole, 10_000) == 0
    assert call(rand.curandGenerate, generator(rand, kind, 7, 5_000), parts, 5_000) == 0
    np.testing.assert_array_equal(parts.now, whole.now[5_000:])
    assert len(np.unique(whole.now)) > 9_900


def test_xorwow_is_marsaglias() -> None:
    """The first subsequence, every 4096th number, is the recurrence of the paper from cuRAND's seeding."""
    rand = library("libcurand.so.10")
    found = OnDevice(np.zeros(3 * 4096, "u4"))
    assert call(rand.curandGenerate, generator(rand, 101, 1234), found, 3 * 4096) == 0
    low, high, most = 1234 ^ 0xAAD26B49, 0xF7DCEFDD, 0xFFFFFFFF
    t0, t1 = 1099087573 * low & most, 2591861531 * high & most
    v = [
        (123456789 + t0) & most,
        362436069 ^ t0,
        (521288629 + t1) & most,
        88675123 ^ t1,
        (5783321 + t0) & most,
    ]
    counter, right = 6615241 + t1 + t0, []
    for _ in range(3):
        t = v[0] ^ v[0] >> 2
        v = [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & most]
        counter += 362437
        right.append((v[4] + counter) & most)
    np.testing.assert_array_equal(found.now[::4096], right)


@pytest.mark.parametrize(
    ("name", "kind", "given", "mean", "deviation"),
    [
        ("Uniform", "f4", (), 0.5, 12**-0.5),
        ("UniformDouble", "f8", (), 0.5, 12**-0.5),
        ("Normal", "f4", (ctypes.c_float(3), ctypes.c_float(2)), 3, 2),
        ("NormalDouble", "f8", (ctypes.c_double(3), ctypes.c_double(2)), 3, 2),
        ("LogNormal", "f4", (ctypes.c_float(0), ctypes.c_float(0.5)), np.exp(1 / 8), 0.6039),
        ("Poisson", "u4", (ctypes.c_double(9),), 9, 3),
    ],
)
def test_distributions(name: str, kind: str, given: tuple[Any, ...], mean: float, deviation: float) -> None:
    rand = library("libcurand.so.10")
    found = OnDevice(np.zeros(100_000, kind))
    assert call(getattr(rand, f"curandGenerate{name}"), generator(rand, 100, 5), found, 100_000, *given) == 0
    assert abs(found.now.mean() - mean) < 5 * deviation / 300
    assert abs(found.now.std() - deviation) < 0.02 * deviation


# ---------------------------------------------------------------------------------------- cuFFT
FORWARD, BACKWARD = ctypes.c_int(-1), ctypes.c_int(1)


@pytest.mark.parametrize(("kind", "letter"), [("c8", "C2C"), ("c16", "Z2Z")])
@pytest.mark.parametrize("shape", [(12,), (4, 6), (3, 4, 5)])
def test_transforms(kind: str, letter: str, shape: tuple[int, ...]) -> None:
    fft = library("libcufft.so.12")
    x = random(shape, kind)
    on, plan, number = OnDevice(x.ravel()), ctypes.c_int(), {"C2C": 0x29, "Z2Z": 0x69}[letter]
    batch = (ctypes.c_int(1),) if len(shape) == 1 else ()
    make = getattr(fft, f"cufftPlan{len(shape)}d")
    assert make(ctypes.byref(plan), *map(ctypes.c_int, shape), ctypes.c_int(number), *batch) == 0
    assert call(getattr(fft, f"cufftExec{letter}"), plan, on, on, FORWARD) == 0
    close(on.now.reshape(shape), np.fft.fftn(x))
    assert call(getattr(fft, f"cufftExec{letter}"), plan, on, on, BACKWARD) == 0
    close(on.now.reshape(shape) / x.size, x)
    assert fft.cufftDestroy(plan) == 0


def test_real_transforms_in_place_leave_room() -> None:
    fft = library("libcufft.so.12")
    x = random((3, 8), "f8")
    padded = np.zeros((3, 10))
    padded[:, :8] = x
    on, plan = OnDevice(padded.ravel()), ctypes.c_int()
    assert fft.cufftPlan2d(ctypes.byref(plan), 3, 8, 0x6A) == 0
    assert call(fft.cufftExecD2Z, plan, on, on) == 0
    close(on.now.view("c16").reshape(3, 5), np.fft.rfft2(x))
    assert fft.cufftPlan2d(ctypes.byref(plan), 3, 8, 0x6C) == 0
    assert call(fft.cufftExecZ2D, plan, on, on) == 0
    close(on.now.reshape(3, 10)[:, :8] / 24, x)


def test_batches_with_steps() -> None:
    fft = library("libcufft.so.12")
    x = random((6, 4), "c16")  # transforms of 6 along the first axis: elements 4 apart, the next 1 further
    on, out, plan = OnDevice(x.ravel()), OnDevice(np.zeros(24, "c16")), ctypes.c_int()
    n = np.array([6], "i4")
    given = (ctypes.byref(plan), 1, n.ctypes, n.ctypes, 4, 1, n.ctypes, 1, 6, 0x69, 4)
    assert fft.cufftPlanMany(*given) == 0
    assert call(fft.cufftExecZ2Z, plan, on, out, FORWARD) == 0
    close(out.now.reshape(4, 6), np.fft.fft(x, axis=0).T)


# A number is scaled by what the function is given, and counted from its own offset; sums go to a mirror.
CALLBACKS = """
__device__ double2 scaled(void *data, unsigned long long offset, void *info, void *shared)
{
    double2 x = static_cast<double2 *>(data)[offset];
    const double factor = *static_cast<double *>(info);
    return make_double2(factor * x.x + offset, factor * x.y);
}
__device__ void backwards(void *data, unsigned long long offset, double2 x, void *, void *shared)
{
    static_cast<double2 *>(shared)[threadIdx.x] = x;
    static_cast<double2 *>(data)[23 - offset] = static_cast<double2 *>(shared)[threadIdx.x];
}
"""


def test_elements_go_through_functions_of_the_program() -> None:
    fft = library("libcufft.so.12")
    code = np.frombuffer(compile_lto(CALLBACKS, "sm_90", "callbacks"), "u1")
    x, plan = random((6, 4), "c16"), ctypes.c_int()
    on, out, factor = OnDevice(x.ravel()), OnDevice(np.zeros(24, "c16")), OnDevice(np.array([2.5]))
    assert fft.cufftCreate(ctypes.byref(plan)) == 0
    given = np.array([int(factor)], "u8")
    assert call(fft.cufftXtSetJITCallback, plan, b"scaled", code, code.size, 1, given) == 0
    assert call(fft.cufftXtSetJITCallback, plan, b"backwards", code, code.size, 5, None) == 0
    assert call(fft.cufftXtSetCallbackSharedSize, plan, 5, 128 * 16) == 0
    n, size = np.array([6], "i4"), ctypes.c_size_t()
    layouts = (1, n.ctypes, n.ctypes, 4, 1, n.ctypes, 1, 6, 0x69, 4, ctypes.byref(size))
    assert fft.cufftMakePlanMany(plan, *layouts) == 0
    assert call(fft.cufftExecZ2Z, plan, on, out, FORWARD) == 0
    read = 2.5 * x + np.arange(24).reshape(6, 4)
    close(out.now[::-1].reshape(4, 6), np.fft.fft(read, axis=0).T)
    assert call(fft.cufftXtClearCallback, plan, 5) == 0
    assert call(fft.cufftExecZ2Z, plan, on, out, FORWARD) == 0
    close(out.now.reshape(4, 6), np.fft.fft(read, axis=0).T)


def test_what_is_wrong_with_a_callback_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    fft = library("libcufft.so.12")
    code = np.frombuffer(compile_lto(CALLBACKS, "sm_90", "callbacks"), "u1")
    plan = ctypes.c_int()
    assert fft.cufftCreate(ctypes.byref(plan)) == 0
    assert call(fft.cufftXtSetJITCallback, plan, b"missing", code, code.size, 1, None) == 5
    assert "the callback missing is not in its LTO-IR: `double2 missing(void *," in capfd.readouterr().err
    assert call(fft.cufftXtSetJITCallback, plan, b"scaled", code, code.size, 8, None) == 3


# ---------------------------------------------------------------------------------------- cuSOLVER
@pytest.fixture
def solver() -> tuple[Any, ctypes.c_void_p]:
    pytest.importorskip("scipy")
    found, handle = library("libcusolver.so.12"), ctypes.c_void_p()
    assert found.cusolverDnCreate(ctypes.byref(handle)) == 0
    return found, handle


@pytest.mark.parametrize("letter", KINDS)
def test_dense_systems(solver: Any, letter: str) -> None:
    library_, handle = solver
    kind = np.dtype(KINDS[letter])
    a, b = random((5, 5), kind) + 5 * np.eye(5, dtype=kind), random((5, 2), kind, 2)
    on, right, pivots, info, work = (
        *(OnDevice(a), OnDevice(b), OnDevice(np.zeros(5, "i4"))),
        *(OnDevice(np.full(1, 9, "i4")), OnDevice(np.zeros(1, kind))),
    )
    f = {
        name: getattr(library_, f"cusolverDn{letter}{name}") for name in ("getrf", "getrs", "potrf", "potrs")
    }
    assert call(f["getrf"], handle, 5, 5, on, 5, work, pivots, info) == 0
    assert call(f["getrs"], handle, 0, 5, 2, on, 5, pivots, right, 5, info) == 0
    close(a @ right.now, b)
    positive = a @ a.conj().T
    on, right = OnDevice(positive), OnDevice(b)
    assert call(f["potrf"], handle, 0, 5, on, 5, work, 1, info) == 0
    factor = np.tril(on.now)
    close(factor @ factor.conj().T, positive)
    assert call(f["potrs"], handle, 0, 5, 2, on, 5, right, 5, info) == 0
    close(positive @ right.now, b) if letter in "DZ" else None
    assert info.now[0] == 0


@pytest.mark.parametrize("letter", KINDS)
def test_orthogonal_and_spectral(solver: Any, letter: str) -> None:
    library_, handle = solver
    kind = np.dtype(KINDS[letter])
    real = kind.type(0).real.dtype
    a = random((6, 4), kind)
    on, tau, info, work = OnDevice(a), OnDevice(np.zeros(4, kind)), OnDevice(np.zeros(1, "i4")), OnDevice(a)
    assert call(getattr(library_, f"cusolverDn{letter}geqrf"), handle, 6, 4, on, 6, tau, work, 1, info) == 0
    upper = np.triu(on.now[:4])
    name = "orgqr" if letter in "SD" else "ungqr"
    function = getattr(library_, f"cusolverDn{letter}{name}")
    assert call(function, handle, 6, 4, 4, on, 6, tau, work, 1, info) == 0
    close(on.now @ upper, a)
    on, values = OnDevice(a), OnDevice(np.zeros(4, real))
    u, vt = OnDevice(np.zeros((6, 6), kind)), OnDevice(np.zeros((4, 4), kind))
    jobs = ctypes.c_byte(ord("A")), ctypes.c_byte(ord("A"))
    function = getattr(library_, f"cusolverDn{letter}gesvd")
    assert call(function, handle, *jobs, 6, 4, on, 6, values, u, 6, vt, 4, work, 1, 0, info) == 0
    close(u.now[:, :4] * values.now @ vt.now, a)
    h = a[:4] + a[:4].conj().T
    on = OnDevice(h)
    name = "syevd" if letter in "SD" else "heevd"
    assert (
        call(getattr(library_, f"cusolverDn{letter}{name}"), handle, 1, 0, 4, on, 4, values, work, 1, info)
        == 0
    )
    close(h @ on.now, on.now * values.now)


# ---------------------------------------------------------------------------------------- cuSPARSE
def test_sparse_products() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    library_, handle = library("libcusparse.so.12"), ctypes.c_void_p()
    assert library_.cusparseCreate(ctypes.byref(handle)) == 0
    a = sparse.random(7, 5, 0.4, format="csr", random_state=1)
    parts = [OnDevice(one) for one in (a.indptr.astype("i4"), a.indices.astype("i4"), a.data)]
    x, y = random((5,), "f8"), random((7,), "f8", 2)
    matrix, left, right = (ctypes.c_void_p() for _ in range(3))
    given = (7, 5, a.nnz, *parts, 2, 2, 0, 1)
    assert call(library_.cusparseCreateCsr, ctypes.byref(matrix), *given) == 0
    on = OnDevice(x), OnDevice(y)
    assert call(library_.cusparseCreateDnVec, ctypes.byref(left), 5, on[0], 1) == 0
    assert call(library_.cusparseCreateDnVec, ctypes.byref(right), 7, on[1], 1) == 0
    two, half = np.float64(2), np.float64(0.5)
    assert call(library_.cusparseSpMV, handle, 0, two, matrix, left, half, right, 1, 0, 0) == 0
    close(on[1].now, 2 * (a @ x) + y / 2)
