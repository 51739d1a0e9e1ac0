#!/usr/bin/env python3
"""`dyetrace trace` means what strace means: for real programs and strace's options, line by line, the same words.

Both run the same command from the same state. What no two runs share is made equal: addresses, identities of tasks, inodes of
sockets, digits of times. What dyetrace does not look into (see UNLIKE) is left out on both sides. Of programs with several tasks each has a file of its own (-ff), so that no line is split.
"""

import difflib
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import support
from support import DYETRACE

# rt_sigreturn: the mask that it brings back lies on a stack that is gone. futex: who waits for whom is another story in each run.
UNLIKE = ("rt_sigreturn", "futex")
GIVES_TASK = ("getpid", "gettid", "getppid", "getpgrp", "getpgid", "set_tid_address", "wait4", "vfork", "clone", "clone3")
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
PYTHON = [sys.executable, "-E", "-s", "-S"]
THREADS = """
import os, threading
def work():
    with open("/etc/passwd", "rb") as file:
        os.lseek(file.fileno(), 5, os.SEEK_SET)
        os.read(file.fileno(), 100)
for _ in range(3):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
# Gets signals of all kinds: sent, queued, of a timer, of a child and of a pipe. What a program ignores only strace sees.
SIGNALS = """
import ctypes, os, signal, time
got = []
for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGCHLD, signal.SIGPIPE):
    signal.signal(number, lambda number, _: got.append(number))
libc = ctypes.CDLL(None)
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
for value in (7, 0x123456789a, 0):
    libc.sigqueue(os.getpid(), signal.SIGUSR1, ctypes.c_void_p(value))
signal.setitimer(signal.ITIMER_REAL, 0.02)
while signal.SIGALRM not in got:
    time.sleep(0.005)
child = os.fork()
if child == 0:
    os._exit(3)
os.waitpid(child, 0)
read, write = os.pipe()
os.close(read)
try:
    os.write(write, b"x")
except BrokenPipeError:
    pass
"""
ALARM = """
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.alarm(1)
signal.pause()
"""
# Vectors of several parts, messages whose names have more room than they need, devices, options and flags that have no name.
PARTS = """
import ctypes, os, socket
library = ctypes.CDLL(None)
null = os.open("/dev/full", os.O_RDWR)
parts = [b"a" * 50, b"", b"b" * 40, b"c"]
try:
    os.writev(null, parts)
except OSError:
    pass
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
other.bind(b"\\0dyetrace-parts")
other.sendmsg(parts)
os.readv(one.fileno(), [bytearray(n) for n in (45, 3, 60)])
other.sendmsg([b"xyz"])
one.recvmsg(10)
one.setblocking(False)
try:
    one.recvmsg(10)
except BlockingIOError:
    pass
for option in (4, 999):
    try:
        one.getsockopt(socket.SOL_SOCKET, option)
    except OSError:
        pass
library.memfd_create(b"small", 1)
library.memfd_create(b"pages", 30 << 26)
"""
# Asks for much that lies behind a pointer: signals, limits, timers, CPUs, terminals, sockets, names.
QUESTIONS = """
import ctypes, faulthandler, fcntl, os, pty, resource, signal, socket, struct, termios
library = ctypes.CDLL(None)
end, terminal = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
fcntl.ioctl(terminal, termios.TIOCGWINSZ, bytes(8))
one, other = socket.socketpair()
one.send(b"hello")
fcntl.ioctl(other, termios.FIONREAD, bytes(4))
other.setblocking(False)
fcntl.ioctl(other, termios.FIONBIO, struct.pack("i", 1))
for request in (0x541b, 0x1260, 0x80081272, 0x80045430, 0x5450, 0x12345678, 0x5413):
    library.ioctl(0, request, ctypes.create_string_buffer(64))
for request in (0x8913, 0x8915, 0x8921, 0x8933):
    library.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).fileno(), request, ctypes.create_string_buffer(b"lo", 64))
