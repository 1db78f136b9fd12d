"""Who may connect to a page: its own tabs, and programs that are no browser; no other website."""

import logging
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from jointwise import JointwiseError, robots
from jointwise.view import Page, server
from jointwise.view.access import refusal

FOREIGN = ["https://evil.example", "http://127.0.0.1:1", "http://evil.example:{port}", "null", ""]
LOOPBACK = ["127.0.0.1", "localhost", "[::1]", "127.1.2.3"]


@pytest.fixture(scope="module", params=["127.0.0.1", "0.0.0.0"])
def page(request):
    """A page that this machine alone, or every machine, can open."""
    with Page(robots.ur5e(), "ur5e", request.param, port=0) as opened:
        yield opened


def port_of(page):
    return int(page.url.rpartition(":")[2])


def connects(page, host="127.0.0.1", origin=None):
    """Whether a WebSocket is accepted for a Host header and an Origin header, if any."""
    headers = {} if origin is None else {"Origin": origin.format(port=port_of(page))}
    address = f"ws://{host}:{port_of(page)}"
    try:
        stream = socket.create_connection(("127.0.0.1", port_of(page)))
        with connect(address, sock=stream, additional_headers=headers):
            return True
    except InvalidStatus as refused:
        if refused.response.status_code != 403 or b"jointwise" not in refused.response.body:
            raise
        return False


@pytest.mark.parametrize("origin", FOREIGN)
def test_another_website_cannot_connect(page, origin):
    assert not connects(page, origin=origin)


@pytest.mark.parametrize("host", LOOPBACK)
@pytest.mark.parametrize("alias", LOOPBACK)
def test_the_page_connects_by_every_name_of_this_machine(page, host, alias):
    assert connects(page, host, f"http://{alias}:{{port}}")


def test_a_program_that_is_no_browser_connects(page):
    assert connects(page)


def test_a_page_of_this_machine_alone_refuses_the_names_of_others():
    """A website whose name has just been made to mean 127.0.0.1 (DNS rebinding)."""
    with Page(robots.ur5e(), "ur5e", port=0) as page:
        assert not connects(page, "evil.example")
        assert not connects(page, "evil.example", "http://evil.example:{port}")


@pytest.mark.parametrize("name", ["robot-pc", socket.gethostname(), "192.168.7.5", "pc.example"])
def test_a_page_for_all_machines_is_opened_by_its_name_there(name):
    with Page(robots.ur5e(), "ur5e", "0.0.0.0", port=0) as page:
        assert connects(page, name, f"http://{name}:{{port}}")
        assert not connects(page, name, "http://evil.example:{port}")


odd_text = st.text(st.sampled_from("ab:/[]@.1\x00é#? "), max_size=12)


@given(st.booleans(), odd_text, st.sampled_from(["", "http://", "https://", "ws://"]), odd_text)
def test_every_header_is_refused_unless_both_name_the_same_place(loopback, host, scheme, origin):
    same = scheme.startswith("http") and origin.lower() == host.lower()
    assert refusal(host, scheme + origin, loopback) or (same and not loopback)


def test_a_browser_that_leaves_during_its_handshake_is_not_logged(caplog):
    with Page(robots.ur5e(), "ur5e", port=0) as page:
        with socket.create_connection(("127.0.0.1", port_of(page))) as stream:
            stream.shutdown(socket.SHUT_WR)
            stream.settimeout(10.0)
            assert not stream.recv(100)  # the server has closed it
        assert connects(page)
    assert [record.msg for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_viser_whose_connections_cannot_be_checked_is_refused(monkeypatch):
    monkeypatch.setattr("jointwise.view.access.MODULE", "another")
    with pytest.raises(JointwiseError, match=r"connections cannot be checked with viser .*: in a"):
        server.open_server("127.0.0.1", 0, "arm")
