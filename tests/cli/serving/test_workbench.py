"""The workbench in a real browser, by the path of a person."""

import re
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from test_serve import CENSUS, PATIENCE, Server, until

from blowproof.cli.main import run
from browsers import needs_browser, opened

pytestmark = [pytest.mark.wall_clock, needs_browser]
ROOT = Path(__file__).resolve().parents[3]

SEARCHED = "".join(
    f'[domain.{name}]\nlabels = ["1", "2", "3"]\n[[known]]\nmarginal = ["{name}"]\n'
    for name in "abc"
)
"""A policy whose bounds narrow for seconds."""


class Page:
    """A browser that looks at a workbench."""

    def __init__(self, driver, server, folder) -> None:
        self.driver, self.server, self.folder = driver, server, folder

    def text(self, selector: str) -> str:
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def element(self, selector: str):
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def until(self, condition) -> bool:
        return until(condition, self.server)

    def open(self, name: str) -> None:
        from selenium.webdriver.support.ui import Select

        assert self.reaches("#open", name)  # the list comes after the page
        self.driver.execute_script("document.getElementById('text').value = ''")
        choice = Select(self.element("#open"))
        choice.select_by_index(0)  # nothing happens where the same one is chosen again
        choice.select_by_visible_text(name)
        assert self.until(lambda: self.element("#text").get_attribute("value"))

    def reaches(self, selector: str, wanted: str) -> bool:
        from selenium.webdriver.common.by import By

        found = partial(self.driver.find_elements, By.CSS_SELECTOR, selector)
        return self.until(lambda: any(wanted in item.text for item in found()))

    def write(self, text: str) -> None:
        script = (
            "const t = document.getElementById('text'); t.value = arguments[0];"
            "t.dispatchEvent(new Event('input'))"
        )
        self.driver.execute_script(script, text)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workbench")
    server = Server(ROOT / "examples")
    with opened(folder) as driver:
        driver.get(server.address)
        yield Page(driver, server, folder)
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(PATIENCE) == 0


def test_open_change_watch_step_export(page):
    """Open an example, change a fact, watch S change, step through the pair, export the report."""
    page.open("census.toml")
    assert page.reaches("#headline", "S = 4")
    assert page.reaches("[data-part=odds]", "attacker")
    assert "without it S = 2" in page.text("#known")
    assert page.reaches("[data-plot=facts] svg", "as it is")
    page.element("[data-fact]").click()
    assert page.reaches("#headline", "S = 2")
    assert "marginal" not in page.element("#text").get_attribute("value")
    assert "A census office" in page.element("#text").get_attribute("value")  # comments stay
    page.element("[data-fact]").click()
    assert page.reaches("#headline", "S = 4") and page.reaches("[data-part=pair]", "All 2 changes")
    back = page.element("[data-part=pair] [data-step=first]")
    page.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", back)
    back.click()
    assert "Before any change" in page.text("[data-part=pair]")
    page.element("[data-part=pair] [data-step=next]").click()
    assert "Not a possible database" in page.text("[data-part=pair]")
    assert page.reaches("[data-part=odds]", "attacker")
    page.driver.execute_script("scrollTo(0, 0)")
    page.element("#report").click()
    report = page.folder / "census.html"
    assert page.until(report.exists), page.text("#now")
    assert page.until(lambda: "</html>" in report.read_text("utf-8"))
    assert run(["check", str(report)]) == 0
    assert page.driver.get_log("browser") == []


def test_plots_are_stepped_through_by_keyboard_and_stand_as_tables(page):
    from selenium.webdriver import Keys

    page.open("census.toml")
    assert page.reaches("[data-plot=odds] svg", "with this noise")
    assert page.reaches("[data-plot=facts] svg", "as it is")  # what is not drawn hears no key
    plot = page.element("[data-plot=facts] .canvas")
    assert "arrow keys" in plot.get_attribute("aria-label")
    plot.send_keys(Keys.ARROW_RIGHT)
    assert page.reaches("[data-plot=facts] figcaption", "As it is: S = 4")
    plot.send_keys(Keys.END)
    assert page.reaches("[data-plot=facts] figcaption", "S = 2")
    cells = "return document.querySelector('[data-plot=errors] tbody').textContent"
    assert "plain DP (S = 2)" in page.driver.execute_script(cells)
    assert page.driver.get_log("browser") == []


def test_another_reading_is_asked_when_it_is_chosen(page):
    from selenium.webdriver.support.ui import Select

    page.open("census.toml")
    assert page.reaches("#headline", "S = 4")
    chosen = Select(page.element("#reading"))
    chosen.select_by_visible_text("add-remove")
    assert page.reaches("#headline", "S = 2")
    chosen.select_by_visible_text("published")
    assert page.reaches("#headline", "S = 4")


