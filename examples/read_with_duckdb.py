#!/usr/bin/env python3
"""The five most frequent calls of a trace, with Python's DuckDB (pip install duckdb)."""

import os
import pathlib
import sys

import duckdb

os.chdir(sys.argv[1])
database = duckdb.connect()
database.execute(pathlib.Path("views.sql").read_text())
query = "SELECT name, count(*) AS calls FROM calls GROUP BY name ORDER BY calls DESC, name LIMIT 5"
for name, calls in database.execute(query).fetchall():
    print(name, calls)
