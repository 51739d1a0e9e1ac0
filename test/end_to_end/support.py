"""What the end-to-end tests share: the built program as a user runs it, traces as answers to SQL, bounded waiting."""

import atexit
import contextlib
import functools
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import weakref

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DYETRACE_BUILD", os.path.join(ROOT, "build"))
DYETRACE = os.path.join(BUILD, "dyetrace")
PROGRAMS = os.path.join(BUILD, "tests", "programs")
SEGMENT_HEADER_BYTES, BLOCK_HEADER_BYTES, CLOCK_SNAPSHOT = 64, 104, 21  # docs/trace_format.md, docs/reference/tables.md
PATIENCE_S = 240  # for anything that should take a second or two: only what hangs takes as long


def program(name):
    return os.path.join(PROGRAMS, name)


@functools.cache
def program_of_its_own(name):
    """A copy of a program that only this test file runs: a probe, and a mark's semaphore, are of the file, whoever runs it."""
    folder = tempfile.TemporaryDirectory(prefix="dyetrace-test-")
    atexit.register(folder.cleanup)
    return shutil.copy(program(name), folder.name)


def deep(usual, more):
    """How much a test tries: some, or under `./check --all` more."""
    return more if "DYETRACE_DEEP" in os.environ else usual


def wait_for(condition, what, seconds=PATIENCE_S):
    """Looks until it is so; no more than half of the time, for a look may cost what is waited for its CPU."""
    begin = time.monotonic()
    while True:
        looked = time.monotonic()
        if condition():
            return
        if time.monotonic() > begin + seconds:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(max(0.02, time.monotonic() - looked))


def free_port():
    """A port of 127.0.0.1 that is still free when it is listened on, also again after a restart: the kernel gives those that lie below its range to nobody
    who connects, so only who draws the same number takes it."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as ephemeral:
        end = int(ephemeral.read().split()[0])
    while True:
        port = random.SystemRandom().randrange(10_000, max(end, 20_000))
        with socket.socket() as unused, contextlib.suppress(OSError):
            unused.bind(("127.0.0.1", port))
            return port


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


# For a shell in namespaces of mounts and processes of its own, made with `unshare --propagation unchanged`: its /proc shows them. --mount-proc would want a
# root that is a mount point, which a chroot's need not be.
OWN_PROC = "mount --make-rslave /proc && mount -t proc proc /proc"


def children_of_thread(process, thread):
    try:
        with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []  # it has ended


def children_of(process, name=None):
    """The processes (of this name) that its first thread made."""
    return [pid for pid in children_of_thread(process, process) if name is None or comm_of(pid) == name]


def hurry_sealers_of(process):
    """Takes them out of SCHED_IDLE, in which they get nothing for minutes beside what works."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # one ended meanwhile
        for child in (child for thread in os.listdir(f"/proc/{process}/task") for child in children_of_thread(process, thread)):
            if comm_of(child) == "dyetrace-store":
                for thread in os.listdir(f"/proc/{child}/task"):
                    os.sched_setscheduler(int(thread), os.SCHED_OTHER, os.sched_param(0))


def end(process):
    """Kills what was started, if it still runs, and what it started: a recorder's command, the daemon behind `git daemon`."""
    if process.poll() is None:
        family = [process.pid]
        for pid in family:
            family += children_of(pid)
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    process.wait()


def comm_of(process):
    try:
        with open(f"/proc/{process}/comm", encoding="utf-8") as comm:
            return comm.read().strip()
    except OSError:
        return None  # it has ended


def program_of(label):
    """`git` of `git[7]` and of `git clone origin[7]`, `web:git` of `web:git[7]`."""
    return re.split(r"[ \[]", label, maxsplit=1)[0]


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


def signature(folder):
    """Another one whenever something of a trace changes that readers have not put there; None: it is being recorded, or no trace."""
    try:
        with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
            if json.load(file)["state"] == "recording":
                return None
        files = []
        for parent, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if name != "derived"]
            for name in names:
                status = os.stat(os.path.join(parent, name))
                files.append((parent, name, status.st_ino, status.st_size, status.st_mtime_ns))
        return sorted(files)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # damaged, or just being changed


