"""Arguments that fit are bound to the right bytes; arguments that do not are refused by name."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from warpglass.engine.launch.arguments import Binder, Bound, Parameter, Reference, pack
from warpglass.engine.launch.parameters import parameters_of
from warpglass.errors import ArgumentError
from warpglass.ptx.tree import Variable
from warpglass.source.compiled import Argument, Compiled


def parameters(*types: str) -> tuple[Parameter, ...]:
    """Parameters of scalar PTX types; `b8x12` is a structure of 12 bytes, `*` a `.ptr`."""
    variables: list[Variable] = []
    for number, text in enumerate(types):
        kind, _, count = text.partition("x")
        pointer = kind == "*"
        variables.append(
            Variable(
                f"p{number}",
                "param",
                "u64" if pointer else kind,
                align=4 if count else 0,
                shape=(int(count),) if count else (),
                pointer_space="global" if pointer else None,
                pointer_align=1 if pointer else 0,
            )
        )
    return parameters_of(variables)


def bind_ptx(types: tuple[str, ...], *args: object) -> Bound:
    """Bind to a PTX file's parameters, of which nothing but the PTX type is known."""
    return Binder(Compiled("", "k", "k", "ptx"), parameters(*types)).bind(args)


def bind_typed(arguments: tuple[Argument, ...], types: tuple[str, ...], *args: object) -> Bound:
    """Bind to the arguments of a front end."""
    language = "python" if any(argument.dtype is not None for argument in arguments) else "cuda"
    return Binder(Compiled("", "k", "k", language, arguments), parameters(*types)).bind(args)


POINTER = Argument("x", ("pointer",))


# ---------------------------------------------------------------------------------------- layout
def test_offsets_follow_alignment():
    found = [(p.size, p.align, p.offset) for p in parameters("u8", "u64", "b8x6", "f32", "u16", "f64")]
    assert found == [(1, 1, 0), (8, 8, 8), (6, 4, 16), (4, 4, 24), (2, 2, 28), (8, 8, 32)]


def test_pointee_alignment_does_not_move_the_pointer():
    first = Variable("a", "param", "u32")
    pointer = Variable("b", "param", "u64", pointer_space="global", pointer_align=256)
    assert [p.offset for p in parameters_of((first, pointer))] == [0, 8]


def test_pack_puts_every_value_in_its_place():
    x = np.arange(10, dtype=np.float64)
    bound = bind_ptx(("u32", "*", "f32", "b8x8", "u16", "f64"), -1, x[3:], 0.5, b"abcdefgh", 65535, 2.0)
    block = pack(bound, [0x10000])
    assert block == struct.pack("<I4xQf8sH2xd", 0xFFFFFFFF, 0x10000 + 24, 0.5, b"abcdefgh", 65535, 2.0)
    assert bound.layout.size == len(block)


# ---------------------------------------------------------------------------------------- scalars
FITS: list[tuple[str, object, int | float | bytes]] = [
    ("u32", 2**32 - 1, 2**32 - 1),
    ("u32", -(2**31), -(2**31)),
    ("u32", np.int64(7), 7),
    ("u8", True, 1),
    ("u8", np.False_, 0),
    ("u64", 2**63, 2**63),
    ("f64", 3, 3.0),
    ("f64", np.float32(0.5), 0.5),
    ("f32", np.float64(0.25), 0.25),
    ("f32", float("inf"), float("inf")),
    ("b16", np.float16(1.0), 0x3C00),
    ("b16", -2, -2),
    ("b8x8", np.complex64(1 + 2j), struct.pack("<ff", 1, 2)),
    ("b8x4", np.zeros((), np.dtype([("a", "i2"), ("b", "i2")])), bytes(4)),
    ("b8x4", np.zeros(3, np.dtype([("a", "i4")]))[0], bytes(4)),
    ("b8x8", (ctypes.c_int * 2)(1, 2), struct.pack("<ii", 1, 2)),
]


@pytest.mark.parametrize(("kind", "value", "expected"), FITS)
def test_value_fits(kind: str, value: object, expected: object):
    assert bind_ptx((kind,), value).values == (expected,)


