# SPDX-License-Identifier: Apache-2.0
"""The report in a browser: what a person sees first, at a desk and on a phone, and what it does."""

import json

import pytest
import replay_mpi
from tollbar.data import results
from tollbar.report import page as report

pytestmark = pytest.mark.deep

DESK, PHONE = (1400, 900), (390, 844)
MPIS = ("Open MPI 4.1.4", "MPICH 4.0.2", "Intel MPI 2021.19")


@pytest.fixture(scope="module")
def address(tmp_path_factory, replay):
    """The report of threads and of three MPIs, six launches each, and of threads beside all neighbours."""
    within = tmp_path_factory.mktemp("runs")
    threads, mpi, beside = (results.new_run(within, kind) for kind in ("threads", "mpi", "threads"))
    results.write_environment(threads, {"model": "Replay", "usable": [0, 1], "seed": 1})
    results.write_environment(mpi, {"model": "Replay", "usable": [0, 1], "seed": 1, "kind": "mpi"})
    for launch in range(6):
        for group, (ranks, placement) in enumerate((r, p) for r in (2, 4, 8) for p in ("pinned", "free")):
            number = 6 * launch + group
            for program in replay.BARRIERS:
                results.write_launch(threads, number, program, replay.text(program, ranks, placement, 2, number))
        for ranks in (2, 4, 8, 16):
            for name in MPIS:
                for door in ("none", "component", "preload") if name == MPIS[0] else ("none", "preload"):
                    text = replay_mpi.ranks_launch(ranks, 1, launch, door).replace(MPIS[0], name)
                    results.write_launch(mpi, 10 * launch + ranks, f"{name} {door}", text)
    about = {"kind": "threads", "beside": list(replay.COMPANIES)}
    results.write_environment(beside, {"model": "Replay", "usable": [0, 1], "seed": 1} | about)
    for number, (name, ranks) in enumerate((name, ranks) for name in replay.COMPANIES for ranks in (2, 8)):
        for program in replay.BARRIERS:
            told = replay.turns(program, ranks, "free", 1, number, "", name, "0,20~0.5")
            lines = "".join(json.dumps(record) + "\n" for record in told)
            results.write_launch(beside, number, program, lines)
    made = report.pages(results.read(threads), results.read(mpi), results.read(beside), stored={})
    page = tmp_path_factory.mktemp("page") / "report.html"
    page.write_text(made.report, encoding="utf-8")
    return page.as_uri()


@pytest.fixture
def open_page(browser, address):
    """Opens the page in a window of a size, in light or in dark."""

    def opened(size=DESK, scheme="light"):
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": size == PHONE})
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        for kind in ("browser", "performance"):
            browser.get_log(kind)  # what earlier pages did
        browser.get("about:blank")
        browser.get(address)
        wait(browser, "return document.querySelectorAll('#today .series').length >= 5")
        return browser

    return opened


def wait(browser, condition):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 10, poll_frequency=0.05).until(lambda each: each.execute_script(condition))


def series(browser, chart):
    return browser.execute_script(
        "const drawn = document.querySelectorAll(`[data-chart=${arguments[0]}] .series`);"
        "return [...drawn].map((each) => each.dataset.series)",
        chart,
    )


def box(browser, selector):
    return browser.execute_script(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [box.left, box.top, box.right, box.bottom]",
        selector,
    )


def hover(browser, selector):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).move_to_element(browser.find_element("css selector", selector)).perform()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_first_screen_holds_both_charts_and_never_scrolls_sideways(open_page, size, scheme):
    browser = open_page(size, scheme)
    for chart in ("today-free", "today-mpi"):
        left, top, right, bottom = box(browser, f"[data-chart={chart}] > svg")
        assert 0 <= left < right <= size[0]
        assert 0 <= top < bottom <= size[1]
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    wait(browser, "return document.querySelectorAll('.chart .series').length > 60")
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_what_to_use_is_on_the_first_screen_of_a_desk(open_page):
    browser = open_page(DESK)
    assert box(browser, "#what-to-use")[3] <= DESK[1]
    assert browser.execute_script("return document.querySelectorAll('#what-to-use dt').length") == 4
    assert box(browser, "#today-beside")[3] <= DESK[1]


def test_every_curve_of_today_is_drawn_with_its_interval(open_page):
    browser = open_page()
    assert series(browser, "today-free") == ["tollbar::barrier", "std::barrier", "pthread_barrier", "libgomp", "libomp"]
    counted = (
        "const drawn = document.querySelectorAll('[data-chart=today-free] .series');"
        "return [...drawn].map((each) => each.querySelectorAll(`.${arguments[0]}`).length)"
    )
    assert browser.execute_script(counted, "mark") == [3] * 5
    assert browser.execute_script(counted, "range") == [3] * 5


