"""Pages of records: everything is in them, nothing of a record is read as HTML, browsers can use them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.report.profiles import make
from tests.report.test_reading import check, profile_with_listing
from warpglass import devices
from warpglass.errors import WarpglassError
from warpglass.models.occupancy import Demand, occupancy
from warpglass.models.roofline import Work, peaks_of
from warpglass.records.bench import Record, Row
from warpglass.records.kernel_time import ModelledTime
from warpglass.records.warp_views import WarpView
from warpglass.report.html import Named, occupancy_page, report_page, roofline_page
from warpglass.report.html.warp_picture import passes, picture_of
from warpglass.report.occupancy import OccupancyReport
from warpglass.report.roofline import roofline_report

EVIL = "<script>alert(1)</script>\"'&{{ 7*7 }}$\\frac{\x07"


def row(rung: str, seconds: float, **changes: Any) -> Row:
    made = Row(
        rung=rung, language="cuda", kernel=f"{rung}<float>", table="t", title="A table", as_written=False,
        size=1024, dtype="float32", grid=8, block=128, shared=0, final="", label="engine", seconds=seconds,
        repeats=(seconds,), gb_per_s=4096e-9 / seconds, gflop_per_s=1024e-9 / seconds, step_speedup=1.0,
        cumulative_speedup=1.0, sum=None, expected=None, error=None, bound=None, verified=True,
        metrics={"gld_transactions": 128.0, "gst_transactions": 4.0, "inst_executed": 900.0, "branch": 0.0},
    )  # fmt: skip
    return replace(made, **changes)


def record(**changes: Any) -> Record:
    made = Record(
        ladder="mine",
        device="warpglass engine",
        backend="cpu",
        version="1",
        rows=(row("naive", 2e-3), row("tiled", 1e-3, cumulative_speedup=2.0)),
        counted_for="h100",
        explanations={"naive": "Each thread\nalone.\n\nNothing more."},
    )
    return replace(made, **changes)


def page(*records: Any) -> str:
    return report_page([Named(f"{n}.json", one) for n, one in enumerate(records)], "T", lambda _: ())


class Tags(HTMLParser):
    """Elements and their attributes."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_a_page_has_all_parts_and_needs_no_network():
    text = page(record(), profile_with_listing(), check())
    assert text == page(record(), profile_with_listing(), check())
    for words in (
        "naive",
        "tiled",
        "Roofline of",
        "Each thread alone.",
        "st.global.f32",
        "STG.32",
        "a barrier",
    ):
        assert words in text
    tags = Tags(text).found
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    regions = [attributes["aria-label"] for _, attributes in tags if attributes.get("role") == "region"]
    assert len(regions) == len(set(regions)) > 5
    links = [v for _, attributes in tags for k, v in attributes.items() if k in ("href", "src", "xlink:href")]
    assert all(link is not None and link.startswith(("#", "data:")) for link in links)
    assert {link[1:] for link in links if link and link.startswith("#")} <= set(ids)
    assert not re.search(r"@import|url\((?!#|\"?data:)", text)


def test_the_notes_figures_stand_beside_a_ladder():
    text = page(record(ladder="reduction"))
    assert "Course notes 000: Reduction of 2^24 numbers" in text
    assert "Ours: warpglass bench reduction --size 16777216 --dtype float64 --model p100 --notes" in text
    assert "grid 512, block 32768; right is grid 32768, block 512" in text


def test_modelled_times_stand_with_their_interval():
    time = ModelledTime(
        device="h100", name="NVIDIA H100", seconds=2e-5, low=1e-5, high=4e-5, limiter="the bandwidth of DRAM"
    )
    text = page(record(rows=(row("naive", 2e-3, modelled=(time,)),)), replace(make(), modelled=time))
    assert "A table: modelled times, from counts" in text
    assert text.count("the bandwidth of DRAM") == 2
    assert "Modelled time on NVIDIA H100: 20.00 us" in text


def test_records_are_text_wherever_they_stand():
    place = replace(check().findings[0], message=EVIL, hint=EVIL, array=EVIL, index=1, kind=EVIL)
    profile = profile_with_listing()
    listing = replace(
        profile.listing, kernel=EVIL, note=EVIL, ptx=(replace(profile.listing.ptx[0], text=EVIL),)
    )
    lines = tuple(replace(line, file=EVIL) for line in profile.lines)
    evil_row = replace(row(EVIL, 1e-3), kernel=EVIL, title=EVIL, failure=EVIL, language=EVIL, dtype=EVIL)
    text = page(
        record(rows=(evil_row,), device=EVIL, ladder=EVIL, explanations={EVIL: EVIL}),
        replace(profile, kernel=EVIL, device=EVIL, notes=(EVIL,), lines=lines, listing=listing, site=EVIL),
        replace(profile, model=EVIL),
        replace(check(), findings=(place,), kernel=EVIL, notes=(EVIL,)),
    )
    assert [tag for tag, _ in Tags(text).found].count("script") == 1
    assert "alert(1)</script>" not in text
    assert "49" not in re.sub(r"<svg.*?</svg>|<style.*?</style>|sha256-[^']*", "", text, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"size": 10**12}, r"0\.json: views\[0\]\.size is 1000000000000"),
        ({"kind": "branch"}, r"0\.json: views\[0\]\.size is 4"),
        ({"kind": "warp"}, r"0\.json: views\[0\]\.kind is 'warp'"),
        ({"active": 1 << 40}, r"0\.json: views\[0\]\.active is"),
        ({"addresses": (1, 2)}, r"0\.json: views\[0\]\.addresses has 2 items"),
    ],
)
def test_a_view_that_no_warp_has_is_refused(changed: dict[str, Any], message: str):
    profile = profile_with_listing()
    with pytest.raises(WarpglassError, match=message):
        page(replace(profile, views=(replace(profile.views[0], **changed),)))


