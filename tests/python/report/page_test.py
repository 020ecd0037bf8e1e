# SPDX-License-Identifier: Apache-2.0
"""The page: whole, valid, and in need of nothing else."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import pytest
from tollbar.campaigns.threads import SINGLES, Where
from tollbar.data import results, samples
from tollbar.report import page as report

VOID = {"meta", "link", "br", "input", "img", "hr"}


class Page(HTMLParser):
    """Checks that every element is closed in order; keeps addresses, ids and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.ids, self.words, self.downloads = [], [], [], [], {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self._look(dict(attributes))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self._look(dict(attributes))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    def _look(self, attributes):
        self.addresses += [attributes[name] for name in ("href", "src", "data", "action") if name in attributes]
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if "download" in attributes:
            kind, _, content = attributes["href"].partition(";base64,")
            self.downloads[attributes["download"]] = kind, base64.b64decode(content)


def _belongs(program, ranks, placement):
    single = SINGLES.get(program)
    return single is None or Where(ranks, placement) in single.situations


@pytest.fixture(scope="module")
def run(replay, tmp_path_factory):
    folder = results.new_run(tmp_path_factory.mktemp("results"), "threads")
    results.write_environment(folder, {"model": "<Replay & Co>", "usable": [0, 1], "seed": 1, "kernel": "none"})
    situations = [(ranks, placement) for ranks in (2, 4, 8) for placement in ("pinned", "free")] * 10
    situations += [(64, "free")] * 10
    for group, (ranks, placement) in enumerate(situations):
        for program in (program for program in replay.PROGRAMS if _belongs(program, ranks, placement)):
            results.write_launch(folder, group, program, replay.text(program, ranks, placement, 2, group))
    return results.read(folder)


@pytest.fixture(scope="module")
def made(run):
    return report.pages(run)


@pytest.fixture(scope="module")
def text(made):
    return made.report


def charts(text):
    """What stands in each chart, by its name."""
    found = re.findall(r'data-chart="([^"]*)"><script type="application/json">(.*?)</script>', text)
    return {name: json.loads(data) for name, data in found}


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_every_element_is_closed_in_order(page):
    assert page.open == []


def test_the_page_loads_nothing(made, text, page):
    beside = {f"report-files/{name}" for name in made.beside}
    led = [address for address in page.addresses if address not in beside]
    assert {address.partition(":")[0] if ":" in address else address[0] for address in led} == {"data", "#"}
    foreign = r"https?:|//[a-z]|@import|<script[^>]*\ssrc|fetch\(|XMLHttpRequest|import\(|<iframe|<object"
    assert not re.search(foreign, re.sub(r"base64,[A-Za-z0-9+/=]*", "", text))
    assert all(address.startswith("url(#") for address in re.findall(r"url\([^)]*\)?", text))


def test_every_reference_leads_to_something_that_is_there_once(text, page):
    assert len(set(page.ids)) == len(page.ids)
    wanted = {address[1:] for address in page.addresses if address.startswith("#")}
    wanted |= set(re.findall(r"url\(#([^)]*)\)", text))
    assert wanted <= set(page.ids)


def test_the_figures_of_the_machine_are_there(text):
    for name in ("own-pinned", "users-free", "floor-pinned", "crowded-free", "skew-free"):
        figure = re.search(rf'<figure id="{name}">.*?</figure>', text, re.DOTALL)[0]
        chart = charts(figure)[name]
        assert sum(len(line["points"]) for line in chart["series"]) > 7
        assert chart["x"]["label"] == "threads"


def test_figures_take_the_colours_of_the_page(text):
    assert "#0102" not in text
    assert "#01010" not in text
    assert "prefers-color-scheme: dark" in text
    drawn = {f"--series-{line['colour']}" for chart in charts(text).values() for line in chart["series"]}
    assert all(text.count(f"{colour}:") == 2 for colour in drawn)


def test_a_barrier_has_one_colour_in_every_figure(text):
    met = {}
    for chart in charts(text).values():
        for line in chart["series"]:
            if line["kind"] != "bound":
                name = re.sub(r", (pinned|free)$| \(\w+\)$", "", line["name"])
                met.setdefault(name, set()).add(line["colour"])
    assert {"std::barrier", "tollbar::barrier", "turnstile", "mcs"} <= met.keys()
    assert {name: colours for name, colours in met.items() if len(colours) > 1} == {}


def test_curves_of_one_colour_in_a_figure_differ_by_their_dashes(text):
    for chart in charts(text).values():
        styles = [(line["colour"], line["dash"]) for line in chart["series"] if line["kind"] in ("line", "steps")]
        assert len(set(styles)) == len(styles)


def test_every_figure_has_a_name_and_a_table_behind_it(text):
    body = text.partition("<script>")[0]
    named = re.findall(r'<svg role="img" aria-label="[^"]{10,}"', body)
    assert len(named) == body.count("<svg")
    figures = re.findall(r"<figure.*?</figure>", body, re.DOTALL)
    assert len(figures) == 15
    for figure in figures:
        assert re.search(r'<details class="behind"><summary>Table</summary>.*?<td>[^<]', figure, re.DOTALL)
        assert "<figcaption>" in figure


def test_the_table_behind_a_chart_has_its_values_and_intervals(text):
    figure = re.search(r'<figure class="only-free">.*?</figure>', text, re.DOTALL)[0]
    heads = re.findall(r"<th>([^<]*)</th>", figure.partition("</thead>")[0])
    rows = [re.findall(r"<t[hd]>([^<]*)</t[hd]>", row) for row in figure.partition("<tbody>")[2].split("</tr>")[:-1]]
    assert heads == ["threads", "tollbar::barrier", "std::barrier", "pthread_barrier", "libgomp", "libomp"]
    assert [row[0] for row in rows] == ["2", "4", "8", "64"]
    assert all(
        re.fullmatch(r"[\d.]+ [nµm]s \([\d.]+ [nµm]s to [\d.]+ [nµm]s\)", cell) for row in rows for cell in row[1:]
    )


def test_the_first_screen_comes_before_everything_else(page):
    words = " ".join("".join(page.words).split())
    said = re.search(
        r"With 2, 4 and 8 threads a loop over std::barrier takes ([\d.]+) \u00d7 \(([\d.]+) to ([\d.]+)\), "
        r".* as long as one over tollbar::barrier\.",
        words,
    )
    assert float(said[2]) <= float(said[1]) <= float(said[3])
    assert float(said[1]) == pytest.approx(20 / 1.05, rel=0.1)
    assert words.index("With 2, 4 and 8 threads a loop") < words.index("What to use") < words.index("Time against")


def test_the_answer_is_what_the_first_screen_says(made, page):
    words = " ".join("".join(page.words).split())
    assert made.answer[0].startswith("With 2, 4 and 8 threads a loop over std::barrier takes ")
    assert all(" ".join(line.split()) in words for line in made.answer)


def test_the_answer_says_what_is_stored_for_groups(run):
    def said(**stored):
        made = report.pages(run, **stored)
        words = " ".join("".join(Page(made.report).words).split())
        lines = [line for line in made.answer if line.startswith("tollbar::group: ")]
        assert all(line in words for line in lines)
        return lines

    kept = "the plan that it has anyway"
    assert said() == []  # nobody has looked
    assert said(stored={}) == [f"tollbar::group: nothing is stored, so it keeps {kept}."]
    known = {("free", ranks): "turnstile" for ranks in (2, 4)}
    (line,) = said(stored=known)
    assert line.startswith("tollbar::group: stored for it: turnstile with 2 and 4 threads, free; ")
    assert line.count(kept) == 1


def stated(page):
    """Every ratio of the first screen, with the ends of its interval."""
    first = re.search(r'<section id="today">.*?</section>', page, re.DOTALL)[0]
    prose = re.sub(r'<script.*?</script>|<details class="behind">.*?</details>', "", first, flags=re.DOTALL)
    ratios = re.findall(r"<strong>([\d.]+) \u00d7</strong> \(([\d.]+) to ([\d.]+)(?:, a tie)?\)", prose)
    assert len(ratios) == prose.count("\u00d7")
    return [tuple(map(float, ratio)) for ratio in ratios]


def test_every_ratio_of_the_first_screen_has_an_interval(text):
    ratios = stated(text)
    assert len(ratios) >= 6  # two placements of three numbers of threads
    assert all(low <= value <= high for value, low, high in ratios)


def one_that_varies(replay, folder, launches):
    """A run in which std::barrier between 4 threads takes five times as long in every second launch."""
    results.write_environment(folder, {"seed": 1})
    for group in range(launches):
        for ranks in (2, 4):
            records = replay.records("tollbar-bench-threads", ranks, "free", 2, group)
            for record in records:
                if ranks == 4 and record["record"] == "batch" and record["name"] == "std::barrier":
                    record["elapsed_ns"] *= 5 if group % 2 else 1
            text = "".join(json.dumps(record) + "\n" for record in records)
            results.write_launch(folder, group, f"p{ranks}", text)
    return results.read(folder)


def test_a_ratio_is_stated_however_wide_its_interval_is(replay, tmp_path):
    made = report.pages(one_that_varies(replay, tmp_path, 6))
    assert re.fullmatch(
        "With 2 and 4 threads a loop over std::barrier takes .* as long as one over tollbar::barrier.", made.answer[0]
    )
    (_, low, high) = stated(made.report)[-1]
    assert high > 4 * low
    assert "in place of <code>std::barrier</code>: faster with 2 and 4 threads" in made.report


def test_a_ratio_of_few_launches_says_that_it_has_no_interval(replay, tmp_path):
    made = report.pages(one_that_varies(replay, tmp_path, 5))
    assert re.search(
        r"takes [\d.]+ \u00d7 \(n = 5, no interval\) and [\d.]+ \u00d7 \(n = 5, no interval\) as", made.answer[0]
    )
    assert "no difference is certain with 2 and 4 threads" in made.report


def test_what_to_use_follows_from_the_ratios_of_the_charts(text, page):
    words = " ".join("".join(page.words).split())
    assert "tollbar::barrier in place of std::barrier: faster with 2 to 64 threads free" in words
    lines = {line["name"]: line["points"] for line in charts(text)["today-free"]["series"]}
    pairs = zip(lines["std::barrier"], lines["tollbar::barrier"], strict=True)
    assert all(std[1] > ours[1] for std, ours in pairs)


def test_where_tollbar_is_slower_the_page_says_so(replay, tmp_path):
    results.write_environment(tmp_path, {"seed": 1})
    for group in range(6):
        records = replay.records("tollbar-bench-threads", 4, "free", 2, group)
        for record in records:
            if record["record"] == "batch" and record["name"] == "tollbar::barrier":
                record["elapsed_ns"] *= 10
        results.write_launch(tmp_path, group, "p", "".join(json.dumps(record) + "\n" for record in records))
    words = " ".join("".join(Page(report.page(results.read(tmp_path))).words).split())
    assert re.search(
        r"std::barrier takes 0\.1\d \u00d7 \(0\.1\d to 0\.1\d\) as long as one over tollbar::barrier", words
    )
    assert "in place of std::barrier: slower with 4 threads, free." in words


def test_a_page_is_no_bigger_than_a_phone_likes(made, run):
    assert len(made.report.encode()) <= 1_500_000
    assert set(made.beside) | set(Page(made.report).downloads) == {"environment.json", "samples.jsonl.gz"}
    assert 'href="report-files/samples.jsonl.gz"' in made.report


def test_figures_of_two_points_are_counted(replay, tmp_path):
    text = report.page(one_that_varies(replay, tmp_path, 4))
    assert int(re.search(r"Left out: (\d+) figures", text)[1]) >= 5
    assert 'id="own-free"' not in text
    assert 'data-chart="today-free"' in text


def test_long_sections_are_folded(text):
    sections = re.findall(r'<section id="(\w+)">\s*(<[^>]*>)', text)
    assert [name for name, first in sections if first != '<details class="part">'] == ["today"]
    assert len(sections) > 6


def test_the_samples_of_a_run_are_gathered_once(replay_nic, tmp_path, monkeypatch):
    gathered, gather = [], samples.gather
    monkeypatch.setattr(samples, "gather", lambda runs: gathered.extend(runs) or gather(runs))
    replay_nic.store_both(tmp_path)
    runs = [results.read(results.newest(tmp_path, kind)) for kind in ("udp", "work")]
    report.pages(*runs)
    assert [run.folder for run in gathered] == [run.folder for run in runs]


def test_barriers_with_several_modes_have_their_distribution_drawn(page):
    assert "Where a median says little" in "".join(page.words)


def test_the_page_fits_a_phone(text):
    assert '<meta name="viewport" content="width=device-width' in text
    assert text.count("<table") == text.count('<div class="scroll"><table')


def test_what_to_use_has_a_row_with_verdict_next_best_and_ratio(text):
    table = re.search(r'<section id="use">.*?</table>', text, re.DOTALL)[0]
    rows = [re.findall(r"<td[^>]*>(?:<\w+[^>]*>)?([^<]*)", row) for row in table.split("<tr")[2:]]
    by_place = {(row[0], row[1]): row[2:] for row in rows}
    pick, verdict, _, runner_up, *_ = by_place["2", "pinned"]
    assert (pick, verdict, runner_up) == ("turnstile", "best", "dissemination")
    assert float(by_place["2", "pinned"][5].split()[0]) == pytest.approx(1.3, abs=0.05)
    assert all(by_place[ranks, "pinned"][0] == "combination" for ranks in ("4", "8"))
    assert all(by_place[ranks, "free"][0] == "turnstile" for ranks in ("2", "64"))


def test_what_to_use_has_each_ratio_to_todays_with_its_interval(text):
    table = re.search(r'<section id="use">.*?</table>', text, re.DOTALL)[0]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in table.split("<tr")[2:]]
    of_peers = [cell for row in cells for cell in row[9:] if cell]
    assert len(of_peers) >= 6
    assert all(re.fullmatch(r"[\d.]+ \u00d7 \([\d.]+ to [\d.]+\)", cell) for cell in of_peers)


