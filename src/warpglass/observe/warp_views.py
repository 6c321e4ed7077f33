"""Keeps, of every access and every conditional branch, what the lanes of one warp did: the warp view.

Of all executions the first is kept that has the most active lanes; of a branch one at which lanes parted goes
before all others. Blocks run in order on one thread, so that the same launch keeps the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..codegen import Emission, Probe, WorkerWords
from ..codegen.context import LOCAL_WINDOW, SHARED_WINDOW
from ..codegen.memory.sites import Site
from ..codegen.values.value import Value
from ..program import Branch, Program, Step
from ..records.warp_views import LANES, WarpView

# The words of a site: how good what is kept is (0: nothing), masks, block, warp, and the lanes' addresses.
_SCORE, _ACTIVE, _TAKEN, _BLOCK, _WARP, _ADDRESSES = range(6)
_WORDS = _ADDRESSES + LANES
_PARTED = 2 * LANES  # what a branch at which lanes part is ahead of others
_WINDOW = 48  # bits below those that tell a generic address's state space
_SPACES = {SHARED_WINDOW >> _WINDOW: "shared", LOCAL_WINDOW >> _WINDOW: "local"}


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where a site's words are, and what it is; `site` is None for a branch."""

    step: Step
    word: int
    site: Site | None = None


class WarpViewProbe(Probe):
    """Keeps one execution of every access to global or shared memory and of every conditional branch."""

    alone = True

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._words = words
        self._steps = {step.number: step for block in program.blocks for step in block.all_steps}
        self._kept: list[_Kept] = []

    def access(self, at: Emission, site: Site, address: Value) -> None:
        if site.space not in ("global", "shared", "generic"):
            return
        self._keep(at, self._steps[site.step], site, "0", at.lanes.as_vector(address).ir)

    def branch(self, at: Emission, end: Branch, taken: str, together: bool) -> None:
        self._keep(at, end.step, None, taken, "zeroinitializer")

    def _keep(self, at: Emission, step: Step, site: Site | None, taken: str, addresses: str) -> None:
        word = self._words.take(_WORDS)
        self._kept.append(_Kept(step, word, site))
        b = at.builder
        row = b.value(f"add i32 {b.value('mul i32 %ctaid_z, %nctaid_y')}, %ctaid_y")
        block = b.value(f"add i32 {b.value(f'mul i32 {row}, %nctaid_x')}, %ctaid_x")
        args = [
            ("ptr", self.place(at, word)),
            ("i32", at.mask),
            ("i32", taken),
            ("i32", block),
            ("i32", "%warp"),
            ("<32 x i64>", addresses),
        ]
        b.call("void", "wg_keep_view", args)

    def helpers(self, declarations: set[str]) -> str:
        if not self._kept:
            return ""
        declarations.add("declare i32 @llvm.ctpop.i32(i32)")
        return _KEEP

    def read(self, words: Sequence[int]) -> tuple[WarpView, ...]:
        """What was kept, by PTX line; code that was emitted several times counts as one."""
        best: dict[int, tuple[int, _Kept]] = {}
        for kept in self._kept:
            score = words[kept.word + _SCORE]
            if score > best.get(kept.step.number, (0, kept))[0]:
                best[kept.step.number] = score, kept
        views = (_view(kept, words[kept.word : kept.word + _WORDS]) for _, kept in best.values())
        return tuple(sorted(views, key=lambda view: view.ptx))


def _view(kept: _Kept, words: Sequence[int]) -> WarpView:
    instruction = kept.step.instruction
    source = instruction.source.author if instruction.source is not None else None
    active = words[_ACTIVE]
    space, addresses = _place(kept.site, active, words[_ADDRESSES:])
    return WarpView(
        kind=_kind(kept),
        space=space,
        file=source.file if source else "",
        line=source.line if source else 0,
        ptx=instruction.line,
        text=instruction.opcode + "".join(f".{one}" for one in instruction.modifiers),
        size=kept.site.size if kept.site else 0,
        block=words[_BLOCK],
        warp=words[_WARP],
        active=active,
        taken=words[_TAKEN] & active,
        addresses=addresses,
    )


def _kind(kept: _Kept) -> str:
    if kept.site is None:
        return "branch"
    if kept.step.match.row.is_atomic:
        return "atomic"
    return "store" if kept.site.write else "load"


def _place(site: Site | None, active: int, addresses: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    """The state space of an access and the addresses in it; generic ones lie in the first lane's window."""
    if site is None:
        return "", ()
    own = [address if active >> lane & 1 else 0 for lane, address in enumerate(addresses)]
    if site.space != "generic":
        return site.space, tuple(own)
    first = next((address for address in own if address), 0)
    space = _SPACES.get(first >> _WINDOW, "global")
    low = (1 << _WINDOW) - 1
    return space, tuple(address & low for address in own)


def views_of(probes: Sequence[Probe], totals: np.ndarray) -> tuple[WarpView, ...]:
    """What the probe among these kept, () if none is there."""
    own = [one for one in probes if isinstance(one, WarpViewProbe)]
    return tuple(view for one in own for view in one.read(totals.tolist()))


@dataclass(frozen=True, slots=True)
class WarpViews:
    """The instrument that only keeps views."""

    def probes(self, program: Program) -> tuple[Probe, ...]:
        """The one probe."""
        return (WarpViewProbe(),)


_FIELDS: Mapping[int, str] = {_SCORE: "score", _ACTIVE: "active", _TAKEN: "taken.w", _BLOCK: "block.w"}
_STORES = "".join(
    f"""  %at.{word} = getelementptr i64, ptr %words, i64 {word}
  store i64 %{name}, ptr %at.{word}
"""
    for word, name in (*_FIELDS.items(), (_WARP, "warp.w"))
)
_KEEP = f"""
define internal void @wg_keep_view(
  ptr %words, i32 %mask, i32 %taken, i32 %block, i32 %warp, <32 x i64> %addresses
) noinline #0 {{
  %lanes = call i32 @llvm.ctpop.i32(i32 %mask)
  %went = and i32 %taken, %mask
  %some = icmp ne i32 %went, 0
  %not.all = icmp ne i32 %went, %mask
  %parted = and i1 %some, %not.all
  %ahead = select i1 %parted, i32 {_PARTED}, i32 0
  %score.32 = add i32 %lanes, %ahead
  %score = zext i32 %score.32 to i64
  %before = load i64, ptr %words
  %better = icmp ugt i64 %score, %before
  br i1 %better, label %keep, label %done
keep:
  %active = zext i32 %mask to i64
  %taken.w = zext i32 %went to i64
  %block.w = zext i32 %block to i64
  %warp.w = zext i32 %warp to i64
{_STORES}  %lanes.at = getelementptr i64, ptr %words, i64 {_ADDRESSES}
  store <32 x i64> %addresses, ptr %lanes.at, align 8
  br label %done
done:
  ret void
}}
"""
