"""Writes docs/reference/checker.md: the corpus with our verdicts and compute-sanitizer's on an H200.

Belongs here: the page's words and rows. Verdicts come from corpus.py, the other tool's from sanitizer.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from warpglass.records.check import KINDS

from .corpus import CASES, TWINS, Case, judge, read_cases, show

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "checker.md"
_STORED = CASES / "sanitizer.json"
_TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_RIGHT = "right"

_HEAD = """# Checker

Pairs of kernels in `tests/cases/kernels`, one with a defect and one without, judge the checker in every
test run (of those in the folder `more` a part of them). `python -m tests.observe.corpus --page` writes this
page. *Found* means that the defect is reported at the marked line as the marked kind, and nothing else;
*silent* that nothing is reported of the twin without defect.

Where the programming guide, the PTX manual and the hardware do not say the same, these are the rules:

* A barrier of the block is for all of its threads that have not ended. Lanes of one warp must come to it
  together, in one turn of the loops around it; those that come to another barrier, or to none, miss it. So do
  warps that come to *different* barriers, or to none (a warning): the hardware counts warps and lets them
  pass, and the guide forbids a condition that is not the same for the whole block.
* Threads that have *returned* are not waited for, and that is no finding: `if (i >= n) return;` in front of a
  barrier. A barrier in `if (i < n) {{ ... }}` is one that others miss, even as the last thing of a kernel,
  and so is one that threads go past by `break`, `continue`, `goto` or by returning to a caller that does
  more. Compilers make the same code of both, so the text of the branch decides, if it can be read. In PTX
  without lines, threads that go to the kernel's end and do nothing there have returned.
* A barrier of a cluster is for all threads of its blocks that have not returned. The hardware does without
  those that have ended, and counts arrivals wherever they are made: who goes past it to the end is a warning,
  parts of a cluster may have arrivals of their own, and who is one short in the end while others waited at
  another place is an error, as are lanes that miss an arrival that says `.aligned`.
* A warp barrier or a vote does without lanes of its mask that have ended. A shuffle or a reduction does not:
  a mask that names them is a finding. Warp barriers in different branches pair up if their masks are the
  same, as in the PTX manual; lanes that are one barrier short in the end are a finding. Lanes that wait for
  others of their mask from which no way leads there end in a deadlock, which is told as the mask's.
* Who has stored a value and announces it by an atomic operation or a volatile flag needs a fence before the
  announcement, and who reads the flag by a volatile load needs one behind it. An atomic operation whose
  result decides what its thread does has met all operations on that word before it. A plain load races with
  atomic operations, unless a compare and swap of the same word compares what it has read.
* Volatile accesses of a word are relaxed ones of the system's scope, as in the PTX manual: two of them do not
  race, whether lanes, warps or blocks make them, and they order nothing. A lane that reads once what another
  of its warp stores relies on lockstep, which nobody promises: that is a `warp-race`. One that waits in a
  loop until it reads it does not.
* What a thread loads and drops is no read, as where compilers make a load and a choice of a branch.
* Undefined bytes may be copied, moved and chosen from. A finding names the load and, if it is another line,
  the use.
* One cause is told once: the race between warps for a missing barrier and not that between lanes as well, the
  first barrier that threads miss and not all further ones, the missing output and not the input that nobody
  reads for it.
{sanitizer}"""
_SANITIZER = """
For comparison, NVIDIA's compute-sanitizer ran the C++ cases with each of its four tools ({about}). A tool is
named where it reports an error, with the line if that is a marked one. A dash means that none of them reports
anything; an empty field that it was not asked. It is not made to look for races in global memory or for
elements that nobody writes, so this is no measure of how well it does what it is for.
"""


def write_page() -> None:
    """Check all cases and write the page."""
    PAGE.write_text("\n".join(_lines()) + "\n", encoding="utf-8")


@cache
def _stored() -> Mapping[str, Any]:
    return json.loads(_STORED.read_text("utf-8")) if _STORED.exists() else {}


def _lines() -> Iterator[str]:
    cases = read_cases()
    about = _stored().get("about")
    yield _HEAD.format(sanitizer=_SANITIZER.format(about=about) if about else "")
    verdicts = {(name, twin): _verdict(case, twin) for name, case in cases.items() for twin in TWINS}
    yield "| | cases | found, nothing else | twins silent |" + (
        " compute-sanitizer finds | alarms |" if about else ""
    )
    yield "|---|---:|---:|---:|" + ("---:|---:|" if about else "")
    for kind in (*KINDS, "all"):
        names = [name for name, case in cases.items() if kind in (case.kind, "all")]
        found, silent = (sum(verdicts[name, twin] == _RIGHT for name in names) for twin in TWINS)
        row = f"| {kind} | {len(names)} | {found} | {silent} |"
        if about:
            there = [name for name in names if name in _stored()["cases"]]
            theirs = (sum(bool(_errors(name, twin)) for name in there) for twin in TWINS)
            row += (
                " | ".join([""] + [f"{count} of {len(there)}" for count in theirs]).removeprefix(" |") + " |"
            )
        yield row
    yield ""
    yield "| case | what is wrong | kind | found | twin |" + (" compute-sanitizer | twin |" if about else "")
    yield "|---|---|---|---|---|" + ("---|---|" if about else "")
    for name, case in cases.items():
        ours = " | ".join(_word(verdicts[name, twin], twin) for twin in TWINS)
        row = f"| `{case.file.name}` | {_plain(case.sentence)} | {case.kind} | {ours} |"
        if about:
            row += "".join(f" {_said(case, twin)} |" for twin in TWINS)
        yield row


def _verdict(case: Case, twin: str) -> str:
    """`right`, or what is wrong and what was reported."""
    found = case.check(twin).findings
    verdict = judge(case, twin, found)
    return verdict if verdict == _RIGHT else f"{verdict}: {', '.join(map(show, found)) or 'nothing'}"


def _word(verdict: str, twin: str) -> str:
    return {"buggy": "yes", "clean": "silent"}[twin] if verdict == _RIGHT else f"**{verdict}**"


def _errors(name: str, twin: str) -> dict[str, dict[str, Any]]:
    """What each tool reported of a twin, tools without errors left out."""
    tools = _stored()["cases"][name][twin]
    return {tool: tools[tool] for tool in _TOOLS if tools[tool]["errors"]}


def _said(case: Case, twin: str) -> str:
    if case.name not in _stored()["cases"]:
        return ""
    marked = case.lines | case.others
    said = [
        tool + ("" if twin == "clean" else " (line)" if marked & set(found["lines"]) else " (elsewhere)")
        for tool, found in _errors(case.name, twin).items()
    ]
    hung = any(found["timed_out"] for found in _stored()["cases"][case.name][twin].values())
    return ", ".join(said) + (" (stopped)" if hung else "") if said or hung else "-"


def _plain(sentence: str) -> str:
    """A sentence as Markdown shows it unchanged."""
    return sentence.replace("_", r"\_").replace("*", r"\*")
