"""Warp fusion: how many lanes run together, a warp's or, where no thread can tell, several warps' or fewer.

Two warps that go the same way through a kernel need its scalar instructions, its checks and its loop tests
only once, and what one of them loads for all its threads serves the other too. Twice the lanes also have
twice as many operations under way where each waits for the one before it, as in a sum. Belongs here: for
which kernels it pays; in which no thread can tell is said by unseen_order.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, takewhile

from ..isa.types import BITS, LLVM_TYPE
from ..program import Barrier, Block, Program, Step
from ..program.blocks import loops_of
from ..program.liveness import find_liveness
from .block_fusion import wide_shapes
from .builder import WIDTH
from .infer import Inference, infer_kinds
from .machine.target import vector_bytes
from .memory.patterns import SPAN
from .memory.segments import find_segments
from .operands import Symbols
from .parting_warps import waits_apart
from .shape import BlockShape, Promises
from .unseen_order import is_unseen, reads_early
from .values.affine import regular
from .values.value import Value, one_value

# Blocks and steps of a kernel up to which it is tried: long kernels take long to compile as it is.
_MOST_BLOCKS, _MOST_STEPS = 256, 1000
_LEAST = 8  # lanes that run together
# Vector registers that one value of all lanes may take up: enough operations under way, and room for others.
_REGISTERS = 8
# Those where no two of these lanes share an access, so that only scalar instructions are saved.
_ROW_REGISTERS = 4
# Those beside tables: fewer operations hide how long each takes where they are dozens themselves.
_TABLE_REGISTERS = 4
# Instructions on vectors between two barriers up to which these cost as much.
_PHASE = 12
# The same on average in a whole kernel, and accesses for each that lanes have apart.
_SHORT_PHASE, _FEW = 14, 8
# Accesses that a kernel without loops must have for its warps' other costs to count, and the instructions on
# vectors for each of them up to which these costs do.
_ACCESSES, _BETWEEN = 3, 12
# Instructions on vectors up to which that holds: longer ones run as fast by single warps, or faster, since a
# processor has too few registers for all they hold, and quick code takes a fifth of the time to compile.
_STRAIGHT = 200
# Lanes for each place of an access, on average, from which it counts as a run wherever its places are.
_SHARED = 4
# Instructions on vectors that an access takes of which no form is known, and rounds of a loop.
_APART, _ROUNDS = 30, 30
# Bytes of a lane that a loop keeps from round to round, up to which those of more lanes find registers.
_KEPT = 48
# Instructions on vectors above which that holds for kernels with loops, which are long to compile otherwise.
_LONG = 500


def fuse_warps(
    program: Program, shape: BlockShape, promises: Promises, symbols: Symbols, inference: Inference
) -> tuple[BlockShape, Inference]:
    """The shape with several warps fused and its inference, if that pays, else those that are given.

    A block of few threads has no more lanes than these.
    """
    wide = _best_wide(program, shape, promises, symbols, inference)
    if wide is not None:
        return wide
    small = shape.threads <= WIDTH // 2
    narrowed = narrowed_shape(program, shape) if small else None
    by_rows = _best_rows(program, shape, promises, symbols, inference)
    if by_rows is not None:
        return by_rows
    tried = () if narrowed is None else (narrowed,)
    chains = not tried and waits_apart(program, inference)
    if chains or (not tried and pays(program, inference, shape.width)):
        tried = fused_shapes(program, shape)
    for one in tried:
        found = infer_kinds(program, one, promises, symbols)
        if not found.pending.divergent_barrier and (small or chains or pays(program, found, one.width)):
            return one, found
    return shape, inference


def narrowed_shape(program: Program, shape: BlockShape) -> BlockShape | None:
    """The shape of a block of few threads with about as many lanes; None if its threads could tell."""
    width = max(_LEAST, 1 << (shape.threads - 1).bit_length())
    return replace(shape, width=width) if width < WIDTH and is_unseen(program) else None


def fused_shapes(program: Program, shape: BlockShape) -> tuple[BlockShape, ...]:
    """The shapes with several warps together that may be of use to a kernel, the one of most lanes first.

    Rows of a block may be as long as fewer lanes, and not as more.
    """
    steps = sum(len(block.steps) for block in program.blocks)
    if len(program.blocks) > _MOST_BLOCKS or steps > _MOST_STEPS:
        return ()
    if reads_early(program) or not is_unseen(program):
        return ()
    tables = any(
        step.match.row.operation == "interpolation" for block in program.blocks for step in block.steps
    )
    most = _most_lanes(program, _TABLE_REGISTERS if tables else _REGISTERS)
    widths = takewhile(lambda width: width > WIDTH, (most >> k for k in count()))
    return tuple(replace(shape, width=width) for width in widths if shape.threads % width == 0)


def row_shapes(program: Program, shape: BlockShape) -> tuple[BlockShape, ...]:
    """The shapes with whole rows of threads together, whose form is then the same for all.

    Where rows are no part of a warp, nor warps of a row, each warp begins elsewhere in a row, and nothing is
    known of its lanes' columns. None if it is not so, or threads could tell.
    """
    x, y, z = shape.block
    if shape.threads <= WIDTH or y * z == 1 or WIDTH % x == 0 or x % WIDTH == 0:
        return ()
    width = max(_LEAST, 1 << (x - 1).bit_length())
    if width > _most_lanes(program) or reads_early(program) or not is_unseen(program):
        return ()
    several = next(k for k in range(max(1, WIDTH // x), 0, -1) if z == 1 or y % k == 0)
    single = replace(shape, width=width, rows=1)
    return (single, replace(shape, width=WIDTH, rows=several)) if several > 1 else (single,)


def _best_rows(
    program: Program, shape: BlockShape, promises: Promises, symbols: Symbols, inference: Inference
) -> tuple[BlockShape, Inference] | None:
    """The best of these shapes, with its inference, if it is better than the given one."""
    best, least = None, _cost(program, shape, inference)
    for one in row_shapes(program, shape):
        found = infer_kinds(program, one, promises, symbols)
        cost = _cost(program, one, found)
        if cost < least and not found.pending.divergent_barrier:
            best, least = (one, found), cost
    return best


def _best_wide(
    program: Program, shape: BlockShape, promises: Promises, symbols: Symbols, inference: Inference
) -> tuple[BlockShape, Inference] | None:
    """The shape with rows of several blocks together that pays, with its inference; None if none does."""
    if shape.threads < WIDTH or not is_unseen(program):
        return None
    for one in wide_shapes(program, shape, promises, _most_lanes(program, _ROW_REGISTERS)):
        found = infer_kinds(program, one, promises, symbols)
        if one.width > WIDTH:
            better = pays(program, found, one.width)
        else:
            better = _cost(program, one, found) < _cost(program, shape, inference)
        if better and not found.pending.divergent_barrier:
            return one, found
    return None


def _most_lanes(program: Program, registers: int = _REGISTERS) -> int:
    """How many lanes one value of which takes the vector registers that it may take."""
    types = {type_ for type_ in program.registers.values() if type_ in ("f32", "f64")}
    return registers * vector_bytes() // (8 if "f64" in types else 4)


def _cost(program: Program, shape: BlockShape, inference: Inference) -> float:
    """About what a block costs: instructions on vectors, and accesses of which no form is known."""
    often = frozenset[int]().union(*loops_of(program.blocks).values())
    cost = 0.0
    for index, block in enumerate(program.blocks):
        apart = sum(not _has_form(step, inference) for step in block.steps)
        vectors = len(_in_lanes(block.steps, inference)) * shape.width / WIDTH
        cost += (_ROUNDS if index in often else 1) * (vectors + _APART * apart)
    return shape.warps * cost / shape.blocks


def _has_form(step: Step, inference: Inference) -> bool:
    base = step.address_register if step.match.load_or_store else None
    return base is None or inference.offsets(base) is not None


def pays(program: Program, inference: Inference, width: int) -> bool:
    """Whether so many lanes are faster together: they keep together, side by side in memory."""
    blocks = program.blocks
    parting = [_parts(block, inference) for block in blocks]
    loops = [
        range(target, k + 1) for k, block in enumerate(blocks) for target in block.successors if target <= k
    ]
    waiting = {loop for loop in loops if any(isinstance(blocks[k].end, Barrier) for k in loop)}
    free = {k for loop in loops if loop not in waiting for k in loop}
    if _in_phases(blocks, inference) and width <= _most_lanes(program, _ROW_REGISTERS):
        return True
    if any(parting[k] == _OFTEN for k in free):
        return False
    if _mostly_computes(blocks, inference) or _kept(program, inference) > _KEPT:
        return False
    if loops:
        together = [
            all(parting[k] <= (_NEVER if loop in waiting else _SELDOM) for k in loop) for loop in loops
        ]
        if not any(together) and not any(_is_short([blocks[k] for k in loop], inference) for loop in waiting):
            return False
        return all(
            _side_by_side(step, inference, shared=k in free)
            for k, block in enumerate(blocks)
            for step in block.steps
        )
    steps = [step for block in blocks for step in block.steps]
    accesses = sum(step.match.load_or_store is not None for step in steps)
    most = _most_lanes(program, _ROW_REGISTERS)
    # With barriers it is measured up to `most` lanes.
    return (
        accesses >= _ACCESSES
        and len(_in_lanes(steps, inference)) <= min(_STRAIGHT, _BETWEEN * accesses)
        and (width <= most or not any(isinstance(block.end, Barrier) for block in blocks))
        and all(_side_by_side(step, inference, shared=width > most) for step in steps)
        and all(_fits(step, width) for step in steps)
    )


def _fits(step: Step, width: int) -> bool:
    """Whether what so many lanes access, as a float4 each, takes no more registers than a value may."""
    access = step.match.load_or_store
    return access is None or access.size * width <= _REGISTERS * vector_bytes()


def _in_phases(blocks: Sequence[Block], inference: Inference) -> bool:
    """Whether a kernel is mostly barriers, with little between them, and few accesses of no form."""
    steps = [step for block in blocks for step in block.steps]
    barriers = sum(isinstance(block.end, Barrier) for block in blocks)
    apart = sum(_is_apart(step, inference) for step in steps)
    accesses = sum(step.match.load_or_store is not None for step in steps)
    return len(_in_lanes(steps, inference)) <= _SHORT_PHASE * barriers and _FEW * apart <= accesses


def _is_apart(step: Step, inference: Inference) -> bool:
    """Whether a step's accesses lie so far from each other, or so irregularly, that each lane has its own."""
    access = step.match.load_or_store
    if access is None or step.address_register is None:
        return False
    offsets = inference.offsets(step.address_register)
    return offsets is None or max(offsets) - min(offsets) > SPAN * access.size * len(offsets)