def test_a_barrier_is_switched_off_and_on_by_the_legend(open_page):
    browser = open_page()
    button = browser.find_element("xpath", "//*[@data-chart='today-free']//button[.='libgomp']")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert "libgomp" not in series(browser, "today-free")
    assert "std::barrier" in series(browser, "today-free")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert "libgomp" in series(browser, "today-free")


def test_a_pointer_is_told_value_and_interval(open_page):
    browser = open_page()
    for chart, where in (("today-free", "2 threads"), ("today-mpi", "2 ranks")):
        tip = browser.find_element("css selector", f"[data-chart={chart}] .tip")
        assert not tip.is_displayed()
        hover(browser, f"[data-chart={chart}] .series .mark")
        wait(browser, f"return !document.querySelector('[data-chart={chart}] .tip').hidden")
        assert where in tip.text
        assert "s\n95 % interval: " in tip.text
    hover(browser, "h1")
    wait(browser, "return [...document.querySelectorAll('.tip')].every((each) => each.hidden)")


def test_a_finger_is_told_as_well(open_page):
    browser = open_page(PHONE)
    left, top, right, bottom = box(browser, "[data-chart=today-free] .series:nth-of-type(3) .mark")
    point = {"x": (left + right) / 2, "y": (top + bottom) / 2}
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    wait(browser, "return !document.querySelector('[data-chart=today-free] .tip').hidden")
    tip = box(browser, "[data-chart=today-free] .tip")
    assert 0 <= tip[0] < tip[2] <= PHONE[0]


def test_the_other_placement_is_a_click_away(open_page):
    browser = open_page()
    browser.find_element("css selector", "#today-threads input[value=pinned]").find_element("xpath", "..").click()
    wait(browser, "return document.querySelectorAll('[data-chart=today-pinned] .series').length === 5")
    assert not browser.find_element("css selector", "[data-chart=today-free]").is_displayed()


def test_a_link_of_the_contents_unfolds_its_section(open_page):
    browser = open_page()
    assert not browser.execute_script("return document.querySelector('#times details').open")
    browser.find_element("css selector", "nav a[href='#times']").click()
    wait(browser, "return document.querySelectorAll('#own-free .series').length > 3")


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_chart_beside_neighbours_is_drawn_within_the_screen_and_tells_how_many_cells_it_counts(open_page, size):
    browser = open_page(size)
    browser.find_element("css selector", "#what-to-use a[href='#beside']").click()
    wait(browser, "return document.querySelectorAll('[data-chart=neighbours] .series').length === 6")
    assert series(browser, "neighbours")[-1] == "tollbar::barrier"
    left, _, right, _ = box(browser, "[data-chart=neighbours] > svg")
    assert 0 <= left < right <= size[0]
    inside = (
        "const svg = document.querySelector('[data-chart=neighbours] > svg').getBoundingClientRect();"
        "const drawn = [...document.querySelectorAll('[data-chart=neighbours] :is(text, .mark)')];"
        "return drawn.every((each) => { const box = each.getBoundingClientRect();"
        "  return box.left >= svg.left - 1 && box.right <= svg.right + 1; })"
    )
    assert browser.execute_script(inside)
    if size == DESK:
        hover(browser, "[data-chart=neighbours] [data-series=libomp] .mark:last-child")
        tip = browser.find_element("css selector", "[data-chart=neighbours] .tip")
        wait(browser, "return !document.querySelector('[data-chart=neighbours] .tip').hidden")
        assert "libomp, under a quota of 1.5 CPUs, possibly" in tip.text
        assert tip.text.endswith("4 of 4")


def test_dark_and_light_differ(open_page):
    shown = {open_page(scheme=scheme).execute_script("return getComputedStyle(document.body).backgroundColor")
             for scheme in ("light", "dark")}  # fmt: skip
    assert len(shown) == 2


def test_nothing_goes_wrong_and_nothing_is_loaded(open_page, address):
    browser = open_page()
    assert [each for each in browser.get_log("browser") if each["level"] == "SEVERE"] == []
    asked = [json.loads(each["message"])["message"] for each in browser.get_log("performance")]
    urls = {each["params"]["request"]["url"] for each in asked if each["method"] == "Network.requestWillBeSent"}
    assert {url for url in urls if not url.startswith(("data:", "about:"))} == {address}