REFUSED: list[tuple[str, object, str]] = [
    ("u32", 2**32, "does not fit"),
    ("u32", -(2**31) - 1, "does not fit"),
    ("u8", 256, "does not fit"),
    ("u32", 3.0, r"int\(x\)"),
    ("u32", np.float32(3), r"int\(x\)"),
    ("u32", None, "None"),
    ("u32", "3", "str"),
    ("u32", np.zeros(3, np.int32), "not an array"),
    ("u32", np.array(3), r"x\.item\(\)"),
    ("u32", 1j, "complex"),
    ("f32", 1e39, "infinite"),
    ("f64", 10**400, "too large"),
    ("f32", True, r"float\(x\)"),
    ("f32", np.zeros(2, np.float32), "not an array"),
    ("f64", None, "None"),
    ("b8x8", bytes(7), "7 bytes"),
    ("b8x8", 3, "structure of 8 bytes"),
    ("b8x8", np.zeros(2, np.float32), "structure of 8 bytes"),
    ("b8x8", np.zeros((), object), "Python objects"),
    ("*", 0x1000, "needs an array"),
    ("*", [1, 2], r"np\.array\(x, dtype\)"),
]


@pytest.mark.parametrize(("kind", "value", "text"), REFUSED)
def test_value_is_refused_by_name(kind: str, value: object, text: str):
    with pytest.raises(ArgumentError, match=rf"k: argument 2 of 2 \(p1\) .*{text}"):
        bind_ptx(("u64", kind), 1, value)


def test_wrong_count_names_the_arguments():
    with pytest.raises(ArgumentError, match=r"k takes 2 arguments \(x, n\), got 1"):
        bind_typed((POINTER, Argument("n", ("value",))), ("*", "u32"), np.zeros(1))


def test_known_dtype_narrows_the_range():
    signed = (Argument("n", ("value",), np.dtype(np.int32), 0),)
    assert bind_typed(signed, ("u32",), -1).values == (-1,)
    with pytest.raises(ArgumentError, match="2147483647"):
        bind_typed(signed, ("u32",), 2**31)
    flag = (Argument("f", ("value",), np.dtype(np.bool_), 0),)
    with pytest.raises(ArgumentError, match="bool"):
        bind_typed(flag, ("u8",), 2)


def test_complex_and_date_of_known_dtype_pass_their_bits():
    number = (Argument("z", ("value",), np.dtype(np.complex128), 0),)
    assert bind_typed(number, ("b8x16",), 1 - 2j).values == (struct.pack("<dd", 1, -2),)
    date = (Argument("t", ("value",), np.dtype("M8[s]"), 0),)
    assert bind_typed(date, ("u64",), np.datetime64(90, "s")).values == (90,)
    with pytest.raises(ArgumentError, match=r"datetime64\[s\]"):
        bind_typed(date, ("u64",), "tomorrow")


# ---------------------------------------------------------------------------------------- arrays
def test_untyped_64_bit_parameter_takes_array_or_integer():
    assert bind_ptx(("u64", "u64"), np.zeros(2), 5).values == (Reference(0), 5)
    assert bind_ptx(("u64",), None).values == (0,)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "c16", "M8[s]", "m8[ns]", "i4,f8"])
def test_cpp_pointer_takes_any_plain_dtype(dtype: str):
    bound = bind_typed((POINTER,), ("*",), np.zeros(4, dtype))
    assert bound.arrays[0].dtype == np.dtype(dtype)


BAD_ARRAYS: list[tuple[Any, str]] = [
    (np.array([None]), "Python objects"),
    (np.array(["a"]), "np.frombuffer"),
    (np.array([b"a"]), "np.frombuffer"),
    (np.zeros(2, np.longdouble), "extended precision"),
    (np.zeros(2, ">f8"), "big-endian"),
    (np.zeros((4, 4))[:, ::2], "ascontiguousarray"),
    (np.zeros((4, 3)).T, r"x\.T"),
    (np.ma.masked_array([1.0, 2.0], [True, False]), "masked"),
    (np.frombuffer(bytes(17), np.uint8)[1:].view(np.float64), "multiple of 8"),
    (np.zeros(2, "i1,O"), "Python objects"),
]


@pytest.mark.parametrize(("array", "text"), BAD_ARRAYS)
def test_array_is_refused_by_name(array: Any, text: str):
    with pytest.raises(ArgumentError, match=rf"k: argument 1 of 1 \(x\) .*{text}"):
        bind_typed((POINTER,), ("*",), array)


