"""The tracers that bench/run compares: each runs a command under itself and says what it lost."""

import os
import re
import shutil
import signal
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD_IS_GIVEN = "DYETRACE_BUILD" in os.environ
BUILD = os.path.abspath(os.environ.get("DYETRACE_BUILD", os.path.join(ROOT, "build-bench")))
DYETRACE = os.path.join(BUILD, "dyetrace")
PROGRAMS = os.path.join(BUILD, "bench", "programs")
LOAD = os.path.join(PROGRAMS, "bench_load")
FLOOR = os.path.join(PROGRAMS, "bench_floor")
PATIENCE_S = 600
LOOP_RING = "256M"  # a loop makes 2 M events/s, more than any program: the ring holds all of them

# scap-open is the example reader in Falco's libraries (falcosecurity/libs, userspace/libscap/examples/01-open); no Debian package
# has it. Put it on the PATH to be compared with.
MISSING = [name for name in ("strace", "perf", "bpftrace", "scap-open") if shutil.which(name) is None]

# What an event of dyetrace has of a call itself: start, duration, name, pid, tid, call, result, arguments.
BPFTRACE = """
tracepoint:raw_syscalls:sys_enter /pid == cpid/ {
    @start[tid] = nsecs; @id[tid] = args->id;
    @a0[tid] = args->args[0]; @a1[tid] = args->args[1]; @a2[tid] = args->args[2];
    @a3[tid] = args->args[3]; @a4[tid] = args->args[4]; @a5[tid] = args->args[5];
}
tracepoint:raw_syscalls:sys_exit /pid == cpid && @start[tid]/ {
    printf("%llu %llu %s %d %d %d %ld %lx %lx %lx %lx %lx %lx\\n", @start[tid], nsecs - @start[tid], comm, pid, tid,
           @id[tid], args->ret, @a0[tid], @a1[tid], @a2[tid], @a3[tid], @a4[tid], @a5[tid]);
}
"""


def output_of(command, **options):
    """stdout and stderr; a command that fails is an error here."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def folder_bytes(path):
    return sum(os.path.getsize(os.path.join(top, name)) for top, _, names in os.walk(path) for name in names)


class Said:
    """The summary of `dyetrace record`, in numbers."""

    CPU_UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1}
    MEMORY_UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9}

    def __init__(self, text):
        events = re.search(r"([\d,]+) events in", text)
        if not events:
            raise RuntimeError(f"no summary: {text}")
        self.events = int(events[1].replace(",", ""))
        lost = re.search(r"([\d,]+) events lost", text)
        self.lost = int(lost[1].replace(",", "")) if lost else 0
        cpu = re.search(r"recorder used ([\d.]+) (µs|ms|s) CPU, ([\d.]+) (kB|MB|GB)", text)
        self.cpu_s = float(cpu[1]) * self.CPU_UNITS[cpu[2]]
        self.memory_bytes = float(cpu[3]) * self.MEMORY_UNITS[cpu[4]]


class Recording:
    """`dyetrace record` beside a load: it listens when the block begins and has ended when the block has."""

    HEADER_BYTES = 64  # of a segment; its coverage follows when all programs are attached

    def __init__(self, path, *arguments):
        self.path, self.arguments = path, arguments

    def __enter__(self):
        command = [DYETRACE, "record", "-o", self.path, *self.arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while not self.listens():
            if self.process.poll() is not None:
                raise RuntimeError(self.process.stderr.read())
            time.sleep(0.05)
        return self

    def listens(self):
        try:
            return os.path.getsize(os.path.join(self.path, "segment-000001.seg")) > self.HEADER_BYTES
        except FileNotFoundError:
            return False

    def __exit__(self, *_):
        self.process.terminate()
        _, said = self.process.communicate(timeout=PATIENCE_S)
        self.said = Said(said)
        self.bytes = folder_bytes(self.path)


class Beside:
    """A program that watches the whole system and keeps nothing: it listens when the block begins and has ended when the block has."""

    def __init__(self, command, ready, lost=None):
        self.command, self.ready, self.lost_pattern = command, ready, lost
        self.lost = 0

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if self.ready in line:
                return self
        raise RuntimeError(f"{self.command[0]} ended with {self.process.wait()}")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=PATIENCE_S)
        if self.lost_pattern:
            self.lost = int(re.search(self.lost_pattern, said)[1])


def empty_programs():
    return Beside([FLOOR, "sh", "-c", "echo ready; exec cat"], "ready")


def falco():
    return Beside(["stdbuf", "-oL", "scap-open", "--modern_bpf"], "Live capture", r"n_drops: (\d+)")


class Tracer:
    """`run(command, folder)` gives the command's stdout, how many calls the tracer lost, and how many bytes it kept."""

    def __init__(self, name, program, prefix, calls, lost=None, call_filter=False):
        self.name, self.program, self.prefix = name, program, prefix
        self.calls = calls  # of a loop, so that it takes about a second
        self.lost_pattern, self.call_filter = lost, call_filter

    def here(self):
        return self.program not in MISSING

    def run(self, command, folder, call=""):
        out = os.path.join(folder, "out")
        words = [word.format(out=out, call=call) for word in self.prefix]
        stdout, stderr = output_of([*words, *command])
        lost = sum(int(number.replace(",", "")) for number in re.findall(self.lost_pattern, stderr)) if self.lost_pattern else 0
        size = folder_bytes(out) if os.path.isdir(out) else os.path.getsize(out) if os.path.exists(out) else 0
        shutil.rmtree(out, ignore_errors=True)
        if os.path.exists(out):
            os.unlink(out)
        return stdout, lost, size


