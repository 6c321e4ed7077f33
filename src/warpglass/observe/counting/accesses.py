"""Counts every access to memory: requests, and what their addresses cost (rules.py).

Where the distances between lanes are known at compile time and all lanes act, the numbers of every place
within 128 bytes are in a table of the generated code, or, where they are the same at every place, need no
code at all; other accesses call site_code.py's functions. Generic addresses are sorted by their window first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ...codegen import Emission, Probe, WorkerWords
from ...codegen.builder import constant_vector
from ...codegen.context import LOCAL_WINDOW, SHARED_WINDOW
from ...codegen.memory.sites import Site
from ...codegen.values.value import Offsets, Value
from ...models.memory_rules import MODERN, MemoryRules
from ...program import Block, Program
from .choice import by_coordinates, bypasses, choose_rule, of_generation
from .native import cost, register
from .rules import WORD, Cost, Rule
from .site_code import INLINED, KNOWN_SITE, TOTALS, distance_bits, site_code, site_words

NOTHING: Cost = (0, 0, 0, 0)
# Which part of an address tells its window.
_WINDOW_SHIFT = 48


@dataclass(frozen=True, slots=True)
class CountedSite:
    """Where the totals of one access are: its step, state space, direction, and first word."""

    step: int
    space: str  # "global", "shared", "local" or "const"
    write: bool
    size: int  # bytes per lane
    word: int
    row: Cost = NOTHING  # of a site without totals: what an access of all lanes costs


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What the machine makes of memory accesses, by PTX line, where it is not one for one.

    `silent` lines make none; `wide` ones, of `(line, bytes, distance)`, access that many bytes a thread, from
    `distance` bytes on; of `gathered` ones, atomic operations at one place, one lane acts for all.
    """

    silent: frozenset[int] = frozenset()
    wide: frozenset[tuple[int, int, int]] = frozenset()
    gathered: frozenset[int] = frozenset()