class Prompt:
    """One `dyetrace sql` that answers many statements, as `dyetrace sql TRACE < FILE` does."""

    END = "this is all"

    def __init__(self, path):
        self.trace = signature(path)
        self._said = tempfile.TemporaryFile()
        self._process = subprocess.Popen([DYETRACE, "sql", path, "--format", "json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said)

    def answer(self, statement):
        """Lines; None: it failed, and the prompt has ended."""
        too_long = threading.Timer(PATIENCE_S, self._process.kill)
        too_long.start()
        try:
            self._process.stdin.write(f"{statement.strip().rstrip(';')}\n;\nSELECT '{self.END}';\n".encode())
            self._process.stdin.flush()
            lines = []
            for line in self._process.stdout:
                if self.END.encode() in line:
                    return lines
                lines.append(line.decode())
        except BrokenPipeError:
            pass
        finally:
            too_long.cancel()
        self._process.wait()
        return None

    def said(self):
        self._said.seek(0)
        return self._said.read().decode(errors="replace")

    def close(self):
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._said.close()


class Trace:
    """A trace folder, asked as people ask it. One that does not change any more is opened once for all questions."""

    def __init__(self, path):
        self.path = path
        self.warnings = ""  # stderr of the last question
        self._prompt, self._end_prompt = None, lambda: None

    def close(self):
        """The next question is asked by another process."""
        self._end_prompt()
        self._prompt, self._end_prompt = None, lambda: None

    def _answer(self, statement):
        if self._prompt is None or self._prompt.trace is None or self._prompt.trace != signature(self.path):
            self.close()
            self._prompt = Prompt(self.path)
            self._end_prompt = weakref.finalize(self, self._prompt.close)
        lines = self._prompt.answer(statement)
        self.warnings = self._prompt.said()
        if lines is None or self._prompt.trace is None:
            self.close()
        return lines

    def rows(self, statement):
        """Rows as dictionaries; numbers as text, since JSON's cannot hold 64 bits."""
        lines = self._answer(statement)
        if lines is None:
            raise AssertionError(f"sql {statement!r} failed: {self.warnings}")
        return [json.loads(line) for line in lines]

    def number(self, statement):
        rows = self.rows(statement)
        value = next(iter(rows[0].values()))
        return None if value is None else int(value)

    def numbers(self, statement):
        """The first row, all of whose columns are numbers."""
        return {name: None if value is None else int(value) for name, value in self.rows(statement)[0].items()}

    def accounting(self):
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
            end(process)

    def skip_without(self, lacking):
        if lacking:
            self.skipTest(f"{', '.join(lacking)} is not installed: tools/install_packages test")

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content=b"x" * 4096):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def of_its_own(self, path):
        """A copy of a program, and its comm, which nobody else on the machine has: others may run the same program meanwhile."""
        name = f"{os.path.basename(path)[:5]}-{os.getpid()}"
        if not os.path.exists(self.path(name)):
            shutil.copy(path, self.path(name))
        return self.path(name), name

    def start(self, command, **options):
        """A process that is killed at the end of the test if it still runs."""
        process = subprocess.Popen(command, **options)
        self.processes.append(process)
        return process

    def record(self, *arguments, name="trace", status=0, **options):
        """`dyetrace record -o … ARGUMENTS`; returns the trace, with what the recorder said and the command printed."""
        trace = Trace(self.path(name))
        options = {"capture_output": True, "text": True, "timeout": 4 * PATIENCE_S} | options
        done = subprocess.run([DYETRACE, "record", "-o", trace.path, *arguments], **options)
        self.assertEqual(done.returncode, status, done.stderr)
        trace.said, trace.printed = done.stderr, done.stdout
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
        """It writes its coverage once all its programs are attached, and then the clocks: a block of the first segment has them (docs/trace_format.md)."""
        if os.path.exists(os.path.join(trace.path, "sealed-000001")):
            return True
        try:
            with open(os.path.join(trace.path, "segment-000001.seg"), "rb") as file:
                segment = file.read()
        except OSError:
            return False
        at = SEGMENT_HEADER_BYTES
        while at + BLOCK_HEADER_BYTES <= len(segment):
            stored_bytes, types = struct.unpack_from("<I", segment, at + 32)[0], struct.unpack_from("<Q", segment, at + 40)[0]
            if types & 1 << CLOCK_SNAPSHOT:
                return True
            at += -(-(BLOCK_HEADER_BYTES + stored_bytes) // 8) * 8
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
