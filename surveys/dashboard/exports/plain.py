"""Files without codes: CSV, Parquet with the mechanism in its metadata, JSON beside its rows."""

import json
from dataclasses import asdict
from datetime import date
from typing import Any

from surveys.dashboard.exports import parquet
from surveys.dashboard.exports.rows import COLUMNS, ExportRow
from surveys.dashboard.metadata import Metadata, version
from surveys.dashboard.methods import methods_of
from surveys.spreadsheets import csv_lines

PARQUET: dict[Any, parquet.Kind] = {
    int: parquet.INTEGER,
    int | None: parquet.INTEGER,
    float | None: parquet.NUMBER,
    str: parquet.TEXT,
    date: parquet.DAY,
}


def labels() -> dict[str, str]:
    """Return what the columns are called, in the reader's language."""
    return {name: str(column.metadata["label"]) for name, column in COLUMNS.items()}


def description(metadata: Metadata) -> dict[str, str]:
    """Return what is true of all rows, as texts."""
    methods = methods_of(metadata)
    return {
        "title": metadata.plan.content.title,
        "methods_sentence": methods["sentence"],
        "methods": methods["section"],
        "plan_sha256": metadata.plan.digest,
        "plan": metadata.plan.document,
        "software": f"Candor {version()}",
        "columns": json.dumps(labels(), ensure_ascii=False),
    }


def write_csv(_metadata: Metadata, rows: list[ExportRow]) -> bytes:
    return csv_lines(COLUMNS, (asdict(row).values() for row in rows)).encode()


def write_json(metadata: Metadata, rows: list[ExportRow]) -> bytes:
    document = {
        **description(metadata),
        "plan": json.loads(metadata.plan.document),
        "rows": [asdict(row) for row in rows],
        "columns": labels(),
    }
    return json.dumps(document, ensure_ascii=False, indent=1, default=str).encode()


def write_parquet(metadata: Metadata, rows: list[ExportRow]) -> bytes:
    columns = [
        parquet.Column(name, PARQUET[column.type], [getattr(row, name) for row in rows])
        for name, column in COLUMNS.items()
    ]
    return parquet.file_of(columns, description(metadata), f"Candor {version()}")
