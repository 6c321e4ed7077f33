"""The functions that a kernel's accesses call, of which it has one each."""

from __future__ import annotations

from .access import Access
from .atomics import atomic_helper
from .fetches import fetch_helpers
from .gather_scatter import fetch_helper, gather_helper, irregular_helper, scatter_helper
from .picks import pick_helper
from .records import NOTHING
from .row_changes import row_helper
from .row_store_access import row_store_helper
from .streaming import between_helper
from .tile_loads import TileLoads, tile_functions


def access_functions(access: Access, declared: set[str], width: int) -> list[str]:
    """Their definitions; what they call is added to what is `declared`."""
    return [
        *(gather_helper(type_, declared, width) for type_ in sorted(access.gathers)),
        *(fetch_helper(type_, declared, width) for type_ in sorted(access.fetches)),
        *(pick_helper(*one, declared, width) for one in sorted(access.picks)),
        *([NOTHING] if access.records else ()),
        *(scatter_helper(type_, declared, width) for type_ in sorted(access.scatters)),
        *(between_helper(one, declared) for one in sorted(access.runs)),
        *(irregular_helper(*one, declared, width) for one in sorted(access.reaches)),
        *(row_helper(row, declared) for row in access.rows.values()),
        *(tile_functions(access, declared, width) if isinstance(access, TileLoads) else ()),
        *([row_store_helper(access.row_stores, declared, width)] if access.row_stores.unit else ()),
        *(
            atomic_helper(one, declared, width, refusing=access.refuse is not None)
            for one in access.atomics.values()
        ),
        *fetch_helpers(access.fetches_of_objects.values(), declared, refusing=access.refuse is not None),
    ]
