"""Every verdict that a submission can get, with what it means: the codes of wg.judge and of the records."""

from __future__ import annotations

from dataclasses import dataclass

from .task import Case

ACCEPTED = "accepted"
WRONG, UNWRITTEN, CHANGED = "wrong", "unwritten", "changed-input"
FAULT, TIMEOUT, DEFECT, FLOOD, BUDGET = "fault", "timeout", "defect", "flood", "budget"
UNREADABLE, COMPILE_ERROR, COMPILE_LIMIT, NO_KERNEL = (
    "unreadable",
    "compile-error",
    "compile-limit",
    "no-kernel",
)
SIGNATURE, LAUNCH, FORBIDDEN, LIBRARY, CRASH = "signature", "launch", "forbidden", "library", "crash"

# In the order of a ranking: whoever came further stands before.
VERDICTS: dict[str, str] = {
    ACCEPTED: "right results in every case, nothing found by the checker, within the budgets",
    BUDGET: "right results, but a counter is above what the task allows",
    DEFECT: "right results in this order of threads, but the checker found a race or another defect",
    WRONG: "an array differs from the reference",
    CHANGED: "an array that is only to be read was changed",
    UNWRITTEN: "elements of an output were never written: the kernel returned early, or covers too little",
    FLOOD: "the kernel printed more than the task allows",
    TIMEOUT: "a launch did not end within its time",
    FAULT: "an illegal access, a trap, or a failed assertion",
    LAUNCH: "no GPU of the model would begin the launch (registers, shared memory, block)",
    SIGNATURE: "the kernel takes other arguments than the task passes",
    NO_KERNEL: "the file has no kernel of the task's name",
    COMPILE_ERROR: "the compiler refuses the file",
    COMPILE_LIMIT: "compiling took more time or memory than the task allows",
    UNREADABLE: "the file is no text, too large, in no language of the task, or leads elsewhere",
    LIBRARY: "the file calls a library that could do the work in the kernel's place",
    FORBIDDEN: "the file tried what no kernel needs: files, processes, the network",
    CRASH: "the process that judged it ended; tried twice",
}


@dataclass(eq=False)  # not frozen: contexts that it leaves set its traceback
class Verdict(Exception):
    """The end of a trial: a code of VERDICTS and its reason, for the author."""

    code: str
    text: str


def of_case(case: Case, code: str, text: str, detail: str = "") -> Verdict:
    """A verdict on a case; authors learn the numbers of public cases only."""
    if case.public:
        return Verdict(code, f"{case}: {text}{detail}")
    return Verdict(code, f"a hidden case: {text}")
