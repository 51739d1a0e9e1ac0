#!/usr/bin/env python3
"""Writes everything that is derived from the TOML files of this folder; with --check only says what is out of date."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from generator import emit_c, emit_columns, emit_docs, emit_flags, emit_sql, model  # noqa: E402

REPOSITORY = model.ROOT.parent.parent


def products(schema):
    functions = (model.ROOT / "functions.sql").read_text()
    macros = emit_sql.macros_sql(schema, functions + (model.ROOT / "prelude.sql").read_text())
    facts = emit_sql.facts_sql((model.ROOT / "facts.sql").read_text())
    tables = emit_sql.tables_sql(schema)
    ddl = emit_sql.raw_ddl(schema)
    views = emit_sql.views_sql(schema, macros, facts, tables)
    generated = model.ROOT / "generated"
    return {
        generated / "records.bpf.h": emit_c.bpf_records(schema),
        generated / "syscalls.bpf.h": emit_c.bpf_syscalls(schema),
        generated / "records.h": emit_c.cpp_records(schema),
        generated / "record_info.cpp": emit_c.record_info(schema),
        generated / "columns.h": emit_columns.cpp_header(schema),
        generated / "columns.cpp": emit_columns.cpp_source(schema),
        generated / "enum_names.h": emit_columns.enum_header(schema),
        generated / "enum_names.cpp": emit_columns.enum_source(schema),
        generated / "errors.cpp": emit_c.cpp_errors(schema),
        generated / "would_wait.bpf.h": emit_c.would_wait(schema),
        generated / "flags.cpp": emit_flags.cpp_flags(schema),
        generated / "syscalls.cpp": emit_c.cpp_syscalls(schema),
        generated / "functions_sql.cpp": emit_sql.as_cpp("functions_sql", functions),
        generated / "macros_sql.cpp": emit_sql.as_cpp("macros_sql", macros),
        generated / "facts_sql.cpp": emit_sql.as_cpp("facts_sql", facts),
        generated / "event_selects.cpp": emit_sql.event_selects_cpp(schema),
        generated / "tables_sql.cpp": emit_sql.as_cpp("tables_sql", tables),
        generated / "clock_pieces_sql.cpp": emit_sql.as_cpp("clock_pieces_sql", emit_sql.CLOCK_PIECES),
        generated / "clustered_tables_sql.cpp": emit_sql.as_cpp("clustered_tables_sql", emit_sql.clustered_tables_sql(schema)),
        generated / "views_sql.cpp": emit_sql.as_cpp("views_sql", views),
        generated / "labels_sql.cpp": emit_sql.as_cpp("labels_sql", emit_sql.labels_sql(schema)),
        generated / "derived_tables.cpp": emit_sql.derived_tables(schema),
        generated / "live_sql.cpp": emit_sql.as_cpp("live_tables_sql", ddl),
        generated / "events.ts": emit_docs.typescript(schema),
        REPOSITORY / "docs" / "reference" / "tables.md": emit_docs.reference_page(schema),
    }


def main():
    check = sys.argv[1:] == ["--check"]
    stale = []
    for path, text in products(model.load()).items():
        if path.exists() and path.read_text() == text:
            continue
        if check:
            stale.append(str(path.relative_to(REPOSITORY)))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if stale:
        sys.exit("generated files are out of date, run src/schema/generate.py: " + ", ".join(stale))


if __name__ == "__main__":
    try:
        main()
    except model.SchemaError as error:
        sys.exit(f"schema: {error}")
