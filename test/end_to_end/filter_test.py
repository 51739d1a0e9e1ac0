#!/usr/bin/env python3
"""A filter selects the same rows while recording, in the kernel, as the same condition afterwards, in SQL.

One process is recorded by several recorders at once: one without a filter, one per condition. What a recorder with a condition kept
must be what that condition selects from the full trace, call by call.
"""

import os
import random
import sys

import support

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "varied.py")
ROUNDS = 2
CONDITIONS = 8
# what tells one call from another and is the same for all who watch
COLUMNS = ("tid, comm, kind, name, state, result, error, fd, object_type, path, argument_path, path2, bytes, requested, file_offset, "
           "local_port, remote_port, class")
# pieces that random conditions are made of
PIECES = (
    "name = 'write'", "name IN ('openat', 'read', 'rename')", "name LIKE 'rea%'", "class = 'file'", "class = 'network'", "error IS NOT NULL",
    "error = 'ENOENT'", "result < 0", "bytes > 60", "requested BETWEEN 10 AND 4096", "fd = 3", "fd < 0", "fd IS NULL", "path LIKE '%.txt'",
    "path GLOB '*/new/*'", "path GLOB '*/old*'", "argument_path LIKE '%c\u00e4%'", "path IS NULL", "comm = 'other name'", "comm LIKE 'var%'",
    "object_type = 'socket'", "remote_port = {port}", "local_port = {port}", "connection_id IS NULL", "file_offset >= 1000", "duration_ns > 15000000",
    "file_offset IS NULL", "path2 IS NOT NULL", "pid <> {pid}", "tid = {pid}",
    "kind = 'tracepoint'", "arguments LIKE '%SIGUSR1%'", "name <> 'signal_deliver'", "class = 'process'", "abi IS NULL",
)


class FilterTest(support.EndToEndTest):
    def start_program(self):
        running = self.start([sys.executable, PROGRAM, self.folder], stdin=-1, stdout=-1)
        self.addCleanup(running.stdout.close)
        self.port = int(running.stdout.readline())
        return running

    def calls(self, trace, condition):
        # each thread by itself: two threads' order is not the same for all
        return trace.rows(f"SELECT {COLUMNS} FROM events WHERE parent_event_id IS NULL AND state = 'finished' AND ({condition}) "
                          "ORDER BY tid, start_ns, event_id")

    def end(self, running, recorders):
        for _ in range(ROUNDS):
            running.stdin.write(b"\n")
            running.stdin.flush()
            self.assertEqual(running.stdout.readline(), b"done\n")
        running.stdin.close()
        for recorder in recorders:  # the process is not waited for yet, and has ended all the same
            self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)

    def compare(self, running, filters):
        """Filters are (options, the condition in SQL that they stand for)."""
        begin = [self.start_recording("-p", str(running.pid), "--no-seal", name="full")]
        begin += [self.start_recording("-p", str(running.pid), "--no-seal", *options, name=f"part{number}")
                  for number, (options, _) in enumerate(filters)]
        self.end(running, [recorder for _, recorder in begin])
        full, *parts = [trace for trace, _ in begin]
        # The recorders began at different times, while the program waited to be told, and to be called: nobody saw when these calls began.
        whole = "NOT (duration_ns IS NULL AND name IN ('read', 'accept4'))"
        self.assertGreater(len(self.calls(full, whole)), 150 * ROUNDS)
        for (options, condition), part in zip(filters, parts):
            with self.subTest(options=options):
                self.assertEqual(self.calls(part, whole), self.calls(full, f"({condition}) AND {whole}"))
                self.assertEqual(self.calls(part, f"NOT coalesce(({condition}), false)"), [])
                accounting = part.accounting()
                self.assertEqual(accounting["generated"], accounting["filtered"] + accounting["delivered"] + accounting["lost"])
                self.assertEqual(accounting["lost"], 0)

    def test_short_forms_mean_what_they_stand_for(self):
        new = f"*{self.path('new')}/*"  # in a chroot a path begins with what lies above it
        self.compare(self.start_program(), [
            (["--errors"], "is_failure(error, class)"),
            (["--comm", "other name"], "comm = 'other name'"),
            (["-P", new], f"path GLOB '{new}' OR argument_path GLOB '{new}' OR path2 GLOB '{new}'"),
            (["--longer", "15ms"], "duration_ns > 15000000"),
            (["--where", "path LIKE '%/a.txt'"], "path LIKE '%/a.txt'"),
        ])

    def test_signals(self):
        """The kernel's part of a condition sees system calls only and lets every signal through."""
        running = self.start_program()
        self.compare(running, [(["--where", text], text) for text in (
            "name = 'signal_deliver'", "comm = 'other name' AND kind = 'tracepoint'", f"arguments LIKE '%SIGUSR2%\"pid\":{running.pid},%'",
            "result = 10 AND abi IS NULL", "name = 'write'")])
        full = support.Trace(self.path("full"))
        self.assertEqual(full.number("SELECT count(*) FROM events WHERE name = 'signal_deliver'"), 2 * ROUNDS)

    def test_a_port(self):
        running = self.start_program()
        trace, recorder = self.start_recording("-p", str(running.pid), "--no-seal", "--port", str(self.port))
        self.end(running, [recorder])
        of_port = f"coalesce(local_port = {self.port} OR remote_port = {self.port}, false)"
        self.assertEqual(trace.number(f"SELECT count(*) FROM events WHERE NOT {of_port}"), 0)
        self.assertEqual(trace.number("SELECT sum(bytes) FROM events WHERE name = 'sendto'"), ROUNDS * (2 * (1 + 20 + 300) + 40))
        self.assertEqual(trace.number("SELECT sum(bytes) FROM events WHERE name = 'splice' AND connection_id IS NOT NULL"), ROUNDS * 40)

    def test_random_conditions(self):
        seed = random.randrange(2**32)
        print(f"seed {seed}", file=sys.stderr)
        numbers = random.Random(seed)

        def condition(depth):
            if depth == 0:
                return numbers.choice(PIECES)
            if numbers.random() < 0.25:
                return f"NOT ({condition(depth - 1)})"
            return f"({condition(depth - 1)}) {numbers.choice(('AND', 'OR'))} ({condition(depth - 1)})"

        running = self.start_program()
        texts = [condition(numbers.choice((0, 1, 2))).format(port=self.port, pid=running.pid) for _ in range(CONDITIONS)]
        self.compare(running, [(["--where", text], text) for text in texts])


if __name__ == "__main__":
    support.main()
