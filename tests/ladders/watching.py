"""Engines that look at what the launches of a ladder do: one counts them, the other checks them."""

from __future__ import annotations

from warpglass import source
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch, Outcome
from warpglass.errors import KernelFault, KernelTimeout
from warpglass.lab.profile import count
from warpglass.ladders.trial import Toolchain
from warpglass.observe.detectors import Checker
from warpglass.observe.detectors.diagnostics.faults import fault_finding
from warpglass.records.check import Finding
from warpglass.records.profile import Profile

TOOLCHAIN = Toolchain(open_cuda=source.load, open_python=source.from_numba)


class Counting(CpuBackend):
    """Counts the first launch, without simulated caches; later ones just run."""

    profile: Profile | None = None

    def run(self, launch: Launch) -> Outcome:
        """Count, or run."""
        if self.profile is not None:
            return super().run(launch)
        self.profile = count(launch, self.model.key, caches=False)
        return Outcome(self.profile.seconds, self.profile.time_label)


class Checking(CpuBackend):
    """Runs every launch under all detectors and keeps what they find; a fault is a finding, not an error."""

    def __init__(self) -> None:
        super().__init__()
        self.findings: list[Finding] = []
        self.launches = 0

    def run(self, launch: Launch) -> Outcome:
        """Run a launch and note its findings."""
        self.launches += 1
        checker = Checker({})
        try:
            outcome, _ = self.observe(launch, checker, checker.begin)
            self.findings += [finding for _, finding in checker.refused()]
        except (KernelFault, KernelTimeout) as error:
            self.findings += [fault_finding(error), *checker.findings(complete=False)]
            self.reset()
            return Outcome(0.0, "engine")
        self.findings += checker.findings(complete=True)
        return outcome