class AccessProbe(Probe):
    """Adds up what each access site costs; `sites` says where the totals are, four words each."""

    def __init__(self, rewritten: Rewritten, memory: MemoryRules = MODERN):
        self._loads = memory.loads
        self._silent, self._gathered = rewritten.silent, rewritten.gathered
        self._wide = {line: (size, distance) for line, size, distance in rewritten.wide}

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._words = words
        self._found = {step.number: step.match for block in program.blocks for step in block.all_steps}
        self.sites: list[CountedSite] = []
        self.constant: list[CountedSite] = []  # where every warp's access costs the same
        self.linear: list[tuple[CountedSite, Cost]] = []  # the same, and what each lane adds to it
        self.whole: list[CountedSite] = []  # the same where lanes may be missing: `word` counts full warps
        self._mask = ""  # of the block at hand
        self._whole_word: int | None = None
        self._tables: dict[str, str] = {}  # text of a constant -> its name

    def block(self, at: Emission, index: int, block: Block) -> None:
        self._mask, self._whole_word = at.mask, None

    def access(self, at: Emission, site: Site, address: Value) -> None:
        found = self._found[site.step]
        line = found.instruction.line
        if line in self._silent or (bypasses(found) and not site.write) or by_coordinates(found):
            return
        if bypasses(found):
            self._count(at, replace(site, write=False), "global", address)
            return
        if line in self._wide:
            size, distance = self._wide[line]
            site = replace(site, size=size)
            address = at.lanes.add(address, at.lanes.constant("i64", distance))
        if line in self._gathered:
            b = at.builder
            at = Emission(at.lanes, b.value(f"and i32 {at.mask}, {b.value(f'sub i32 0, {at.mask}')}"))
        if site.space != "generic":
            self._count(at, site, site.space, address)
            return
        if found.state_space == "shared":  # in a kernel whose addresses of it name a block
            self._count(at, site, "shared", at.lanes.sub(address, at.lanes.window("shared")))
            return
        b = at.builder
        lanes = at.lanes.as_vector(address)
        window = b.value(f"lshr <32 x i64> {lanes.ir}, splat (i64 {_WINDOW_SHIFT})")
        rest = at.mask
        for space, start in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW)):
            inside = b.value(f"icmp eq <32 x i64> {window}, splat (i64 {start >> _WINDOW_SHIFT})")
            here = b.value(f"and i32 {b.mask_bits(inside)}, {at.mask}")
            rest = b.value(f"xor i32 {rest}, {here}")
            low = b.value(f"and <32 x i64> {lanes.ir}, splat (i64 {(1 << _WINDOW_SHIFT) - 1})")
            self._count(Emission(at.lanes, here), site, space, Value("i64", low))
        self._count(Emission(at.lanes, rest), site, "global", lanes)

    def _count(self, at: Emission, site: Site, space: str, address: Value) -> None:
        rule = of_generation(choose_rule(self._found[site.step], space, site.write), self._loads)
        if address.offsets is None:
            self._count_any(at, site, space, rule, address)
            return
        rows = _rows(rule, site.size, address.offsets)
        if (
            address.ok is None
            and at.mask == self._mask
            and (each := _per_lane(rule, site.size, rows, address.offsets))
        ):
            warp = (*rows[0][:3], rows[0][3] - 32 * each[3])
            self.linear.append((CountedSite(site.step, space, site.write, site.size, 0, warp), each))
        elif all(row == rows[0] for row in rows) and at.mask in ("-1", self._mask):
            self._count_constant(at, site, space, rule, rows[0], address)
        elif address.ok is None:
            self._count_form(at, site, space, rule, rows, address)
        else:
            b = at.builder
            known, unknown, done = b.label("known"), b.label("unknown"), b.label("either")
            b.branch(address.ok, known, unknown)
            b.place(known)
            self._count_form(at, site, space, rule, rows, replace(address, ok=None, lanes=None))
            b.jump(done)
            b.place(unknown)
            self._count_any(at, site, space, rule, address)
            b.jump(done)
            b.place(done)

    def _count_constant(
        self, at: Emission, site: Site, space: str, rule: Rule, row: Cost, address: Value
    ) -> None:
        """Numbers that are the same at every place: full warps are counted once a block.

        Where the form does not hold after all, a full warp's numbers are taken back.
        """
        b = at.builder
        static = at.mask == "-1"
        word = 0 if static else self._whole(at)
        counted = self.constant if static else self.whole
        counted.append(CountedSite(site.step, space, site.write, site.size, word, row))
        if static and address.ok is None:
            return
        full = "true" if static else b.value(f"icmp eq i32 {at.mask}, -1")
        part, unknown, done = b.label("some"), b.label("unknown"), b.label("counted")
        if address.ok is None:
            b.branch(full, done, part)
        else:
            rest = b.label("rest")
            b.branch(b.value(f"and i1 {full}, {address.ok}"), done, rest)
            b.place(rest)
            b.branch(address.ok, part, unknown)
            b.place(unknown)
            totals = self._count_any(at, site, space, rule, address)
            taken = constant_vector("i64", [-number for number in row])
            back = b.value(f"select i1 {full}, <4 x i64> {taken}, <4 x i64> zeroinitializer")
            sums = b.load("<4 x i64>", totals, ", align 8")
            b.store("<4 x i64>", b.value(f"add <4 x i64> {sums}, {back}"), totals, ", align 8")
            b.jump(done)
        b.place(part)
        form = replace(address, ok=None, lanes=None)
        self._count_part(at, self._site(at, site, space, KNOWN_SITE), rule, site.size, form)
        b.jump(done)
        b.place(done)

    def _count_form(
        self, at: Emission, site: Site, space: str, rule: Rule, rows: tuple[Cost, ...], address: Value
    ) -> None:
        """Known distances between the lanes."""
        totals = self._site(at, site, space, KNOWN_SITE)
        if at.mask == "-1":
            self._add_row(at, totals, rows, site.size, address.ir)
            return
        b = at.builder
        full, part, done = b.label("all"), b.label("some"), b.label("counted")
        b.branch(b.value(f"icmp eq i32 {at.mask}, -1"), full, part)
        b.place(full)
        self._add_row(at, totals, rows, site.size, address.ir)
        b.jump(done)
        b.place(part)
        self._count_part(at, totals, rule, site.size, address)
        b.jump(done)
        b.place(done)

    def _count_part(self, at: Emission, totals: str, rule: Rule, size: int, address: Value) -> None:
        """Known distances between lanes of which some may be missing."""
        assert address.offsets is not None
        table = self._table("[32 x i64]", ", ".join(f"i64 {offset}" for offset in address.offsets))
        args = [("i64", address.ir), ("i32", at.mask), ("ptr", table)]
        self._call(at, "wg_count_at", totals, rule, size, *args)

    def _site(self, at: Emission, site: Site, space: str, words: int) -> str:
        """A pointer to the words of a new site."""
        word = self._words.take(words)
        self.sites.append(CountedSite(site.step, space, site.write, site.size, word))
        return self.place(at, word)

    def _whole(self, at: Emission) -> int:
        """The word that counts how often all lanes of a block's warps run it."""
        if self._whole_word is None:
            self._whole_word = self._words.take(1)
            every = at.builder.value(f"icmp eq i32 {at.mask}, -1")
            self.add(at, self._whole_word, at.builder.value(f"zext i1 {every} to i64"))
        return self._whole_word

    def _count_any(self, at: Emission, site: Site, space: str, rule: Rule, address: Value) -> str:
        """Distances that are known at run time only; returns where the site's totals are."""
        bits = distance_bits(rule)
        totals = self._site(at, site, space, site_words(bits))
        args = [("<32 x i64>", at.lanes.as_vector(address).ir), ("i32", at.mask)]
        self._call(at, f"wg_count_{bits}", totals, rule, site.size, *args)
        return totals

    @staticmethod
    def _call(at: Emission, name: str, totals: str, rule: Rule, size: int, *args: tuple[str, str]) -> None:
        numbers = [("i64", str(int(number))) for number in (rule, size, rule.period)]
        at.builder.call("void", name, [("ptr", totals), *numbers, *args])

    def _add_row(self, at: Emission, state: str, rows: tuple[Cost, ...], size: int, address: str) -> None:
        """Add the numbers of a full warp at the address's place within the period of its rows."""
        b = at.builder
        if all(row == rows[0] for row in rows):
            row = constant_vector("i64", rows[0])
        else:
            texts = (f"i64 {number}" for row in rows for number in row)
            table = self._table(f"[{4 * len(rows)} x i64]", ", ".join(texts))
            period = b.value(f"and i64 {address}, 127")
            place = b.value(f"lshr i64 {period}, {min(size, 128).bit_length() - 1}")
            row = b.load(
                "<4 x i64>", b.value(f"getelementptr [4 x i64], ptr {table}, i64 {place}"), ", align 8"
            )
        totals = b.load("<4 x i64>", state, ", align 8")
        b.store("<4 x i64>", b.value(f"add <4 x i64> {totals}, {row}"), state, ", align 8")

    def _table(self, type_: str, content: str) -> str:
        text = f"internal constant {type_} [{content}]"
        return self._tables.setdefault(text, f"@wg_pattern_{len(self._tables)}")

    def sums(
        self, words: Sequence[int], executed: Mapping[int, tuple[int, int]]
    ) -> dict[int, dict[tuple[str, bool], Cost]]:
        """The totals of each step by state space and direction (true for writes).

        `executed` are the warps and lanes of each step's block.
        """
        found: dict[int, dict[tuple[str, bool], Cost]] = {}
        counted = [(site, words[site.word : site.word + TOTALS]) for site in self.sites]
        counted += [
            (site, [executed[site.step][0] * number for number in site.row]) for site in self.constant
        ]
        for site, each in self.linear:
            warps, lanes = executed[site.step]
            counted.append((site, [warps * a + lanes * b for a, b in zip(site.row, each, strict=True)]))
        counted += [(site, [words[site.word] * number for number in site.row]) for site in self.whole]
        for site, numbers in counted:
            rows = found.setdefault(site.step, {})
            before = rows.get((site.space, site.write), NOTHING)
            a, b, c, d = (x + y for x, y in zip(before, numbers, strict=True))
            rows[site.space, site.write] = (a, b, c, d)
        return found

    def helpers(self, declarations: set[str]) -> str:
        tables = "".join(f"{name} = {text}\n" for text, name in self._tables.items())
        if not self.sites:
            return tables
        register()
        return tables + site_code(inlined=len(self.sites) <= INLINED)


def _per_lane(rule: Rule, size: int, rows: tuple[Cost, ...], offsets: Offsets) -> Cost | None:
    """What each lane adds where the rest is the same for any lanes at any place; None where it is not."""
    if any(row != rows[0] for row in rows):
        return None
    banked = rule in (Rule.SHARED_LOAD, Rule.SHARED_STORE) and size <= WORD
    if len(set(offsets)) == 1 and (rule == Rule.GLOBAL or banked):
        return NOTHING
    if banked and len(set(offsets)) == 32 and rows[0][1] == 1:
        return 0, 0, 0, size
    return None


@lru_cache(maxsize=4096)
def _rows(rule: Rule, size: int, offsets: Offsets) -> tuple[Cost, ...]:
    """The numbers of a full warp for every aligned place within 128 bytes."""
    start = -min(offsets) // 128 * 128 + 128  # so that no address is negative; places stay what they are
    return tuple(
        cost(rule, [start + place + offset for offset in offsets], size)
        for place in range(0, 128, min(size, 128))
    )
