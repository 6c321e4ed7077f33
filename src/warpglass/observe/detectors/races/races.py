"""shared-race, warp-race and global-race: accesses to one place that nothing orders, one of them a write.

Every access of memory that threads share is tested against those that are remembered (shadow.py), first by
generated code (fast_path/), which lets nearly all of them pass.
"""

from __future__ import annotations

from typing import ClassVar

from ....codegen import Emission, WorkerWords
from ....codegen.memory.sites import Site
from ....codegen.values.value import Offsets, Value
from ....isa.ordering import Ordering
from ....isa.types import integer_of
from ....program import Program, Step
from .. import layout
from ..detector import Detector, Watched
from ..diagnostics.recorded import WARNING, Recorded, Words
from ..emit import where
from ..value_uses import compared_loads, deciding_updates, polled_loads
from . import accesses
from .fast_path import atomics, journal
from .fast_path.contiguous import run_test
from .fast_path.journal import Entering
from .fast_path.journal_search import apart
from .fast_path.scattered import any_test
from .fast_path.shared_lines import put_stamp
from .fast_path.stamps import Seen, Test
from .only_read import set_only_read
from .shadow import READ_AFTER_WRITE, WRITE_AFTER_READ, WRITE_AFTER_WRITE
from .shadow_lines import mix

_VERBS = {
    READ_AFTER_WRITE: ("reads", "writes"),
    WRITE_AFTER_WRITE: ("writes", "writes"),
    WRITE_AFTER_READ: ("writes", "reads"),
}


# -------------------------------------------------------------------------------------------- words
def _explain(found: Recorded, nothing: str) -> Words:
    verb, other_verb = _VERBS[found.access]
    message = f"{found.one} {verb} {found.element} {found.one.where}"
    if found.other is not None:
        message += f", {found.other} {other_verb} it {found.other.where}"
    message += f", and {nothing}"
    return Words(f"{message}; both write the same value", "", WARNING) if found.same_value else Words(message)


def _no_barrier(found: Recorded) -> str:
    assert found.other is not None, "races have two threads"
    return f"no barrier orders warps {found.other.warp} and {found.one.warp}"


def _warp_race(found: Recorded) -> Words:
    assert found.other is not None, "races have two threads"
    return _explain(
        found, f"nothing makes lanes {found.other.lane} and {found.one.lane} of warp {found.one.warp} wait"
    )


def _shared_race(found: Recorded) -> Words:
    if found.copied:
        return _explain(found, "no thread has waited for that asynchronous copy")
    if found.other is not None and found.one.block != found.other.block:
        blocks = f"blocks {found.other.block} and {found.one.block}"
        return _explain(found, f"no barrier of the cluster orders {blocks}")
    return _explain(found, _no_barrier(found))


def _global_race(found: Recorded) -> Words:
    assert found.other is not None, "races have two threads"
    if found.one.block == found.other.block:
        return _explain(found, _no_barrier(found))
    return _explain(found, "nothing orders the two blocks")


