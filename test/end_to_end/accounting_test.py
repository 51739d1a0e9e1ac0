#!/usr/bin/env python3
"""The accounting: every call is in the trace or counted as lost, exactly, on all CPUs."""

import os
import signal

import support
from support import program

THREADS = 2 * os.cpu_count()
CALLS = 2_000_000 // THREADS
BIG_RING = "256M"  # half a million events of 200 bytes, on the busiest CPU too
SMALL_RING = "64K"


class AccountingTest(support.EndToEndTest):
    def record_calls(self, count, ring, name):
        command = [program("calls"), self.file("read_by_calls"), str(THREADS), str(count)]
        trace = self.record("--ring", ring, "--", *command, name=name)
        marked = trace.number(f"SELECT count(*) FROM events WHERE name = 'pread64' AND ends_with(path, '{self.path('read_by_calls')}')")
        return trace, trace.accounting(), trace.number("SELECT count(*) FROM events"), marked

    @staticmethod
    def calls_besides(trace):
        rows = trace.rows("SELECT name, state, count(*) AS calls FROM events WHERE path IS NULL OR NOT ends_with(path, 'read_by_calls') "
                          "GROUP BY ALL ORDER BY ALL")
        return {(row["name"], row["state"]): int(row["calls"]) for row in rows}

    def test_what_belongs_to_an_event_is_not_counted_among_events(self):
        trace = self.record("--", "python3", "-c", "import os, select\nends = os.pipe()\nos.write(ends[1], b'x')\n"
                            "for i in range(100): select.select(ends[:1], ends[1:], [])")
        self.assertGreaterEqual(trace.number("SELECT count(*) FROM event_objects"), 200)
        events = trace.number("SELECT count(*) FROM events WHERE parent_event_id IS NULL")
        self.assertIn(f": {events:,} events in ", trace.said)

    def test_every_call_is_counted(self):
        trace, few, stored, marked = self.record_calls(1, BIG_RING, "few")
        self.assertEqual(marked, THREADS)
        self.assertEqual(few["generated"], stored)
        starting = stored - marked  # the program's calls besides: the same for any number of calls
        besides = self.calls_besides(trace)

        with self.subTest("with a ring that holds them"):
            trace, accounting, stored, marked = self.record_calls(CALLS, BIG_RING, "all")
            self.assertEqual(marked, THREADS * CALLS)
            self.assertEqual(self.calls_besides(trace), besides)
            self.assertEqual(accounting["generated"], THREADS * CALLS + starting)
            self.assertEqual(accounting["delivered"], accounting["generated"])
            self.assertEqual(stored, accounting["generated"])
            self.assertEqual((accounting["lost"], accounting["filtered"], accounting["aggregated"]), (0, 0, 0))
            self.assertEqual(trace.number("SELECT count(*) FROM gaps"), 0)
            self.assertEqual(trace.warnings, "")
            self.assertIn("nothing lost", trace.said)
            self.assertEqual(trace.number("SELECT count(DISTINCT cpu) FROM events WHERE name = 'pread64'"), os.cpu_count())

        with self.subTest("with a ring that is too small"):
            trace, accounting, stored, marked = self.record_calls(CALLS, SMALL_RING, "some")
            self.assertEqual(accounting["generated"], THREADS * CALLS + starting)
            self.assertGreater(accounting["lost"], 0)
            self.assertEqual(accounting["generated"], accounting["delivered"] + accounting["lost"])
            self.assertEqual(stored, accounting["delivered"])
            self.assertEqual(trace.number("SELECT sum(lost) FROM gaps WHERE reason = 'ring_full'"), accounting["lost"])
            self.assertIn(f"{accounting['lost']:,} of {accounting['generated']:,} events were lost", trace.said)
            self.assertIn(f"{accounting['lost']:,}", trace.warnings)
            self.assertIn("gaps", trace.warnings)

    def test_gaps_cover_the_times_of_the_losses_and_no_event_lies_between_two_that_were_kept(self):
        trace, _, _, _ = self.record_calls(CALLS // 4, SMALL_RING, "some")
        # a jump of the sequence is a loss: each must lie in a gap of its CPU, and the jumps add up to the gaps
        jumps = trace.numbers("""
            WITH kept AS (SELECT cpu, sequence, start_ns + coalesce(duration_ns, 0) AS end_ns,
                                 lead(sequence) OVER by_cpu AS next_sequence,
                                 lead(start_ns + coalesce(duration_ns, 0)) OVER by_cpu AS next_end_ns
                          FROM internal.raw_syscall_event WINDOW by_cpu AS (PARTITION BY cpu ORDER BY sequence))
            SELECT count(*) AS jumps, sum(next_sequence - sequence - 1) AS missing, count(*) FILTER (NOT EXISTS (
                       FROM internal.raw_gap g WHERE g.cpu = kept.cpu AND g.begin_ns <= next_end_ns AND g.end_ns >= kept.end_ns)) AS uncovered
            FROM kept WHERE next_sequence <> sequence + 1""")
        lost_at_the_end = trace.number("""
            SELECT sum(a.generated - 1 - e.last) FROM accounting a
            JOIN (SELECT cpu, max(sequence) AS last FROM internal.raw_syscall_event GROUP BY cpu) e USING (cpu)""")
        self.assertGreater(jumps["jumps"], 0)
        self.assertEqual(jumps["uncovered"], 0)
        self.assertEqual(jumps["missing"] + lost_at_the_end, trace.number("SELECT sum(lost) FROM gaps"))

    def test_names_that_were_lost_come_again(self):
        """While the recorder is held still, more files are opened than the facts ring holds; then the same ones again."""
        files, folder = 20_000, self.path("n" * 200)
        os.mkdir(folder)
        for number in range(files):
            open(f"{folder}/{number}", "w", encoding="ascii").close()
        script = self.path("open_all.py")
        with open(script, "w", encoding="ascii") as file:
            file.write("import os, sys\n"
                       "def open_all(flags):\n"
                       f"    for number in range({files}):\n"
                       f"        os.close(os.open(f'{folder}/{{number}}', flags))\n"
                       "sys.stdin.readline()\n"
                       "open_all(os.O_RDONLY); print('first', flush=True)\n"
                       "sys.stdin.readline()\n"
                       "open_all(os.O_WRONLY)\n")
        reader = self.start(["taskset", "-c", "0", "python3", script], stdin=-1, stdout=-1)
        self.addCleanup(reader.stdout.close)
        trace, recorder = self.start_recording("-p", str(reader.pid))
        recorder.send_signal(signal.SIGSTOP)
        reader.stdin.write(b"\n")
        reader.stdin.flush()
        self.assertEqual(reader.stdout.readline(), b"first\n")
        recorder.send_signal(signal.SIGCONT)
        self.wait_for(lambda: trace.number("SELECT (SELECT count(*) FROM events WHERE name = 'openat') + (SELECT sum(lost) FROM accounting)") >= files,
                      "the recorder has read what came while it was held still")
        reader.stdin.write(b"\n")
        reader.stdin.close()
        self.assertEqual(reader.wait(timeout=support.PATIENCE_S), 0)
        self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)
        self.assertGreater(trace.accounting()["facts_lost"], 0, "no fact was lost: the test did not reach its point")
        named = trace.numbers(f"""SELECT count(*) AS opens, count(DISTINCT path) AS paths, count(DISTINCT object_id) AS objects
            FROM events WHERE name = 'openat' AND open_flags LIKE '%O_WRONLY%' AND path LIKE '%{folder}/%'""")
        self.assertEqual(named, {"opens": files, "paths": files, "objects": files})


if __name__ == "__main__":
    support.main()