faulthandler.enable()
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
for signals in (signal.valid_signals(), [], [signal.SIGINT, 40]):
    signal.pthread_sigmask(signal.SIG_SETMASK, signals)
signal.sigpending()
resource.setrlimit(resource.RLIMIT_NOFILE, (512, 2048))
resource.getrlimit(resource.RLIMIT_CORE)
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
os.sched_getaffinity(0)
os.uname()
os.urandom(40)
signal.setitimer(signal.ITIMER_REAL, 500, 100)
signal.setitimer(signal.ITIMER_REAL, 0)
library.prctl(15, b"worker")
library.prctl(16, ctypes.create_string_buffer(16))
library.prctl(1, 15)
library.prctl(2, ctypes.create_string_buffer(4))
library.prctl(3, 0)
library.prctl(4, 1)
library.prctl(23, 5)
library.prctl(29, 50000)
library.prctl(36, 1)
header, sets = (ctypes.c_uint * 2)(0x20080522, 0), (ctypes.c_uint * 6)()
library.capget(header, sets)
library.capset(header, sets)
library.setxattr(b"file", b"user.a", b"12", 2, 0)
library.getxattr(b"file", b"user.a", ctypes.create_string_buffer(8), 8)
library.removexattr(b"file", b"user.a")
library.mount(b"source", b"/none/x", b"tmpfs", 1, None)
file = open("file", "rb")
fcntl.fcntl(file, fcntl.F_SETFL, os.O_NONBLOCK)
fcntl.fcntl(file, fcntl.F_DUPFD, 40)
fcntl.lockf(file, fcntl.LOCK_SH)
library.syscall(229, 1, ctypes.create_string_buffer(16))
"""
# Has a file in the sets of poll and select, and over another descriptor.
SETS = """
import os, select
full, null = os.open("/dev/full", os.O_RDWR), os.open("/dev/null", os.O_RDWR)
poll = select.poll()
for file in (null, full):
    poll.register(file, select.POLLOUT)
poll.poll(0)
select.select([null], [full], [], 5)
os.dup2(null, full)
"""
# Says hello again and again until it is told to go on.
POLITE = """
import os, time
open("ready", "wb").close()
while not os.access("go", os.F_OK):
    time.sleep(0.02)
with open("file", "rb") as file:
    file.read()
