"""The audit's page: self-contained, escaped, and working in a real browser."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

import browsers
from blowproof.cli.main import cli
from blowproof.cli.report.charts import LABEL_LETTERS, Curve, curves, error_plot
from blowproof.cli.report.odds_section import odds_section
from blowproof.cli.report.page import page
from blowproof.cli.report.terms import RESTS
from blowproof.verifier import kernel
from browsers import needs_browser

ROOT = Path(__file__).resolve().parents[3]
VOID = {"br", "meta", "line", "circle", "path", "rect", "hr", "col", "input"}

RANGES = """
name = "ages"
[domain]
age = { min = 0, max = 59 }
[secrets]
kind = "distance"
metric = "l1"
threshold = 12
[[known]]
count = { age = { min = 0, max = 9 } }
[[known]]
count = { age = { min = 10, max = 19 } }
[[known]]
count = { age = { min = 20, max = 29 } }
"""
HOSTILE = """
name = "<script>alert(1)</script>"
[domain]
"a<b" = ["<img src=x onerror=alert(2)>", "&amp;", "\\"quoted\\""]
c = ["x", "y"]
[[known]]
marginal = ["a<b"]
"""
CLAUSES = """
[domain]
a = ["x", "y"]
[database]
size = 3
[[known]]
clause = [{ record = 1, in = { a = "x" } }, { record = 2, in = { a = "x" } }]
"""
NOTHING = """
[domain]
a = ["x"]
"""


def audited(text: str, folder: Path, *options: str) -> tuple[str, dict]:
    """The page and the JSON document of a policy."""
    file, out = folder / "policy.toml", folder / "page.html"
    file.write_text(text)
    arguments = ["audit", str(file), "--json", "--html", str(out), *options]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert result.exception is None, result.exception
    return out.read_text(), json.loads(result.stdout)


class Balanced(HTMLParser):
    """Checks that tags close in order, and collects ids and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.text: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.scripts += tag == "script"

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


POLICIES = {"ranges": RANGES, "hostile": HOSTILE, "clauses": CLAUSES, "nothing": NOTHING}


@pytest.fixture(scope="module", params=POLICIES)
def made(request, tmp_path_factory) -> tuple[str, str, dict]:
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, *audited(POLICIES[request.param], folder)


def test_it_needs_nothing_else(made):
    _, html, _ = made
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", html)
    assert "url(#tip)" in html or "marker-end" not in html
    assert not re.search(r"url\((?!#)|@import|https?://", html)


def test_it_is_well_formed_and_escaped(made):
    name, html, _ = made
    parser = Balanced()
    parser.feed(html)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    assert parser.scripts == 2
    if name == "hostile":
        assert "<script>alert(1)</script>" in " ".join(parser.text)
        assert "<img" not in html


def test_the_json_carries_everything(made):
    _, html, document = made
    assert page(json.loads(json.dumps(document)), _version(html)) == html


def _version(html: str) -> str:
    found = re.search(r'content="blowproof ([^"]+)"', html)
    assert found
    return found[1]


def test_the_story_is_told(tmp_path):
    html, document = audited(RANGES, tmp_path, "--epsilon", "1/2")
    query = document["queries"][0]
    assert f"S = {query['lower']}" in html
    assert query["recommendation"] in html.replace("&#x27;", "'")
    assert query["picture"]["policy_graph"]["lit"]
    assert query["picture"]["averaging"]["variance_left"] < 1
    for heading in ("readings", "worst pair", "tie records", "Noise and error", "averaging attack"):
        assert heading in html


def rows_of(html: str, label: str) -> list[list[str]]:
    """The cells of a table's rows, by the name of its region."""
    region = html[html.index(f'aria-label="{label}"') :].partition("</table>")[0]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", region, re.DOTALL)[1:]
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows)
    return [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in row] for row in cells]


def test_an_empty_label_is_seen(tmp_path):
    text = '[domain]\na = ["x", ""]\nb = ["y", ""]\n[[known]]\nmarginal = ["a"]\n'
    html, document = audited(text, tmp_path)
    (step, *_) = rows_of(html, "The changes, one by one")
    assert "(empty)" in " ".join(step[1:3])
    assert "a = (empty)" in html
    assert [item for item in document["queries"][0]["odds"]["secret"] if "(empty)" in item] != []
    assert not re.search(r"[(,] ?,|, ?[);<]", " ".join(map(" ".join, rows_of(html, "Beliefs"))))


