#!/usr/bin/env python3
"""Probes that are kept in a trace: against a program that keeps a book of its own calls, and what the kernel switches between."""

import json
import re
import subprocess
import sys

import support
from support import DYETRACE

FUNCTIONS = support.program_of_its_own("functions")
ORDERS = 3_000
SWITCH = "tracepoint('sched', 'sched_switch')"


def function(name):
    return f"user_function('{FUNCTIONS}', '{name}')"


def rows_of(trace, statement):
    """Numbers as numbers: none of these is too large for JSON."""
    def value(text):
        return int(text) if isinstance(text, str) and re.fullmatch(r"-?\d+", text) else text

    return [{name: value(text) for name, text in row.items()} for row in trace.rows(statement)]


class RecordedProbesTest(support.EndToEndTest):
    def recorded(self, probes, *command, options=(), name="trace"):
        """The trace, and what the command said about itself."""
        asked = [word for probe in probes for word in ("--probe", probe)]
        trace = self.record(*asked, *options, "--", *command, name=name)
        lines = [line for line in trace.printed.splitlines() if line.startswith("{")]
        return trace, json.loads(lines[0]) if lines else None

    def books_close(self, trace):
        """Each firing that was counted is an event, and the other way round."""
        (own,) = rows_of(trace, "SELECT generated, filtered, delivered, lost FROM accounting WHERE cpu = (SELECT max(cpu) FROM accounting)")
        fired = trace.number("SELECT count(*) FROM events WHERE kind = 'probe'")
        self.assertEqual(own["generated"], own["filtered"] + own["delivered"] + own["lost"])
        self.assertEqual(own["delivered"], fired)
        return fired

    def test_calls_of_a_function_with_what_they_got_and_gave(self):
        trace, said = self.recorded([function("work")], FUNCTIONS, "orders", str(ORDERS))
        self.assertEqual(self.books_close(trace), ORDERS)
        (row,) = rows_of(trace, 
            "SELECT count(*) AS calls, sum(result) AS results, sum(duration_ns) AS ns, min(duration_ns) > 0 AS all_last, count(DISTINCT process_id) AS processes, any_value(name) AS name, "
            "any_value(class) AS class, any_value(state) AS state, sum((arguments->>'amount')::INTEGER) AS amounts FROM events WHERE kind = 'probe'"
        )
        self.assertEqual((row["calls"], row["results"], row["processes"], row["name"], row["class"], row["state"]), (ORDERS, said["results"], 1, "work", "other", "finished"))
        self.assertEqual(row["amounts"], sum(i % 5 - 2 for i in range(ORDERS)))
        self.assertTrue(row["all_last"])
        self.assertGreater(row["ns"], said["inside_ns"])
        self.assertLess(row["ns"], said["outside_ns"])
        kinds = rows_of(trace, "SELECT arguments->>'kind' AS kind, count(*) AS calls FROM events WHERE kind = 'probe' GROUP BY 1")
        kinds = {row["kind"]: row["calls"] for row in kinds}
        # text on a page that nobody has touched yet is left out: at most the first call of each kind
        self.assertGreaterEqual(kinds["retail"], ORDERS // 3 - 1)
        self.assertGreaterEqual(kinds["wholesale"], ORDERS - ORDERS // 3 - 1)
        # who called is who made the calls of the kernel: the same process, in the same order
        (row,) = rows_of(trace, 
            f"SELECT count(*) AS calls FROM events p JOIN processes USING (process_id) WHERE kind = 'probe' AND p.exe = '{support.outer_root()}{FUNCTIONS}' AND p.pid = processes.pid AND ends_with(processes.command, 'orders {ORDERS}')"
        )
        self.assertEqual(row["calls"], ORDERS)
        # what the kernel calls to come back from a probed function is no call of the program
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE name IN ('uretprobe', 'uprobe')"), 0)
        last = trace.number("SELECT max(start_ns) FROM events WHERE kind = 'probe'")
        self.assertLess(trace.number(f"SELECT count(*) FROM events WHERE kind = 'syscall' AND name = 'exit_group' AND start_ns < {last}"), 1)
        self.assertEqual(rows_of(trace, "SELECT name, probe FROM probes"), [{"name": "work", "probe": function("work")}])
        (coverage,) = rows_of(trace, "SELECT state, reason FROM coverage WHERE starts_with(source, 'probe ')")
        self.assertEqual(coverage["state"], "on")

    def test_a_condition_is_decided_where_it_fires(self):
        wanted = [i for i in range(ORDERS) if i % 5 - 2 > 0 and i % 3 == 0]
        trace, _ = self.recorded([function("work") + " where arguments.amount > 0 AND arguments.kind = 'retail'"], FUNCTIONS, "orders", str(ORDERS))
        fired = self.books_close(trace)
        # text on a page that nobody has touched yet is no text: the first call of each kind
        self.assertIn(fired, (len(wanted), len(wanted) - 1))
        self.assertEqual(trace.number("SELECT filtered FROM accounting ORDER BY cpu DESC LIMIT 1"), ORDERS - fired)
        # what the kernel cannot tell is decided by the recorder
        trace, _ = self.recorded([function("work") + " WHERE arguments.kind ILIKE 'RE%' AND result < 0"], FUNCTIONS, "orders", str(ORDERS), name="here")
        fired = self.books_close(trace)
        wanted = [i for i in range(ORDERS) if i % 3 == 0 and -(i % 100) - (i % 5 - 2) < 0]
        self.assertIn(fired, (len(wanted), len(wanted) - 1))
        self.assertEqual(trace.number("SELECT filtered FROM accounting ORDER BY cpu DESC LIMIT 1"), ORDERS - fired)

    def test_several_probes_functions_of_a_pattern_and_marks(self):
        threads, calls = 4, 2_000
        trace, _ = self.recorded(
            [function("f00[0-4]?"), function("busy")], "sh", "-c", f"{FUNCTIONS} many; {FUNCTIONS} threads {threads} {calls}"
        )
        counted = {row["name"]: row["calls"] for row in rows_of(trace, "SELECT name, count(*) AS calls FROM events WHERE kind = 'probe' GROUP BY 1")}
        self.assertEqual(counted, {f"f{i:04}": i % 7 + 1 for i in range(50)} | {"busy": threads * calls})
        self.books_close(trace)
        numbers = rows_of(trace, "SELECT (arguments->>'number')::BIGINT AS number, count(*) AS n, count(DISTINCT thread_id) AS threads FROM events WHERE name = 'busy' GROUP BY 1")
        self.assertEqual({row["number"] for row in numbers}, {i * 8 + t for t in range(threads) for i in range(calls)})
        self.assertEqual({(row["n"], row["threads"]) for row in numbers}, {(1, 1)})
        self.assertEqual(trace.number("SELECT count(DISTINCT thread_id) FROM events WHERE name = 'busy'"), threads)
        trace, said = self.recorded([f"usdt('{FUNCTIONS}', 'shop', 'order')"], FUNCTIONS, "orders", "300", name="marks")
        self.assertEqual(said["listened"], 300)
        rows = rows_of(trace, "SELECT (arguments->>'arg0')::INTEGER AS first, count(*) AS n FROM events WHERE kind = 'probe' AND name = 'shop:order' GROUP BY 1 ORDER BY 1")
        self.assertEqual(rows, [{"first": i, "n": 60} for i in range(-2, 3)])

    def test_stacks(self):
        trace, _ = self.recorded([function("work")], "sh", "-c", f"{FUNCTIONS} orders {ORDERS * 20}", options=("--stacks", "both"))
        rows = rows_of(trace, "SELECT user_stack, kernel_stack, count(*) AS calls FROM events LEFT JOIN stacks USING (stack_id) WHERE kind = 'probe' GROUP BY ALL")
        named = [row for row in rows if (row["user_stack"] or "").endswith(";outer;work")]
        self.assertEqual(sum(row["calls"] for row in named), ORDERS * 20, rows)

    def test_who_is_no_process_that_was_recorded(self):
        """What the kernel switches between: threads of its own, that make no calls."""
        trace, _ = self.recorded([SWITCH], "sh", "-c", "sleep 0.3; ls -R /usr/include > /dev/null", options=("-a",))
        fired = self.books_close(trace)
        self.assertGreater(fired, 10)
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE kind = 'probe' AND (process_id IS NULL OR comm IS NULL)"), 0)
        # the tracepoint says who leaves the CPU, and it is who the event is about
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE kind = 'probe' AND tid <> (arguments->>'prev_pid')::INTEGER"), 0)
        # one that makes no calls: the kernel's own thread for what is freed later
        self.assertGreater(trace.number("SELECT count(*) FROM events WHERE kind = 'probe' AND starts_with(comm, 'rcu_')"), 0)
        # nobody is two processes, whoever announced him
        self.assertEqual(rows_of(trace, "SELECT pid, list(process_id) AS ids FROM (SELECT DISTINCT pid, process_id FROM events WHERE pid > 0) GROUP BY pid HAVING count(*) > 1"), [])
        # who comes and who goes, on each CPU in turn
        broken = trace.number(
            "SELECT count(*) FROM (SELECT (arguments->>'prev_pid')::INTEGER AS goes, lag((arguments->>'next_pid')::INTEGER) OVER (PARTITION BY cpu ORDER BY start_ns, event_id) AS came "
            "FROM events WHERE kind = 'probe' AND NOT EXISTS (FROM gaps)) WHERE came IS NOT NULL AND goes <> came"
        )
        # those of the recorder itself are left out: where it ran, somebody came and nobody went
        self.assertLess(broken, fired)

    def test_a_killed_recorder_leaves_what_it_wrote(self):
        trace, recorder = self.start_recording("--probe", function("busy"), "--", FUNCTIONS, "threads", "1", "2000000000")
        fired = "SELECT count(*) FROM events WHERE kind = 'probe'"
        self.wait_for(lambda: trace.number(fired) > 1000, "events of the probe")
        (busy,) = support.children_of(recorder.pid, "functions")
        recorder.kill()
        recorder.wait()
        support.os.kill(busy, support.signal.SIGKILL)
        self.assertGreater(trace.number(fired), 1000)
        # all of them name who and where
        self.assertEqual(trace.number(f"{fired} AND (name IS NULL OR process_id IS NULL OR comm IS NULL)"), 0)
        self.assertGreater(trace.number("SELECT count(*) FROM gaps WHERE reason = 'recorder_died'"), 0)

    def test_secrets_in_arguments_are_hidden(self):
        trace, _ = self.recorded([function("work")], FUNCTIONS, "orders", "30", options=("--redact", "wholesale"))
        kinds = {row["kind"] for row in rows_of(trace, "SELECT arguments->>'kind' AS kind FROM events WHERE kind = 'probe'")}
        self.assertEqual(kinds - {None}, {"retail", "*********"})

    def test_what_is_not_there_is_said_in_a_line(self):
        cases = {
            function("wrok"): "did you mean 'work'?",
            "tracepoint('sched', 'sched_swich')": "sched_switch",
            "events": "events",
            "timer('tomorrow')": "tomorrow",
            function("work") + " WHERE arguments.amuont > 0": "arguments.amount",
            function("w*") + " WHERE function = 'work'": "function",
        }
        for probe, said in cases.items():
            with self.subTest(probe):
                done = subprocess.run([DYETRACE, "record", "-o", self.path("none"), "--probe", probe, "--", "true"], capture_output=True, text=True, timeout=support.PATIENCE_S)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, "^dyetrace: error: --probe ")
                self.assertIn(said, done.stderr)
                self.assertFalse(support.os.path.exists(self.path("none")))


if __name__ == "__main__":
    sys.exit(support.main())
