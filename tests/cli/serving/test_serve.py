"""The workbench as a server: who may ask, what is answered, and that no worker is left behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from blowproof.cli.main import run
from blowproof.cli.serving.app import MOST_ASKED
from blowproof.cli.serving.fields import fields, tables
from blowproof.cli.serving.work import answer
from blowproof.models.files.reading import parse_policy, policy_from, read_policy

ROOT = Path(__file__).resolve().parents[3]
CENSUS = (ROOT / "examples/census.toml").read_text("utf-8")
HARD = """
[domain]
a = ["1", "2", "3", "4", "5"]
b = ["1", "2", "3", "4", "5"]
c = ["1", "2", "3", "4", "5"]
[[known]]
marginal = ["a"]
[[known]]
marginal = ["b"]
[[known]]
marginal = ["c"]
"""
pytestmark = pytest.mark.wall_clock
PATIENCE = 120.0
IDLE = 5
"""A server that does nothing is waited for so many times longer than one that works."""


class Server:
    """A running `blowproof serve`."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "blowproof.cli", "serve", str(folder), "--port", "0"]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        found = urlsplit(self.address)
        assert found.hostname == "127.0.0.1" and found.port is not None
        self.port, self.token = found.port, parse_qs(found.query)["token"][0]

    def request(self, method, path, body=None, **headers):
        link = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        link.request(method, path, body, {"x-blowproof-token": self.token, **headers})
        response = link.getresponse()
        content = response.read().decode("utf-8")
        link.close()
        return response, content

    def ask(self, **question):
        body = json.dumps({"query": "histogram", **question})
        response, content = self.request("POST", "/ask", body)
        assert response.status == 200
        return [json.loads(line) for line in content.splitlines()]

    def processes(self) -> dict[int, list[str]]:
        """The server and all that it started: what /proc/<pid>/stat says from the state on."""
        told = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    stat = (entry / "stat").read_text().rpartition(") ")[2].split()
                except OSError:
                    continue
                if stat[0] != "Z":
                    told[int(entry.name)] = stat
        found = {self.process.pid}
        while more := {pid for pid, stat in told.items() if int(stat[1]) in found} - found:
            found |= more
        return {pid: told[pid] for pid in found if pid in told}

    def descendants(self) -> set[int]:
        return {*self.processes()} - {self.process.pid}

    def worked(self) -> float:
        """Seconds of processor time that all of them had, and those before them that have ended."""
        ticks = sum(int(field) for stat in self.processes().values() for field in stat[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")


def alive(pids) -> list[int]:
    found = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.append(pid)
    return found


def until(condition, server: Server | None = None) -> bool:
    """Whether it comes true in time: by the clock, or by the work of a server that has to do it.

    On a busy machine a server gets on slowly, and is waited for all the longer.
    """
    start, begun, passed = time.monotonic(), server.worked() if server else 0.0, 0.0
    while passed < PATIENCE:
        if condition():
            return True
        time.sleep(0.05)
        passed = time.monotonic() - start
        if server is not None:
            passed = max(passed / IDLE, server.worked() - begun)
    return False


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "mine.toml").write_text(CENSUS, "utf-8")
    (folder / "people.csv").write_text("region,size,tenure\nnorth,1,owned\n", "utf-8")
    (folder.parent / "secret.csv").write_text("region,size,tenure\nsouth,2,rented\n", "utf-8")
    running = Server(folder)
    yield running
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(PATIENCE) == 0


def test_a_question_is_answered_in_events(server):
    found = server.ask(text=CENSUS)
    kinds = [event["kind"] for event in found if event["kind"] not in ("starting", "bounds")]
    assert kinds == ["policy", "answer", "rest", "plan", "odds", "done"]
    by_kind = {event["kind"]: event for event in found}
    assert (by_kind["answer"]["lower"], by_kind["answer"]["upper"]) == (4, 4)
    assert "region = north" in by_kind["answer"]["html"]["pair"]
    assert by_kind["rest"]["costs"] == [{"fact": 0, "words": "without it S = 2"}]
    assert "the planner chooses" in by_kind["plan"]["html"]["plan"]
    assert "2.718" in by_kind["odds"]["html"]["odds"]
    assert "histogram" in by_kind["policy"]["queries"]


@pytest.mark.parametrize("text", ["", "nonsense", "[domain]\na = { min = 2, max = 1 }", "a" * 9999])
def test_a_policy_that_is_none_is_a_sentence(server, text):
    (event,) = server.ask(text=text)
    assert event["kind"] == "error" and event["message"] and "Traceback" not in str(event)


def test_the_token_is_asked_for(server):
    for path in ("/", "/policies", "/policy?place=folder&name=mine.toml"):
        response, content = server.request("GET", path, **{"x-blowproof-token": "guess"})
        assert response.status == 403 and "token" in content
    response, _ = server.request("POST", "/ask", "{}", **{"x-blowproof-token": ""})
    assert response.status == 403
    response, content = server.request("GET", f"/?token={server.token}")
    assert response.status == 200 and "<main>" in content
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_a_page_of_another_site_is_refused_by_name(server):
    """A name of somebody else's that leads to this machine: the browser would send it along."""
    response, _ = server.request("GET", f"/?token={server.token}", host="evil.example")
    assert response.status == 403


def test_only_this_machine_is_listened_to(server):
    with socket.socket() as other, pytest.raises(OSError):
        other.settimeout(1)
        other.connect(("127.0.0.2", server.port))


@pytest.mark.parametrize("path", ["../secret.csv", "/etc/passwd.csv", "link.csv", "ABSOLUTE"])
def test_no_file_outside_the_folder_is_opened(server, tmp_path_factory, path):
    folder = next(tmp_path_factory.getbasetemp().glob("served*"))
    if not (folder / "link.csv").exists():
        (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    name = str(folder.parent / "secret.csv") if path == "ABSOLUTE" else path
    asked = CENSUS.replace('answers = "any"', f'answers = "given"\nsize = 1\ndata = "{name}"')
    asked = asked.replace('data = "census.csv"\n', "")
    found = server.ask(text=asked)[-1]
    assert found["kind"] == "error" and "south" not in str(found)
    assert "outside the folder" in found["message"]
    mine = server.ask(text=asked.replace(name, "people.csv"))
    assert mine[-1]["kind"] == "done", mine[-1]


def test_policies_are_opened_by_the_names_that_are_listed(server):
    _, content = server.request("GET", "/policies")
    listed = json.loads(content)
    assert {"place": "folder", "name": "mine.toml"} in listed
    assert {"place": "examples", "name": "hospital.toml"} in listed
    _, text = server.request("GET", "/policy?place=folder&name=mine.toml")
    assert text == CENSUS
    for name in ("../secret.csv", "people.csv", "%2Fetc%2Fpasswd"):
        response, _ = server.request("GET", f"/policy?place=folder&name={name}")
        assert response.status == 404


def test_a_policy_that_is_far_too_large_is_a_sentence(server):
    """What a paste of a gigabyte ends in: the server keeps none of it beyond its limit."""
    link = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    chunk = b"#" * 1_000_000
    pieces = (chunk for _ in range(20))
    headers = {"x-blowproof-token": server.token}
    link.request("POST", "/ask", pieces, headers, encode_chunked=True)
    (event,) = [json.loads(line) for line in link.getresponse().read().splitlines()]
    link.close()
    assert 20 * len(chunk) > MOST_ASKED and "larger than" in event["message"]


def test_what_is_no_question_is_refused(server):
    for body in ("", "[]", "{", "9" * 5000, "[" * 100_000):
        response, _ = server.request("POST", "/ask", body)
        assert response.status == 400
    for wrong in ({"form": 3}, {"text": CENSUS, "reading": "mine"}, {"text": CENSUS, "epsilon": -1},
                  {"text": CENSUS, "query": "marginal(x)"}):  # fmt: skip
        assert server.ask(**wrong)[-1]["kind"] == "error"


def test_two_pages_at_once_and_one_that_goes_away(server):
    """Both are answered; the worker of a page that is closed ends, in the middle of its search."""
    until(lambda: len(server.descendants()) >= 3)
    before = server.descendants()
    gone = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    body = json.dumps({"text": HARD, "query": "histogram", "seconds": 100}).encode()
    head = (
        f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"x-blowproof-token: {server.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    gone.sendall(head.encode() + body)
    assert b'"policy"' in _read_until(gone, b'"policy"')
    busy = server.descendants() - before
    assert server.ask(text=CENSUS)[-1]["kind"] == "done"  # another page, meanwhile
    gone.close()
    assert until(lambda: not alive(busy)), "a worker is left behind"
    assert server.ask(text=CENSUS)[-1]["kind"] == "done"


def _read_until(link, wanted: bytes) -> bytes:
    found = b""
    while wanted not in found:
        chunk = link.recv(65536)
        if not chunk:
            break
        found += chunk
    return found


def test_a_port_that_is_taken_is_a_sentence(server, capsys):
    assert run(["serve", str(ROOT), "--port", str(server.port)]) == 2
    assert f"port {server.port} is taken" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_server_that_is_killed_leaves_no_worker(tmp_path):
    running = Server(tmp_path)
    link = socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE)
    body = json.dumps({"text": HARD, "query": "histogram"}).encode()
    head = (
        f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n"
        f"x-blowproof-token: {running.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    link.sendall(head.encode() + body)
    _read_until(link, b'"policy"')
    left = running.descendants()
    assert left
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.wait(PATIENCE)
    link.close()
    assert until(lambda: not alive(left)), "a worker is left behind"


# --- the form ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda p: p.stem)
def test_the_form_says_the_same_policy(path):
    policy = read_policy(path)
    form = json.loads(json.dumps(fields(policy)))
    again = policy_from(tables(form), folder=path.parent, name=path.stem)
    assert again == policy


def test_numbers_of_the_form_are_exact_beyond_what_browsers_know():
    text = f"[domain]\nx = {{ min = 0, max = {2**63 + 1} }}\n[database]\nsize = {2**53 + 1}\n"
    policy = parse_policy(text)
    form = json.loads(json.dumps(fields(policy)))
    assert form["size"] == str(2**53 + 1)
    assert policy_from(tables(form)) == policy


def test_the_form_writes_the_text(tmp_path):
    form = fields(parse_policy(CENSUS, name="census"))
    form["known"] = []
    events: list[dict] = []
    answer({"form": form, "comment": "# mine\n", "job": "quick"}, tmp_path, events.append)
    assert events[0]["text"].startswith("# mine\n") and "known" not in events[0]["text"]
    assert [event["kind"] for event in events if event["kind"] != "bounds"][1:] == [
        "answer",
        "done",
    ]
    assert events[-2]["upper"] == 2


@pytest.mark.parametrize(
    "question",
    [
        {"seconds": "soon"},
        {"seconds": [1]},
        {"seconds": 10**400},
        {"norm": ["l1"]},
        {"norm": {}},
        {"form": 5},
        {"form": []},
    ],
    ids=str,
)
def test_what_no_page_sends_is_refused_in_words(question, tmp_path):
    events: list[dict] = []
    answer({"text": CENSUS, "job": "quick", **question}, tmp_path, events.append)
    assert events[-1]["kind"] == "error" and "reload the page" in events[-1]["message"]
    assert "bug" not in events[-1]["message"]


def test_a_time_limit_that_is_none_ends_no_stream(server):
    events = server.ask(text=CENSUS, job="quick", seconds="soon")
    assert events[-1]["kind"] == "error" and "no number of seconds" in events[-1]["message"]