def test_an_occupancy_of_no_block_is_refused():
    demand = {"threads": 64, "registers": 8}
    fit = {"share": 1, "warps": 3, "blocks": 1, "limiting": ["warps"], "demand": demand}
    assert "limited by warps" in page(replace(profile_with_listing(), occupancy=fit))
    wrong = {**fit, "demand": {**demand, "threads": 99999}}
    with pytest.raises(WarpglassError, match=r"0\.json: occupancy: demand\.threads is 99999"):
        page(replace(profile_with_listing(), occupancy=wrong))


def shared(size: int, *addresses: int) -> WarpView:
    padded = (*addresses, *(0 for _ in range(32 - len(addresses))))
    return WarpView("load", "shared", "k.cu", 1, 1, "ld", size, 0, 0, (1 << len(addresses)) - 1, 0, padded)


@pytest.mark.parametrize(
    ("view", "count"),
    [
        (shared(4, *range(0, 128, 4)), 1),
        (shared(4, *(0 for _ in range(32))), 1),
        (shared(4, *range(0, 256, 8)), 2),
        (shared(4, *range(0, 4096, 128)), 32),
        (shared(8, *range(0, 256, 8)), 2),
        (shared(16, *range(0, 512, 16)), 4),
        (shared(4, 0), 1),
    ],
)
def test_passes_over_shared_memory(view: WarpView, count: int):
    assert passes(view) == count
    assert f"{count} time" in picture_of(view, "w").sentence


def test_a_view_of_sectors_says_what_is_used():
    strided = replace(profile_with_listing().views[0], addresses=tuple(range(0, 32 * 32, 32)))
    sentence = picture_of(strided, "w").sentence
    assert "32 active lanes ask for 128 different bytes in 32 sectors of 8 lines; 12 %" in sentence


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install '.[browser]'")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


def test_a_browser_sorts_links_shows_views_and_changes_colours(browser: Any, tmp_path: Path):
    file = tmp_path / "page.html"
    branch = WarpView("branch", "", "k.cu", 3, 9, "bra", 0, 0, 1, 0xFFFFFFFF, 0xFFFF)
    profile = profile_with_listing()
    file.write_text(page(record(), replace(profile, views=(*profile.views, branch)), check()), "utf-8")
    shown = browser.new_page(color_scheme="light")
    said: list[str] = []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    shown.goto(file.as_uri())

    times = "#part-0 table.sortable tbody tr td:nth-child(6)"
    assert shown.locator(times).all_inner_texts() == ["2.000 ms", "1.000 ms"]
    heading = shown.locator("table.sortable").first.locator("th").nth(5)
    heading.locator("button").press("Enter")
    assert shown.locator(times).all_inner_texts() == ["1.000 ms", "2.000 ms"]
    assert heading.get_attribute("aria-sort") == "ascending"

    shown.locator(".source tr[data-key='f0:3'] .line").press("Enter")
    assert shown.locator(".ptx tr.picked code").all_inner_texts() == ["st.global.f32"]
    assert shown.locator(".machine tr.picked code").all_inner_texts() == ["STG.32"]

    assert shown.locator(".views figure:visible").count() == 1
    shown.locator(".view-choice").select_option(index=1)
    assert "sectors" in shown.locator(".views figure:visible figcaption").inner_text()

    def paper() -> str:
        return shown.evaluate("getComputedStyle(document.body).backgroundColor")

    light = paper()
    shown.locator("#theme").click()
    assert paper() != light
    for width in (1400, 800, 390):
        shown.set_viewport_size({"width": width, "height": 900})
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert not said


def test_pages_have_no_barriers_in_light_and_in_dark(browser: Any, tmp_path: Path):
    """What axe finds: names of controls and regions, contrast, order of headings, keyboards."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="no axe: pip install '.[browser]'"
    )
    fit = OccupancyReport("k", "a GPU", (256,), occupancy(Demand(256, 40), devices.get("h100").limits))
    roof = roofline_report(
        [Work("k", {"fp32": 1e9}, {"dram": 1e9, "l1": 4e9})], peaks_of(devices.get("h100"))
    )
    noted = record(ladder="reduction")
    pages = page(noted, record(), profile_with_listing(), check()), occupancy_page(fit), roofline_page(roof)
    file = tmp_path / "page.html"
    for text in pages:
        file.write_text(text, "utf-8")
        for scheme in ("light", "dark"):
            shown = browser.new_page(color_scheme=scheme, bypass_csp=True)
            shown.goto(file.as_uri())
            found = axe.Axe().run(shown)
            assert not found.violations_count, found.generate_report()
            inks = "[...document.querySelectorAll('svg.chart text')].map(one => getComputedStyle(one).fill)"
            black = {"light": "rgb(255, 255, 255)", "dark": "rgb(0, 0, 0)"}[scheme]
            assert black not in shown.evaluate(inks)
            shown.close()
