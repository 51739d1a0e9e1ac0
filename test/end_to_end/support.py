"""What the end-to-end tests share: the built program as a user runs it, traces as answers to SQL, bounded waiting."""

import functools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DYETRACE_BUILD", os.path.join(ROOT, "build"))
DYETRACE = os.path.join(BUILD, "dyetrace")
PROGRAMS = os.path.join(BUILD, "tests", "programs")
PATIENCE_S = 60  # for anything that should take a second or two; the machine may be busy


def program(name):
    return os.path.join(PROGRAMS, name)


def wait_for(condition, what, seconds=PATIENCE_S):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.05)


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def children_of(process, name):
    """The processes of this name that its first thread made."""
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        pids = [int(pid) for pid in file.read().split()]
    return [pid for pid in pids if comm_of(pid) == name]


def comm_of(process):
    try:
        with open(f"/proc/{process}/comm", encoding="utf-8") as comm:
            return comm.read().strip()
    except OSError:
        return None  # it has ended


def call_of(process):
    """The number of the system call in which it is blocked."""
    with open(f"/proc/{process}/syscall", encoding="ascii") as file:
        word = file.read().split()[0]
    return None if word == "running" else int(word)


@functools.cache
def outer_root():
    """What stands before every path that the kernel names: nothing, or where the root of this chroot lies."""
    program = os.path.realpath(shutil.which("true"))
    with tempfile.TemporaryDirectory(prefix="dyetrace-test-") as folder:
        trace = Trace(os.path.join(folder, "trace"))
        subprocess.run([DYETRACE, "record", "-o", trace.path, "--", program], check=True, capture_output=True, timeout=PATIENCE_S)
        return trace.rows("SELECT exe FROM processes")[0]["exe"].removesuffix(program)


class Trace:
    """A trace folder, asked as people ask it."""

    def __init__(self, path):
        self.path = path
        self.warnings = ""  # stderr of the last question

    def rows(self, statement):
        """Rows as dictionaries; numbers as text, since JSON's cannot hold 64 bits."""
        done = subprocess.run([DYETRACE, "sql", self.path, statement, "--format", "json"], capture_output=True, text=True,
                              timeout=PATIENCE_S)
        self.warnings = done.stderr
        if done.returncode != 0:
            raise AssertionError(f"sql {statement!r} failed: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def number(self, statement):
        rows = self.rows(statement)
        value = next(iter(rows[0].values()))
        return None if value is None else int(value)

    def numbers(self, statement):
        """The first row, all of whose columns are numbers."""
        return {name: None if value is None else int(value) for name, value in self.rows(statement)[0].items()}

    def books(self):
        return self.numbers("SELECT sum(generated) AS generated, sum(filtered) AS filtered, sum(aggregated) AS aggregated, "
                            "sum(delivered) AS delivered, sum(lost) AS lost, sum(facts_lost) AS facts_lost FROM accounting")

    def info(self):
        with open(os.path.join(self.path, "trace.json"), encoding="utf-8") as file:
            return json.load(file)


class EndToEndTest(unittest.TestCase):
    """A folder per test, and no process that outlives it."""

    wait_for = staticmethod(wait_for)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="dyetrace-test-")
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.processes = []
        self.addCleanup(self.end_processes)

    def end_processes(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()

    def skip_without(self, lacking):
        if lacking:
            self.skipTest(f"{', '.join(lacking)} is not installed: tools/install_packages test")

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content=b"x" * 4096):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def start(self, command, **options):
        """A process that is killed at the end of the test if it still runs."""
        process = subprocess.Popen(command, **options)
        self.processes.append(process)
        return process

    def record(self, *arguments, name="trace", status=0, **options):
        """`dyetrace record -o … ARGUMENTS`; returns the trace and what the recorder said."""
        trace = Trace(self.path(name))
        options = {"capture_output": True, "text": True, "timeout": 4 * PATIENCE_S} | options
        done = subprocess.run([DYETRACE, "record", "-o", trace.path, *arguments], **options)
        self.assertEqual(done.returncode, status, done.stderr)
        trace.said = done.stderr
        return trace

    def start_recording(self, *arguments, name="trace", **options):
        """The same in the background; it listens when this returns."""
        trace = Trace(self.path(name))
        with open(self.path(name + ".said"), "wb") as said:
            recorder = self.start([DYETRACE, "record", "-o", trace.path, *arguments], **({"stderr": said} | options))
        self.wait_for(lambda: self.listens(trace) or recorder.poll() is not None, "the recorder listens")
        return trace, recorder

    def said(self, name="trace"):
        with open(self.path(name + ".said"), encoding="utf-8", errors="replace") as file:
            return file.read()

    @staticmethod
    def listens(trace):
        """It writes its coverage once all its programs are attached, and the clocks behind it."""
        try:
            return trace.number("SELECT count(*) FROM clock_snapshots") > 0
        except (AssertionError, OSError, ValueError):
            return False

    def stop(self, process, number=signal.SIGINT):
        process.send_signal(number)
        return process.wait(timeout=PATIENCE_S)

    def one_line(self, text):
        """What people see of a failure: one line that begins with the program's name."""
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertTrue(text.startswith("dyetrace: error: "), text)
        return text.strip()


def main():
    if os.geteuid() != 0:
        raise SystemExit("these tests load BPF programs: run them as root")
    unittest.main()
