#!/usr/bin/env python3
"""The five most frequent calls of a trace, with polars (pip install polars), from the Parquet files themselves."""

import sys

import polars

events = polars.scan_parquet(f"{sys.argv[1]}/sealed-*/syscall_event.parquet")
calls = events.group_by("abi", "syscall").len(name="calls").sort("calls", "syscall", descending=[True, False]).head(5)
for abi, number, count in calls.collect().iter_rows():
    print(f"call {number} of table {abi}: {count}")
