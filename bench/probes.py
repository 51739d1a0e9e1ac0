"""What a question about a probe costs each time that the probe fires, beside bpftrace's answer to the same. A part of bench/run."""

import re
import shutil
import subprocess

import measurements
from tracers import DYETRACE, LOAD, output_of

CALLS = 1_000_000
TRACEPOINT = "tracepoint('syscalls', 'sys_enter_getppid')"
THEIRS = "tracepoint:syscalls:sys_enter_getppid"

# What is asked: the statement's columns, its end, and the same for bpftrace. The first is a program that does nothing.
QUESTIONS = {
    "nothing": ("count(*)", "WHERE FALSE", "/pid == 1/ { @ = count(); }"),
    "count": ("count(*)", "", "{ @ = count(); }"),
    "count, filtered": ("count(*)", "WHERE uid = 12345", "/uid == 12345/ { @ = count(); }"),
    "count by comm": ("comm, count(*)", "GROUP BY comm", "{ @[comm] = count(); }"),
    "count, sum, max by comm, cpu": ("comm, cpu, count(*), sum(tid), max(tid)", "GROUP BY ALL", "{ @[comm, cpu] = stats(tid); @m[comm, cpu] = max(tid); }"),
    "powers of two of tid": ("power_of_two(tid), count(*)", "GROUP BY ALL", "{ @ = hist(tid); }"),
    "count by kernel stack": ("kernel_stack, count(*)", "GROUP BY ALL", "{ @[kstack] = count(); }"),
    "count by user stack": ("user_stack, count(*)", "GROUP BY ALL", "{ @[ustack] = count(); }"),
}


def bpftrace_works():
    """It needs tracefs at its place, and says what else is wrong."""
    if not shutil.which("bpftrace"):
        print("missing: bpftrace (tools/install_packages bench)")
        return False
    tried = subprocess.run(["bpftrace", "-q", "-e", f"{THEIRS} {{ @ = count(); }}", "-c", "/bin/true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        print(f"missing: bpftrace, which says {tried.stderr.strip().splitlines()[0]}")
    return tried.returncode == 0


def probes(folder, rounds, median):
    """A tight loop of calls that are a tracepoint each; what is added to the call."""
    del folder
    load = [LOAD, "getppid", str(CALLS)]
    with_bpftrace = bpftrace_works()
    ways = {("untraced", "dyetrace"): load}
    for name, (columns, rest, script) in QUESTIONS.items():
        ways[name, "dyetrace"] = [DYETRACE, "live", "--json", f"SELECT {columns} FROM {TRACEPOINT} {rest}", "--", *load]
        if with_bpftrace:
            ways[name, "bpftrace"] = ["bpftrace", "-q", "-e", f"{THEIRS} {script}", "-c", " ".join(load)]
    taken = {way: [] for way in ways}
    for _ in range(rounds):
        for way, command in ways.items():
            taken[way].append(nanoseconds(output_of(command)[0]))
    middle = {way: median(values) for way, values in taken.items()}
    alone, rows = middle["untraced", "dyetrace"], []
    for name in QUESTIONS:
        added = {who: middle[name, who] - alone for who in ("dyetrace", "bpftrace") if (name, who) in middle}
        over = added["dyetrace"] - (middle["nothing", "dyetrace"] - alone)
        theirs = added.get("bpftrace")
        rows.append([name, f"+{added['dyetrace']:,.0f}", f"{over:+,.0f}", f"+{theirs:,.0f}" if theirs is not None else "-",
                     f"{added['dyetrace'] / theirs:.2f}" if theirs else "-"])
    measurements.print_table(f"nanoseconds per tracepoint, added to a call of {alone:,.0f}, median of {rounds}",
                             ["", "dyetrace", "over nothing", "bpftrace", "ratio"], rows)


def nanoseconds(stdout):
    """The load's line among those of the tracer's answer."""
    return float(re.search(r"^\d+\.\d$", stdout, re.MULTILINE)[0])
