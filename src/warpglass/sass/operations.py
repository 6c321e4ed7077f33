"""What machine operations are called and what kind of work they do.

Belongs here: one row per operation, by the low nine bits of the instruction word; the three bits above them
only say whether operands are registers, immediates or constants. Compute capability 12 gives two codes to
other operations. Found by comparing with nvdisasm (tests/sass/test_decode.py), as NVIDIA documents none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Kinds are those of Nsight Compute's smsp__sass_thread_inst_executed_op_KIND_pred_on, as an H200 counts them.
_KINDS = {
    "fp32": (
        "FSEL FSETP FSET FMNMX FMNMX3 FMUL FADD FFMA FMUL2 FADD2 FFMA2 FCHK FSWZADD MUFU UFADD UFMUL UFFMA"
    ),
    "fp64": "DMUL DADD DSETP DFMA DMMA",
    "fp16": "HADD2 HFMA2 HMUL2 HSETP2 HSET2 HMNMX2 HMMA",
    "integer": (
        "ISETP IADD3 LEA LOP3 IABS VABSDIFF VABSDIFF4 IMNMX SHF IMAD IDP VIADD VIADDMNMX VIMNMX VIMNMX3 IADD "
        "BMSK SGXT FLO BREV POPC IMMA BMMA"
    ),
    "bit": "SEL PRMT PLOP3 P2R R2P",
    "conversion": "F2F F2I I2F FRND F2FP F2IP I2FP I2I I2IP UI2F",
    "inter_thread_communication": "SHFL VOTE VOTEU MATCH REDUX CREDUX MOVM",
    "uniform": (
        "ULDC LDCU UMOV USEL UISETP UIADD3 ULEA ULOP3 USHF UIMAD UFLO UPOPC UBREV UVIMNMX UPLOP3 USGXT UBMSK "
        "UIABS UPRMT"
    ),
    "memory": (
        "LD LDG LDL LDS ST STG STL STS ATOM ATOMG ATOMS RED LDC LDSM LDGSTS CCTL MEMBAR QSPC ERRBAR LDGDEPBAR"
    ),
    "control": (
        "BRA BRX BRXU JMP JMX JMXU CALL RET EXIT BSSY BSYNC BREAK WARPSYNC BMOV BPT KILL NANOSLEEP YIELD "
        "ENDCOLLECTIVE"
    ),
    "misc": "MOV CS2R UP2UR UR2UP S2R S2UR CS2UR NOP BAR DEPBAR B2R R2B",
    "other": "R2UR",  # no class counts it
}
KIND: Mapping[str, str] = {name: kind for kind, names in _KINDS.items() for name in names.split()}

_CODES = {
    0x002: "MOV P2R R2P CS2R VOTE SEL FSEL FMNMX FSET FSETP ISETP",
    0x00F: "VIMNMX3 IADD3 LEA LOP3 IABS VABSDIFF VABSDIFF4 PRMT IMNMX",
    0x019: "SHF SGXT BMSK PLOP3",
    0x020: "FMUL FADD FSWZADD FFMA IMAD IMAD IDP IMAD DMUL DADD DSETP DFMA",
    0x030: "HADD2 HFMA2 HMUL2 HSET2 HSETP2 HFMA2 VIADD IMMA",
    0x03A: "MOVM LDSM HMMA BMMA F2FP DMMA HMNMX2",
    0x043: "F2IP",
    0x045: "I2FP VIADDMNMX",
    0x048: "VIMNMX",
    0x04A: "UVIMNMX",
    0x055: "UFFMA",
    0x05A: "UI2F",
    0x082: "UMOV",
    0x086: "VOTEU USEL",
    0x08C: "UISETP",
    0x090: "UIADD3 ULEA ULOP3",
    0x096: "UPRMT UIADD3",
    0x099: "USHF USGXT UBMSK UPLOP3",
    0x0A4: "UIMAD UIMAD",
    0x0B9: "ULDC",
    0x0BB: "ULDC",
    0x0BD: "UFLO UBREV UPOPC",
    0x0CA: "R2UR CS2UR CREDUX",
    0x100: "FLO BREV FCHK",
    0x104: "F2F F2I I2F FRND MUFU POPC",
    0x110: "F2F F2I I2F FRND",
    0x118: "NOP S2R DEPBAR ENDCOLLECTIVE B2R BAR R2B",
    0x141: "BSYNC BREAK CALL CALL BSSY YIELD BRA WARPSYNC BRX JMP",
    0x14D: "EXIT",
    0x150: "RET",
    0x155: "BMOV BMOV",
    0x158: "BRXU JMXU",
    0x15B: "KILL BPT NANOSLEEP",
    0x180: "LD LDG LDC LDL LDS ST STG STL STS SHFL ATOM ATOM ATOMS ATOMS RED CCTL",
    0x192: "MEMBAR",
    0x1A1: "MATCH ATOM ATOMG",
    0x1A6: "RED",
    0x1A8: "ATOMG ATOMG QSPC ERRBAR LDCU",
    0x1AE: "LDGSTS LDGDEPBAR",
    0x1C2: "R2UR S2UR REDUX",
}
_NAMES: dict[int, str] = {
    first + place: name for first, names in _CODES.items() for place, name in enumerate(names.split())
}
_NAMES_12 = {0x035: "IADD"}  # of compute capability 12

_SPACES = {
    "generic": "LD ST ATOM",
    "global": "LDG STG ATOMG RED LDGSTS",
    "shared": "LDS STS ATOMS LDSM",
    "local": "LDL STL",
}
_SPACE: dict[str, str] = {name: space for space, names in _SPACES.items() for name in names.split()}

_ACCESSES = {
    "load": "LD LDG LDS LDL LDSM",
    "store": "ST STG STS STL",
    "atomic": "ATOM ATOMG ATOMS",
    "reduction": "RED",
    "copy": "LDGSTS",
}
_ACCESS: dict[str, str] = {name: access for access, names in _ACCESSES.items() for name in names.split()}

# What ends a run of instructions; BSYNC is where threads that parted meet again.
_CONTROL = {
    "BRA": "branch",
    "JMP": "branch",
    "BRX": "switch",
    "BRXU": "switch",
    "JMXU": "switch",
    "CALL": "call",
    "RET": "return",
    "EXIT": "exit",
    "KILL": "exit",
    "BSSY": "part",
    "BSYNC": "meet",
    "BREAK": "break",
    "WARPSYNC": "meet",
    "BAR": "barrier",
}

TENSOR = frozenset(("HMMA", "IMMA", "DMMA", "BMMA"))  # products of tensor cores

# Floating-point operations and how many each thread does, as they are counted: an FMA as one, and a
# pair of halves too.
FLOPS: Mapping[str, tuple[str, int]] = {
    "FADD": ("fadd", 1),
    "FMUL": ("fmul", 1),
    "FFMA": ("ffma", 1),
    "FADD2": ("fadd", 2),
    "FMUL2": ("fmul", 2),
    "FFMA2": ("ffma", 2),
    "DADD": ("dadd", 1),
    "DMUL": ("dmul", 1),
    "DFMA": ("dfma", 1),
    "HADD2": ("hadd", 1),
    "HMUL2": ("hmul", 1),
    "HFMA2": ("hfma", 1),
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name without modifiers, and what follows from it.

    `kind` is one of Nsight Compute's classes of instructions. `space` and `access` are those of a memory
    access (load, store, atomic, reduction, copy), else empty, and so is `control`.
    """

    name: str
    kind: str
    space: str = ""
    access: str = ""
    control: str = ""


def _operation(name: str) -> Operation:
    return Operation(
        name, KIND.get(name, "other"), _SPACE.get(name, ""), _ACCESS.get(name, ""), _CONTROL.get(name, "")
    )


_OPERATIONS = {code: _operation(name) for code, name in _NAMES.items()}
_OPERATIONS_12 = _OPERATIONS | {code: _operation(name) for code, name in _NAMES_12.items()}
_UNKNOWN = Operation("?", "other")


def find(code: int, capability: int) -> Operation:
    """The operation of a nine-bit code on a compute capability such as 90; "?" if no row has it."""
    return (_OPERATIONS_12 if capability >= 120 else _OPERATIONS).get(code, _UNKNOWN)
