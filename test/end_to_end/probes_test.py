#!/usr/bin/env python3
"""Questions about probes, answered where they fire: against programs that keep a book of their own calls, and the counters of real servers."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading

import servers
import support
from support import DYETRACE

FUNCTIONS = support.program_of_its_own("functions")
ORDERS = 30_000
MANY = 8_000


class ProbesTest(support.EndToEndTest):
    def live(self, *arguments, status=0):
        done = subprocess.run([DYETRACE, "live", *arguments], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def ask(self, statement, *command, options=()):
        """The rows, what the program said about itself, and how many rows were counted in the kernel and here."""
        done = self.live("--json", *options, statement, "--", *command)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        rows = [line for line in lines if "inside_ns" not in line]
        said = [line for line in lines if "inside_ns" in line]
        found = re.search(r"rows counted in the kernel: ([\d,]*\d), here: ([\d,]*\d)", done.stderr)
        self.counted = [int(number.replace(",", "")) for number in found.groups()]
        return rows, said[0] if said else None

    def orders(self, columns, rest="GROUP BY ALL ORDER BY ALL", function="work", **more):
        return self.ask(f"SELECT {columns} FROM user_function('{FUNCTIONS}', '{function}') AS f {rest}", FUNCTIONS, "orders", str(ORDERS), **more)

    def test_arguments_and_members_of_what_they_point_to(self):
        columns = "arguments.kind, arguments.order.customer.number AS number, arguments.order.customer.name AS name, arguments.order.is_new AS is_new"
        numbers = "count(*) AS calls, min(arguments.amount) AS least, max(arguments.amount) AS most, sum(arguments.order.amount) AS amounts, max(arguments.order.id) AS id"
        rows, _ = self.orders(f"{columns}, {numbers}")
        retail = [i for i in range(ORDERS) if i % 3 == 0]
        wholesale = [i for i in range(ORDERS) if i % 3 != 0]
        amounts = [-sum(i % 100 for i in those) for those in (retail, wholesale)]
        self.assertEqual([row | {"name": None} for row in rows if row["name"] is not None and row["kind"] is not None], [
            {"kind": "retail", "number": -7, "name": None, "is_new": 1, "calls": rows[0]["calls"], "least": -2, "most": 2, "amounts": rows[0]["amounts"], "id": retail[-1] << 40},
            {"kind": "wholesale", "number": 70000, "name": None, "is_new": 0, "calls": rows[1]["calls"], "least": -2, "most": 2, "amounts": rows[1]["amounts"], "id": wholesale[-1] << 40},
        ])
        self.assertEqual([row["name"] for row in rows[:2]], ["Ann", "Bob of été"])
        # text on a page that nobody has touched yet is NULL: at most the first call of each kind
        self.assertEqual(sum(row["calls"] for row in rows), ORDERS)
        self.assertGreaterEqual(rows[0]["calls"], len(retail) - 1)
        self.assertGreaterEqual(rows[1]["calls"], len(wholesale) - 1)
        self.assertEqual(sum(row["amounts"] for row in rows), sum(amounts))

    def test_results_and_durations(self):
        (row,), said = self.orders("count(*) AS calls, count(result) AS returned, sum(result) AS results, min(result) AS least, sum(duration_ns) AS ns, min(duration_ns) AS shortest", "")
        self.assertEqual((row["calls"], row["returned"], row["results"], row["least"]), (ORDERS, ORDERS, said["results"], -101))
        # the function's own clock ran inside of what is measured, and the caller's around it
        self.assertGreater(row["ns"], said["inside_ns"])
        self.assertLess(row["ns"], said["outside_ns"])
        self.assertGreater(row["shortest"], 0)

    def test_functions_that_call_themselves(self):
        rows, _ = self.orders("arguments.n, result, count(*) AS calls", function="deep")
        expected = [{"n": n, "result": 3**n, "calls": sum(1 for i in range(ORDERS) if i % 6 >= n)} for n in range(6)]
        self.assertEqual(rows, expected)

    def test_threads_on_all_cpus_and_no_call_is_missing(self):
        threads, calls = 6, support.deep(20_000, 100_000)
        statement = f"SELECT count(*) AS calls, sum(arguments.number) AS numbers, min(arguments.number) AS least, max(arguments.number) AS most FROM user_function('{FUNCTIONS}', 'busy')"
        rows, _ = self.ask(statement, FUNCTIONS, "threads", str(threads), str(calls), options=("--every", "100ms"))
        self.assertEqual(sum(row["calls"] for row in rows), threads * calls)
        self.assertEqual(sum(row["numbers"] or 0 for row in rows), sum(i * 8 + t for t in range(threads) for i in range(calls)))
        self.assertEqual(min(row["least"] for row in rows if row["least"] is not None), 0)
        self.assertEqual(max(row["most"] for row in rows if row["most"] is not None), (calls - 1) * 8 + threads - 1)

    def test_every_function_of_a_large_program(self):
        rows, _ = self.ask(f"SELECT function, count(*) AS calls FROM user_function('{FUNCTIONS}', 'f[0-9]*') GROUP BY function", FUNCTIONS, "many")
        self.assertEqual({row["function"]: row["calls"] for row in rows}, {f"f{i:04}": i % 7 + 1 for i in range(MANY)})

    def test_conditions(self):
        rows, _ = self.orders("count(*) AS calls", "WHERE arguments.order.amount BETWEEN -50 AND -41 AND arguments.kind = 'retail'")
        self.assertEqual(rows, [{"calls": sum(1 for i in range(ORDERS) if i % 3 == 0 and 41 <= i % 100 <= 50)}])
        self.assertEqual(self.counted[1], 0)
        # what the kernel cannot decide is decided here
        rows, _ = self.orders("count(*) AS calls", "WHERE arguments.order.customer.name LIKE 'Bo%été'")
        wholesale = ORDERS - len(range(0, ORDERS, 3))
        self.assertIn(rows[0]["calls"], (wholesale - 1, wholesale))
        self.assertEqual(self.counted[0], 0)
        self.assertGreaterEqual(self.counted[1], ORDERS - 2)

    def test_more_groups_than_the_kernel_has_room_for(self):
        calls = 90_000
        rows, _ = self.ask(
            f"SELECT arguments.number, count(*) AS calls FROM user_function('{FUNCTIONS}', 'busy') GROUP BY 1", FUNCTIONS, "threads", "1", str(calls)
        )
        self.assertEqual({row["number"]: row["calls"] for row in rows}, {i * 8: 1 for i in range(calls)})
        self.assertGreaterEqual(self.counted[0], 65_000)
        self.assertEqual(sum(self.counted), calls)

    def test_marks_of_a_program(self):
        statement = "SELECT arguments.arg0, str(arguments.arg1) AS name, count(*) AS calls FROM usdt('{}', 'shop', 'order') GROUP BY ALL ORDER BY ALL"
        rows, said = self.ask(statement.format(FUNCTIONS), FUNCTIONS, "orders", str(ORDERS))
        self.assertEqual(sum(row["calls"] for row in rows), ORDERS)
        expected = {}
        for i in range(ORDERS):
            key = (i % 5 - 2, "Ann" if i % 3 == 0 else "Bob of été")
            expected[key] = expected.get(key, 0) + 1
        self.assertEqual({(row["arg0"], row["name"]): row["calls"] for row in rows}, expected)
        self.assertEqual(said["listened"], ORDERS)  # the program is told that somebody listens
        _, said = self.orders("count(*)", "")
        self.assertEqual(said["listened"], 0)

    def test_only_the_command_is_counted_or_everybody(self):
        statement = f"SELECT count(*) AS calls FROM user_function('{FUNCTIONS}', 'work')"
        with subprocess.Popen([DYETRACE, "live", "--json", "--every", "100ms", statement], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as everybody:
            self.assertEqual(json.loads(everybody.stdout.readline())["calls"], 0)
            rows, _ = self.ask(statement, "sh", "-c", f"{FUNCTIONS} orders 100; exec {FUNCTIONS} orders 20")
            self.assertEqual(rows, [{"calls": 120}])
            subprocess.run([FUNCTIONS, "orders", "1000"], check=True, stdout=subprocess.DEVNULL)
            calls = 0
            while calls < 1120:
                calls += json.loads(everybody.stdout.readline())["calls"]
            everybody.terminate()
            self.assertEqual(calls + sum(json.loads(line)["calls"] for line in everybody.stdout), 1120)

    def test_stacks(self):
        self.ask(f"SELECT user_stack FROM user_function('{FUNCTIONS}', 'work') WHERE FALSE", FUNCTIONS, "orders", "1")
        # a program that lives on while its names are looked up
        rows, _ = self.ask(
            f"SELECT user_stack, count(*) AS calls FROM user_function('{FUNCTIONS}', 'work') GROUP BY ALL", "sh", "-c", f"{FUNCTIONS} orders {ORDERS * 20}"
        )
        named = [row for row in rows if row["user_stack"].endswith("main;outer;work") or row["user_stack"].endswith("run_orders(int);outer;work")]
        self.assertEqual(sum(row["calls"] for row in named), ORDERS * 20, rows)

    def test_the_latest_before(self):
        statement = "SELECT {} FROM user_function('{}', '{}') AS a ASOF JOIN user_function('{}', '{}') AS b ON a.tid = b.tid AND a.time_ns >= b.time_ns {}"

        def joined(columns, later, earlier, rest=""):
            return self.ask(statement.format(columns, FUNCTIONS, later, FUNCTIONS, earlier, rest), FUNCTIONS, "orders", str(ORDERS))[0]

        # each work() is called by the outer() before it, with the same arguments
        columns = "count(*) AS calls, sum(a.arguments.amount - b.arguments.amount) AS difference, min(a.time_ns - b.time_ns) > 0 AS is_later, max(b.arguments.amount) AS most"
        self.assertEqual(joined(columns, "work", "outer"), [{"calls": ORDERS, "difference": 0, "is_later": True, "most": 2}])
        # the first outer() has none before it, and the others the work() of the order before
        rows = joined("b.arguments.amount AS before, a.arguments.amount AS own, count(*) AS calls", "outer", "work", "GROUP BY ALL ORDER BY ALL")
        expected = {}
        for i in range(1, ORDERS):
            pair = ((i - 1) % 5 - 2, i % 5 - 2)
            expected[pair] = expected.get(pair, 0) + 1
        self.assertEqual({(row["before"], row["own"]): row["calls"] for row in rows}, expected)
        # a function with itself: the one before it, not its own firing
        rows = joined("b.arguments.amount AS before, a.arguments.amount AS own, count(*) AS calls", "work", "work", "GROUP BY ALL ORDER BY ALL")
        self.assertEqual({(row["before"], row["own"]): row["calls"] for row in rows}, expected)
        # of who returned, what it returned
        self.assertEqual(joined("count(*) AS calls, sum(a.result - a.arguments.amount) < 0 AS is_less", "work", "outer"), [{"calls": ORDERS, "is_less": True}])

    def test_time_off_the_cpu(self):
        statement = (
            "SELECT off.comm, count(*) AS times, sum(back.time_ns - off.time_ns) AS ns FROM tracepoint('sched', 'sched_switch') AS back "
            "ASOF JOIN tracepoint('sched', 'sched_switch') AS off ON back.arguments.next_pid = off.arguments.prev_pid AND back.time_ns > off.time_ns "
            "WHERE off.comm = 'sleep' AND off.arguments.prev_state > 0 GROUP BY 1"
        )
        rows, _ = self.ask(statement, "sh", "-c", "exec sleep 0.7")
        (row,) = rows
        self.assertGreater(row["ns"], 700_000_000)

    def test_explanation(self):
        statement = (
            "SELECT b.comm, count(*) FROM tracepoint('sched:sched_switch') a ASOF JOIN tracepoint('sched', 'sched_wakeup') b "
            "ON a.arguments.next_pid = b.arguments.pid AND a.time_ns >= b.time_ns WHERE a.cpu = 0 GROUP BY ALL"
        )
        lines = self.live("--explain", statement).stdout.splitlines()
        self.assertEqual(lines[:5], [
            "probe  tracepoint('sched:sched_switch')", "after  the latest tracepoint('sched', 'sched_wakeup') with a.arguments.next_pid = b.arguments.pid",
            'where  "a.cpu" = 0', 'keys   "b.comm"', "count  count(1)",
        ])

    def test_histograms(self):
        calls = 5_000
        statement = "SELECT {} AS bucket, count(*) AS calls FROM user_function('{}', 'busy') GROUP BY bucket ORDER BY bucket"

        def histogram(bucket):
            rows, _ = self.ask(statement.format(bucket, FUNCTIONS), FUNCTIONS, "threads", "1", str(calls))
            self.assertEqual(self.counted[1], 0)
            return {row["bucket"]: row["calls"] for row in rows}

        def expected(bucket):
            counts = {}
            for i in range(calls):
                counts[bucket(i * 8)] = counts.get(bucket(i * 8), 0) + 1
            return counts

        self.assertEqual(histogram("power_of_two(arguments.number)"), expected(lambda number: 1 << number.bit_length() - 1 if number else 0))
        self.assertEqual(histogram("arguments.number // 1000 * 1000"), expected(lambda number: number // 1000 * 1000))

    def test_tracepoints(self):
        runs = 40
        rows, _ = self.ask(
            "SELECT arguments.filename, count(*) AS runs FROM tracepoint('sched', 'sched_process_exec') GROUP BY 1", "sh", "-c", f"for i in $(seq {runs}); do /bin/true; done"
        )
        self.assertEqual({row["filename"]: row["runs"] for row in rows}["/bin/true"], runs)
        command = ("sh", "-c", f"exec ls -lR {support.ROOT}/src > /dev/null")
        (row,), _ = self.ask("SELECT count(*) AS calls FROM tracepoint('syscalls', 'sys_enter_statx') WHERE comm = 'ls'", *command)
        (seen,) = [json.loads(line) for line in self.live("--json", "SELECT count(*) AS calls FROM events WHERE name = 'statx' AND comm = 'ls'", "--", *command).stdout.splitlines()]
        self.assertGreater(row["calls"], 100)
        self.assertEqual(row, seen)

    def test_clocks(self):
        (row,) = [json.loads(line) for line in self.live("--json", "--duration", "1s", "SELECT count(*) AS ticks, min(cpu) AS cpu FROM timer('10ms')").stdout.splitlines()]
        self.assertEqual(row["cpu"], 0)
        self.assertGreater(row["ticks"], 0)
        with subprocess.Popen([FUNCTIONS, "threads", "1", "2000000000"]) as busy:
            done = self.live("-p", str(busy.pid), "SELECT comm, user_stack, count(*) AS samples FROM sample(499) GROUP BY ALL", "--json", "--duration", "2s")
            busy.kill()
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({row["comm"] for row in rows}, {"functions"})
        self.assertTrue(any("busy" in (row["user_stack"] or "") or "run_threads" in (row["user_stack"] or "") for row in rows), rows)

    def test_what_is_not_there_is_said_in_a_line(self):
        cases = {
            f"SELECT count(*) FROM user_function('{FUNCTIONS}', 'wrok')": "has no function 'wrok'; did you mean 'work'?",
            f"SELECT max(arguments.amout) FROM user_function('{FUNCTIONS}', 'work')": "did you mean 'amount'?",
            f"SELECT max(arguments.order.customer.numbr) FROM user_function('{FUNCTIONS}', 'work')": "did you mean 'number'?",
            f"SELECT colour FROM user_function('{FUNCTIONS}', 'work')": "has no column 'colour'",
            "SELECT count(*) FROM user_function('/no/such', 'work')": "/no/such",
            f"SELECT count(*) FROM usdt('{FUNCTIONS}', 'shop', 'odrer')": "shop:order",
            "SELECT count(*) FROM tracepoint('sched', 'sched_swich')": "sched_switch",
            "SELECT max(arguments.prev_pit) FROM tracepoint('sched', 'sched_switch')": "did you mean 'prev_pid'?",
            "SELECT count(*) FROM kernel_function('vfs_raed')": "vfs_read",
            "SELECT count(*) FROM timer('tomorrow')": "tomorrow",
            "SELECT count(*) FROM sample(0)": "sample",
            "SELECT count(*) FROM sample('x', 'y')": "sample",
            "SELECT max(duration_ns) FROM timer('10ms')": "only a function has one",
            "SELECT sum(comm) FROM timer('10ms')": "sum(VARCHAR)",
            "SELECT comm FROM timer('10ms') JOIN events USING (comm)": "nothing else yet",
            "SELECT a.comm FROM timer('10ms') a JOIN timer('20ms') b ON a.cpu = b.cpu": "ASOF JOIN",
            "SELECT a.comm FROM timer('10ms') a ASOF JOIN timer('20ms') b ON a.comm = b.comm AND a.time_ns > b.time_ns": "joined by numbers",
            "SELECT a.comm FROM timer('10ms') a ASOF JOIN timer('20ms') b ON a.cpu = b.cpu AND a.cpu > b.cpu": "a.time_ns >= b.time_ns",
            f"SELECT b.result FROM timer('10ms') a ASOF JOIN user_function('{FUNCTIONS}', 'work') b ON a.cpu = b.cpu AND a.time_ns > b.time_ns": "comes before",
            "SELECT * FROM timer('10ms')": "name the columns",
            "SELECT max(str(cpu)) FROM timer('10ms')": "str(cpu)",
        }
        for statement, said in cases.items():
            with self.subTest(statement):
                done = subprocess.run([DYETRACE, "live", "--duration", "1s", statement], capture_output=True, text=True, timeout=support.PATIENCE_S)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, "^dyetrace: error: ")
                self.assertIn(said, done.stderr)
                self.assertLess(done.stderr.count("\n"), 8, done.stderr)


class PostgresTest(support.EndToEndTest):
    CLIENTS, EACH = 4, 200

    @staticmethod
    def add_up(counted, number, process):
        for line in process.stdout:
            counted[number] += json.loads(line)["n"]

    def test_what_pgbench_does(self):
        if servers.PostgreSQL.binaries() is None:
            self.skipTest("PostgreSQL is not installed")
        with tempfile.TemporaryDirectory(prefix="dyetrace-test-") as folder, servers.PostgreSQL(folder) as server:
            server.run("pgbench", "-i", "-q", "-s", "1")
            postgres = f"{server.binaries()}/postgres"
            insert = f"INSERT /* {os.getpid()} */"  # other tests may have servers of the same program
            script = os.path.join(folder, "script")
            shown = subprocess.run([f"{server.binaries()}/pgbench", "--show-script=tpcb-like"], capture_output=True, text=True, check=True)
            with open(script, "w", encoding="utf-8") as file:
                file.write((shown.stdout or shown.stderr).replace("INSERT", insert))
            questions = [
                f"SELECT count(*) AS n FROM usdt('{postgres}', 'postgresql', 'transaction__commit')",
                f"SELECT count(*) AS n FROM usdt('{postgres}', 'postgresql', 'query__start') WHERE starts_with(str(arguments.arg0), '{insert}')",
            ]
            asked = [subprocess.Popen([DYETRACE, "live", "--json", "--every", "200ms", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for text in questions]
            # the first window says that it listens
            counted = [json.loads(process.stdout.readline())["n"] for process in asked]
            self.assertEqual(counted[1], 0)
            readers = [threading.Thread(target=self.add_up, args=(counted, number, process), daemon=True) for number, process in enumerate(asked)]
            for reader in readers:
                reader.start()
            server.run("pgbench", "-n", "-c", str(self.CLIENTS), "-t", str(self.EACH), "-f", script)
            for process in asked:
                process.terminate()
            for reader, process in zip(readers, asked):
                reader.join()
                process.wait(timeout=support.PATIENCE_S)
                process.stdout.close()
            self.assertEqual(counted[1], self.CLIENTS * self.EACH)
            # its own questions, and those of its helpers, are commits, too
            self.assertGreaterEqual(counted[0], self.CLIENTS * self.EACH)
            server.stop()


if __name__ == "__main__":
    sys.exit(support.main())
