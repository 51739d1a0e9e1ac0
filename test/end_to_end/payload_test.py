#!/usr/bin/env python3
"""record --content=bytes, cat, and --redact: what moved comes back byte by byte, and what must not be kept never lies on the disk."""

import os
import pty
import random
import signal
import stat
import subprocess
import sys

import payload_file
import support
from support import DYETRACE

SECRET = "4929123456781234"


class PayloadTest(support.EndToEndTest):
    def cat(self, trace, *arguments, status=0):
        done = subprocess.run([DYETRACE, "cat", trace.path, *arguments], capture_output=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, status, done.stderr)
        done.stderr = done.stderr.decode()
        return done

    def cat_path(self, trace, path, *arguments):
        return self.cat(trace, "--path", support.outer_root() + path, *arguments).stdout

    def python(self, program, *words, options=("--content=bytes",), **record):
        return self.record(*options, "--", sys.executable, "-c", program, *words, **record)

    def payload(self, trace):
        """Entries and accounting, without dyetrace."""
        entries, accounting = payload_file.read(os.path.join(trace.path, "payload"))
        self.assertEqual(accounting["generated"], accounting["kept"] + accounting["lost"] + accounting["left_out"], accounting)
        self.assertEqual(accounting["kept"], sum(len(entry.bytes) for entry in entries))
        return entries, accounting

    def accounting(self, trace):
        return self.payload(trace)[1]

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_a_file_comes_back_however_it_was_written(self):
        trace = self.python(
            "import os, random, sys\n"
            "source = random.Random(1)\n"
            "data = source.randbytes(9_000_001)\n"
            "fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
            "os.write(fd, data[:8 << 20])\n"
            "cuts = sorted(source.sample(range(8 << 20, len(data)), 200)) + [len(data)]\n"
            "pieces = list(zip([8 << 20] + cuts, cuts))\n"
            "source.shuffle(pieces)\n"
            "for a, b in pieces[:100]: os.pwrite(fd, data[a:b], a)\n"
            "for a, b in pieces[100:]: os.pwritev(fd, [data[a:a + 7], b'', data[a + 7:b]] if b - a > 7 else [data[a:b]], a)\n"
            "os.pwrite(fd, b'again', 1000)\n", self.path("data"))
        self.assertEqual(self.cat_path(trace, self.path("data")), self.content("data"))
        if support.outer_root() == "":  # in a chroot names begin above it
            here = subprocess.run([DYETRACE, "cat", trace.path, "--path", "data"], capture_output=True, cwd=self.folder, check=True)
            self.assertEqual(here.stdout, self.content("data"))
        self.assertRegex(trace.said, r"warning: --content=bytes keeps what these programs read and write, passwords")
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(trace.path, "payload")).st_mode), 0o600)

    def test_a_database_and_a_file_that_was_only_read_come_back(self):
        self.file("read", random.Random(2).randbytes(3_000_000))
        trace = self.record("--content=bytes", "--", "sh", "-c", f"cat {self.path('read')} > /dev/null; sqlite3 {self.path('db')} '"
                            "CREATE TABLE t (a, b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                            "INSERT INTO t SELECT i, hex(randomblob(50)) FROM n; CREATE INDEX x ON t (b);'")
        for name in ("db", "read"):
            self.assertEqual(self.cat_path(trace, self.path(name)), self.content(name), name)

    def test_files_come_back_that_were_copied_in_the_kernel(self):
        self.file("source", random.Random(4).randbytes(2_000_003))
        trace = self.python(
            "import os, sys\n"
            "a = os.open(sys.argv[1], os.O_RDONLY); b = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)\n"
            "left = os.fstat(a).st_size\n"
            "while left: left -= os.copy_file_range(a, b, min(left, 700_001))\n"
            "c = os.open(sys.argv[3], os.O_RDWR | os.O_CREAT); at = 0\n"
            "while at < os.fstat(a).st_size: at += os.sendfile(c, a, at, 300_007)\n",
            self.path("source"), self.path("copied"), self.path("sent"))
        for name in ("source", "copied", "sent"):
            self.assertEqual(self.cat_path(trace, self.path(name)), self.content("source"), name)

    def test_what_was_not_seen_is_zeros_and_said(self):
        trace = self.python(
            "import os, sys\n"
            "fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
            "os.pwrite(fd, b'a' * 5000, 0); os.pwrite(fd, b'b' * 100, 6000)\n", self.path("data"), options=("--content=bytes:1K",))
        done = self.cat(trace, "--path", support.outer_root() + self.path("data"), status=3)
        self.assertEqual(done.stdout, b"a" * 1024 + bytes(6000 - 1024) + b"b" * 100)
        self.assertIn("4,976 bytes in 1 place were not seen, and zeros stand for them: 1024-6000", done.stderr)
        done = self.cat(trace, "--path", support.outer_root() + self.path("data"), "--range", "1020-1024")
        self.assertEqual(done.stdout, b"a" * 4, "all of that was seen")

    def test_a_file_that_was_cut_and_grew_comes_back_with_its_zeros(self):
        trace = self.python(
            "import os, sys\n"
            "fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
            "os.write(fd, b'a' * 5000); os.ftruncate(fd, 10); os.pwrite(fd, b'b' * 10, 4000); os.ftruncate(fd, 6000)\n"
            "for number in range(4):\n"
            "    if os.fork() == 0:\n"
            "        own = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)\n"
            "        for line in range(50): os.write(own, b'writer %d line %d\\n' % (number, line))\n"
            "        os._exit(0)\n"
            "for number in range(4): os.wait()\n"
            "fd = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT); os.write(fd, b'old and long'); os.close(fd)\n"
            "fd = os.open(sys.argv[2], os.O_WRONLY | os.O_TRUNC); os.write(fd, b'a\\tb\\x1b[2J\\xff\\n')\n",
            self.path("data"), self.path("again"))
        done = self.cat(trace, "--path", support.outer_root() + self.path("data"), status=3)
        self.assertEqual(done.stdout, self.content("data"))
        self.assertIn("zeros stand for them: 10-4000", done.stderr, "who knows whether nobody wrote there; of what ftruncate made it is known")
        self.assertEqual(self.cat_path(trace, self.path("again")), b"a\tb\x1b[2J\xff\n")
        leader, follower = pty.openpty()
        subprocess.run([DYETRACE, "cat", trace.path, "--path", support.outer_root() + self.path("again")], stdout=follower, check=True,
                       timeout=support.PATIENCE_S)
        shown = os.read(leader, 1000)
        os.close(leader)
        os.close(follower)
        self.assertEqual(shown, b"a\tb\\x1b[2J\\xff\r\n", "to a terminal nothing that it would obey")

    def test_what_is_there_comes_back_while_it_is_recorded_and_after_the_recorder_was_killed(self):
        trace, recorder = self.start_recording("--content=bytes", "--redact", "secret", "-P", support.outer_root() + self.path("data"), "-a")
        with open(self.path("data"), "wb", buffering=0) as file:
            file.write(b"first " * 1000)
            file.write(b"and then a sec")
        seen = lambda: self.cat(trace, "--path", support.outer_root() + self.path("data"), status=3).stdout
        self.wait_for(lambda: os.path.getsize(os.path.join(trace.path, "payload")) > 32, "payload on the disk")
        self.wait_for(lambda: trace.number("SELECT count(*) FROM events WHERE name = 'write'") == 2, "both events")
        waits = len("secret") - 1  # as much of the end of what was seen, whatever it is
        expected = b"first " * 1000 + b"and then a sec"[:-waits] + bytes(waits)
        self.assertEqual(seen(), expected)
        os.kill(recorder.pid, signal.SIGKILL)
        recorder.wait(support.PATIENCE_S)
        done = self.cat(trace, "--path", support.outer_root() + self.path("data"), status=3)
        self.assertEqual(done.stdout, expected)
        self.assertIn("ended early", done.stderr)

    def test_both_directions_of_a_connection_and_a_pipe(self):
        trace = self.python(
            "import os, random, socket, sys, threading\n"
            "source = random.Random(3)\n"
            "there, back = source.randbytes(700_001), source.randbytes(300_001)\n"
            "open(sys.argv[1] + '/there', 'wb').write(there); open(sys.argv[1] + '/back', 'wb').write(back)\n"
            "def receive(s, count):\n"
            "    while count: count -= len(s.recv(min(count, 7919)))\n"
            "listener = socket.create_server(('127.0.0.1', 0))\n"
            "def serve():\n"
            "    s, _ = listener.accept(); receive(s, len(there))\n"
            "    for at in range(0, len(back), 4099): s.sendall(back[at:at + 4099])\n"
            "    s.shutdown(socket.SHUT_WR); s.recv(1)\n"
            "server = threading.Thread(target=serve); server.start()\n"
            "c = socket.create_connection(listener.getsockname())\n"
            "for at in range(0, len(there), 65536): c.sendall(there[at:at + 65536])\n"
            "receive(c, len(back)); c.close(); server.join()\n"
            "r, w = os.pipe()\n"
            "for at in range(0, 200_000, 1000): os.write(w, there[at:at + 1000]); os.read(r, 1000)\n"
            "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
            "for number in range(3): a.send(b'datagram %d\\n' % number); b.recv(5, socket.MSG_PEEK); b.recv(100)\n", self.folder)
        there, back = self.content("there"), self.content("back")
        ends = trace.rows("SELECT object_id, any_value(connection_id) AS connection, max(local_port) < max(remote_port) AS x, "
                          "sum(bytes) FILTER (WHERE name = 'sendto') AS sent FROM events WHERE bytes > 0 AND connection_id IS NOT NULL "
                          "AND class = 'network' GROUP BY 1")
        self.assertEqual(len(ends), 2)
        for end in ends:
            is_client = int(end["sent"]) == len(there)
            self.assertEqual(self.cat(trace, "--object", str(end["object_id"]), "--direction", "out").stdout, there if is_client else back)
            self.assertEqual(self.cat(trace, "--object", str(end["object_id"]), "--direction", "in").stdout, back if is_client else there)
        said = self.one_line(self.cat(trace, "--object", str(ends[0]["object_id"]), status=1).stderr)
        self.assertIn("--direction", said)
        said = self.one_line(self.cat(trace, "--connection", str(ends[0]["connection"]), status=1).stderr)
        self.assertIn("2 objects are connection", said)
        pipe = trace.number("SELECT object_id FROM events WHERE object_type = 'pipe' AND name = 'write' GROUP BY 1 ORDER BY sum(bytes) DESC LIMIT 1")
        for direction in ("in", "out"):
            self.assertEqual(self.cat(trace, "--object", str(pipe), "--direction", direction).stdout, there[:200_000])
        for name in ("sendto", "recvfrom"):
            end = trace.number(f"SELECT any_value(object_id) FROM events WHERE name = '{name}' AND connection_id IS NULL AND bytes = 11")
            self.assertEqual(self.cat(trace, "--object", str(end)).stdout, b"datagram 0\ndatagram 1\ndatagram 2\n", "what is only peeked at stays")

    def test_a_secret_is_redacted_at_each_of_its_splits(self):
        # Each line of the file has the secret, split at another place, over two writes, two iovecs, or two pwrites the wrong way round.
        trace = self.python(
            "import os, sys\n"
            "secret = open(sys.argv[2]).read()\n"
            "fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
            "at = 0\n"
            "for split in range(1, len(secret)):\n"
            "    a, b = ('card ' + secret[:split]).encode(), (secret[split:] + ' end\\n').encode()\n"
            "    os.pwrite(fd, a, at); os.pwrite(fd, b, at + len(a)); at += len(a + b)\n"
            "    os.pwritev(fd, [a, b], at); at += len(a + b)\n"
            "    os.pwrite(fd, b, at + len(a)); os.pwrite(fd, a, at); at += len(a + b)\n"
            "for at in range(0, at, 13): os.pread(fd, 13, at)\n",
            self.path("data"), self.secret_file(), options=("--content=bytes", "--redact", "@" + self.secret_file()))
        lines = self.cat_path(trace, self.path("data")).decode().splitlines()
        self.assertEqual(lines, ["card " + "*" * len(SECRET) + " end"] * 3 * (len(SECRET) - 1))
        self.assertIn(f"{SECRET}", self.content("data").decode(), "the program's own file is as it was")
        self.assertNothingInside(trace)
        accounting = self.accounting(trace)
        self.assertGreaterEqual(accounting["redacted"], 2 * 3 * (len(SECRET) - 1) * len(SECRET), "written, and read again")
        self.assertEqual(accounting["lost"], 0)

    def secret_file(self):
        """So that no command line has it, which every trace keeps."""
        return self.file("secret", SECRET.encode())

    def assertNothingInside(self, trace):
        """Nothing of what other programs moved has the secret; the recorder's own reading of it is no event."""
        for entry in self.payload(trace)[0]:
            self.assertNotIn(SECRET.encode(), entry.bytes)

    def test_a_secret_is_redacted_in_streams_and_by_a_regular_expression(self):
        trace = self.python(
            "import os, socket, sys\n"
            "secret = open(sys.argv[1]).read()\n"
            "for make in (socket.socketpair, lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)):\n"
            "    a, b = make()\n"
            "    for split in range(1, len(secret)):\n"
            "        a.sendall(('card ' + secret[:split]).encode()); a.sendall((secret[split:] + ' end\\n').encode())\n"
            "        while b.recv(11)[-1:] != b'\\n': pass\n"
            "listener = socket.create_server(('127.0.0.1', 0))\n"
            "a = socket.create_connection(listener.getsockname()); b, _ = listener.accept()\n"
            "for split in range(1, len(secret)):\n"
            "    a.sendall(('card ' + secret[:split]).encode()); a.sendall((secret[split:] + ' end\\n').encode())\n"
            "    while b.recv(7)[-1:] != b'\\n': pass\n",
            self.secret_file(), options=("--content=bytes", "--redact", "re:[0-9]{13,16}"))
        streams = trace.rows("SELECT object_id, name LIKE 'recv%' AS inbound FROM events WHERE object_type = 'socket' AND bytes > 0 "
                             "AND name IN ('sendto', 'recvfrom') GROUP BY ALL")
        self.assertEqual(len(streams), 6)
        for stream in streams:
            kept = self.cat(trace, "--object", str(stream["object_id"]), "--direction", "in" if stream["inbound"] == "true" or
                            stream["inbound"] is True else "out").stdout.decode()
            self.assertEqual(kept, ("card " + "*" * len(SECRET) + " end\n") * (len(SECRET) - 1))
        self.assertNothingInside(trace)

    def test_what_the_condition_leaves_out_has_no_payload(self):
        trace = self.record("--content=bytes", "-P", support.outer_root() + self.path("wanted"), "--", "sh", "-c",
                            f"echo first > {self.path('wanted')}; echo second > {self.path('other')}; echo third >> {self.path('wanted')}")
        self.assertEqual(self.cat_path(trace, self.path("wanted")), b"first\nthird\n")
        accounting = self.accounting(trace)
        self.assertEqual((accounting["kept"], accounting["lost"]), (len("first\nthird\n"), 0))
        with open(os.path.join(trace.path, "payload"), "rb") as file:
            self.assertNotIn(b"second", file.read())

    def test_what_is_not_in_memory_when_the_call_ends_is_kept_once(self):
        with open(self.path("data"), "wb") as file:
            file.write(random.Random(5).randbytes(300_001))
        trace = self.python(
            "import mmap, os, sys\n"
            "file = open(sys.argv[1], 'rb')\n"
            "null = os.open('/dev/null', os.O_WRONLY)\n"
            "with mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ) as memory:\n"
            "    memory.madvise(mmap.MADV_DONTNEED)\n"
            "    os.write(null, memory)\n"
            "    os.write(null, b'and on')\n",
            self.path("data"), options=("--content=bytes", "--where", "path LIKE '%/dev/null'"))
        rows = trace.rows("SELECT cpu, sequence, bytes, unread_bytes FROM internal.raw_syscall_event WHERE bytes > 0 ORDER BY start_ns")
        self.assertEqual([(row["bytes"], row["unread_bytes"]) for row in rows], [(300001, 0), (6, 0)])
        kept = {}
        for entry in sorted(self.payload(trace)[0]):
            kept[entry.cpu, entry.sequence] = kept.get((entry.cpu, entry.sequence), b"") + entry.bytes
        self.assertEqual([kept[int(row["cpu"]), int(row["sequence"])] for row in rows], [self.content("data"), b"and on"])

    def test_half_of_a_secret_is_hidden_where_the_condition_leaves_out_the_other_half(self):
        trace = self.python(
            "import os, sys\n"
            "secret = open(sys.argv[2], 'rb').read()\n"
            "fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
            "os.write(fd, b'card ' + secret[:10]); os.write(fd, secret[10:]); os.write(fd, b' and the end')\n",
            self.path("data"), self.secret_file(), options=("--content=bytes", "--redact", "re:[0-9]{13,16}", "--where", "requested <> 6"))
        done = self.cat(trace, "--path", support.outer_root() + self.path("data"), status=3)
        self.assertEqual(done.stdout, b"card " + b"*" * 10 + bytes(6) + b" and the end")
        self.assertIn("6 bytes in 1 place were not seen, and zeros stand for them: 15-21", done.stderr)

    def test_what_does_not_fit_is_lost_and_said(self):
        trace = self.python("import os, sys\n"
                            "fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
                            "data = os.urandom(32 << 20)\n"
                            "os.write(fd, data)\n", self.path("data"), options=("--content=bytes", "--ring", "64K"))
        self.assertGreater(self.accounting(trace)["lost"], 30 << 20, "in its rings, or while it waited for the end of the call")
        self.assertRegex(trace.said, r"warning: \d+ MB of payload were lost because there was no room for them")
        done = self.cat(trace, "--path", support.outer_root() + self.path("data"), status=3)
        data = self.content("data")
        self.assertEqual(len(done.stdout), len(data))
        self.assertRegex(done.stderr, r"bytes in \d+ places? were not seen, and zeros")
        step = 65280  # what the kernel copies at once: each is there as a whole, or not
        kept = [done.stdout[at:at + step] == data[at:at + step] for at in range(0, len(data), step)]
        self.assertTrue(any(kept))
        self.assertTrue(all(good or not any(done.stdout[number * step:(number + 1) * step]) for number, good in enumerate(kept)))

    def test_what_makes_no_sense_is_one_line(self):
        plain = self.record("--", "true", name="plain")
        self.assertIn("has no payload: record --content=bytes keeps it", self.one_line(self.cat(plain, "--path", "/x", status=1).stderr))
        trace = self.record("--content=bytes", "--", "true")
        self.assertIn("nothing in the trace", self.one_line(self.cat(trace, "--path", "/nowhere", status=1).stderr))
        self.assertIn("one of them", self.one_line(self.cat(trace, status=2).stderr))
        for options, words in ((("--content=words",), "none, hash, anchors, bytes or bytes:SIZE"), (("--content=bytes", "--redact", "re:("), "re:("), (("--content=bytes:x",), "x")):
            done = subprocess.run([DYETRACE, "record", "-o", self.path("none"), *options, "--", "true"], capture_output=True, text=True,
                                  timeout=support.PATIENCE_S)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, self.one_line(done.stderr))
            self.assertFalse(os.path.exists(self.path("none")))


if __name__ == "__main__":
    sys.exit(support.main())
