#!/usr/bin/env python3
"""What ended a wait, as woken_by() says it, held against what the program that waited was told."""

import subprocess

import support
from support import program


class WaitsTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        with open(self.path("told"), "w", encoding="ascii") as told:
            self.trace = support.Trace(self.path("trace"))
            subprocess.run([support.DYETRACE, "record", "-o", self.trace.path, "--", program("waits")], check=True, stdout=told, stderr=subprocess.DEVNULL, timeout=support.PATIENCE_S)
        with open(self.path("told"), encoding="ascii") as told:
            self.told = [line.split() for line in told]

    def waits(self, condition):
        """Of the first thread, in order, each with what ended it."""
        ids = [row["event_id"] for row in self.trace.rows(f"SELECT event_id FROM events WHERE tid = pid AND {condition} ORDER BY start_ns")]
        self.assertGreater(len(ids), 0)
        one_by_one = [self.trace.rows(f"FROM woken_by({event})") for event in ids]
        together = self.trace.rows(f"FROM woken_by_each([{', '.join(map(str, ids))}])")
        by_wait = [[{name: value for name, value in row.items() if name != "wait"} for row in together if str(row["wait"]) == str(event)] for event in ids]
        self.assertEqual(one_by_one, by_wait)
        return by_wait

    def told_of(self, kind):
        return [[int(word) for word in words[1:]] for words in self.told if words[0] == kind]

    def test_epoll_names_what_was_ready(self):
        waits = self.waits("name = 'epoll_wait'")
        self.assertEqual([sorted(row["fd"] for row in rows if row["rule"] == "ready") for rows in waits], [sorted(fds) for fds in self.told_of("epoll")])
        self.assertEqual({row["rule"] for rows in waits for row in rows}, {"ready"})
        self.assertEqual({row["poll_events"] for rows in waits for row in rows}, {"POLLIN"})
        port = self.trace.number("SELECT remote_port FROM events WHERE name = 'connect'")
        self.assertEqual(waits[0][0]["what"], f"clients of :{port}")
        # what the same thread then read
        then = self.trace.rows("SELECT object_id FROM events WHERE tid = pid AND name = 'read' AND object_type = 'socket' ORDER BY start_ns")
        self.assertEqual([rows[0]["object_id"] for rows in waits[1:]], [row["object_id"] for row in then])

    def test_a_condition_variable_names_the_thread_that_told(self):
        waits = self.waits("name = 'futex' AND arguments LIKE '%FUTEX_WAIT_BITSET%' AND arguments LIKE '%PRIVATE%' AND result = 0")
        self.assertEqual([[row["rule"] for row in rows] for rows in waits], [["wake"]] * len(self.told_of("wake")))
        self.assertEqual([int(rows[0]["what"].split("[")[1].rstrip("]")) for rows in waits], [tid for tid, in self.told_of("wake")])
        # the same as the causal order says
        edges = self.trace.rows("SELECT from_event, to_event FROM edges WHERE rule = 'futex'")
        wakers = [(str(row["from_event"]), str(row["to_event"])) for row in edges]
        ids = self.trace.rows("SELECT event_id FROM events WHERE tid = pid AND name = 'futex' AND arguments LIKE '%FUTEX_WAIT_BITSET%' AND arguments LIKE '%PRIVATE%' AND result = 0 ORDER BY start_ns")
        for row, woken in zip(ids, waits):
            self.assertIn((str(woken[0]["event_id"]), str(row["event_id"])), wakers)

    def test_a_thread_that_is_joined_is_named(self):
        waits = self.waits("name = 'futex' AND result = 0 AND arguments NOT LIKE '%PRIVATE%' AND arguments LIKE '%FUTEX_WAIT%'")
        self.assertEqual([[(row["rule"], row["what"]) for row in rows] for rows in waits], [[("exit", f"waits[{tid}]")] for tid, in self.told_of("exit")])

    def test_poll_and_select_say_what_was_ready_and_what_was_not(self):
        waits = self.waits("name IN ('poll', 'ppoll', 'select', 'pselect6') AND error IS NULL")
        self.assertEqual([[row["fd"] for row in rows if row["rule"] == "ready"] for rows in waits], self.told_of("poll"))
        self.assertEqual([sum(row["rule"] == "not_ready" for row in rows) for rows in waits], [2, 1, 1])
        self.assertEqual([sum(row["rule"] == "timeout" for row in rows) for rows in waits], [1, 0, 0])
        interrupted = self.waits("name IN ('poll', 'ppoll') AND error IS NOT NULL")
        self.assertEqual([(row["rule"], row["what"]) for row in interrupted[0] if row["rule"] != "not_ready"], [("signal", "SIGALRM")])
        self.assertEqual(len(interrupted), len(self.told_of("signal")))

    def test_of_what_is_no_wait_there_is_nothing(self):
        other = self.trace.number("SELECT event_id FROM events WHERE name = 'bind'")
        wake = self.trace.number("SELECT event_id FROM events WHERE name = 'futex' AND arguments LIKE '%FUTEX_WAKE%' LIMIT 1")
        self.assertEqual(self.trace.rows(f"FROM woken_by_each([{other}, {wake}, 4398046511103])"), [])


if __name__ == "__main__":
    support.main()
