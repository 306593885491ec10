"""Workbooks for tests: .xlsx made by XlsxWriter, .ods made here, and a stored .xls."""

import base64
import datetime
import io
import zipfile
import zlib

import pytest

FRUIT = [
    ["size", "kind", "seen", "ripe"],
    [3, "plum", datetime.date(2020, 1, 5), True],
    [0.5, "pear", datetime.date(2020, 2, 28), False],
    [None, "01234", None, None],
]
"""The rows of `fruit_xls`, and of `ods_of` and `xlsx_of` if they are given nothing else."""

_XLS = (
    "eNrtWE1IFVEU/u6dN/p86PsxDTQQEbIyhcwWEeirMF09sTb9IJTmLB7a8zHpIhdl2VsGQauijWCLoKw2/VCL2kRQYN"
    "QiCAKtZRAEBS3U6ZwzM/a0Ah+UZMw33HPvOfee756Z+zczL6cTMxN3qmexDG0wsOCUoCjPpiiV+EocVO84XPTzMCUn"
    "wJpCSZgGssjEw7IXxTyGPN6z0LgdekISeE+pB1l0DWWs2lXEXomhV3EMrSQVrpIliiqJqlzkcZHrRN6Slo9E7hbLBZ"
    "Gt1HZGHcF0sqthpzeLD+k6qYuCee+Jz1uxNKMSz3gWn7mo3LYm9tjp3sE1VlETKsUkaEA7rYxlsx7DNUSAw4SmVKqp"
    "vX0GFTTYk/jq1AJf/FX9uDawr65dgezfltqLf2MP0yAut1/SIWAMzjFZJDmUoS7ENSY67JH08Bx28TyQRPaT6VGLso"
    "F0pp81y8pQZqezbMwOjpzgzOq1TWBb8/aWHRHe8WWHiC/ZIcpk5ZSS7EdMyglZP3EKce7651epvu7kUbGMyangnh0b"
    "OVQ4OMse5ByVmtCibBCPrSLPCesGKVeLrKBbory+u9IrdIxLm/NSW0/9tAheJzfllTdTOfdx//2a3IfkFipPdc6OVk"
    "y9SU6gjs6yfvLnaxyNqlFducx4kPRz5e0z70RW/bTnhHXci93xDsgY5nmVERIiXY2fjlrUtPesXM0gzfC41DKu0zoi"
    "tgSiXnslXPys3DpNEX66oWHqMGmG9MNM+hdMWpiee0zumJkekxampzddJi1MbkyGRLz0/gzx5XnQpstxl4lpz/2BCA"
    "IECBAgQIAAAQL8q1Dyfgd5zwvJZ4P7hl/s/deZp7QQ/Cb5b3EAQ3QN00flPmQot3GqoPmzHqbyudQKffz/hYyD1LuN"
    "AfRJHAMFz1/6QlP597Nix/ifW0KF9r9QSJx/uf/vvOHffQ=="
)
_MANIFEST = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
    "</manifest:manifest>"
)


def fruit_xls():
    """Return the bytes of an old Excel workbook: its writer is no longer maintained."""
    return zlib.decompress(base64.b64decode(_XLS))


def xlsx_of(sheets=None, hidden=()):
    """Return the bytes of a workbook, given rows by the names of its sheets."""
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("python_calamine")
    content = io.BytesIO()
    book = xlsxwriter.Workbook(content)
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
    for name, rows in ({"Fruit": FRUIT} if sheets is None else sheets).items():
        sheet = book.add_worksheet(name)
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                is_moment = isinstance(cell, datetime.datetime)
                sheet.write(
                    i,
                    j,
                    cell,
                    *{"date": [day], "datetime": [moment]}.get(
                        "datetime" if is_moment else type(cell).__name__, []
                    ),
                )
        if name in hidden:
            sheet.hide()
    book.close()
    return content.getvalue()


def ods_of(rows=FRUIT):
    """Return the bytes of an OpenDocument spreadsheet with one sheet."""
    pytest.importorskip("python_calamine")
    table = "".join(
        f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows
    )
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("META-INF/manifest.xml", _MANIFEST)
        file.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="Fruit">{table}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return content.getvalue()


def _ods_cell(cell):
    kinds = {"int": "float", "float": "float", "bool": "boolean", "date": "date", "str": "string"}
    kind = kinds.get(type(cell).__name__)
    text = str(cell).lower() if isinstance(cell, bool) else str(cell)
    if kind is None:
        return "<table:table-cell/>"
    name = {"boolean": "boolean-value", "date": "date-value"}.get(kind, "value")
    value = "" if kind == "string" else f' office:{name}="{text}"'
    return (
        f'<table:table-cell office:value-type="{kind}"{value}><text:p>{text}</text:p>'
        "</table:table-cell>"
    )