class Bpftrace(Tracer):
    """Version 0.17 looks for tracepoints below debugfs, and takes its command as one word."""

    def __init__(self):
        super().__init__("bpftrace to a file", "bpftrace", [], 100_000)

    def run(self, command, folder, call=""):
        out = os.path.join(folder, "out")
        script = "mount -t debugfs none /sys/kernel/debug && exec bpftrace -o \"$0\" -c \"$1\" -e \"$2\""
        stdout, stderr = output_of(["unshare", "-m", "sh", "-c", script, out, " ".join(command), BPFTRACE])
        with open(out, encoding="utf-8", errors="replace") as file:
            lost = sum(int(number) for number in re.findall(r"Lost (\d+) events", file.read() + stderr))
        size = os.path.getsize(out)
        os.unlink(out)
        return stdout.strip(), lost, size


class Elsewhere(Tracer):
    """dyetrace records another process; what is measured is what everybody else pays for that."""

    def run(self, command, folder, call=""):
        out = os.path.join(folder, "out")
        idle = subprocess.Popen(["sleep", "infinity"])
        try:
            with Recording(out, "--no-seal", "-p", str(idle.pid)):
                stdout, _ = output_of(command)
        finally:
            idle.kill()
            idle.wait()
            shutil.rmtree(out, ignore_errors=True)
        return stdout, 0, 0


class Falco(Tracer):
    """Falco's reader takes the calls of everybody and throws them away."""

    def run(self, command, folder, call=""):
        with falco() as beside:
            stdout, _ = output_of(command)
        return stdout, beside.lost, 0


RECORD = [DYETRACE, "record", "-o", "{out}", "--ring", LOOP_RING]
LOST = r"([\d,]+) events lost"

UNTRACED = Tracer("untraced", "", [], 2_000_000)
EMPTY = Tracer("empty programs (floor)", "", [FLOOR], 2_000_000)
TRACERS = [
    UNTRACED,
    EMPTY,
    Elsewhere("dyetrace, of another process", "", [], 2_000_000),
    Tracer("dyetrace record", "", [*RECORD, "--"], 1_000_000, lost=LOST),
    Tracer("dyetrace record --no-seal", "", [*RECORD, "--no-seal", "--"], 1_000_000, lost=LOST),
    Falco("Falco's reader", "scap-open", [], 1_000_000),
    Tracer("perf record", "perf",
           ["perf", "record", "-q", "-o", "{out}", "-e", "raw_syscalls:sys_enter", "-e", "raw_syscalls:sys_exit", "--"],
           500_000),
    Bpftrace(),
    Tracer("perf trace", "perf", ["perf", "trace", "-o", "{out}", "--"], 50_000, lost=r"LOST (\d+) events"),
    Tracer("strace -f", "strace", ["strace", "-f", "-o", "{out}", "--"], 20_000),
    Tracer("strace -f --seccomp-bpf", "strace",
           ["strace", "-f", "--seccomp-bpf", "-e", "trace={call}", "-o", "{out}", "--"], 20_000),
]
