#!/usr/bin/env python3
"""A question in SQL that is answered while things happen: its answer is the one that a stored trace would give."""

import json
import os
import re
import subprocess
import sys

import support
from support import DYETRACE, program

CALLS = 60_000  # of each of two threads


class LiveTest(support.EndToEndTest):
    def live(self, *arguments, status=0):
        done = subprocess.run([DYETRACE, "live", *arguments], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, *arguments):
        return [json.loads(line) for line in self.live("--json", *arguments).stdout.splitlines()]

    def reads(self, calls=CALLS):
        return ("--", program("calls"), self.file("read"), "2", str(calls))

    def counted(self, stderr):
        """Events that were counted in the kernel, and where they were drained."""
        found = re.search(r"events counted in the kernel: ([\d,]*\d), here: ([\d,]*\d)", stderr)
        return [int(number.replace(",", "")) for number in found.groups()]

    def where_read(self):
        return f"name = 'pread64' AND path = '{support.outer_root()}{self.file('read')}'"

    def test_the_answer_is_that_of_a_stored_trace(self):
        statement = (
            "SELECT name, class, error, count(*) AS calls, count(bytes) AS with_bytes, sum(bytes) AS bytes, min(result) AS least, max(result) AS most "
            "FROM events WHERE class IN ('file', 'metadata') GROUP BY ALL ORDER BY ALL"
        )
        command = ("--", "sh", "-c", f"exec ls -lR {os.path.join(support.ROOT, 'src')} > /dev/null")
        trace = self.record("--no-seal", "--ring", "64M", *command)
        asked = subprocess.run([DYETRACE, "sql", trace.path, statement, "--format", "json"], capture_output=True, text=True, check=True)
        recorded = [json.loads(line) for line in asked.stdout.splitlines()]
        self.assertGreater(len(recorded), 5)
        self.assertEqual(self.rows(statement, *command), recorded)

    def test_no_call_is_missing_and_none_is_counted_twice(self):
        done = self.live("--json", "--every", "50ms", f"SELECT count(*) AS calls, sum(bytes) AS bytes FROM events WHERE {self.where_read()}", *self.reads())
        windows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertGreater(len(windows), 1)
        self.assertEqual(sum(row["calls"] for row in windows), 2 * CALLS)
        self.assertEqual(sum(row["bytes"] or 0 for row in windows), 2 * CALLS)
        in_kernel, here = self.counted(done.stderr)
        self.assertEqual(in_kernel + here, 2 * CALLS)
        self.assertGreater(in_kernel, CALLS)  # here those of which the kernel did not know the file's name yet

    def test_a_statement_asks_again_what_was_counted(self):
        row, = self.rows(
            f"WITH calls AS (SELECT tid, count(*) AS n FROM events WHERE {self.where_read()} GROUP BY tid) "
            "SELECT count(*) AS threads, sum(n) AS calls, max(n / (SELECT sum(n) FROM calls)) AS share FROM calls",
            *self.reads(1000),
        )
        self.assertEqual(row, {"threads": 2, "calls": 2000, "share": 0.5})

    def test_it_ends_when_something_holds(self):
        started = "SELECT count(*) AS started FROM events WHERE name = 'execve' AND error IS NULL"
        shell = ("--", "sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done; echo done")
        done = self.live("--json", "--total", "--every", "10ms", "--until", "started > 3", started, *shell)
        lines = done.stdout.splitlines()
        self.assertEqual(lines.count("done"), 1, lines)  # whatever runs goes on until it ends
        *before, last = [json.loads(line)["started"] for line in lines if line != "done"]
        self.assertGreater(last, 3)
        self.assertTrue(all(count <= 3 for count in before), lines)
        refused = self.live("--every", "10ms", "--until", "ended > 3", started, "--", "true", status=2)
        self.assertEqual((refused.stdout, refused.stderr.count("\n")), ("", 1), refused.stderr)
        self.assertIn("ended", refused.stderr)

    def test_answers_add_up_where_they_are_to(self):
        rows = self.rows("--total", "--every", "50ms", f"SELECT count(*) AS calls FROM events WHERE {self.where_read()}", *self.reads())
        calls = [row["calls"] for row in rows]
        self.assertEqual(calls, sorted(calls))
        self.assertEqual(calls[-1], 2 * CALLS)

    def test_more_groups_than_the_kernel_has_room_for(self):
        done = self.live(
            "--json", f"SELECT start_ns, thread_id, count(*) AS calls FROM events WHERE {self.where_read()} GROUP BY ALL", *self.reads()
        )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sum(row["calls"] for row in rows), 2 * CALLS)
        in_kernel, here = self.counted(done.stderr)
        self.assertGreater(len(rows), 65_536)
        self.assertGreater(here, 1000)
        self.assertGreater(in_kernel, 1000)

    def test_what_the_kernel_does_not_know_is_counted_here(self):
        done = self.live("--json", f"SELECT path, count(*) AS calls FROM events WHERE {self.where_read()} GROUP BY path", *self.reads(500))
        (row,) = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(row, {"path": support.outer_root() + self.file("read"), "calls": 1000})
        self.assertEqual(self.counted(done.stderr)[0], 0)
        self.assertIn("path is not known in the kernel", done.stderr)

    def test_csv_has_one_header_and_a_table_is_for_people(self):
        statement = f"SELECT comm, count(*) AS calls FROM events WHERE {self.where_read()} GROUP BY comm"
        lines = self.live("--csv", "--every", "50ms", statement, *self.reads()).stdout.splitlines()
        self.assertEqual(lines[0], "window_end,comm,calls")
        self.assertEqual(lines.count(lines[0]), 1)
        self.assertGreater(len(lines), 2)
        self.assertEqual(self.live("--csv", statement, *self.reads(500)).stdout, "comm,calls\ncalls,1000\n")
        self.assertRegex(self.live(statement, *self.reads(500)).stdout, r"comm +calls\n-+ +-+\ncalls +1000\n")

    def test_what_is_counted_where_can_be_asked(self):
        lines = self.live("--explain", "SELECT comm, avg(bytes) FROM events WHERE bytes > 0 AND length(comm) > 2 GROUP BY comm").stdout.splitlines()
        self.assertEqual(lines[:3], ["where  bytes > 0", "keys   comm", "count  sum(bytes)"])
        self.assertIn("length(comm)", lines[3])

    def test_a_question_that_is_none_gets_one_line(self):
        for statement, words in (
            ("SELECT nix FROM events", '"nix" not found'),
            ("SELECT count(*) FROM", "syntax error"),
            ("SELECT count(*) FROM processes", "whose FROM is events"),
            ("DROP TABLE events", "SELECT"),
            ("SELECT count(*) FROM read_text('/etc/shadow')", "whose FROM is events"),
        ):
            done = self.live(statement, "--", "true", status=2)
            self.assertIn(words, done.stderr)
            self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        self.assertIn("for stored traces", self.live("SELECT time FROM events", "--", "true", status=1).stderr)

    def test_the_command_keeps_its_words_and_its_status(self):
        done = self.live("SELECT count(*) AS calls FROM events WHERE name = 'nosuchcall'", "--", "sh", "-c", "echo mine; exit 7", status=7)
        self.assertTrue(done.stdout.startswith("mine\n"), done.stdout)
        ignored = ("grep", "SigIgn", "/proc/self/status")
        plain = subprocess.run(ignored, capture_output=True, text=True, check=True).stdout
        self.assertTrue(self.live("--csv", "SELECT count(*) AS calls FROM events", "--", *ignored).stdout.startswith(plain))


if __name__ == "__main__":
    sys.exit(support.main())