def test_a_reload_loses_nothing_and_back_leads_back(page):
    page.open("census.toml")
    assert page.reaches("#headline", "S = 4")
    page.open("hospital.toml")
    assert page.reaches("#headline", "S = 16")
    page.write(page.element("#text").get_attribute("value") + "\n# mine\n")
    assert page.until(lambda: "# mine" in page.element("#text").get_attribute("value"))
    assert page.reaches("#headline", "S = 16")
    time.sleep(0.3)
    page.driver.refresh()
    assert page.reaches("#headline", "S = 16")
    assert page.element("#text").get_attribute("value").endswith("# mine\n")
    page.driver.back()
    assert page.reaches("#headline", "S = 4")


def test_what_is_wrong_is_said_and_what_was_written_stays(page):
    page.open("census.toml")
    assert page.reaches("#headline", "S = 4")
    broken = page.element("#text").get_attribute("value").replace("marginal", "marginel")
    page.write(broken)
    assert page.reaches("#wrong", "marginel") and "did you mean 'marginal'" in page.text("#wrong")
    assert "not understood: line" in page.text("#state")  # on a phone the text is far below
    assert page.element("#headline").get_attribute("class") == "old"  # S of what was there before
    assert page.element("#text").get_attribute("value") == broken
    page.write(broken.replace("marginel", "marginal"))
    assert page.until(lambda: page.text("#wrong") == "") and page.reaches("#state", "proved")
    assert page.element("#headline").get_attribute("class") == ""


def test_stop_leaves_bounds_that_hold_and_a_pair(page):
    """Bounds narrow while it searches; Stop ends the search, and what was found is shown."""
    page.write(SEARCHED)
    assert page.reaches("#headline", "≤ S ≤")
    old = page.element("[data-part=plan]").get_attribute("class")
    assert old == "old"  # it is about another policy
    found = re.compile(r"(^|\s)[1-9][0-9,]* ≤ S ≤")  # at first nothing is known from below
    assert page.until(lambda: found.search(page.text("#headline")) is not None)
    assert page.reaches("#closing svg", "at most")  # how they narrow is drawn
    rows = "return [...document.querySelectorAll('#closing tbody tr')].map((r) => r.textContent)"
    said = page.driver.execute_script(rows)  # and stands as a table, a row for each better bound
    assert said and all(re.match(r"\d+\.\d[\d,about^-]+$", row) for row in said)
    assert len(set(said)) == len(said)
    heads = "return document.querySelector('#closing thead').textContent"
    assert page.driver.execute_script(heads) == "secondsS is at leastS is at most"
    page.element("#stop").click()
    assert page.reaches("#state", "stopped: what is shown holds")
    assert page.element("#stop").get_attribute("disabled")
    assert "≤ S" in page.text("#headline") and "open" in page.element("#now").get_attribute("class")
    assert page.text("[data-part=plan]") == "" and page.text("[data-part=odds]") == ""
    assert "their answers differ by" in page.text("[data-part=pair]")
    page.write(CENSUS)  # and the next question is answered
    assert page.reaches("#headline", "S = 4")


def test_a_paste_that_is_far_too_large_changes_nothing(page):
    before = page.element("#text").get_attribute("value")
    page.write("#" * 1_000_001)
    assert page.reaches("#wrong", "too large for a page")
    assert page.element("#text").get_attribute("value") == before


def test_by_keyboard_and_on_a_phone(page):
    """The first stop of Tab leads to the answer; every field has a name; nothing is cut off."""
    unnamed = page.driver.execute_script(
        "return [...document.querySelectorAll('input, select, textarea, button')].filter(item =>"
        "!(item.labels?.length || item.getAttribute('aria-label') || item.textContent.trim()))"
        ".map(item => item.outerHTML)"
    )
    assert unnamed == []
    from selenium.webdriver import ActionChains, Keys

    page.driver.refresh()
    assert page.reaches("[data-part=odds]", "attacker")
    address = page.driver.current_url
    ActionChains(page.driver).send_keys(Keys.TAB).perform()
    assert page.driver.switch_to.active_element.text == "Skip to the answer"
    ActionChains(page.driver).send_keys(Keys.ENTER, Keys.TAB).perform()
    inside = "return document.getElementById('results').contains(document.activeElement)"
    assert page.driver.execute_script(inside)
    assert page.driver.current_url == address  # which holds the state
    page.driver.set_window_size(390, 844)
    wide = page.driver.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    page.driver.set_window_size(1280, 900)
    assert wide[0] <= wide[1]
