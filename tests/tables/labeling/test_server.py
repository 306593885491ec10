"""The server of the labeling page: what it stores, and whom it refuses."""

import json

import pytest

from support.command_line import PATIENCE
from support.labeling_pages import page_of, write_doubtful_fish, write_fish

pytest.importorskip("uvicorn", reason="uvicorn is not installed: the extra [label]")
pytest.importorskip("httpx", reason="httpx, with which starlette is tested, is not installed")
testclient = pytest.importorskip("starlette.testclient", reason="the extra [label] is missing")

from semisquares.tables.errors import TableError  # noqa: E402
from semisquares.tables.labeling._server import (  # noqa: E402
    FILES,
    HEADERS,
    MOST_BYTES,
    LabelServer,
    make_app,
)

TOKEN, PORT = "T0ken-that-is_secret", 4321
HERE = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def page(tmp_path):
    write_fish(tmp_path / "fish.csv")
    return page_of(tmp_path / "fish.csv", classes=["carp", "eel"])


@pytest.fixture
def client(page):
    return testclient.TestClient(make_app(page, TOKEN, PORT), base_url=HERE)


def post(client, path, body, **headers):
    return client.post(f"/{TOKEN}/{path}", json=body, headers={"Origin": HERE, **headers})


def label(client, name, turn, row, **more):
    return post(client, "answer", {"row": row, "turn": turn, "kind": "label", "label": name} | more)


# -- what it does ---------------------------------------------------------------------------------


def test_the_page_and_its_files_are_served(client):
    types = [client.get(f"/{TOKEN}/{path}").headers["content-type"] for path in FILES]
    kinds = [type.partition(";")[0] for type in types]
    assert kinds == ["text/html", "text/javascript", "text/css", "text/css", "image/svg+xml"]


def test_an_answer_is_in_the_journal_before_the_next_row_is_returned(client, page):
    found = label(client, "eel", 0, 0, note="small").json()
    assert found["row"]["index"] == 1
    last = json.loads(page.session._journal.path.read_text().splitlines()[-1])
    assert (last["row"], last["label"], last["note"]) == (0, "eel", "small")


def test_all_actions_work(client, page):
    label(client, "eel", 0, 0)
    post(client, "answer", {"row": 1, "turn": 1, "kind": "skip"})
    post(client, "answer", {"row": 2, "turn": 2, "kind": "unsure"})
    found = post(client, "undo", {"turn": 3}).json()
    assert found["row"]["index"] == 2
    found = post(client, "class", {"name": "pike"}).json()
    assert [one["name"] for one in found["classes"]] == ["carp", "eel", "pike"]
    assert post(client, "save", {}).json()["saved"] is True
    assert not page.finished.is_set()
    assert post(client, "finish", {}).status_code == 200
    assert page.finished.is_set()


def test_two_tabs_see_the_same_row_and_the_second_answer_is_refused(client):
    one = client.get(f"/{TOKEN}/state").json()
    two = client.get(f"/{TOKEN}/state").json()
    assert one["row"] == two["row"]
    row, turn = one["row"]["index"], one["turn"]
    assert label(client, "eel", turn, row).status_code == 200
    answer = label(client, "carp", turn, row)
    assert (answer.status_code, answer.json()["code"]) == (409, "answered_elsewhere")
    assert answer.json()["error"] == (
        "Row 1 was labeled 'eel' in another tab. Your answer 'carp' was not stored."
    )
    assert answer.json()["state"]["row"]["index"] == 1
    changed = label(client, "carp", turn, row, change=True).json()
    counts = {one["name"]: one["count"] for one in changed["classes"]}
    assert counts == {"carp": 1, "eel": 0}


def test_a_bad_answer_is_refused_with_a_sentence(client):
    answer = post(client, "class", {"name": "NA"})
    assert answer.status_code == 400
    assert "means that there is no label" in answer.json()["error"]


def test_a_review_confirms_corrects_and_takes_back(tmp_path):
    truth = write_doubtful_fish(tmp_path / "doubtful.csv")
    page = page_of(tmp_path / "doubtful.csv", order="doubtful")
    page.updater.start()
    assert page.updater.wait(PATIENCE)
    page.updater.stop()
    client = testclient.TestClient(make_app(page, TOKEN, PORT), base_url=HERE)
    one = client.get(f"/{TOKEN}/state").json()
    row, given = one["row"]["index"], one["row"]["review"]["given"]
    two = label(client, truth[row], one["turn"], row).json()
    assert page.session.labels[row] == truth[row] != given
    stale = label(client, given, one["turn"], row)
    assert (stale.status_code, stale.json()["code"]) == (409, "answered_elsewhere")
    label(client, two["row"]["review"]["given"], two["turn"], two["row"]["index"])
    assert [answer.outcome for answer in page.session.answers] == ["corrected", "confirmed"]
    for _ in range(2):
        post(client, "undo", {"turn": page.session.turn})
    assert client.get(f"/{TOKEN}/state").json()["row"] == one["row"]


