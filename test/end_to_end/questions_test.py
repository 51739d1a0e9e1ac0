#!/usr/bin/env python3
"""The ready questions of `dyetrace live`: each is answered while a program does what it is about."""

import json
import os
import re
import subprocess
import sys

import support
from support import DYETRACE, program

PORT = support.free_port()

# Of each what happens meanwhile, and a row that has to be in its answer. A hundred sleep, as the thirty that were away longest are shown, and all
# that waits on this machine is asked about.
WORK = {
    "calls": ("ls / > /dev/null", {"comm": "ls"}),
    "opens": ("cat /etc/hostname /no/such; true", {"comm": "cat", "path": "/no/such", "errors": 1}),
    "file_latency": ("cat /etc/hostname", {"name": "read"}),
    "slow_syncs": ("dd if=/dev/zero of=synced bs=1k count=1 conv=fsync", {"comm": "dd", "syncs": 1}),
    "talkers": ("exec {python} -c 'import socket; a, b = socket.socketpair(); a.send(b\"x\" * 77); b.recv(99)'", {"bytes": 154}),
    "programs": ("/bin/true", {"filename": "/bin/true", "times": 1}),
    "run_queue": ("sleep 0.1", {}),
    "off_cpu": ("for i in $(seq 100); do sleep 0.3 & done; wait", {"comm": "sleep"}),
    "on_cpu": ("exec {functions} threads 1 300000000", {"comm": "functions"}),
    "disk_latency": ("dd if=/dev/zero of=synced bs=64k count=20 conv=fsync", None),
    "sent_again": ("true", None),
    "round_trips": ("exec {python} -c 'import socket; s = socket.create_server((\"127.0.0.1\", {port})); c = socket.create_connection(s.getsockname());"
                    " a = s.accept()[0]; [(c.send(b\"x\"), a.recv(1), a.send(b\"y\"), c.recv(1)) for _ in range(20)]'", {"remote_port": PORT}),
    "read_from_disk": ("dd if=/dev/zero of=new bs=64k count=1", {"comm": "dd"}),
    "allocations": ("ls -lR / 2>/dev/null | head -c 10000 > /dev/null", {"comm": "ls"}),
    "lookups": ("getent hosts localhost; exec {python} -c 'import socket; socket.getaddrinfo(\"localhost\", 1)'", {"name": "localhost"}),
    "lock_waits": ("exec {python} -c 'import threading; t = threading.Thread(target=lambda: sum(range(10**6))); t.start(); t.join()'", {}),
    "page_faults": ("ls / > /dev/null", {"comm": "ls"}),
    "signals": ("sh -c 'kill -USR1 $$'; true", {"signal": 10}),
}


class QuestionsTest(support.EndToEndTest):
    def listed(self):
        done = subprocess.run([DYETRACE, "live", "--list"], capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "80"})
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 80)
        return re.findall(r"^(\w+)  +\S", done.stdout, re.MULTILINE)

    def test_each_is_listed_with_a_sentence(self):
        self.assertEqual(sorted(self.listed()), sorted(WORK))

    def test_each_has_an_answer(self):
        for name, (work, expected) in WORK.items():
            with self.subTest(name):
                command = ("sh", "-c", work.format(python=sys.executable, functions=program("functions"), port=PORT))
                # what a CPU does while it is nobody's, and the ends of I/O, are not the command's
                everybody = name in ("run_queue", "off_cpu", "disk_latency", "sent_again", "round_trips")
                targets = ("--duration", "2s") if everybody else ("--", *command)
                with subprocess.Popen([DYETRACE, "live", "--json", name, *targets], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder) as asked:
                    while everybody and asked.poll() is None:
                        subprocess.run(command, check=False, capture_output=True, cwd=self.folder)
                    stdout, stderr = asked.communicate(timeout=support.PATIENCE_S)
                self.assertEqual(asked.returncode, 0, stderr)
                rows = [json.loads(line) for line in stdout.splitlines() if line.startswith("{")]
                if expected is not None:
                    if "path" in expected:
                        expected = expected | {"path": support.outer_root() + expected["path"]}
                    self.assertTrue(any(expected.items() <= row.items() for row in rows), (rows, stderr))

    def test_a_name_that_is_none_is_a_statement(self):
        done = subprocess.run([DYETRACE, "live", "off_cpus"], capture_output=True, text=True, timeout=support.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("off_cpus", done.stderr)
        done = subprocess.run([DYETRACE, "live"], capture_output=True, text=True, timeout=support.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("statement", done.stderr)


if __name__ == "__main__":
    sys.exit(support.main())
