#!/usr/bin/env python3
"""Attached in mid-run: what was open before is known, so that no event has an unknown descriptor."""

import os
import sys

import support

THREADS = 100
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "attached.py")
KINDS = {"file", "directory", "pipe", "socket", "anonymous"}


class AttachTest(support.EndToEndTest):
    def start_program(self):
        running = self.start([sys.executable, PROGRAM, self.folder, str(THREADS)], stdin=-1, stdout=-1)
        self.addCleanup(running.stdout.close)
        self.assertEqual(running.stdout.readline(), b"ready\n")
        return running

    def check(self, running, *options, end):
        trace, recorder = self.start_recording(*options, name="trace")
        mine = f"pid = {running.pid}"
        self.wait_for(lambda: trace.number(f"SELECT count(*) FROM events WHERE {mine} AND name = 'fsync'") > 5, "it is recorded")
        if end:
            running.stdin.close()
            self.assertEqual(running.wait(timeout=support.PATIENCE_S), 0)
            self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)
        else:
            self.assertEqual(self.stop(recorder), 0)
            running.stdin.close()
            self.assertEqual(running.wait(timeout=support.PATIENCE_S), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM gaps"), 0)
        unknown = trace.rows("SELECT name, state, error, fd, count(*) AS calls FROM events "
                             "WHERE fd >= 0 AND object_id IS NULL AND error IS DISTINCT FROM 'EBADF' AND state = 'finished' GROUP BY ALL")
        self.assertEqual(unknown, [])
        kinds = trace.rows(f"SELECT DISTINCT object_type FROM events WHERE {mine} AND fd >= 0 AND object_type IS NOT NULL")
        self.assertLessEqual(KINDS, {row["object_type"] for row in kinds})
        self.assertEqual(trace.number(f"SELECT count(DISTINCT tid) FROM events WHERE {mine}"), THREADS + 1)
        paths = {row["path"] for row in trace.rows(f"SELECT DISTINCT path FROM events WHERE {mine} AND name = 'pwrite64'")}
        expected = {self.path(name) for name in ("renamed", "of_thread", *(f"file{number}" for number in range(2, 8)))}
        # in a chroot a path begins with what lies above it
        self.assertEqual([name for name in expected if not any(path.endswith(name) for path in paths)], [])
        ends = trace.rows(f"SELECT DISTINCT local_address, remote_address FROM events WHERE {mine} AND name = 'sendto' AND bytes = 8")
        self.assertEqual(ends, [{"local_address": "127.0.0.1", "remote_address": "127.0.0.1"}])
        return trace

    def test_a_process_with_many_threads(self):
        running = self.start_program()
        self.check(running, "-p", str(running.pid), end=True)

    def test_the_whole_system(self):
        running = self.start_program()
        self.check(running, "-a", "--ring", "128M", end=False)  # whatever else goes on here


if __name__ == "__main__":
    support.main()