def test_known_dtype_and_dimensions_are_checked():
    argument = (Argument("x", ("pointer",), np.dtype(np.float32), 2),)
    assert bind_typed(argument, ("*",), np.zeros((2, 2), np.float32)).values == (Reference(0),)
    with pytest.raises(ArgumentError, match=r"needs float32"):
        bind_typed(argument, ("*",), np.zeros((2, 2)))
    with pytest.raises(ArgumentError, match=r"needs 2 dimensions"):
        bind_typed(argument, ("*",), np.zeros(4, np.float32))
    with pytest.raises(ArgumentError, match="None"):
        bind_typed(argument, ("*",), None)


def test_descriptor_fields_are_filled_from_the_array():
    fields = (
        "null",
        "size",
        "itemsize",
        "pointer",
        "offset",
        "shape:0",
        "shape:1",
        "byte_stride:0",
        "stride:1",
    )
    argument = (Argument("m", fields, np.dtype(np.float32), 2),)
    matrix = np.zeros((6, 8), np.float32)[::-2, 1::2]
    bound = bind_typed(argument, ("u64",) * 9, matrix)
    assert bound.values == (0, 12, 4, Reference(0), 0, 3, 4, -64, 2)
    block = pack(bound, [4096])
    assert struct.unpack_from("<Q", block, 24) == (4096 + (5 * 8 + 1) * 4,)
    assert struct.unpack_from("<q", block, 56) == (-64,)


def test_stride_that_is_no_multiple_of_the_element_is_refused():
    argument = (Argument("v", ("pointer", "stride:0"), np.dtype(np.float64), 1),)
    records = np.zeros(4, np.dtype([("a", "f8"), ("b", "i4")], align=False))
    with pytest.raises(ArgumentError, match="no multiples of 8 bytes"):
        bind_typed(argument, ("*", "u64"), records["a"])


# ---------------------------------------------------------------------------------------- memory
def test_views_of_one_owner_share_its_allocation():
    owner, other = np.zeros(100), np.zeros(5)
    bound = bind_ptx(("*", "*", "*"), owner[10:20], other, owner[50:])
    assert [array.allocation for array in bound.arrays] == [0, 1, 0]
    assert [array.offset for array in bound.arrays] == [80, 0, 400]
    assert [allocation.nbytes for allocation in bound.allocations] == [800, 40]
    assert bound.allocations[0].address == owner.ctypes.data
    assert bound.allocations[0].name == "p0"


def test_wrappers_of_one_buffer_share_an_allocation():
    buffer = bytearray(80)
    low, high = np.frombuffer(buffer, np.float64, 5), np.frombuffer(buffer, np.float64, 7, offset=24)
    bound = bind_ptx(("*", "*"), high, low)
    assert [array.offset for array in bound.arrays] == [24, 0]
    assert len(bound.allocations) == 1


def test_a_third_view_joins_two_allocations():
    buffer = bytearray(80)
    first, second = np.frombuffer(buffer, np.float64, 3), np.frombuffer(buffer, np.float64, 3, offset=56)
    bound = bind_ptx(("*", "*", "*"), second, first, np.frombuffer(buffer, np.float64))
    assert [array.allocation for array in bound.arrays] == [0, 0, 0]
    assert [array.offset for array in bound.arrays] == [56, 0, 0]


def test_view_that_is_aligned_on_the_host_alone_is_refused():
    raw = np.zeros(33, np.uint8)
    odd = raw[1:] if raw.ctypes.data % 8 == 0 else raw
    owner = np.frombuffer(odd.data, np.uint8)
    shift = -owner.ctypes.data % 8
    with pytest.raises(ArgumentError, match="in the memory that owns it"):
        bind_ptx(("*",), owner[shift : shift + 16].view(np.float64))


def test_read_only_views_make_a_read_only_allocation():
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    constant = np.frombuffer(bytes(8), np.float64)
    mixed = np.zeros(4)
    view = mixed[:2]
    view.flags.writeable = False
    bound = bind_ptx(("*",) * 4, frozen, constant, view, mixed[2:])
    assert [allocation.readonly for allocation in bound.allocations] == [True, True, False]
    assert [array.readonly for array in bound.arrays] == [True, True, True, False]


