#!/usr/bin/env python3
"""Programs that people know, call by call: dyetrace sees what strace sees, in the same order, with the same arguments and results.

See strace_log.py for what "the same" is. Commands run twice from the same state, once under each; git, tar and sqlite3 have to
be equal in every call but one that chance repeats, see without_chance. curl and nginx talk to somebody whose answers come a
little earlier or later: there, waiting for descriptors and what follows from it is left out, see WAITS, and so are calls that
found nothing yet (EAGAIN).
"""

import difflib
import os
import re
import shutil
import signal
import subprocess

import strace_log
import support
from support import DYETRACE

# The last two: in each round of waiting curl ignores SIGPIPE and restores it; a signal's return repeats how the waiting ended.
WAITS = {"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "restart_syscall", "rt_sigaction", "rt_sigreturn"}
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "2",
               "GIT_CONFIG_KEY_0": "gc.auto", "GIT_CONFIG_VALUE_0": "0", "GIT_CONFIG_KEY_1": "maintenance.auto",
               "GIT_CONFIG_VALUE_1": "false", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
               "GIT_COMMITTER_EMAIL": "a@b", "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
NGINX = """daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{ access_log {folder}/access.log; sendfile on; tcp_nopush on; client_body_temp_path {folder}; proxy_temp_path {folder};
       fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
       server {{ listen 127.0.0.1:{port}; root {folder}; }} }}
"""


def without_chance(calls):
    """glibc's mkstemp asks for eight random bytes again when the first are one of the 4 % that would favour some letters."""
    return [call for call in calls if call[0] != "getrandom"]


def without_waiting(calls):
    return [call for call in calls if call[0] not in WAITS and call[2] != "EAGAIN"]


class StraceTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.work = self.path("work")  # the same path in both runs
        self.environment = ENVIRONMENT | {"HOME": self.folder}

    def restore(self):
        """The state from which both runs begin."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.path("before"), self.work, symlinks=True)

    def options(self):
        return {"cwd": self.work, "env": self.environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                "stderr": subprocess.DEVNULL, "timeout": support.PATIENCE_S}

    def run_before(self, *command):
        subprocess.run(command, check=True, cwd=self.path("before"), env=self.environment, capture_output=True)

    def compare(self, stranger, own, choose):
        self.assertEqual(len(own.sequences), len(stranger.sequences), "as many tasks")
        for number, (expected, seen) in enumerate(zip(stranger.sequences, own.sequences)):
            difference = list(difflib.unified_diff(strace_log.text(choose(expected)), strace_log.text(choose(seen)), "strace", "dyetrace",
                                                   lineterm="", n=2))
            self.assertEqual(difference, [], f"task {number}:\n" + "\n".join(difference[:60]))
        return sum(len(choose(calls)) for calls in own.sequences)

    def check(self, *command, choose=without_chance):
        self.restore()
        stranger = strace_log.from_strace(command, self.folder, **self.options())
        self.restore()
        trace = support.Trace(self.path("trace"))
        subprocess.run([DYETRACE, "record", "--no-seal", "-o", trace.path, "--", *command], check=True, **self.options())
        return self.compare(stranger, strace_log.from_trace(trace, strace_log.widths_of(stranger)), choose)

    def make_tree(self):
        os.mkdir(self.path("before"))
        for number in range(40):
            folder = self.path(f"before/folder{number % 4}")
            os.makedirs(folder, exist_ok=True)
            with open(f"{folder}/file{number}", "w", encoding="ascii") as file:
                file.write("words\n" * number * 100)
        os.symlink("folder1/file1", self.path("before/link"))

    def test_git_commit(self):
        self.make_tree()
        self.run_before("git", "init", "-q")
        self.run_before("git", "add", ".")
        self.assertGreater(self.check("git", "commit", "-q", "-m", "all"), 200)

    def test_git_clone(self):
        self.make_tree()
        self.run_before("git", "init", "-q")
        self.run_before("git", "add", ".")
        self.run_before("git", "commit", "-q", "-m", "all")
        self.assertGreater(self.check("git", "clone", "-q", ".", "copy"), 500)

    def exec_lines(self, *tracer):
        """What is said of programs that are started, or not, with few and with many arguments; without pids and addresses."""
        script = "/none 1; env -i env; env $(seq 40) true; echo " + "x" * 5000
        log = self.path("exec")
        subprocess.run([*tracer, "-f", "-e", "trace=execve", "-o", log, "sh", "-c", script], check=False, **self.options())
        with open(log, encoding="ascii") as file:
            return [re.sub(r"^(\[pid +)?\d+\]? +|0x[0-9a-f]+", "", line).rstrip() for line in file if "execve(" in line]

    def test_execve_shows_the_arguments_as_strace_does(self):
        os.mkdir(self.work)
        expected = self.exec_lines("strace")
        self.assertGreaterEqual(len(expected), 4)
        self.assertEqual(self.exec_lines(DYETRACE, "trace"), expected)

    def test_tar(self):
        self.make_tree()
        self.assertGreater(self.check("tar", "--sort=name", "-cf", "all.tar", "folder0", "folder1", "folder2", "folder3", "link"), 200)

    def test_sqlite3(self):
        os.mkdir(self.path("before"))
        statements = ("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t SELECT value, hex(value) FROM generate_series(1, 2000); "
                      "CREATE INDEX i ON t (b); UPDATE t SET b = b || 'x' WHERE a % 7 = 0; DELETE FROM t WHERE a > 1500; VACUUM; "
                      "PRAGMA journal_mode = wal; INSERT INTO t VALUES (5000, 'last'); SELECT count(*) FROM t;")
        self.assertGreater(self.check("sqlite3", "test.db", statements), 100)

    def start_nginx(self, *prefix):
        """nginx behind `prefix`; answers when this returns."""
        self.port = support.free_port()
        with open(self.path("nginx.conf"), "w", encoding="ascii") as file:
            file.write(NGINX.format(folder=self.work, port=self.port))
        log = open(self.path("nginx.log"), "ab")
        self.addCleanup(log.close)
        server = self.start([*prefix, "nginx", "-e", f"{self.work}/error.log", "-c", self.path("nginx.conf")], env=self.environment,
                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait_for(lambda: server.poll() is not None or self.answers(), "nginx listens")
        self.assertIsNone(server.poll(), "nginx ended")
        return server

    def answers(self):
        """Asks the kernel: a connection to try would be in the trace."""
        with open("/proc/net/tcp", encoding="ascii") as sockets:
            return any(line.split()[1] == f"0100007F:{self.port:04X}" and line.split()[3] == "0A" for line in list(sockets)[1:])

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def test_curl(self):
        self.make_tree()
        self.restore()
        server = self.start_nginx()
        self.addCleanup(self.stop, server, signal.SIGTERM)
        self.restore = lambda: None  # nginx has its files open
        count = self.check("curl", "-s", "-o", "got", self.url("folder1/file5"), self.url("nothing"), choose=without_waiting)
        self.assertGreater(count, 200)

    def serve(self, *prefix):
        """Three requests, one after the other, two of them on one connection; then nginx is asked to end."""
        self.restore()
        server = self.start_nginx(*prefix)
        for names in (["folder1/file5"], ["nothing", "folder2/file2"]):
            subprocess.run(["curl", "-s", *(word for name in names for word in ("-o", self.path("got"), self.url(name)))], check=True,
                           env=self.environment, timeout=support.PATIENCE_S)
        with open(f"{self.work}/nginx.pid", encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGTERM)
        self.assertEqual(server.wait(timeout=support.PATIENCE_S), 0)

    def test_nginx(self):
        self.make_tree()
        prefix = self.path("strace")
        self.serve("strace", "-ff", "-X", "raw", "-e", "raw=all", "-e", "signal=none", "-o", prefix)
        stranger = strace_log.read_strace(prefix)
        trace = support.Trace(self.path("trace"))
        self.serve(DYETRACE, "record", "--no-seal", "-o", trace.path, "--")
        own = strace_log.from_trace(trace, strace_log.widths_of(stranger))
        self.assertGreater(self.compare(stranger, own, without_waiting), 200)


if __name__ == "__main__":
    support.main()