def test_formulas_have_their_reading_and_no_row_twice(tmp_path):
    _, document = audited((ROOT / "examples" / "census.toml").read_text("utf-8"), tmp_path)
    (query,) = document["queries"]
    html = page(document, "1")
    rows = rows_of(html, "Published formulas")
    assert len(rows) == len({tuple(row) for row in rows}) > 5
    assert len({tuple(row[1:2] + row[3:]) for row in rows}) == len(rows), "statements joined"
    readings = {name for row in rows for name in row[2].split(", ")}
    assert readings == {form["reading"] for form in query["closed_forms"]["applying"]}
    assert not any("wrong here" in row[5] for row in rows)
    query["closed_forms"]["applying"][0] |= {"agrees": False, "exact_lower": 6, "exact_upper": 6}
    (wrong,) = [row for row in rows_of(page(document, "1"), "Published formulas") if "6" in row[4]]
    assert wrong[5] == "wrong here"


def test_the_averaging_attack_lists_the_ways_to_read_a_count_off(tmp_path):
    html, document = audited(RANGES, tmp_path)
    attack = document["queries"][0]["picture"]["averaging"]
    rows = rows_of(html, "The ways to read the count off")
    assert rows[0] == ["its own noisy count", "1"]
    assert len(rows) == 2 + len(attack["ways"])
    assert attack["ways"][0] == {"known": "age in 0..9", "variance": 9.0}  # the other nine cells
    assert float(rows[-1][1]) == pytest.approx(attack["variance_left"] ** 0.5, abs=1e-3)


def test_a_long_pair_says_how_much_of_it_is_shown(tmp_path):
    _, document = audited(RANGES, tmp_path)
    chain = document["queries"][0]["chain"]
    chain["moves"] = chain["moves"][:1] * 500
    html = page(document, "1")
    assert "100 more changes" in html and "Not printed: 370 more changes." in html
    assert html.count('class="unprinted"') == 370 and 'data-moves="500"' in html


def test_several_queries_on_one_page(tmp_path):
    html, document = audited(RANGES, tmp_path, "--query", "histogram", "--query", "range(age,5,12)")
    assert len(document["queries"]) == 2
    assert html.count('class="stepper"') == 2