def _is_short(loop: Sequence[Block], inference: Inference) -> bool:
    """Whether so little is done between a loop's barriers that what each costs a warp decides."""
    barriers = sum(isinstance(block.end, Barrier) for block in loop)
    return sum(len(_in_lanes(block.steps, inference)) for block in loop) <= _PHASE * barriers


def _mostly_computes(blocks: Sequence[Block], inference: Inference) -> bool:
    """Whether a kernel is long and has few accesses that warps could share."""
    steps = [step for block in blocks for step in block.steps]
    accesses = sum(step.match.load_or_store is not None for step in steps)
    return len(_in_lanes(steps, inference)) > max(_LONG, _BETWEEN * accesses)


def _in_lanes(steps: Sequence[Step], inference: Inference) -> list[Step]:
    """The steps that need instructions on vectors."""
    return [
        step
        for step in steps
        if not step.writes or any(inference.offsets(name) is None for name in step.writes)
    ]


def _kept(program: Program, inference: Inference) -> int:
    """The bytes of a lane's own that are in use as a round of a loop begins, in the loop of most."""
    live = find_liveness(program.blocks)
    types = (
        [LLVM_TYPE[program.registers[name]] for name in live[header] if inference.offsets(name) is None]
        for header in loops_of(program.blocks)
    )
    return max((sum(BITS[type_] // 8 for type_ in here) for here in types), default=0)


# How often a block's lanes do not all do the same.
_NEVER, _SELDOM, _OFTEN = range(3)


def _parts(block: Block, inference: Inference) -> int:
    guards = [step.instruction.guard for step in block.steps]
    names = [guard.register for guard in guards if guard is not None]
    names += [] if block.splits is None else [block.splits]
    return max((_disagrees(inference.kinds.get(name)) for name in names), default=_NEVER)


def _disagrees(kind: Value | None) -> int:
    if kind is None or not one_value(kind.offsets):
        return _OFTEN
    return _NEVER if kind.uniform else _SELDOM


def _side_by_side(step: Step, inference: Inference, *, shared: bool) -> bool:
    """Whether a step accesses no memory, few places for its lanes, a run of neighbours, or a few runs.

    Runs must be `shared` by several lanes where nothing else could make more lanes together worth it.
    """
    access = step.match.load_or_store
    if access is None:
        return True
    base = step.address_register
    if base is None:
        return True
    offsets = inference.offsets(base)
    if offsets is None or not regular(offsets, access.size):
        return False
    if offsets == tuple(range(0, access.size * len(offsets), access.size)):
        return True
    if _SHARED * len(set(offsets)) <= len(offsets):
        return True
    lowest = min(offsets)
    runs = find_segments([(offset - lowest) // access.size for offset in offsets])
    if runs is None or not all(run.full for run in runs):
        return False
    return len(runs) == 1 or not shared or 2 * len(set(offsets)) <= len(offsets)