# -------------------------------------------------------------------------------------------- events
class Races(Detector):
    """Accesses of shared and global memory."""

    kinds: ClassVar = {"shared-race": _shared_race, "global-race": _global_race, "warp-race": _warp_race}

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._words = words
        self._deciding = deciding_updates(program)
        self._compared = compared_loads(program)
        self._polled = polled_loads(program)
        self._tests: set[Test] = set()
        self._forgets = False  # whether some operations may be forgotten
        self._met_regions: list[int] = []  # words, by test: the row of the region that it met last
        self._entering: set[Entering] = set()
        self._patterns: dict[Offsets, int] = {}

    def access_bits(self, at: Emission, site: Site, step: Step) -> int:
        ordering = self.code.orderings[site.step]
        strong = layout.VOLATILE if site.step in self._compared else strength(ordering)
        if site.step in self._polled:  # no lane relies on another's step that it waits for
            strong = layout.ATOMIC
        return (
            strong << layout.STRENGTH_FIELD
            | int(ordering.atomic and ordering.reads) << layout.UPDATE_FIELD
            | int(len(at.values) == 1 and site.size <= 8) << layout.VALUE_FIELD
            | int(site.step in self._deciding) << layout.MET_FIELD
            | int(self.code.is_chained(site)) << layout.CHAINED_FIELD
        )

    def begin(self, watched: Watched) -> None:
        memory = watched.memory
        set_only_read(watched, self.code.only_read)
        tables = [memory.take((layout.STOOD_SLOTS, 2)) for _ in memory.states]
        for number, (worker, state) in enumerate(zip(watched.begun.workers, memory.states, strict=True)):
            state[layout.EXACT], state[layout.SEVERAL] = self.code.exact, len(memory.states) > 1
            # What operations leave of each other they leave to all workers.
            state[layout.STOOD_FOR] = tables[0 if self.code.communicates else number]
            if self.code.exact or self.code.strong:
                state[layout.SET_TABLE] = memory.take((layout.SET_SLOTS, 2))
            if self.code.journals:
                memory.add_journal(state)
            worker.words[self._met_regions] = state[layout.REGIONS]  # of any

    def notes(self, watched: Watched) -> list[str]:
        if any(state[layout.SURPRISED] for state in watched.memory.states):
            return ["a store has led to an array that no argument of it points to: races may be missing"]
        return []

    def access(self, at: Emission, site: Site, address: Value) -> None:
        if site.space not in layout.SPACES or site.space == "local":
            return
        info, values = self.code.access_word(at, site), "0"
        if info >> layout.VALUE_FIELD & 1:
            value = at.lanes.as_vector(at.values[0])
            pattern = at.lanes.extend(at.lanes.bitcast(value, integer_of(value.type)), "i64", signed=False)
            values = self.code.keep(at, self.code.values, at.lanes.as_vector(pattern).ir)
        with self.code.only_read.skipped(at, site, info):
            self._test(at, site, address, info, values)

    def resume(self, at: Emission) -> None:
        if self.code.journals:
            reopen = accesses.reopen, self.code.resumed
            state = self.code.pointer(at)
            journal.open_interval(at.builder, state, self.code.resumed, lambda: self.code.call(at, *reopen))

    def _test(self, at: Emission, site: Site, address: Value, info: int, values: str) -> None:
        """Emit the test of an access to memory that threads share."""
        b = at.builder
        # With asynchronous copies every stamp is looked at: some are of writes that are not there yet.
        elsewhere = self.code.copying or site.size > layout.WIDEST
        if info >> layout.STRENGTH_FIELD & layout.STRENGTHS or (elsewhere and site.space != "global"):
            self._look(at, site, address, info, values)
            return
        mask = at.mask
        alike = address.uniform and not self.code.exact  # else lanes may be ordered one by one
        if alike and not site.write and not info >> layout.NOTE_FIELD & 1:
            mask = self._ends(at)  # the first and the last stand for all lanes that read one place
        low_bits = (info >> layout.PLACE_FIELD & layout.PLACES - 1) << layout.PLACE_SHIFT
        met = self._words.take(1)
        self._met_regions.append(met)

        def test(where: str, pattern: Offsets | None) -> None:
            args = [
                *(("ptr", "%counters"), ("ptr", self.place(at, met))),
                *(("i64", str(info)), ("i64", str(low_bits)), ("i32", mask), ("i32", "%warp")),
                *(("<32 x i64>" if pattern is None else "i64", where), ("i64", values)),
            ]
            b.call("void", self._tester(site, pattern), args)

        pattern = self._pattern(site, address)
        if pattern is None:
            test(at.lanes.as_vector(address).ir, None)
        elif address.ok is None:
            test(address.ir, pattern)
        else:
            regular, other, tested = b.label("regular"), b.label("other"), b.label("tested")
            b.branch(address.ok, regular, other)
            b.place(regular)
            test(address.ir, pattern)
            b.jump(tested)
            b.place(other)
            test(at.lanes.as_vector(address).ir, None)
            b.jump(tested)
            b.place(tested)

    def _look(self, at: Emission, site: Site, address: Value, info: int, values: str) -> None:
        """Have every lane looked at, but for atomic operations that are to be forgotten."""
        b, mask, vector = at.builder, at.mask, at.lanes.as_vector(address).ir
        atomic = info >> layout.STRENGTH_FIELD & 3 >= layout.ATOMIC and not info >> layout.MET_FIELD & 1
        if self.code.exact:
            forgets = bool(info >> layout.CHAINED_FIELD & 1)
        else:
            forgets = self.code.journals and atomic and site.write
        if not forgets:
            self._call_access(at, info, mask, vector, values)
            return
        self._forgets = True
        args = [("ptr", "%counters"), ("i32", mask), ("i32", "%warp"), ("<32 x i64>", vector)]
        args.append(("i64", str(site.size.bit_length() - 1)))
        mask = b.call("i32", atomics.NAME, args)
        with where(b, b.value(f"icmp ne i32 {mask}, 0")):
            self._call_access(at, info, mask, vector, values)

    def _call_access(self, at: Emission, info: int, mask: str, addresses: str, values: str) -> None:
        code = self.code
        kept = code.keep(at, code.addresses, addresses)
        code.call(at, accesses.access, str(info), code.wide(at, mask), code.warp(at), kept, values)

    def _pattern(self, site: Site, address: Value) -> Offsets | None:
        """The lanes' offsets, if they are known and of use to the test of an access."""
        if self.code.journals and site.space != "global":
            useful = all(offset % site.size == 0 for offset in address.offsets or ())
        else:
            useful = address.offsets == tuple(site.size * lane for lane in range(32))
        return address.offsets if useful else None

    def _tester(self, site: Site, pattern: Offsets | None) -> str:
        """The name of the function that tests an access."""
        if not self.code.journals or site.space == "global":
            test = Test(pattern is not None, site.write, site.size, site.space == "shared")
            self._tests.add(test)
            return test.name
        if pattern is not None:
            self._patterns.setdefault(pattern, len(self._patterns))
        entering = Entering(site.write, site.size, site.space == "generic", pattern)
        self._entering.add(entering)
        self._tests.add(entering.stamped)
        return journal.name_of(entering, self._patterns)

    @staticmethod
    def _ends(at: Emission) -> str:
        """The first and the last of the acting lanes."""
        b = at.builder
        first = b.value(f"and i32 {at.mask}, {b.value(f'sub i32 0, {at.mask}')}")
        leading = b.call("i32", "llvm.ctlz.i32", [("i32", at.mask), ("i1", "false")])
        shift = b.value(f"and i32 {leading}, 31")
        last = b.value(f"lshr i32 -2147483648, {shift}")
        return b.value(f"or i32 {first}, {b.value(f'and i32 {last}, {at.mask}')}")

    def helpers(self, declarations: set[str]) -> str:
        texts: list[str] = []
        for test in sorted(self._tests, key=lambda one: one.name):
            seen = Seen(test, self.code, declarations)
            texts.append(run_test(seen) if test.run else any_test(seen))
        if texts:
            texts.append(put_stamp(self.code.functions[mix.__name__], declarations))
        for entering in sorted(self._entering, key=lambda one: journal.name_of(one, self._patterns)):
            texts.append(journal.function(entering, self._patterns, self.code, declarations))
        if self._forgets:
            texts.append(atomics.not_stood_for(self.code, declarations))
        if self._entering:
            texts.append(apart(declarations))
        texts += [journal.table(pattern, number) for pattern, number in self._patterns.items()]
        return "".join(texts)


def strength(ordering: Ordering) -> int:
    """How strong an access is, as stamps say it."""
    if not ordering.strong:
        return layout.PLAIN
    if ordering.volatile:
        return layout.VOLATILE
    return layout.BLOCK_ATOMIC if ordering.block else layout.ATOMIC
