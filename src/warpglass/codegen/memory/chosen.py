"""Loads from addresses of which each lane chooses one of several that have a form (values/choice.py)."""

from __future__ import annotations

from ..values.choice import Choice
from .indexed import Indexed, either
from .small_tables import SmallTables


class ChosenLoads(SmallTables):
    """Emits them: a run for each alternative, and a selection."""

    def load_chosen(
        self,
        site: int,
        address: str,
        choice: Choice,
        type_: str,
        count: int,
        mask: str,
        indexed: Indexed | None,
    ) -> list[str]:
        """A vector from addresses of which each lane chooses one of several that have a form.

        All are loaded if all lie inside; where one does not, only what is chosen may say who is wrong.
        """
        b, whole = self.builder, self.builder.vector(type_)
        load_any = super().load_any  # what it finds out stays here
        bad, runs = "false", []
        for one in choice.values:
            low, places = self._places(site, one)
            outside, bounds = self._check_interval(site, low, max(places) + 1)
            bad = either(b, bad, self._or_guarded(outside, one))
            runs.append((low, places, bounds, one))

        def quick() -> list[str]:
            *rows, found = (
                self._load_pattern(site, low, places, bounds, one, type_, count, mask)
                for low, places, bounds, one in runs
            )
            for test, row in zip(reversed(choice.conditions), reversed(rows), strict=True):
                found = [
                    b.value(f"select {b.vector('i1')} {test}, {whole} {x}, {whole} {y}")
                    for x, y in zip(row, found, strict=True)
                ]
            return found

        def careful() -> tuple[list[str], str]:
            return load_any(site, address, type_, count, mask, indexed), b.block

        return self.load_either(bad, whole, quick, careful)