def test_processes_apart_and_long_waits_have_their_section(page):
    words = " ".join("".join(page.words).split())
    section = words[words.index("Between processes, and long waits") :]
    assert re.search(r"turnstile8[34]\.\d+ µs 1\.[45]\d ", section)
    shares = dict(re.findall(r"(turnstile|[a-z]+::barrier) ([\d.]+) %", section))
    assert float(shares["turnstile"]) == pytest.approx(1, rel=0.1)
    assert float(shares["tollbar::barrier"]) == pytest.approx(12, rel=0.1)
    assert float(shares["std::barrier"]) == pytest.approx(20, rel=0.1)


def test_names_from_the_machine_are_only_text(text):
    assert "&lt;Replay &amp; Co&gt;" in text
    assert "<Replay" not in text


def test_every_measured_line_can_be_downloaded(run, made, page):
    content = made.beside.get("samples.jsonl.gz") or page.downloads["samples.jsonl.gz"][1]
    lines = gzip.decompress(content).decode().splitlines()
    assert sum(json.loads(line)["record"] == "episodes" for line in lines) == sum(
        len(launch.records.get("episodes", ())) for launch in run.launches
    )


def test_the_machine_can_be_downloaded(run, page):
    assert json.loads(page.downloads["environment.json"][1]) == run.environment


def test_a_run_of_one_launch_without_a_floor_has_a_page_too(replay, tmp_path):
    records = replay.records("tollbar-bench-threads", 2, "free", 1, 1, "mcs")
    for record in records:
        if record["record"] == "floor":
            record.update(one_way_ns=None, yield_switch_ns=None, exchange_ns=None)
    results.write_environment(tmp_path, {"seed": None})
    results.write_launch(tmp_path, 0, "p", "".join(json.dumps(record) + "\n" for record in records))
    words = "".join(Page(report.page(results.read(tmp_path))).words)
    assert "the floor could not be measured" not in words  # tollbar::barrier itself was not measured
    assert "mcs" in words
