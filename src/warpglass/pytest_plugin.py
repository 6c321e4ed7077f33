"""The pytest plugin: tests of GPU code run, are checked and held to counter budgets without a GPU.

Belongs here: options, markers, fixtures, and what makes a test fail. Imports stand inside the functions: the
plugin is loaded in every pytest session, and does nothing unless it is asked to.

`--warpglass` lets numba.cuda, numba_cuda_mlir and cuda.core find a GPU, the engine; a fault of one test
leaves the others alone. `--warpglass-check` checks every launch besides, theirs and those of `wg.run` and
`k[grid, block](...)`, and a test that makes a bad one fails with the finding. `warpglass_profile` counts the
launches of a test.
"""

from __future__ import annotations

import argparse
import base64
import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .errors import ArgumentError
from .records.spelling import did_you_mean

if TYPE_CHECKING:
    from .engine.launch.backend import Launch
    from .lab.check import Launches
    from .numba_device.device import Fault
    from .records.check import Check
    from .records.profile import Numbers, Profile

_LAUNCHES: pytest.StashKey[Launches] = pytest.StashKey()
_CHECKS: pytest.StashKey[list[Check]] = pytest.StashKey()
_EXPLANATIONS: pytest.StashKey[list[str]] = pytest.StashKey()
_PROFILE = "warpglass_profile"
_MARKER = "warpglass_allow"
_WIDTH = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options."""
    group = parser.getgroup("warpglass", "GPU code without a GPU (warpglass)")
    group.addoption(
        "--warpglass",
        action="store_true",
        help="Let numba.cuda and its like find a GPU, whose work the CPU engine does.",
    )
    group.addoption(
        "--warpglass-model", metavar="MODEL", help="Which GPU they find (default: h100). Implies --warpglass."
    )
    group.addoption(
        "--warpglass-check",
        action="store_true",
        help="Check every launch; a test that makes a bad one fails. Implies --warpglass.",
    )
    group.addoption(
        "--warpglass-sarif", type=Path, metavar="FILE", help="With --warpglass-check: write SARIF 2.1.0 here."
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Switch the virtual GPU on before a conftest can import what asks for one."""
    _lend(early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; switch the GPU on where the plugin was loaded late."""
    from .numba_device import hook

    config.addinivalue_line(
        "markers",
        f"{_MARKER}(*kinds, reason=''): findings of these kinds do not fail the test under --warpglass-check",
    )
    if config.option.warpglass_sarif and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Collector(config.option.warpglass_sarif), "warpglass-sarif")
    _lend(config.option)
    if hook.wanted():
        config.pluginmanager.register(_Recovery(), "warpglass-recovery")
    if config.option.warpglass_check:
        from .numba_device import source_lines

        lines = ExitStack()
        lines.enter_context(source_lines.asked_for())
        config.add_cleanup(lines.close)


def _lend(options: argparse.Namespace) -> None:
    """Let the session find a GPU if its options ask for one."""
    asked = ("warpglass", "warpglass_model", "warpglass_check")
    if not any(getattr(options, name, None) for name in asked):
        return
    from . import devices
    from .numba_device import hook

    try:
        hook.spread(devices.get(_model(options)).key, late=True)
    except devices.UnknownDevice as problem:
        raise pytest.UsageError(f"--warpglass-model: {problem}") from None
    except ArgumentError as problem:
        raise pytest.UsageError(f"--warpglass: {problem}") from None


def _model(options: argparse.Namespace) -> str:
    return getattr(options, "warpglass_model", None) or "h100"


# ---------------------------------------------------------------------------------------- faults
class _Recovery:
    """A kernel's fault is one test's business: the device, which a GPU would have lost, goes on after it.

    A test that has not noticed that a launch of its own failed fails, since on a GPU the next one would.
    """

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Recover from a fixture's launches."""
        return (yield from self._recovering(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Recover from the test's launches."""
        return (yield from self._recovering(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Recover from launches at the end of fixtures."""
        return (yield from self._recovering(item))

    def _recovering(self, item: pytest.Item) -> Generator[None, Any, Any]:
        try:
            result = yield
        except BaseException:
            fault = _recover()
            if fault is not None:
                item.user_properties.append(("warpglass", fault.text))
                _explain(item, f"a launch of this test failed: {fault.text}")
            raise
        fault = _recover()
        if fault is not None and not fault.told:
            item.user_properties.append(("warpglass", fault.text))
            text = f"a launch of this test failed, which it has not noticed: {fault.text}"
            pytest.fail(text, pytrace=False)
        return result


def _explain(item: pytest.Item, text: str) -> None:
    """Let a test's failure say this as well."""
    item.stash.setdefault(_EXPLANATIONS, []).append(text)


def _recover() -> Fault | None:
    """Let the devices of this process go on after a fault; returns that of the virtual GPU."""
    from . import lab
    from .numba_device import hook

    lab.recover()
    device = hook.active_device()
    return None if device is None else device.recover()


# ---------------------------------------------------------------------------------------- checking
@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Check the launches of fixtures."""
    if not item.config.option.warpglass_check:
        return (yield)
    from .lab import check as lab_check

    item.stash[_LAUNCHES] = lab_check.Launches(_model(item.config.option), ())
    return (yield from _watched(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Check the launches of a test, and let it fail if one is bad."""
    if _LAUNCHES not in item.stash:
        return (yield)
    allowed = _allowed(item)
    try:
        result = yield from _watched(item)
    except BaseException:  # the test's own failure counts; what was found goes with it
        bad = _note_bad(item, allowed)
        if bad:
            _explain(item, _words(bad))
        raise
    bad = _note_bad(item, allowed)
    if bad:
        pytest.fail(_words(bad), pytrace=False)
    return result


def _note_bad(item: pytest.Item, allowed: dict[str, str]) -> list[Check]:
    """Keep a test's checks for its report; returns those that found something."""
    checks = item.stash[_CHECKS] = _reported(item.stash[_LAUNCHES].checks(), allowed)
    for finding in (finding for check in checks for finding in check.findings):
        item.user_properties.append(("warpglass", f"{finding.severity}: {finding.kind}: {finding.message}"))
    return [check for check in checks if check.findings]


def _watched(item: pytest.Item) -> Generator[None, Any, Any]:
    from . import lab

    if _PROFILE in getattr(item, "fixturenames", ()):  # which counts the launches
        return (yield)
    with lab.watching(item.stash[_LAUNCHES].make):
        return (yield)


def _allowed(item: pytest.Item) -> dict[str, str]:
    """The kinds of findings that a test's markers allow, with the reasons."""
    from .records.check import KINDS

    found: dict[str, str] = {}
    for marker in item.iter_markers(_MARKER):
        unknown = [kind for kind in marker.args if kind not in KINDS]
        if unknown or not marker.args:
            names = ", ".join(map(repr, unknown)) or "nothing"
            pytest.fail(f"{_MARKER} names {names}; it may name {', '.join(KINDS)}", pytrace=False)
        found |= dict.fromkeys(marker.args, marker.kwargs.get("reason", ""))
    return found


def _reported(checks: Sequence[Check], allowed: dict[str, str]) -> list[Check]:
    """Checks without what markers and the project's configuration allow."""
    from .records.suppressions import find_entries, suppress

    kept, _ = suppress(checks, find_entries())
    return [
        replace(check, findings=tuple(one for one in check.findings if one.kind not in allowed))
        for check in kept
    ]


def _words(checks: Sequence[Check]) -> str:
    from .report.check import print_check
    from .report.console import text_console, text_of

    console = text_console(_WIDTH)
    for check in checks:
        print_check(check, console)
    return f"warpglass found defects in a launch of this test\n\n{text_of(console)}"


# ---------------------------------------------------------------------------------------- reports
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Say of a failure what is known; pytest-xdist's workers send checks to the process that writes them."""
    report = yield
    for text in item.stash.get(_EXPLANATIONS, []):
        if hasattr(report.longrepr, "addsection"):  # so that it stands in JUnit's failure, too
            report.longrepr.addsection("warpglass", text)
        else:
            report.sections.append(("warpglass", text))
    item.stash[_EXPLANATIONS] = []
    if call.when == "call" and item.config.option.warpglass_sarif:
        checks = item.stash.get(_CHECKS, [])
        report.warpglass_checks = base64.b64encode(pickle.dumps(checks)).decode()
    return report


class _Collector:
    """Gathers what reports bring, and writes the file at the end."""

    def __init__(self, path: Path):
        self._path = path
        self._checks: list[Check] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a test's checks in, wherever it ran."""
        packed = getattr(report, "warpglass_checks", None)
        if packed:
            self._checks += pickle.loads(base64.b64decode(packed))

    def pytest_sessionfinish(self) -> None:
        """Write SARIF."""
        from .records.sarif import sarif

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(sarif(self._checks), encoding="utf-8")
        except OSError as problem:
            raise ArgumentError(f"{self._path} cannot be written: {problem.strerror}") from None


# ---------------------------------------------------------------------------------------- profiling
class Counted:
    """The launches of a test, counted: `profiles` in their order."""

    def __init__(self) -> None:
        self.profiles: list[Profile] = []

    @property
    def only(self) -> Profile:
        """The profile of the one launch; fails the test if there were none or several."""
        if len(self.profiles) != 1:
            names = ", ".join(one.kernel for one in self.profiles) or "none"
            pytest.fail(
                f"warpglass_profile counted {len(self.profiles)} launches ({names}); name one: p['k']"
            )
        return self.profiles[0]

    def __getitem__(self, kernel: str) -> Profile:
        """The profile of the last launch of a kernel, by its name."""
        for one in reversed(self.profiles):
            if one.kernel == kernel:
                return one
        names = ", ".join(sorted({one.kernel for one in self.profiles})) or "none"
        raise KeyError(f"no launch of {kernel!r} was counted; of these: {names}")

    @property
    def metrics(self) -> Numbers:
        """nvprof's metrics of the one launch."""
        return self.only.metrics

    @property
    def counters(self) -> Numbers:
        """Nsight Compute's counters of the one launch."""
        return self.only.counters

    def assert_at_most(self, **limits: float) -> None:
        """Fail unless no launch has more of a metric or counter than its limit."""
        self._compare(limits, "at most", lambda found, limit: found <= limit)

    def assert_at_least(self, **limits: float) -> None:
        """Fail unless every launch has as much of a metric or counter as its limit."""
        self._compare(limits, "at least", lambda found, limit: found >= limit)

    def _compare(self, limits: dict[str, float], words: str, holds: Callable[[float, float], bool]) -> None:
        if not self.profiles:
            pytest.fail("warpglass_profile counted no launch", pytrace=False)
        broken = [
            f"{one.kernel}, launched at {one.site}: {name} is {found:g}, allowed is {words} {limit:g}"
            for one in self.profiles
            for name, limit in limits.items()
            if not holds(found := _number(one, name), limit)
        ]
        if broken:
            pytest.fail("\n".join(broken), pytrace=False)


def _number(profile: Profile, name: str) -> float:
    known = {**profile.counters, **profile.metrics}
    if name not in known:
        hint = did_you_mean(name, known) or "; `warpglass metrics` lists them"
        pytest.fail(f"there is no counter or metric {name!r}{hint}", pytrace=False)
    return known[name]


@pytest.fixture
def warpglass_profile(request: pytest.FixtureRequest) -> Iterator[Counted]:
    """Count every launch of the test, on the engine; what is counted is not checked.

    As in `p.metrics["gld_efficiency"] > 90` and `p.assert_at_most(shared_bank_conflicts=0)`.
    """
    from . import lab
    from .lab import profile as lab_profile

    model = _model(request.config.option)
    counted = Counted()

    def count(launch: Launch) -> Profile:
        return lab_profile.count(launch, model, caches=False)

    with lab.watching(lab_profile.recorder(counted.profiles, count)):
        yield counted
