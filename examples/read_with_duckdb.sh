#!/bin/sh
# The five most frequent calls of a trace, with DuckDB's command line (duckdb.org).
set -eu
cd "$1"
duckdb -list -noheader -separator ' ' -init views.sql -c "SELECT name, count(*) AS calls FROM calls GROUP BY name ORDER BY calls DESC, name LIMIT 5"