def test_a_full_disk_is_one_sentence(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    import subprocess
    import sys

    file = tmp_path / "policy.toml"
    file.write_text(NOTHING)
    command = [sys.executable, "-m", "blowproof.cli", "audit", str(file), "--html", "/dev/full"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 2
    assert "Traceback" not in found.stderr
    assert found.stderr.count("error") == 1


def test_what_is_proved_of_attackers_is_not_said_to_be_open():
    """Where the noise is for S of reading 5, no odds move further, whatever was found in time."""
    odds = {
        "verdict": "undecided", "ratio_between": ["1.5", None],
        "secret": [], "prior": None, "output": None,
    }  # fmt: skip
    open_, covered = (
        str(odds_section(odds, lambda name, draw: None, covered=known)) for known in (False, True)
    )
    assert "leave open" in open_ and "nothing bounds from above" in open_
    assert "no more than e^epsilon" in covered and "1.5 or more" in covered
    assert "leave open" not in covered and "nothing bounds" not in covered


# --- in a browser -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[object]:
    with browsers.opened(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture(scope="module")
def shown(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    _, document = audited(RANGES, folder)
    browser.get((folder / "page.html").as_uri())
    return browser, document["queries"][0]


@needs_browser
def test_no_errors_on_the_console(shown):
    driver, _ = shown
    assert driver.get_log("browser") == []
    assert driver.title == "ages: privacy audit"


def test_the_page_allows_its_own_style_and_script_and_nothing_else(tmp_path):
    html, _ = audited(HOSTILE, tmp_path)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    rules = dict(rule.split(" ", 1) for rule in unescape(policy).split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for rule, name in (("style-src", "style"), ("script-src", "script")):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", html, re.DOTALL)
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert not re.search(r"unsafe|https?:|\*", policy)
    assert html.index("Content-Security-Policy") < html.index("<style>")


@needs_browser
def test_stepping_with_mouse_and_keyboard(shown):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    driver, query = shown
    count = len(query["chain"]["moves"])
    state = driver.find_element(By.CSS_SELECTOR, ".stepper .state")
    buttons = {b.text: b for b in driver.find_elements(By.CSS_SELECTOR, ".buttons button")}
    assert list(buttons) == ["Start", "Back", "Next", "All"]
    assert state.text.startswith(f"All {count} changes made")
    buttons["Start"].click()
    assert state.text.startswith("Before any change")
    assert len(driver.find_elements(By.CSS_SELECTOR, "tr.later")) == count
    buttons["Next"].send_keys(Keys.ENTER)
    assert state.text.startswith("After change 1")
    current = driver.find_elements(By.CSS_SELECTOR, "tr[aria-current=step]")
    assert len(current) == 1
    for _ in range(count + 2):
        buttons["Next"].click()
    assert state.text.startswith(f"All {count} changes made")
    assert buttons["Next"].get_attribute("aria-disabled") == "true"
    buttons["Back"].click()
    assert state.text.startswith(f"After change {count - 1}")
    buttons["All"].click()
    assert driver.find_elements(By.CSS_SELECTOR, "tr.later") == []


@needs_browser
def test_accessible_names(shown):
    from selenium.webdriver.common.by import By

    driver, _ = shown
    named = driver.find_elements(By.CSS_SELECTOR, "button, [role=img], [role=region], [role=group]")
    assert len(named) > 6
    assert all(item.accessible_name for item in named if item.is_displayed())
    pictures = driver.find_elements(By.CSS_SELECTOR, "[role=img]")  # some for other screens
    assert all(item.find_elements(By.CSS_SELECTOR, "title, desc") for item in pictures)
    assert driver.find_element(By.TAG_NAME, "html").get_attribute("lang") == "en"
    levels = [int(h.tag_name[1]) for h in driver.find_elements(By.CSS_SELECTOR, "h1, h2, h3")]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    skip = driver.find_element(By.CSS_SELECTOR, "a.skip")
    target = skip.get_attribute("href").rpartition("#")[2]
    assert driver.find_elements(By.ID, target)


@needs_browser
def test_dark_light_and_print(shown):
    driver, _ = shown

    def emulate(**media: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": media.get("scheme", "light")}]
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": media.get("media", ""), "features": features}
        )

    def style(selector: str, name: str) -> str:
        script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
        return str(driver.execute_script(script, selector, name))

    emulate(scheme="light")
    light = style("body", "backgroundColor")
    emulate(scheme="dark")
    assert style("body", "backgroundColor") != light
    assert style("body", "color") != style("body", "backgroundColor")
    emulate(media="print")
    assert style(".buttons", "display") == "none"
    assert style("svg.plot", "breakInside") == style(".short", "breakInside") == "avoid"
    assert style("h3", "breakAfter") == "avoid"
    assert style(".together", "breakInside") == "auto"  # else a picture takes its text along
    emulate()
    assert style(".buttons", "display") == "flex"


@needs_browser
def test_nothing_is_wider_than_a_phone(shown):
    driver, _ = shown
    driver.set_window_size(500, 900)
    wide = driver.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    driver.set_window_size(1000, 1400)
    assert wide <= 0


@needs_browser
def test_pictures_are_drawn_for_a_phone(shown):
    """As wide as the page, letters of full size: nothing to scroll, nothing beyond the edge."""
    driver, _ = shown
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    pictures = driver.execute_script(
        """return [...document.querySelectorAll("svg.plot")].filter((plot) => plot.clientWidth)
          .map((plot) => [plot.clientWidth, plot.parentElement.scrollWidth,
            plot.parentElement.clientWidth, plot.viewBox.baseVal.width,
            Math.max(...[...plot.querySelectorAll("text")].map((text) => {
              const box = text.getBBox(); return box.x + box.width; })),
            Math.min(...[...plot.querySelectorAll("text")].map((text) => text.getBBox().x))])"""
    )
    tables = driver.execute_script(
        """return [...document.querySelectorAll(".wide")]
          .filter((table) => table.querySelectorAll("thead th").length <= 4 && table.clientWidth)
          .map((table) => table.scrollWidth - table.clientWidth)"""
    )
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(tables) >= 3 and max(tables) <= 0  # of few columns: none is cut off
    assert len(pictures) >= 2
    for wide, scrolled, room, drawn, right, left in pictures:
        assert wide <= room and scrolled <= room
        assert wide >= drawn >= right and left >= 0
    seen = "return [...document.querySelectorAll('svg.plot.slim')].map((plot) => plot.clientWidth)"
    assert set(driver.execute_script(seen)) == {0}


@needs_browser
def test_what_is_not_ours_does_not_run(browser, tmp_path):
    html, _ = audited(RANGES, tmp_path)
    attack = """<script>document.title = "run"</script><style>body { color: rgb(1, 2, 3) }</style>
    <img src="x" onerror="document.title = 'run'">
    <iframe src="data:text/html,x"></iframe><p style="color: red">"""
    (tmp_path / "page.html").write_text(html.replace("<header>", f"{attack}<header>"), "utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    said = [entry["message"] for entry in browser.get_log("browser")]
    assert browser.title == "ages: privacy audit"
    assert len([line for line in said if "Content Security Policy" in line]) >= 5
    assert "rgb(1, 2, 3)" not in browser.execute_script(
        "return getComputedStyle(document.body).color"
    )


def test_a_bound_that_says_nothing_is_not_drawn_beside_what_is_known():
    def row(reading, lower, upper):
        return {"reading": reading, "answer": {"lower": lower, "upper": upper}}

    rows = [
        row("published", "40", "40088"),
        row("secret-moves", "16", "16"),
        row("add-remove", "30", str(10**114)),
        row("markov", "4", None),
        row("pufferfish", "40", str(40_088_000)),
    ]
    query = {"reading": "published", "readings": rows, "plain": {"sensitivity": "2"}}
    drawn = {curve.label for curve in curves(query)}
    assert drawn == {"published", "secret-moves", "pufferfish", "plain DP"}
    query = {"reading": "published", "readings": rows[2:3], "plain": {"sensitivity": None}}
    assert [curve.label for curve in curves(query)] == ["add-remove"]


def test_labels_of_large_bounds_fit_beside_the_plot():
    """A bound of 31 digits: not S itself, whole in its label, and marks that do not touch."""
    curves = [
        Curve("published", Fraction(10**30), "decides", exact=False),
        Curve("secret-moves", Fraction(1_059_164_794_384), "reading", exact=False),
        Curve("plain DP", Fraction(2), "plain"),
    ]
    drawn = str(error_plot(curves, Fraction(1)))
    texts = [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawn)]
    assert "(S ≤ about 10^30)" in texts and "(S ≤ 1,059,164,794,384)" in texts
    assert "plain DP (S = 2)" in texts
    assert all(len(text) <= LABEL_LETTERS for text in texts)
    marks = [float(y) for y in re.findall(r'x="56" y="([\d.]+)"', drawn)]
    assert 3 <= len(marks) <= 9 and all(
        above - below > 14 for below, above in pairwise(marks[::-1])
    )


def test_what_proved_rests_on_is_said_as_in_the_readme():
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", readme).replace("`", "")
    assert RESTS in " ".join(plain.split())
    lines = sum(
        path.read_text(encoding="utf-8").count("\n")
        for path in Path(kernel.__file__).parent.rglob("*.py")
    )
    assert 6_700 <= lines < 7_300, "say how many lines the kernel has"


@pytest.mark.parametrize("status", ["proved", "exact"])
def test_a_page_says_what_proved_rests_on_where_something_is(tmp_path, status):
    _, document = audited((ROOT / "examples" / "census.toml").read_text("utf-8"), tmp_path)
    query = document["queries"][0]
    assert query["certificate"]["proved"]
    query["certificate"]["proved"] = status == "proved"
    assert (RESTS in unescape(page(document, "1"))) == (status == "proved")