# -- whom it refuses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/favicon.ico", "/state", f"/{TOKEN[:-1]}/state", f"/{TOKEN}x/state", "//", "/é/"]
)
def test_nothing_is_found_without_the_token(client, path):
    answer = client.get(path)
    assert (answer.status_code, answer.json()["error"]) == (404, "There is nothing here.")


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "label.py", "template/label.js", "x"]
)
def test_no_path_leads_to_the_file_system(client, path):
    assert client.get(f"/{TOKEN}/{path}").status_code == 404


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", ""]
)
def test_other_hosts_are_refused(client, host):
    """As in DNS rebinding: a foreign name that resolves to this machine."""
    assert client.get(f"/{TOKEN}/state", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://127.0.0.1:{PORT}", ""])
def test_requests_of_other_pages_are_refused(client, page, origin):
    assert post(client, "finish", {}, Origin=origin).status_code == 403
    assert client.get(f"/{TOKEN}/state", headers={"Origin": origin}).status_code == 403
    assert not page.finished.is_set()


def test_a_change_without_an_origin_is_refused(client):
    assert client.post(f"/{TOKEN}/finish", json={}).status_code == 403


def test_a_request_that_the_browser_calls_foreign_is_refused(client):
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert client.get(f"/{TOKEN}/", headers=headers).status_code == 403


def test_localhost_is_this_machine_too(page):
    base = f"http://localhost:{PORT}"
    client = testclient.TestClient(make_app(page, TOKEN, PORT), base_url=base)
    assert client.get(f"/{TOKEN}/state").status_code == 200


def test_every_response_has_the_headers_that_protect_the_page(client):
    for answer in (client.get(f"/{TOKEN}/"), client.get("/"), post(client, "undo", {"turn": 0})):
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_files_hold_nothing_foreign_and_no_inline_script(client):
    content = "".join(client.get(f"/{TOKEN}/{path}").text for path in FILES)
    links = content.replace("http://www.w3.org/2000/svg", "")
    assert "http:" not in links
    assert "https:" not in links
    page = client.get(f"/{TOKEN}/").text
    assert " on" not in "".join(page.split("<")[1:]).replace(" on this", "")
    assert "style=" not in page
    assert "innerHTML" not in content


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"x" * (MOST_BYTES + 1), 413),
        (b"{", 400),
        (b"[]", 400),
        (b"\xff", 400),
        (b"[" * MOST_BYTES, 400),
        (b"{}", 400),
        (b'{"row": "0", "turn": 0, "kind": "skip"}', 400),
        (b'{"row": true, "turn": 0, "kind": "skip"}', 400),
        (b'{"row": 0, "turn": 0, "kind": 3}', 400),
        (b'{"row": 0, "turn": 0, "kind": "label", "label": "\\ud800"}', 400),
        (b'{"row": -1, "turn": 0, "kind": "skip"}', 409),
        (b'{"row": 99999999999, "turn": 0, "kind": "skip"}', 409),
    ],
)
def test_a_request_that_is_too_long_or_makes_no_sense_is_refused(client, page, body, status):
    headers = {"Origin": HERE, "Content-Type": "application/json"}
    answer = client.post(f"/{TOKEN}/answer", content=body, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"].endswith((".", "shown."))
    assert page.session.answers == []


def test_a_form_of_another_page_is_refused(client):
    headers = {"Origin": HERE, "Content-Type": "text/plain"}
    assert client.post(f"/{TOKEN}/finish", content=b"{}", headers=headers).status_code == 415


def test_an_action_cannot_be_got(client):
    assert client.get(f"/{TOKEN}/finish").status_code == 405


# -- the socket -----------------------------------------------------------------------------------


def test_the_server_listens_on_this_machine_only_with_a_new_token(page):
    servers = [LabelServer(page), LabelServer(page)]
    assert servers[0]._socket.getsockname()[0] == "127.0.0.1"
    tokens = {server.address.split("/")[3] for server in servers}
    assert len(tokens) == 2
    assert min(map(len, tokens)) >= 32
    for server in servers:
        server._socket.close()


def test_a_port_that_is_used_is_refused(page):
    server = LabelServer(page)
    server._socket.listen()
    with pytest.raises(TableError, match=f"port {server.port}; give another port"):
        LabelServer(page, server.port)
    server._socket.close()
