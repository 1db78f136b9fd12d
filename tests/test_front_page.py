"""The arm of the site's front page: what a page needs of each arm, and the page in a browser."""

import base64
import json
import shutil
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

from jointwise import robots
from tests.support.cli import ROOT

PAGE = ROOT / "docs" / "front_page" / "page.html"
STYLE = ROOT / "docs" / "_static" / "site.css"
BUILT = ROOT / "docs" / "_build" / "live"


@pytest.fixture
def tool(monkeypatch):
    """A module in tools, by its name."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return import_module


def numbers(text):
    return np.frombuffer(base64.b64decode(text), "<f8")


def test_every_named_arm_is_on_the_page(tool):
    web_arms = tool("web_arms")
    assert list(web_arms.NAMES) == robots.names()
    for name in web_arms.NAMES:
        chain, found = robots.__dict__[name](), web_arms.description(robots.__dict__[name]())
        assert np.array_equal(numbers(found["limits"]).reshape(-1, 2), chain.limits)
        # As arm_shape.mjs reads it: n + 1 links after the header, then the types of the joints.
        packed = numbers(found["packed"])
        links = packed[1 : 1 + 12 * (chain.n + 1)].reshape(-1, 3, 4)
        kinds = packed[1 + 12 * (chain.n + 1) :][: chain.n]
        assert np.array_equal(links, chain.arm.links)
        assert np.array_equal(kinds == 0, ~chain.prismatic)


def test_arm_of_a_file_is_described(tool, tmp_path):
    rows = "d,a,alpha\n0.1,0.0,1.5707963\n0.0,0.5,0.0\n0.0,0.4,0.0\n"
    (tmp_path / "small.csv").write_text(rows, encoding="utf-8")
    tool("web_arms").main(str(tmp_path), "panda", str(tmp_path / "small.csv"))
    for file in ("arms.json", "expected.json"):
        assert list(json.loads((tmp_path / file).read_text("utf-8"))) == ["panda", "small"]


@pytest.fixture
def try_page(tool, tmp_path):
    """A function that tries a built script in the page's markup, in a browser without a network."""
    if shutil.which("chromium") is None:
        pytest.skip("needs chromium")

    def try_script(script):
        (tmp_path / "_static").mkdir()
        shutil.copy(script, tmp_path / "_static")
        head = '<meta name="viewport" content="width=device-width">'
        head += f"<style>{STYLE.read_text('utf-8')}</style>"
        text = f"<!doctype html>{head}<body>{PAGE.read_text('utf-8')}</body>"
        (tmp_path / "index.html").write_text(text, encoding="utf-8")
        tool("check_front_page").main(str(tmp_path))

    return try_script


def test_page_in_a_browser(tool, try_page):
    if not tool("front_page").is_current(BUILT / "live.js"):
        pytest.skip("needs what `make docs` builds")
    try_page(BUILT / "live.js")


@pytest.mark.long
def test_page_is_built_and_answers_in_a_browser(tool, tmp_path, try_page):
    if shutil.which("npm") is None or find_spec("ziglang") is None:
        pytest.skip("needs npm and ziglang")
    tool("front_page").main(str(tmp_path / "built"))
    try_page(tmp_path / "built" / "live.js")
