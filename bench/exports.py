"""How long `dyetrace export` takes for each format, beside the others. A part of bench/run."""

import os
import re
import subprocess
import sys
import time

import measurements
from tracers import DYETRACE, LOOP_RING, Said, output_of

FORMATS = {
    "perfetto": ["--perfetto"],
    "perfetto, no arguments, no flows": ["--perfetto", "--without-arguments", "--without-flows"],
    "otlp": ["--otlp"],
    "csv": ["--csv"],
    "parquet": ["--parquet"],
}

# Calls of many kinds with paths, and pipes, whose bytes make flows.
WALKS = 4
WALK = "find /usr -newer /etc/passwd >/dev/null; grep -rs zzzz /usr/include /usr/share/doc | cat >/dev/null; cat /usr/include/*.h | tr a b >/dev/null"

# A download over loopback: each byte is sent and received.
DOWNLOAD_BYTES = 512 << 20
DOWNLOAD = f"""
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def serve():
    connection, _ = server.accept()
    for _ in range({DOWNLOAD_BYTES >> 16}): connection.sendall(bytes(65536))
    connection.close()
threading.Thread(target=serve).start()
client = socket.create_connection(server.getsockname())
while client.recv(65536): pass
"""


def recorded(folder, name, *command):
    trace = os.path.join(folder, name)
    return trace, Said(output_of([DYETRACE, "record", "--ring", LOOP_RING, "-o", trace, *command])[1]).events


def export(trace, options, output):
    """Seconds, those of a CPU, the most memory that it held, and what it says of itself."""
    begun = time.monotonic()
    process = subprocess.Popen([DYETRACE, "export", trace, *options, "-o", output], stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(said)
    return time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, said


def exports(folder, rounds, median):
    """Everything is in memory: the folder's file system counts little, sorting and writing much."""
    given = os.environ.get("EXPORTS_TRACE")
    if given:
        walk, events = given, int(output_of([DYETRACE, "sql", given, "SELECT count(*) FROM events", "--format", "csv"])[0].split()[-1])
    else:
        walk, events = recorded(folder, "walk", "--content=hash", "--", "sh", "-c", "; ".join([WALK] * WALKS))
    download, _ = recorded(folder, "download", "--content=bytes", "--", sys.executable, "-c", DOWNLOAD)
    output = os.path.join(folder, "export")
    taken, cpu, memory, size = {}, {}, {}, {}
    for _ in range(rounds):
        for name, options in [*FORMATS.items(), ("pcapng", ["--pcapng"])]:
            seconds, cpu_seconds, most, said = export(download if name == "pcapng" else walk, options, output)
            taken.setdefault(name, []).append(seconds)
            cpu.setdefault(name, []).append(cpu_seconds)
            memory[name] = max(memory.get(name, 0), most)
            size[name] = os.path.getsize(output)
            if name == "pcapng":
                calls = int(re.search(r"the bytes of ([\d,]+) calls", said)[1].replace(",", ""))
            os.remove(output)
    rows = []
    for name, times in taken.items():
        seconds, cpu_seconds = median(times), median(cpu[name])
        count = calls if name == "pcapng" else events
        rows.append([name, f"{count:,}", f"{seconds:,.1f} s", f"{min(times):,.1f}-{max(times):,.1f}", f"{count / seconds:,.0f}", f"{cpu_seconds:,.1f} s",
                     f"{1e6 * cpu_seconds / count:,.1f}", f"{size[name] / 1e6:,.0f} MB", f"{memory[name] / 1e6:,.0f} MB"])
    measurements.print_table(f"dyetrace export, median of {rounds} (pcapng: {DOWNLOAD_BYTES >> 20} MiB over loopback; others: calls of find, grep and cat)",
                             ["", "events", "time", "least and most", "events/s", "CPU", "µs/event", "size", "memory"], rows)
