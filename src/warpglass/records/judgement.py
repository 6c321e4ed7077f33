"""What a judging found: a row for each submission, as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRow:
    """One submission: `rank` among the accepted (None for others), `verdict` and its reason in `text`.

    `score` is the sum over all cases of what the task ranks by (seconds, modelled or of a GPU, or a counter),
    the less the better; `numbers` are the sums of all counters that the task names. `seconds` judging took.
    """

    rank: int | None
    name: str
    language: str
    verdict: str
    text: str
    score: float | None
    numbers: Mapping[str, float]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementRecord:
    """All submissions of a task, the best first; `score` names what they are ranked by, for GPU `model`.

    `device` is the GPU whose time is the score, if it is one's.
    """

    task: str
    score: str
    model: str
    rows: tuple[JudgedRow, ...]
    device: str = ""
    schema: int = SCHEMA

    def to_json(self) -> str:
        """The record as JSON text; what judging took is left out, so that equal judgings have equal text."""
        fields = asdict(self)
        for row in fields["rows"]:
            del row["seconds"]
        return json.dumps(fields, indent=1) + "\n"
