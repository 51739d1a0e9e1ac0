"""The parts of bench/run. Each prints a table."""

import contextlib
import os
import re
import shutil

import servers
from tracers import (DYETRACE, EMPTY, LOAD, MISSING, TRACERS, UNTRACED, Recording, Said, empty_programs, falco, folder_bytes,
                     output_of)

# One of each kind: no object, a file, a device, a pipe, a socket, a set of sockets. The name for strace's filter stands after it.
CALLS = {"getppid": "getppid", "pread": "pread64", "write": "write", "pipe": "read,write", "tcp": "read,write",
         "epoll_ctl": "epoll_ctl", "epoll_wait": "epoll_wait"}

MINUTE_S = 60
MINUTE_RATE = 300_000  # events a second, over all CPUs
REDIS_REQUESTS = 200_000
REDIS_CLIENTS = 50
PGBENCH_S = 5
PGBENCH_SCALE = 10
PGBENCH_CLIENTS = 4


def print_table(title, head, rows):
    print(title)
    widths = [max(len(str(row[column])) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        cells = [str(cell).ljust(width) if column == 0 else str(cell).rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells))


def loop(folder, rounds, median):
    """A tight loop of small calls, on one CPU; the tracer may use all of them."""
    present = [tracer for tracer in TRACERS if tracer.here()]
    taken = {(tracer.name, call): [] for tracer in present for call in CALLS}
    lost, kept, made = {}, {}, {}
    for _ in range(rounds):
        for call, names in CALLS.items():
            for tracer in present:
                stdout, missed, size = tracer.run([LOAD, call, str(tracer.calls)], folder, names)
                taken[tracer.name, call].append(float(stdout.split()[-1]))
                made[tracer.name] = made.get(tracer.name, 0) + tracer.calls
                lost[tracer.name] = lost.get(tracer.name, 0) + missed
                kept[tracer.name] = kept.get(tracer.name, 0) + size
    middle = {key: median(values) for key, values in taken.items()}
    rows = []
    for tracer in present:
        added = {call: middle[tracer.name, call] - middle[UNTRACED.name, call] for call in CALLS}
        floor = {call: middle[EMPTY.name, call] - middle[UNTRACED.name, call] for call in CALLS}
        cells = [f"{middle[tracer.name, call]:,.0f}" if tracer is UNTRACED else f"+{added[call]:,.0f}" for call in CALLS]
        over_floor = sum(middle[tracer.name, call] / middle[EMPTY.name, call] for call in CALLS) / len(CALLS)
        times_floor = sum(added[call] for call in CALLS) / sum(floor[call] for call in CALLS)
        rows.append([tracer.name, *cells, f"{over_floor:,.2f}", f"{times_floor:,.1f}",
                     f"{kept[tracer.name] / made[tracer.name]:.0f}" if kept[tracer.name] else "-",
                     f"{100 * lost[tracer.name] / made[tracer.name]:.2g} %" if lost[tracer.name] else "0"])
    print_table(f"nanoseconds per call in a tight loop, median of {rounds} (untraced: the whole call; below: what is added)",
                ["", *CALLS, "call/floor's", "added/floor's", "bytes/call", "lost"], rows)


def throughput(title, folder, rounds, median, measure):
    """`measure()` gives {name: operations per second}; alone and beside what watches the whole system, in turn."""
    path = os.path.join(folder, "whole")
    watchers = {
        "alone": contextlib.nullcontext,
        "empty programs": empty_programs,
        "recorded": lambda: Recording(path, "-a"),
        "--no-seal": lambda: Recording(path, "-a", "--no-seal"),
        "Falco's reader": falco,
    }
    if "scap-open" in MISSING:
        del watchers["Falco's reader"]
    rates, said, falco_lost = {}, [], 0
    for _ in range(rounds):
        for watcher, begin in watchers.items():
            with begin() as beside:
                for name, value in measure().items():
                    rates.setdefault(name, {}).setdefault(watcher, []).append(value)
            if isinstance(beside, Recording):
                shutil.rmtree(path)
            if watcher == "recorded":
                said.append(beside)
            if watcher == "Falco's reader":
                falco_lost += beside.lost
    rows = []
    for name, taken in rates.items():
        alone = median(taken["alone"])
        rows.append([name, f"{alone:,.0f}", *(f"{median(values) / alone:.2f}" for watcher, values in taken.items() if watcher != "alone")])
    print_table(f"{title}, whole system, median of {rounds}: operations per second alone, and what is left of them",
                ["", *watchers], rows)
    events = sum(recording.said.events for recording in said)
    lost = sum(recording.said.lost for recording in said)
    print(f"  {events:,} events, {lost:,} lost; {sum(recording.bytes for recording in said) / events:.1f} bytes each, sealed; recorder "
          f"{1e9 * sum(recording.said.cpu_s for recording in said) / events:,.0f} ns of CPU per event, "
          f"{max(recording.said.memory_bytes for recording in said) / 1e6:.0f} MB at most"
          + (f"; Falco's reader lost {falco_lost:,}" if falco_lost else ""))


def redis(folder, rounds, median):
    home = os.path.join(folder, "redis")
    os.mkdir(home)

    def measure():
        lines = server.run("-n", str(REDIS_REQUESTS), "-c", str(REDIS_CLIENTS), "-t", "set,get", "--csv").splitlines()[1:]
        return {f"Redis {name}": float(rate) for name, rate in (line.replace('"', "").split(",")[:2] for line in lines)}

    with servers.Redis(home) as server:
        throughput(f"redis-benchmark, {REDIS_CLIENTS} clients", folder, rounds, median, measure)


PGBENCH_MODES = {"select": ["-S"], "TPC-B": []}


def run_pgbench(server, mode, seconds=PGBENCH_S):
    text = server.run("pgbench", "-n", "-c", str(PGBENCH_CLIENTS), "-j", "2", "-T", str(seconds), *PGBENCH_MODES[mode])
    return float(re.search(r"tps = ([\d.]+)", text)[1])


def start_pgbench(folder):
    home = os.path.join(folder, "postgresql")
    os.mkdir(home)
    return servers.PostgreSQL(home, {"shared_buffers": "256MB"})


def pgbench(folder, rounds, median):
    with start_pgbench(folder) as server:
        server.run("pgbench", "-i", "-q", "-s", str(PGBENCH_SCALE))
        throughput(f"pgbench, {PGBENCH_CLIENTS} clients, scale {PGBENCH_SCALE}", folder, rounds, median,
                   lambda: {f"pgbench {mode}": run_pgbench(server, mode) for mode in PGBENCH_MODES})
    shutil.rmtree(server.folder)


def storage(folder, rounds, median):
    """Bytes and time per event, in segments and in Parquet, of PostgreSQL under TPC-B and of the loop's reads."""
    rows = []
    with start_pgbench(folder) as server:
        server.run("pgbench", "-i", "-q", "-s", str(PGBENCH_SCALE))
        trace = os.path.join(folder, "tpcb")
        with Recording(trace, "--no-seal", "-p", str(server.pid)) as recording:
            run_pgbench(server, "TPC-B", 2 * PGBENCH_S)
        rows.append(["pgbench TPC-B, the server", *stored(trace, recording.said, rounds, median)])
    shutil.rmtree(server.folder)
    trace = os.path.join(folder, "reads")
    _, said = output_of([DYETRACE, "record", "--no-seal", "--ring", "256M", "-o", trace, "--", LOAD, "pread", "2000000"])
    rows.append(["one-byte reads", *stored(trace, Said(said), rounds, median)])
    print_table("an event at rest", ["", "events", "lost", "bytes in segments", "bytes in Parquet", "drain, events/s/core",
                                    "seal, events/s/core"], rows)


def stored(trace, said, rounds, median):
    segments = folder_bytes(trace)
    seconds = []
    for number in range(rounds):
        copy = f"{trace}-{number}"
        shutil.copytree(trace, copy)
        before = os.times()
        output_of([DYETRACE, "seal", "--quiet", copy])
        after = os.times()
        seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
        constant = sum(os.path.getsize(os.path.join(copy, name)) for name in ("views.sql", "syscalls.parquet", "flags.parquet"))
        parquet = folder_bytes(copy) - constant
        shutil.rmtree(copy)
    shutil.rmtree(trace)
    return [f"{said.events:,}", f"{said.lost:,}", f"{segments / said.events:.1f}", f"{parquet / said.events:.1f}",
            f"{said.events / said.cpu_s:,.0f}", f"{said.events / median(seconds):,.0f}"]


def minute(folder, _rounds, _median):
    """Once: it is the length that matters. Load, recorder and sealer share all CPUs; the ring is the default one."""
    trace = os.path.join(folder, "minute")
    threads = str(os.cpu_count())
    stdout, text = output_of([DYETRACE, "record", "-o", trace, "--", LOAD, "rate", threads, str(MINUTE_RATE), str(MINUTE_S)])
    said = Said(text)
    print_table(f"{MINUTE_RATE:,} calls a second for {MINUTE_S} s, with the sealer beside it",
                ["calls made", "events", "lost", "recorder CPU", "recorder memory", "trace"],
                [[f"{int(stdout):,}", f"{said.events:,}", f"{said.lost:,}", f"{100 * said.cpu_s / MINUTE_S:.0f} % of one",
                  f"{said.memory_bytes / 1e6:.0f} MB", f"{folder_bytes(trace) / 1e6:.0f} MB"]])
    shutil.rmtree(trace)
