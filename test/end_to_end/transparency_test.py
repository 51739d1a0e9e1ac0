#!/usr/bin/env python3
"""The command does not notice: its streams, its terminal, its environment and what it hands on are what they were."""

import hashlib
import os
import pty
import signal
import subprocess

import support
from support import DYETRACE

SEE_YOURSELF = """
import os, resource, signal, sys
for fd in range(256):
    try: print('fd', fd, os.fstat(fd).st_rdev if fd < 3 else os.readlink(f'/proc/self/fd/{fd}'))
    except OSError: pass
print('blocked', signal.pthread_sigmask(signal.SIG_BLOCK, []))
print('ignored', [s for s in range(1, 32) if signal.getsignal(s) == signal.SIG_IGN])
print('nice', os.nice(0), 'group', os.getpgid(0) == os.getpgid(os.getppid()), 'session', os.getsid(0) == os.getsid(os.getppid()))
print('limits', [resource.getrlimit(limit) for limit in range(16)])
print('cwd', os.getcwd(), 'umask', os.umask(0), sorted(os.environ), sys.argv)
"""


class TransparencyTest(support.EndToEndTest):
    def test_a_pipe_carries_every_byte(self):
        content = os.urandom(1 << 20) * 64
        done = subprocess.run([DYETRACE, "record", "-o", self.path("trace"), "--", "sh", "-c", "cat; read name </etc/hostname; echo $name >&2"],
                              input=content, capture_output=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(hashlib.sha256(done.stdout).digest(), hashlib.sha256(content).digest())
        with open("/etc/hostname", "rb") as file:
            self.assertIn(file.read(), done.stderr)
        trace = support.Trace(self.path("trace"))
        self.assertEqual(trace.number("SELECT sum(bytes) FROM events WHERE comm = 'cat' AND name = 'read' AND fd = 0"), len(content))
        self.assertEqual(trace.number("SELECT sum(bytes) FROM events WHERE comm = 'cat' AND name = 'write' AND fd = 1"), len(content))

    def test_nothing_of_the_recorder_goes_to_stdout(self):
        trace = self.record("--", "true", text=False)
        done = subprocess.run([DYETRACE, "record", "-o", self.path("again"), "--", "echo", "words"], capture_output=True, check=True)
        self.assertEqual(done.stdout, b"words\n")
        self.assertTrue(trace.said)

    def test_the_command_finds_itself_as_it_would_without(self):
        script = self.file("see_yourself.py", SEE_YOURSELF.encode())
        command = ["python3", script, "a b", "*", "--", "-o"]
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "check": True, "cwd": "/usr", "umask": 0o027}
        alone = subprocess.run(command, **options).stdout
        recorded = subprocess.run([DYETRACE, "record", "-o", self.path("trace"), "--", *command], **options).stdout
        self.assertEqual(recorded, alone)

    def test_a_terminal_stays_a_terminal(self):
        answers = []

        def read(fd):
            data = os.read(fd, 1024)
            answers.append(data)
            return data

        devnull = os.open(os.devnull, os.O_WRONLY)
        shown = os.dup(1)
        os.dup2(devnull, 1)  # pty.spawn copies what the terminal shows
        try:
            status = pty.spawn([DYETRACE, "record", "-o", self.path("trace"), "--", "sh", "-c",
                                "stty rows 33 cols 77; stty size; test -t 0 && test -t 1 && test -t 2 && echo all are terminals; "
                                "ps -o tpgid=,pgid= -p $$ | awk '{ print ($1 == $2 ? \"foreground\" : \"background\") }'"], read, lambda fd: b"")
        finally:
            os.dup2(shown, 1)
            os.close(shown)
            os.close(devnull)
        text = b"".join(answers).decode()
        self.assertEqual(os.waitstatus_to_exitcode(status), 0, text)
        self.assertIn("33 77", text)
        self.assertIn("all are terminals", text)
        self.assertIn("foreground", text)

    def test_job_control_stops_and_goes_on(self):
        """SIGSTOP to the command alone: the recorder waits, and ends with it."""
        ready = self.path("ready")
        trace, recorder = self.start_recording("--", "sh", "-c", f"echo $$ >{ready}; while [ -e {ready} ]; do sleep 0.05; done; exit 5")
        self.wait_for(lambda: os.path.exists(ready) and os.path.getsize(ready) > 0, "the command runs")
        with open(ready, encoding="ascii") as file:
            command = int(file.read())
        os.kill(command, signal.SIGSTOP)
        with self.assertRaises(subprocess.TimeoutExpired):
            recorder.wait(timeout=0.5)
        os.unlink(ready)
        os.kill(command, signal.SIGCONT)
        self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 5)
        self.assertEqual(trace.info()["state"], "finished")


if __name__ == "__main__":
    support.main()