os.mkdir("made", 0o750)
"""


def name_of(line):
    found = re.search(r"(\w+)\(", line)
    return found.group(1) if found else ""


def plain(line):
    """A line without what no two runs share."""
    line = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", line)
    line = re.sub(r" /\* \d+ vars \*/", "", line)
    line = re.sub(r"(socket|pipe):\[\d+\]", r"\1:[INODE]", line)
    line = re.sub(r"si_pid=\d+", "si_pid=TASK", line)
    line = re.sub(r"(si_[us]time)=\d+( /\* \S+ s \*/)?", r"\1=TIME", line)
    line = re.sub(r'getrandom\("(\\x[0-9a-f]{2})+"', lambda call: re.sub(r"x..", "x??", call.group(0)), line)
    line = re.sub(r"parent_tid=\[\d+\]", "parent_tid=[TASK]", line)
    if name_of(line) == "sysinfo":
        line = re.sub(r"=\d+", "=N", re.sub(r"loads=\[[^]]*\]", "loads=[]", line))
    if name_of(line) in GIVES_TASK:
        line = re.sub(r"= \d+$", "= TASK", line)
    return re.sub(r"^\d+ +", "TASK ", line)


def without_times(line):
    line = re.sub(r"^( *)(\d\d:\d\d:\d\d|\d+)(\.\d+)? ", lambda time: re.sub(r"\d", "9", time.group(0)), line)
    return re.sub(r"<\d+(\.\d+)?>$", lambda time: re.sub(r"\d", "9", time.group(0)), line)


def lines_of(path, change=plain):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if support.outer_root():  # what is taken out had moved the results
        text = re.sub(r" += ", " = ", text.replace(support.outer_root(), ""))
    return [change(line) for line in text.splitlines() if name_of(line) not in UNLIKE]


class TraceTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.work = self.path("work")  # the same path in both runs
        self.restore()

    def restore(self):
        shutil.rmtree(self.work, ignore_errors=True)
        os.mkdir(self.work)
        with open(os.path.join(self.work, "file"), "w", encoding="ascii") as file:
            file.write("words and words\n" * 20)
        os.symlink("file", os.path.join(self.work, "link"))
        for name in ("file", "link", "."):  # ls -l shows the minute
            os.utime(os.path.join(self.work, name), (1e9, 1e9), follow_symlinks=False)

    def options(self):
        return {"cwd": self.work, "env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "timeout": support.PATIENCE_S}

    def run_both(self, *words, status=0):
        """Where each wrote: -o is added."""
        outputs = []
        for tracer in (["strace"], [DYETRACE, "trace"]):
            self.restore()
            outputs.append(self.path(tracer[-1] + ".out"))
            done = subprocess.run([*tracer, "-o", outputs[-1], *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  check=False, **self.options())
            self.assertEqual(done.returncode, status, done.stderr)
        return outputs

    def assert_same(self, expected, seen, what):
        difference = list(difflib.unified_diff(expected, seen, "strace", "dyetrace", lineterm="", n=1))
        self.assertEqual(difference, [], f"{what}:\n" + "\n".join(difference[:40]))
        return len(seen)

    def same(self, *words, change=plain, status=0):
        """How many lines both have."""
        expected, seen = self.run_both(*words, status=status)
        return self.assert_same(lines_of(expected, change), lines_of(seen, change), words)

    def same_by_task(self, *words, status=0):
        """Each task's lines, tasks in the order in which they began."""
        prefixes = self.run_both("-ff", *words, status=status)
        files = [sorted(glob.glob(glob.escape(prefix) + ".*"), key=lambda path: int(path.rsplit(".", 1)[1])) for prefix in prefixes]
        self.assertEqual(len(files[0]), len(files[1]), "as many tasks")
        return [self.assert_same(lines_of(expected), lines_of(seen), words) for expected, seen in zip(*files)]

    def test_cat(self):
        self.assertGreater(self.same("cat", "file"), 20)

    def test_ls(self):
        self.assertGreater(self.same("ls", "-l", "."), 50)

    def test_a_shell_and_its_child(self):
        counts = self.same_by_task("sh", "-c", "sleep 0.5 & wait")
        self.assertEqual(len(counts), 2)
        self.assertGreater(min(counts), 10)

    def test_a_child_that_outlives_the_command(self):
        counts = self.same_by_task("sh", "-c", "sleep 0.5 & exit 3", status=3)
        self.assertEqual(len(counts), 2)

    def test_sqlite3(self):
        # -s 0: what it writes holds random numbers
        statements = "CREATE TABLE t (a, b); INSERT INTO t SELECT value, hex(value) FROM generate_series(1, 500); SELECT count(*) FROM t;"
        self.assertGreater(self.same("-s", "0", "sqlite3", "test.db", statements), 80)

    def test_threads(self):
        counts = self.same_by_task("-e", "trace=openat,lseek,read,close", *PYTHON, "-c", THREADS)
        self.assertEqual(len(counts), 4)
        self.assertGreaterEqual(min(counts), 5)

    def test_what_lies_behind_pointers(self):
        def named(line):
            line = re.sub(r"tv_sec=499, tv_usec=\d+", "tv_sec=499, tv_usec=N", plain(line))
            line = line.replace(" (SUID_DUMP_USER)", "")
            line = re.sub(r"TIOCGPTN, \[\d+\]|/dev/pts/\d+", "TERMINAL", line)  # the first that is free, beside what others have open
            return re.sub(r"\w+ or (\w+)", r"\1", line)  # of two devices with the same request strace names both

        asked = ("trace=ioctl,fcntl,prctl,uname,sysinfo,getrandom,prlimit64,sigaltstack,rt_sigaction,rt_sigprocmask,rt_sigpending,"
                 "sched_setaffinity,sched_getaffinity,setitimer,capget,capset,clock_getres,sendto,/xattr,mount")
        for option in ([], ["-v"], ["-e", "verbose=none"]):
            with self.subTest(option):
                self.assertGreater(self.same(*option, "-e", asked, *PYTHON, "-c", QUESTIONS, change=named), 120)

    def test_parts_names_of_messages_and_devices(self):
        asked = "trace=writev,readv,sendmsg,recvmsg,getsockopt,memfd_create,/^open"
        for option in ([], ["-s", "4"], ["-e", "write=3"]):
            with self.subTest(option):
                self.assertGreater(self.same(*option, "-e", asked, *PYTHON, "-c", PARTS), 12)
        self.assertGreater(self.same("-yy", "-e", "trace=writev,/^open", *PYTHON, "-c", PARTS), 3)

    def test_which_calls(self):
        for chosen in ("trace=openat,read", "trace=%file", "!mmap,read", "trace=/^f", "trace=%desc", "read", "trace=none"):
            with self.subTest(chosen):
                self.assertGreater(self.same("-e", chosen, "cat", "file", "none", status=1), 0)

    def test_which_results(self):
        for option in (["-z"], ["-Z"], ["-e", "status=failed"], ["--status=successful"]):
            with self.subTest(option):
                self.assertGreater(self.same(*option, "cat", "file", "none", status=1), 2)

    def test_which_paths(self):
        """strace takes an open by its text, dyetrace by the file that it opens: it may show more opens."""
        if support.outer_root():
            self.skipTest("in a chroot -P means paths from the root above it")
        for path in ("file", "link", "./file", os.path.join(self.work, "link"), "/etc/passwd"):
            with self.subTest(path):
                expected, seen = [lines_of(output) for output in self.run_both("-P", path, "cat", "file", "link", "/etc/passwd")]
                opened = [line for line in expected if name_of(line) == "openat"]
                self.assertLessEqual(set(opened), set(seen))
                self.assertGreater(self.assert_same([line for line in expected if line not in opened],
                                                    [line for line in seen if name_of(line) != "openat"], path), 4)

    def test_how_calls_look(self):
        for option in (["-y"], ["-s", "4"], ["-s", "200"], ["-a", "10"], ["-n", "-qq"], ["-v"], ["-e", "raw=openat,close"],
                       ["-e", "verbose=none"], ["-e", "abbrev=none"], ["-qq"]):
            with self.subTest(option):
                self.assertGreater(self.same(*option, "-e", "trace=openat,newfstatat,read,close,write,exit_group,statfs", "ls", "-l",
                                             "/etc/passwd"), 15)

    def test_how_constants_and_bytes_look(self):
        for option in (["-X", "raw"], ["-X", "verbose"], ["-X", "abbrev"], ["-x"], ["-xx"], ["-e", "write=1"], ["-e", "read=!0"], ["-e", "read=none"]):
            with self.subTest(option):
                self.assertGreater(self.same(*option, "-s", "40", "-e", "trace=openat,newfstatat,write,close,mmap,mprotect,getdents64", "ls", "-l", "."), 15)
                self.assertGreater(self.same(*option, "-e", "trace=read,write,lseek", "cat", "file"), 3)

    def test_files_in_sets_and_what_a_descriptor_was(self):
        """-P finds a file in the set of a poll, and the one that dup2 closes."""
        def without_left(line):
            return re.sub(r"left \{[^}]*\}", "left {}", plain(line))

        for option in (["-P", "/dev/full", "-e", "trace=poll,pselect6,dup2"], ["-y", "-e", "trace=dup2"]):
            with self.subTest(option):
                if support.outer_root() and "-P" in option:
                    self.skipTest("in a chroot -P means paths from the root above it")
                self.assertGreaterEqual(self.same(*option, *PYTHON, "-c", SETS, change=without_left), 2)

    def test_the_command_has_its_pipes_for_itself(self):
        """Who reads what a command writes sees the end when the command closes it, however long that runs on."""
        tracer = subprocess.Popen([DYETRACE, "trace", "-o", self.path("out"), "-e", "none", "sh", "-c", "exec >&-; read line"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.work, env=ENVIRONMENT)
        with tracer:
            self.assertEqual(tracer.stdout.read(), b"")
            self.assertIsNone(tracer.poll())
            tracer.stdin.close()
        self.assertEqual(tracer.returncode, 1)

    def test_times(self):
        for option in ("-t", "-tt", "-ttt", "-r", "-T", "--syscall-times=ns", "--relative-timestamps=ms", "--absolute-timestamps=unix,ns"):
            with self.subTest(option):
                self.assertGreater(self.same(option, "-e", "trace=%file", "cat", "file", change=lambda line: without_times(plain(line))), 5)

    def test_children_in_one_file(self):
        # a call that takes longer than others is two lines of strace
        self.assertGreater(self.same("-f", "-e", "trace=openat,execve", "sh", "-c", "cat file; cat link"), 8)

    def test_how_tasks_end(self):
        self.assertEqual(self.same("-e", "none", "sh", "-c", "exit 3", status=3), 1)
        self.assertEqual(self.same("-e", "none", "sh", "-c", "kill -TERM $$", status=-15), 2)
        self.assertEqual(self.same("-e", "none", "sh", "-c", "kill -KILL $$", status=-9), 1)
        self.assertEqual(self.same("-e", "none", "sh", "-c", "kill -SEGV $$", status=-11), 2)
        self.assertEqual(self.same("-e", "none", "-e", "signal=!TERM", "sh", "-c", "kill -TERM $$", status=-15), 0)

    def test_signals(self):
        for options, lines in (([], 9), (["-e", "signal=none"], 1), (["-e", "signal=USR1,SEGV"], 6), (["-e", "signal=!USR1"], 4), (["-f"], 10),
                               (["-qq", "-P", "/none"], 8)):
            with self.subTest(options):
                self.assertEqual(self.same("-e", "trace=none", *options, *PYTHON, "-c", SIGNALS), lines)
        for option in ("-t", "-ttt", "-r"):
            with self.subTest(option):
                count = self.same("-e", "trace=none", option, *PYTHON, "-c", SIGNALS, change=lambda line: without_times(plain(line)))
                self.assertEqual(count, 9)

    def test_signals_interrupt_calls(self):
        self.assertEqual(self.same("-e", "trace=pause,alarm", *PYTHON, "-c", ALARM), 4)

    def test_signals_as_json(self):
        done = self.trace("--json", "-e", "trace=none", *PYTHON, "-c", SIGNALS)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({(row["kind"], row["name"], row["class"]) for row in rows}, {("tracepoint", "signal_deliver", "process")})
        self.assertEqual(rows[0]["arguments"], {"signal": "SIGUSR1", "code": "SI_USER", "pid": rows[0]["pid"], "uid": os.getuid()})

    def test_the_table_counts_the_same(self):
        def counted(path):
            with open(path, encoding="utf-8") as file:
                rows = [line.split() for line in file.read().splitlines()[2:]]
            return sorted([row[-1], *row[3:-1]] for row in rows if row[-1] not in ("total", *UNLIKE) and row[0][0] != "-")

        for option in ("-c", "-cw"):
            expected, seen = self.run_both(option, "cat", "file", "none", status=1)
            self.assertEqual(counted(expected), counted(seen))
            self.assertIn(["openat", *counted(seen)[[row[0] for row in counted(seen)].index("openat")][1:]], counted(expected))

    def attach(self, tracer, output):
        """A program that was already running, from its `go` on."""
        self.restore()
        program = self.start([*PYTHON, "-c", POLITE], cwd=self.work, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
        self.wait_for(lambda: os.path.exists(os.path.join(self.work, "ready")), "it runs")
        watcher = self.start([*tracer, "-o", output, "-e", "trace=%file,read,close,lseek", "-p", str(program.pid)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for(lambda: os.path.exists(output) and os.path.getsize(output) > 0, "it is seen")
        open(os.path.join(self.work, "go"), "wb").close()
        self.assertEqual(program.wait(timeout=support.PATIENCE_S), 0)
        self.assertEqual(watcher.wait(timeout=support.PATIENCE_S), 0)
        return [line for line in lines_of(output) if not line.endswith("ENOENT (No such file or directory)")]

    def test_a_process_that_runs(self):
        expected = self.attach(["strace"], self.path("strace.out"))
        seen = self.attach([DYETRACE, "trace"], self.path("trace.out"))
        self.assertGreater(self.assert_same(expected, seen, "-p"), 5)

    def trace(self, *words, status=0):
        done = subprocess.run([DYETRACE, "trace", *words], capture_output=True, text=True, check=False, **self.options())
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def lines_about_processes(self, *words):
        self.trace("-f", "-o", os.path.join(self.work, "out"), "-e", "kill", "-e", "signal=none", *words)
        with open(os.path.join(self.work, "out"), encoding="utf-8") as file:
            return [line.rstrip("\n") for line in file if "kill(" in line]

    def test_a_number_has_the_name_of_its_process(self):
        own = os.getpid()
        with open("/proc/self/comm", encoding="utf-8") as file:
            name = file.read().strip()
        renamed = f"open('/proc/self/comm', 'w').write('<new>'); import os; os.kill({own}, 0); os.kill(os.getpid(), 0)"
        line, line2 = self.lines_about_processes("-Y", *PYTHON, "-c", renamed)
        self.assertRegex(line, rf"^\d+<\\74new\\76> kill\({own}<{re.escape(name)}>, 0\) += 0$")
        self.assertRegex(line2, r"^(\d+)<\\74new\\76> kill\(\1<\\74new\\76>, 0\) += 0$")

    def test_a_number_of_another_pid_namespace_has_ours_beside_it(self):
        line, = self.lines_about_processes("--decode-pids=comm,pidns", "unshare", "-pf", "sh", "-c", "kill -0 1")
        self.assertRegex(line, r"^(\d+)<sh> kill\(1<sh> /\* \1 in strace's PID NS \*/, 0\) += 0$")
        line, = self.lines_about_processes("--pidns-translation", "sh", "-c", "kill -0 $$")
        self.assertRegex(line, r"^(\d+) +kill\(\1, 0\) += 0$")

    def test_output_is_appended_only_when_asked(self):
        out = os.path.join(self.work, "out")
        with open(out, "w", encoding="ascii") as file:
            file.write("kept\n")
        self.trace("-A", "-o", out, "-e", "execve", "true")
        with open(out, encoding="utf-8") as file:
            self.assertEqual([line[:4] for line in file], ["kept", "exec", "+++ "])
        self.trace("-o", out, "-e", "execve", "true")
        with open(out, encoding="utf-8") as file:
            self.assertEqual([line[:4] for line in file], ["exec", "+++ "])

    def test_output_goes_into_a_command(self):
        for mark in "|!":
            self.trace("-o", f"{mark}tr a-z A-Z > out", "-e", "execve", "true")
            with open(os.path.join(self.work, "out"), encoding="utf-8") as file:
                self.assertIn("EXECVE(", file.read())

    def test_what_cannot_be_done_is_refused(self):
        for words in (["-D"], ["-X", "bold"], ["-I", "1"], ["-O", "1"], ["-U", "name"], ["-E", "A=1"], ["-e", "inject=read"], ["-k"], ["-w"],
                      ["-c", "-C"], ["-e", "read=a"]):
            with self.subTest(words):
                self.one_line(self.trace(*words, "true", status=2).stderr)


if __name__ == "__main__":
    support.main()
