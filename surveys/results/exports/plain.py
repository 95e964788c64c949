"""Files without codes: CSV, Parquet with the mechanism in its metadata, JSON beside its rows."""

import json
from dataclasses import asdict
from datetime import date
from io import BytesIO
from typing import Any

from django.utils.translation import gettext as _

import dpengine
from surveys.results.exports.rows import COLUMNS, ExportRow
from surveys.results.metadata import Metadata
from surveys.results.methods import methods_of
from surveys.spreadsheets import quoted_lines


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
        "software": f"Candor {dpengine.__version__}",
        "reading": _(
            "Only an empty cell is missing, because an answer can be “None” or “NA”. "
            'In pandas: read_csv(file, keep_default_na=False, na_values=[""]); in R: '
            'read.csv(file, na.strings = "").'
        ),
        "columns": json.dumps(labels(), ensure_ascii=False),
    }


def write_csv(_metadata: Metadata, rows: list[ExportRow]) -> bytes:
    return quoted_lines(COLUMNS, (asdict(row).values() for row in rows)).encode()


def write_json(metadata: Metadata, rows: list[ExportRow]) -> bytes:
    document = {
        **description(metadata),
        "plan": json.loads(metadata.plan.document),
        "rows": [asdict(row) for row in rows],
        "columns": labels(),
    }
    return json.dumps(document, ensure_ascii=False, indent=1, default=str).encode()


def write_parquet(metadata: Metadata, rows: list[ExportRow]) -> bytes:
    from arro3 import core  # here, since few pages need them
    from arro3.io import write_parquet as write

    whole, texts = core.DataType.int64(), core.DataType.string()
    types: dict[Any, Any] = dict.fromkeys((int, int | None), whole)
    types |= {float | None: core.DataType.float64(), str: texts, date: core.DataType.date32()}
    fields, columns = [], []
    for name, column in COLUMNS.items():
        values, kind = [getattr(row, name) for row in rows], types[column.type]
        if kind is texts and column.metadata["kind"] == "number":  # exact in the other files
            values, kind = [float(each) if each else None for each in values], types[float | None]
        if column.type is date:  # days since 1970, which is how the format has them
            days = [value.toordinal() - date(1970, 1, 1).toordinal() for value in values]
            columns.append(core.Array(days, core.DataType.int32()).cast(kind))
        else:
            columns.append(core.Array(values, kind))
        fields.append(core.Field(name, kind, metadata={"label": labels()[name]}))
    schema = core.Schema(fields, metadata=description(metadata))
    file = BytesIO()
    write(core.Table.from_arrays(columns, schema=schema), file)
    return file.getvalue()
