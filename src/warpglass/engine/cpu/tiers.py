"""Which machine code of a kernel runs: quick code for a fast first launch, optimised code once it is hot.

Both are made from the same IR, without any freedom in arithmetic, so results are the same bit for bit and one
can take over from the other between two blocks. Small code (codegen/small/) is made for kernels whose quick
code takes seconds to compile: it is of another Executable (prepared.py), which quick code's takes over from.
  Optimised code is compiled by a process of its own while
launches go on. Object code is kept on disk by content; the best there is comes from there at once.

Nobody waits for what is optimised in the background, so it has limits of its own (host/budget.py), and all
processes that share a cache take turns. What comes to a limit is not tried again until there is a greater
one: quick code stays.

`WARPGLASS_TIER` names the only tier to use: "small", "quick" or "optimised". `only` does so for a while, as
for a bench, which waits for optimised code; it, too, goes on with quick code where that takes too much.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ...codegen import MachineCode, chosen_target, compile_apart, compile_ir, host_key, load_object
from ...codegen.context import OK, RETIRED
from ...errors import ArgumentError, CompileError, WarpglassError
from ...host.background import in_background
from ...host.budget import Limits, background_limits, background_share, compile_timeout, in_units
from ...host.environment import read
from ...host.locks import slot
from ...source.apart import FailedApart, OverBudget
from ...source.cache import Cache, digest, directory
from .crew import LONG_KERNEL
from .generated import Generated
from .thread_pool import BRIEF
from .worker import Worker

VARIABLE = "WARPGLASS_TIER"
SMALL, QUICK, OPTIMISED = TIERS = "small", "quick", "optimised"

_OBJECTS, _ABANDONED = Cache("object"), Cache("abandoned")
_LOGGER = logging.getLogger("warpglass")
_SHORT = 0.01  # seconds of a launch after which the next one is expected to be over soon
_PAUSE = 0.5  # seconds until it is seen again whether others are done
# Characters of IR that this process compiles itself, in about half a second, without a way to stop it.
_LONG_IR = {SMALL: 1 << 21, QUICK: 1 << 21, OPTIMISED: 1 << 19}
# Characters of quick code's IR up to which either code has room on any thread's stack. Frames of optimised
# code had 50 KB at most, those of quick code half a byte for each character, and ten in a sorting network.
_LONGEST_JOINED = {QUICK: 1 << 18, OPTIMISED: 1 << 20}
# Quick code keeps every value on the stack, so code that is longer than this might need too much of it.
_LONGEST_QUICK = 1 << 24

_only: list[str] = []  # tiers chosen by `only`; the last one holds


def chosen_tier() -> str | None:
    """The only tier to use, from WARPGLASS_TIER or `only`; None: first quick, then optimised."""
    wish = read(VARIABLE)
    if wish not in ("", *TIERS):
        raise ArgumentError(f"{VARIABLE} is {wish!r}; it may be {SMALL!r}, {QUICK!r} or {OPTIMISED!r}")
    return wish or only_tier()


def only_tier() -> str | None:
    """The tier that `only` wants just now."""
    return _only[-1] if _only else None


@contextmanager
def only(tier: str) -> Iterator[None]:
    """Use one tier only, unless WARPGLASS_TIER says which, for launches whose time is measured.

    Where optimising a kernel comes to a limit, it keeps quick code (`Tiers.unoptimised`).
    """
    _only.append(tier)
    try:
        yield
    finally:
        _only.remove(tier)


class Tiers:
    """A kernel's machine code; `retire` tells workers in the midst of a launch that there is better code."""

    def __init__(
        self,
        name: str,
        generated: Generated,
        retire: Callable[[], None],
        only: str | None = None,
        *,
        small: bool = False,
        apart: bool = False,
    ):
        """`only` is a tier that is wanted at once or not at all, whatever others are.

        `small` says that this is small code; `apart` that a helper process is to compile it, since nobody
        waits for it: in this one LLVM serves one thread at a time.
        """
        self._name = name
        self._generated = generated
        self._retire = retire
        self._lock = threading.Lock()
        self._spent = 0.0
        self.hot = False  # whether launches have taken long enough for better code to be worth its making
        self._waiting: bytes | None = None  # optimised code that nobody has run yet
        self._asked = False
        self._spare = only is not None
        self.unoptimised = False  # whether optimised code was asked for and could not be had
        background_limits()  # whether its variables are right, while there is somebody to tell
        self.brief = True  # whether the last launch was over within moments
        self.short = False  # whether it was over soon
        self._apart = apart
        self.tier = SMALL if small else QUICK
        tier = self.tier if small else only or chosen_tier()
        found = _OBJECTS.get(self._key(OPTIMISED)) if tier in (None, OPTIMISED) else None
        too_long = generated.length > _LONGEST_QUICK and not small
        if found is None and tier == OPTIMISED and not too_long and self._may_stay_quick():
            found = self._compile_if_possible()
        elif found is None and (tier == OPTIMISED or too_long):
            found = self._compile(OPTIMISED)
        if found is not None:
            self.tier = OPTIMISED
        self._machine: MachineCode = load_object(
            found or _OBJECTS.get(self._key(self.tier)) or self._compile(self.tier)
        )
        self.frugal = self._is_frugal()  # whether the code has room on any thread's stack

    @property
    def length(self) -> int:
        """Characters of quick code's IR."""
        return self._generated.length

    def _is_frugal(self) -> bool:
        return self.length <= _LONGEST_JOINED.get(self.tier, 0)

    def require(self) -> None:
        """Optimise now if no other tier is wanted."""
        if self.tier != QUICK or chosen_tier() != OPTIMISED:
            return
        if not self._may_stay_quick():
            self._waiting = _OBJECTS.get(self._key(OPTIMISED)) or self._compile(OPTIMISED)
        elif not self.unoptimised:
            self._waiting = _OBJECTS.get(self._key(OPTIMISED)) or self._compile_if_possible()

    def run(self, worker: Worker) -> int:
        """Run a worker's blocks, with better code from the block on at which there is some."""
        machine = self._machine if self._waiting is None else self.newest()  # the name keeps it alive
        return self.go_on(worker, machine.run(worker.address))

    def go_on(self, worker: Worker, code: int) -> int:
        """Go on with a worker where the newest code has returned `code`; what it has ended with."""
        if code == RETIRED and self.tier == SMALL:
            return OK  # what goes on is not of this kind (backend.py)
        if code == RETIRED:
            worker.keep_code()
            machine = self.newest()
            code = machine.run(worker.address)
        return code

    def newest(self) -> MachineCode:
        """The best code there is."""
        if self._waiting is not None:
            with self._lock:
                if self._waiting is not None:
                    self._machine, self.tier = load_object(self._waiting), OPTIMISED
                    self.frugal = self._is_frugal()
                    self._waiting = None
        return self._machine

    def spend(self, seconds: float) -> None:
        """Note how long a launch has taken."""
        self.brief = seconds < BRIEF
        self.short = seconds < _SHORT
        self.add(seconds)

    def add(self, seconds: float) -> None:
        """Note how long launches have taken; have hot code optimised."""
        self._spent += seconds
        self.hot = self._spent >= LONG_KERNEL
        if self.hot and not self._asked and self.tier == QUICK and chosen_tier() is None:
            self._asked = True
            in_background(self._optimise)

    def notice(self) -> None:
        """Note that a launch takes long."""
        self.spend(LONG_KERNEL)

    def _optimise(self) -> None:
        """Make optimised code, on the background thread; what cannot be had is done without."""
        try:
            code = _OBJECTS.get(self._key(OPTIMISED))
            if code is None:
                with slot(directory(), "optimiser", background_share()) as free:
                    if not free:
                        in_background(self._optimise, pause=_PAUSE)
                        return
                    code = self._compile_within_limits(self._generated.ir(False), background_limits())
        except (WarpglassError, FailedApart) as error:
            _LOGGER.info("%s is not optimised: %s", self._name, error)
            return
        self._waiting = code
        self._retire()

    def _may_stay_quick(self) -> bool:
        """Whether optimised code is only wished for, by `only`: no variable or caller insists on it."""
        return not self._spare and not read(VARIABLE)

    def _compile_if_possible(self) -> bytes | None:
        """Optimised code for somebody who waits for it; None if it takes too much, which is noted."""
        ir = self._generated.ir(False)
        if len(ir) < _LONG_IR[OPTIMISED]:
            return self._compile(OPTIMISED)
        limits, left = background_limits(), compile_timeout() / 2  # half of it is for quick code
        try:
            return self._compile_within_limits(ir, replace(limits, patience=min(limits.patience, left)))
        except (CompileError, FailedApart) as error:
            _LOGGER.info("%s is not optimised: %s", self._name, error)
            self.unoptimised = True
        return None

    def _compile_within_limits(self, ir: str, limits: Limits) -> bytes:
        """Optimised code that is done without if it takes too much; CompileError if it has before."""
        key = self._key(OPTIMISED)
        tried = _ABANDONED.get(key)
        if tried is not None:
            seconds, memory = json.loads(tried)
            if limits.seconds <= seconds and limits.memory <= memory:
                raise CompileError(f"{seconds:g} s and {in_units(memory)} of memory were not enough before")
        try:
            code = compile_apart(self._name, ir, quick=False, limits=limits)
        except (OverBudget, FailedApart):
            _ABANDONED.put(key, json.dumps([limits.seconds, limits.memory]).encode())
            raise
        _OBJECTS.put(key, code)
        return code

    def _compile(self, tier: str) -> bytes:
        quick = tier != OPTIMISED
        ir = self._generated.ir(quick)
        if len(ir) < _LONG_IR[tier] and not self._apart:
            code = compile_ir(ir, quick=quick, target=chosen_target())
        elif self._spare:
            return self._compile_within_limits(ir, background_limits())
        else:
            try:
                code = compile_apart(self._name, ir, quick=quick)
            except FailedApart as error:
                raise CompileError(f"{self._name}: LLVM cannot compile it: {error}") from None
        _OBJECTS.put(self._key(tier), code)
        return code

    def _key(self, tier: str) -> str:
        return _key(tier, self._generated)


def _key(tier: str, generated: Generated) -> str:
    return digest(host_key(), tier, generated.key)


def compiled_before(generated: Generated) -> bool:
    """Whether there is machine code on disk of a kernel's full code."""
    return any(_OBJECTS.get(_key(tier, generated)) is not None for tier in (OPTIMISED, QUICK))
