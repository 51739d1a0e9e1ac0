"""What strace and dyetrace say of the same command, brought into one form that can be compared.

A call is (name, arguments, result). Registers are compared as strace -e raw=all prints them, but for what no two runs share:

    an address (2^32 to 2^47)           "address"
    an identity of a task, in calls     "task 2" for the third task that the command started, "task" for any other
    that give or take one
    what a wake-up of a futex does not  left out: a C library leaves anything in these registers
    read
    a register's upper half             cut where strace cuts it: arguments are compared modulo 2^32; and where the kernel
                                        takes an int, whatever a program leaves above it (src/schema/prototypes.toml)
"""

import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "schema"))
from generator import model  # noqa: E402

PROTOTYPES = model.load_toml(model.ROOT / "prototypes.toml")["prototypes"]
LINE = re.compile(r"(\w+)\((.*)\)\s+= (\S+)(?: (E[A-Z0-9_]+))?")
GIVES_TASK = {"getpid", "gettid", "getppid", "getpgrp", "getpgid", "getsid", "clone", "clone3", "fork", "vfork", "wait4", "waitid",
              "set_tid_address", "setsid", "rt_sigreturn"}  # the last: what the interrupted call returned
TAKES_TASK = {"wait4", "waitid", "kill", "tgkill", "tkill", "setpgid", "getpgid", "getsid", "prlimit64", "pidfd_open"}
ADDRESS_MIN, ADDRESS_MAX = 1 << 32, 1 << 47
INT_MAX = 1 << 31
FUTEX_WAKE, FUTEX_OPERATIONS = 1, 127


def is_int(name, position):
    declarations = PROTOTYPES.get(name, [])
    number = model.number_of_c(declarations[position]) if position < len(declarations) else None
    return number is not None and number[0] <= 32


class Run:
    """Sequences of calls, one for each task in the order in which the tasks began."""

    def __init__(self, sequences):
        self.tasks = [task for task, _ in sequences]
        self.sequences = [[self.plain(*call) for call in calls] for _, calls in sequences]

    def task(self, value):
        return f"task {self.tasks.index(value)}" if value in self.tasks else "task"

    def argument(self, name, position, value):
        if ADDRESS_MIN <= value < ADDRESS_MAX and not is_int(name, position):
            return "address"
        value %= 1 << 32
        if name not in TAKES_TASK:
            return value
        group = (1 << 32) - value  # kill and wait4 take a group of tasks as a negative number
        if 1 < group < INT_MAX:
            return f"group of {self.task(group)}"
        return self.task(value) if 1 < value < INT_MAX else value

    def plain(self, name, arguments, result, error):
        if name == "futex" and arguments[1] & FUTEX_OPERATIONS == FUTEX_WAKE:
            arguments = arguments[:3]
        arguments = [self.argument(name, position, value) for position, value in enumerate(arguments)]
        if error:
            return name, arguments, error
        if result is None:
            return name, arguments, "never returned"
        if ADDRESS_MIN <= result < ADDRESS_MAX:
            return name, arguments, "address"
        return name, arguments, self.task(result) if name in GIVES_TASK and result > 0 else result


def from_strace(command, folder, **options):
    """Runs the command under strace; every task gets a file of its own, so that no line is split."""
    prefix = os.path.join(folder, "strace")
    subprocess.run(["strace", "-ff", "-X", "raw", "-e", "raw=all", "-e", "signal=none", "-o", prefix, *command], check=True, **options)
    return read_strace(prefix)


def read_strace(prefix):
    sequences = []
    for path in glob.glob(glob.escape(prefix) + ".*"):
        with open(path, encoding="utf-8") as file:
            calls = [parse(line) for line in file if not line.startswith(("+++", "???"))]  # the latter of a task that was killed before strace looked
        sequences.append((int(path.rsplit(".", 1)[1]), calls))
    return Run(sorted(sequences))


def parse(line):
    match = LINE.match(line)
    if not match:
        raise AssertionError(f"strace printed what is no call: {line!r}")
    name, arguments, result, error = match.groups()
    numbers = [int(argument, 16) for argument in arguments.split(", ") if argument]
    return name, numbers, None if result == "?" else int(result, 0), error


def from_trace(trace, widths):
    """The same from a trace. `widths`: how many arguments strace prints of each call."""
    rows = trace.rows("""
        SELECT e.tid, e.name, e.result, e.error, argument0, argument1, argument2, argument3, argument4, argument5
        FROM events e JOIN internal.raw_syscall_event r ON e.cpu = r.cpu AND e.start_ns = r.start_ns
        WHERE e.parent_event_id IS NULL -- parts of calls are none of their own
        ORDER BY e.start_ns""")
    sequences = {}
    for row in rows:
        numbers = [int(row[f"argument{position}"]) for position in range(widths.get(row["name"], 6))]
        result = None if row["result"] is None else int(row["result"])
        sequences.setdefault(int(row["tid"]), []).append((row["name"], numbers, result, row["error"]))
    return Run(list(sequences.items()))


def widths_of(run):
    return {name: len(arguments) for calls in run.sequences for name, arguments, _ in calls}


def text(calls):
    return [f"{name}({', '.join(str(argument) for argument in arguments)}) = {result}" for name, arguments, result in calls]