def test_empty_arrays_have_their_own_empty_allocation():
    owner = np.zeros(8)
    bound = bind_ptx(("*", "*", "*"), owner, owner[3:3], np.zeros(0))
    assert [allocation.nbytes for allocation in bound.allocations] == [64, 0, 0]
    assert pack(bound, [512, 0, 0]) == struct.pack("<QQQ", 512, 0, 0)


def test_broadcast_array_fits_a_strided_argument():
    argument = (Argument("v", ("pointer", "shape:0", "stride:0"), np.dtype(np.float64), 1),)
    bound = bind_typed(argument, ("*", "u64", "u64"), np.broadcast_to(np.float64(1), (5,)))
    assert bound.values == (Reference(0), 5, 0)
    assert bound.arrays[0].readonly


def test_memory_map_is_used_in_place(tmp_path: Any):
    mapped = np.memmap(tmp_path / "data", np.float32, "w+", shape=(16,))
    bound = bind_ptx(("*",), mapped[4:])
    assert (bound.arrays[0].offset, bound.allocations[0].nbytes) == (16, 64)


# ---------------------------------------------------------------------------------------- other libraries
class Exporter:
    """A host tensor of another library: DLPack alone."""

    def __init__(self, array: np.ndarray[Any, Any], modern: bool):
        self.array, self.modern = array, modern

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **options: Any) -> Any:
        if options and not self.modern:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize("modern", [True, False])
def test_host_dlpack_tensor_is_used_in_place(modern: bool):
    array = np.arange(6, dtype=np.float32)
    bound = bind_ptx(("*",), Exporter(array, modern))
    assert bound.arrays[0].address == array.ctypes.data
    assert bound.arrays[0].device is None
    assert not bound.arrays[0].readonly


def test_tensor_that_exports_nothing_is_refused():
    class Closed(Exporter):
        def __dlpack__(self, **options: Any) -> Any:
            raise RuntimeError("requires grad")

    with pytest.raises(ArgumentError, match="a Closed that exports no memory .requires grad"):
        bind_ptx(("*",), Closed(np.zeros(1), True))


class OnDevice:
    """A device array of another library, as far as its description goes."""

    def __init__(self, **interface: Any):
        self.__cuda_array_interface__ = {"version": 3, "shape": (4, 2), "typestr": "<f4"} | interface


def test_device_array_keeps_its_address():
    bound = bind_ptx(("*", "*"), OnDevice(data=(0x7F0000, True)), OnDevice(data=(0x7F0010, False)))
    assert [array.device for array in bound.arrays] == [0, 0]
    assert [array.offset for array in bound.arrays] == [0, 16]
    assert (bound.allocations[0].address, bound.allocations[0].nbytes) == (0x7F0000, 48)


def test_device_array_must_be_contiguous():
    with pytest.raises(ArgumentError, match="not contiguous"):
        bind_ptx(("*",), OnDevice(data=(0x7F0000, False), strides=(4, 16)))
    with pytest.raises(ArgumentError, match="multiple of 4"):
        bind_ptx(("*",), OnDevice(data=(0x7F0002, False)))


class DeviceTensor:
    """A DLPack tensor that says it lies on CUDA device 1: NumPy's capsule with the device changed."""

    def __init__(self, array: np.ndarray[Any, Any]):
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 1)

    def __dlpack__(self, **_: Any) -> Any:
        return self.array.__dlpack__(max_version=(1, 0))


def test_dlpack_device_tensor_is_described_from_its_capsule():
    array = np.zeros((3, 4), np.int16)
    view = bind_ptx(("*",), DeviceTensor(array)).arrays[0].view
    assert (view.address, view.device) == (array.ctypes.data, 1)
    assert (view.shape, view.strides, view.dtype) == ((3, 4), (8, 2), np.dtype(np.int16))


def test_a_complex_number_in_two_parameters():
    argument = (Argument("z", ("real", "imag"), np.dtype(np.complex64), 0),)
    bound = bind_typed(argument, ("f32", "f32"), 1.5 - 2j)
    assert pack(bound, []) == struct.pack("<2f", 1.5, -2.0)
    assert pack(bind_typed(argument, ("f32", "f32"), 3), []) == struct.pack("<2f", 3.0, 0.0)
    with pytest.raises(ArgumentError, match=r"\(z\) got .*needs a complex number \(complex64\)"):
        bind_typed(argument, ("f32", "f32"), "i")
