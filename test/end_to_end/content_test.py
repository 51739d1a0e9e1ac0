#!/usr/bin/env python3
"""The same bytes have the same fingerprint, whoever moves them and however; `dyetrace hash` says it of a file."""

import os
import random
import subprocess

import servers
import support
from support import DYETRACE

SIZE = 3_000_017  # several of everybody's buffers, and a rest
KEY = "hex:000102030405060708090a0b0c0d0e0f"


class ContentTest(support.EndToEndTest):
    def random_file(self, name):
        return self.file(name, random.Random(name).randbytes(SIZE))

    def hash(self, *arguments, status=0):
        done = subprocess.run([DYETRACE, "hash", *arguments], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.split()[0] if status == 0 else done.stderr

    def assert_fingerprints(self, trace, path, key=()):
        """Each event on the file has the fingerprint of the range that it moved; together they moved all of it."""
        rows = trace.rows("SELECT name, file_offset, bytes, fingerprint, unread_bytes FROM events "
                          f"WHERE ends_with(path, '{path}') AND bytes > 0 AND class = 'file' AND file_offset >= 0 AND name NOT IN ('mmap')")
        for row in rows:
            begin, end = int(row["file_offset"]), int(row["file_offset"]) + int(row["bytes"])
            self.assertEqual(row["fingerprint"], self.hash("--range", f"{begin}-{end}", *key, path), row)
            self.assertEqual(int(row["unread_bytes"]), 0, row)
        self.assertEqual(sum(int(row["bytes"]) for row in rows), SIZE)

    def test_of_each_read_and_write_is_that_of_its_range_of_the_file(self):
        source, copy = self.random_file("source"), self.path("copy")
        trace = self.record("--content=hash", "--", "dd", f"if={source}", f"of={copy}", "bs=70001", "status=none")
        self.assert_fingerprints(trace, source)
        self.assert_fingerprints(trace, copy)

    def test_with_a_key_it_is_that_of_the_key_and_nobody_else_s(self):
        source, copy = self.random_file("source"), self.path("copy")
        key = self.file("key", bytes(range(16)))
        trace = self.record("--content=hash", "--content-key", f"@{key}", "--", "dd", f"if={source}", f"of={copy}", "bs=1M", "status=none")
        self.assert_fingerprints(trace, copy, ("--content-key", KEY))
        whole = trace.rows(f"SELECT fingerprint FROM events WHERE ends_with(path, '{copy}') AND bytes = 1048576")[0]["fingerprint"]
        self.assertNotEqual(whole, self.hash("--range", "0-1048576", copy))

    def test_a_question_in_sql_may_say_the_bytes(self):
        trace = self.record("--content=hash", "--", "sh", "-c", r"printf 'h\303\251llo\000\\' > " + self.path("out"))
        self.assertEqual(trace.number(r"SELECT count(*) FROM events WHERE fingerprint = fingerprint_of('héllo\x00\\')"), 1)
        self.assertEqual(trace.rows("SELECT fingerprint_of('') AS fingerprint")[0]["fingerprint"], str(0xef46db3751d8e999 - 2**64), "the 64 bits as a signed number")

    def test_what_nginx_sends_from_a_file_is_what_curl_writes(self):
        with servers.Nginx(self.folder) as nginx:
            source, copy = self.random_file("page"), self.path("copy")
            trace, recorder = self.start_recording("--content=hash", "-p", f"{nginx.pid},{nginx.worker}")
            subprocess.run(["curl", "-s", "-o", copy, f"http://127.0.0.1:{nginx.port}/page"], check=True, timeout=support.PATIENCE_S)
            self.assertEqual(self.stop(recorder), 0, self.said())
        rows = trace.rows("SELECT file_offset2, bytes, fingerprint, unread_bytes FROM events WHERE name = 'sendfile' AND bytes > 0")
        self.assertEqual(sum(int(row["bytes"]) for row in rows), SIZE)
        for row in rows:
            begin, end = int(row["file_offset2"]), int(row["file_offset2"]) + int(row["bytes"])
            self.assertEqual(row["fingerprint"], self.hash("--range", f"{begin}-{end}", copy), row)

    def test_nothing_is_looked_at_unless_it_is_asked_for(self):
        trace = self.record("--", "cp", self.random_file("source"), self.path("copy"))
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE fingerprint IS NOT NULL OR unread_bytes IS NOT NULL"), 0)

    def test_odd_questions_are_answered_in_one_line(self):
        for arguments, status in ((("--range", "9-3", __file__), 2), (("--content-key", "hex:12", __file__), 2), (("/nowhere",), 1)):
            said = self.hash(*arguments, status=status)
            self.assertRegex(said, r"^dyetrace: error: [^\n]+\n$")
        self.assertEqual(subprocess.run([DYETRACE, "record", "--content=most", "--", "true"], capture_output=True,
                                        cwd=self.folder, timeout=support.PATIENCE_S).returncode, 2)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    support.main()
