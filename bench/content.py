"""What it costs to look at content, beside recording without it; and which bytes are looked at. Parts of bench/run."""

import csv
import io
import os
import shutil
import subprocess
import time

import measurements
import servers
from tracers import DYETRACE, LOAD, LOOP_RING, PATIENCE_S, Recording, Said, output_of

BLOCKS = {64: 500_000, 4096: 200_000, 65_536: 20_000, 1 << 20: 1_500}  # size: calls, of about a second when all is looked at
DYES = 30
FILE_BYTES = 512 << 20
COPY_BLOCK = "128K"  # what cp and cat use
PAGE_BYTES = 64 << 20
DOWNLOADS = 8
REDIS_REQUESTS = 100_000
OLD_RULE_BYTES = 4096  # of each call: what CaT and DIO look at


def modes():
    """Of `dyetrace record`, by name. Dyes are as `dye new` makes them."""
    dyes = [word for number in range(DYES) for word in ("--dye", f"d{number}={output_of([DYETRACE, 'dye', 'new'])[0].strip()}")]
    return {"none": [], "hash": ["--content=hash"], "anchors": ["--content=anchors"], f"{DYES} dyes": dyes}


def blocks(folder, rounds, median):
    """Writes into memory in a tight loop. GB/s is what looking alone would reach: the block by the time that is added."""
    trace = os.path.join(folder, "blocks")
    taken, lost = {}, 0
    ways = {"untraced": None} | modes()
    for _ in range(rounds):
        for size, count in BLOCKS.items():
            for way, options in ways.items():
                record = [] if options is None else [DYETRACE, "record", "--no-seal", "--ring", LOOP_RING, "-o", trace, *options, "--"]
                stdout, stderr = output_of([*record, LOAD, "blocks", str(size), str(count)])
                taken.setdefault((way, size), []).append(float(stdout.split()[-1]))
                if record:
                    lost += Said(stderr).lost
                shutil.rmtree(trace, ignore_errors=True)
    middle = {key: median(values) for key, values in taken.items()}
    rows = []
    for way in ways:
        base = "untraced" if way in ("untraced", "none") else "none"
        added = {size: middle[way, size] - middle[base, size] for size in BLOCKS}
        cells = [f"{middle[way, size]:,.0f}" if way == "untraced" else f"+{added[size]:,.0f}" for size in BLOCKS]
        largest = max(BLOCKS)
        spread = f"{min(taken[way, largest]):,.0f}-{max(taken[way, largest]):,.0f}"
        rows.append([way, *cells, spread, "-" if base == "untraced" else f"{largest / added[largest]:.1f}"])
    measurements.print_table(
        f"nanoseconds per write of a block into memory, median of {rounds} (untraced: the whole call; none: what is added to that; others: "
        f"what is added to none); {lost:,} events lost",
        ["", *(f"{size:,} bytes" for size in BLOCKS), f"{max(BLOCKS):,}: least and most, whole", "GB/s/core"], rows)


def copy_file(folder):
    """From memory to memory, if the folder lies there."""
    begin = time.monotonic()
    subprocess.run(["dd", f"if={folder}/source", f"of={folder}/target", f"bs={COPY_BLOCK}", "conv=notrunc", "status=none"], check=True)
    return FILE_BYTES / 1e6 / (time.monotonic() - begin)


def redis_rate(server):
    lines = server.run("-n", str(REDIS_REQUESTS), "-c", "50", "-t", "set,get", "--csv").splitlines()[1:]
    rates = [float(line.replace('"', "").split(",")[1]) for line in lines]
    return len(rates) / sum(1 / rate for rate in rates)


def download_rate(server):
    begin = time.monotonic()
    for _ in range(DOWNLOADS):
        subprocess.run(["curl", "-s", "-o", "/dev/null", f"http://127.0.0.1:{server.port}/page"], check=True)
    return DOWNLOADS * PAGE_BYTES / 1e6 / (time.monotonic() - begin)


def random_file(path, size):
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))


def programs(folder, rounds, median):
    """Loads while the whole system is recorded, in turn; then which of the bytes that moved were looked at."""
    home = {name: os.path.join(folder, name) for name in ("redis", "nginx")}
    for path in home.values():
        os.mkdir(path)
    memory = "/dev/shm" if shutil.disk_usage("/dev/shm").free > 3 * FILE_BYTES else folder
    files = os.path.join(memory, os.path.basename(folder))
    os.makedirs(files, exist_ok=True)
    random_file(f"{files}/source", FILE_BYTES)
    shutil.copy(f"{files}/source", f"{files}/target")
    random_file(f"{home['nginx']}/page", PAGE_BYTES)
    os.chmod(home["nginx"], 0o755)
    try:
        with servers.Redis(home["redis"]) as redis, measurements.start_pgbench(folder) as postgres, servers.Nginx(home["nginx"]) as nginx:
            postgres.run("pgbench", "-i", "-q", "-s", str(measurements.PGBENCH_SCALE))
            measure(folder, rounds, median, {
                "file copy, MB/s": lambda: copy_file(files),
                "Redis, requests/s": lambda: redis_rate(redis),
                "pgbench TPC-B, tps": lambda: measurements.run_pgbench(postgres, "TPC-B"),
                "nginx download, MB/s": lambda: download_rate(nginx)})
    finally:
        shutil.rmtree(files, ignore_errors=True)


def measure(folder, rounds, median, loads):
    trace = os.path.join(folder, "programs")
    rates, lost, seen = {}, {}, []
    ways = modes()
    for turn in range(rounds):
        for load, run in loads.items():
            rates.setdefault((load, "untraced"), []).append(run())
            for way, options in ways.items():
                with Recording(trace, "-a", "--no-seal", *options) as recording:
                    rates.setdefault((load, way), []).append(run())
                lost[way] = lost.get(way, 0) + recording.said.lost
                if way == "hash" and turn == 0:
                    seen.append([load.split(",")[0], *bytes_seen(trace)])
                shutil.rmtree(trace)
    rows = []
    for load in loads:
        middle = {way: median(rates[load, way]) for way in ["untraced", *ways]}
        spread = f"{min(rates[load, 'none']):,.0f}-{max(rates[load, 'none']):,.0f}"
        rows.append([load, f"{middle['untraced']:,.0f}", f"{middle['none']:,.0f}", spread,
                     *(f"{middle[way] / middle['none']:.2f}" for way in ways if way != "none")])
    measurements.print_table(f"whole system recorded, median of {rounds}: what content leaves of the rate with `none`",
                             ["", "untraced", "none", "none: least-most", *(way for way in ways if way != "none")], rows)
    print("  events lost: " + ", ".join(f"{way} {number:,}" for way, number in lost.items()))
    measurements.print_table(f"bytes that calls moved, those that were looked at, and those that the first {OLD_RULE_BYTES} of each call would be",
                             ["", "moved, MB", "seen", f"{OLD_RULE_BYTES}-byte rule"], seen)


def bytes_seen(trace):
    statement = (f"SELECT sum(bytes), sum(coalesce(unread_bytes, 0)), sum(least(bytes, {OLD_RULE_BYTES})) FROM events "
                 "WHERE bytes > 0 AND (fingerprint IS NOT NULL OR unread_bytes IS NOT NULL)")
    done = subprocess.run([DYETRACE, "sql", "--format", "csv", trace, statement], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    moved, unread, old = (float(number) for number in list(csv.reader(io.StringIO(done.stdout)))[1])
    return f"{moved / 1e6:,.0f}", f"{100 * (moved - unread) / moved:.2f} %", f"{100 * old / moved:.2f} %"
