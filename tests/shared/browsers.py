"""A real browser for the tests of pages: Chromium without a window.

Where it is missing those tests are skipped, unless BLOWPROOF_BROWSER says that it has to be there.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--window-size=1000,1400"),
)

needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and not os.environ.get("BLOWPROOF_BROWSER"),
    reason="chromium and chromedriver are not installed",
)


@contextmanager
def opened(folder: Path) -> Iterator[Any]:
    """A browser that keeps its profile, and what it downloads, in a folder."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    assert CHROMIUM and DRIVER, "install chromium and chromium-driver"
    options = Options()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()
