#!/usr/bin/env python3
"""One recording on many hosts: agents and a collector on one machine, unencrypted on loopback."""

import json
import os
import shutil
import signal
import subprocess

import fleet
import support
from page_server import PageServer
from support import DYETRACE, Trace, program

READS = 2000


class RecordOnTest(fleet.FleetTest):
    def setUp(self):
        super().setUp()
        self.start_collector()

    def test_every_host_records_before_the_command_begins_and_until_it_has_ended(self):
        self.start_agent("a")
        self.start_agent("b")
        calls, comm = self.of_its_own(program("calls"))
        trace = self.run_on("all", "--comm", comm, "--", calls, self.file("read"), "1", str(READS))
        rows = trace.rows("SELECT host, count(*) AS n FROM events WHERE name = 'pread64' AND requested = 1 GROUP BY 1 ORDER BY 1")
        self.assertEqual(rows, [{"host": "a", "n": READS}, {"host": "b", "n": READS}])
        self.assertIn("a: ", trace.said)
        self.assertIn("nothing lost", trace.said)
        self.check_accounting(trace, ["a", "b"])
        self.assertEqual(sorted(os.listdir(self.path("spool-a"))), ["agent", "instance"], "the spool is empty again")

    def test_the_exit_status_of_the_command_passes_through(self):
        self.start_agent("a")
        self.run_on("a", "--comm", "nobody", "--", "sh", "-c", "exit 7", status=7)

    def test_a_word_that_the_recorder_does_not_know_ends_the_session_before_it_begins(self):
        self.start_agent("a")
        self.start_agent("b")
        marker = self.path("ran")
        done = self.run_on("all", "--no-such-option", "--", "touch", marker, status=1)
        self.assertIn("--no-such-option", self.one_line(done.said))
        self.assertFalse(os.path.exists(marker), "the command does not run")
        self.assertFalse(os.path.exists(done.path), "no trace is left")

    def test_words_that_would_run_or_write_something_on_a_host_are_refused(self):
        self.start_agent("a")
        for words in (["--control-fd", "1"], ["--segment-records", "1000"], ["--host-index=3"], ["--ui"]):
            self.one_line(self.run_on("a", *words, status=2).said)
        self.one_line(self.run_on("a", "touch", self.path("ran"), status=1).said)  # the agent's recorder refuses it
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_a_host_that_is_not_connected_is_said_before_anything_begins(self):
        self.start_agent("a")
        done = self.run_on("a,z", "--", "true", status=1)
        self.assertIn("no agent of host 'z' is connected; connected: a", self.one_line(done.said))

    def test_what_calls_moved_arrives_too_and_is_private(self):
        self.start_agent("a")
        content = os.urandom(300_000)
        cat, comm = self.of_its_own(shutil.which("cat"))
        trace = self.run_on("a", "--comm", comm, "--content=bytes", "--", cat, self.file("moved", content), stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, capture_output=False)
        given = subprocess.run([DYETRACE, "cat", trace.path, "--path", support.outer_root() + self.path("moved")], capture_output=True, check=False)
        self.assertEqual((given.returncode, given.stdout == content), (0, True), given.stderr)
        self.assertEqual(os.stat(os.path.join(trace.path, "host-0000/payload")).st_mode & 0o777, 0o600)

    def test_payload_that_has_arrived_takes_no_room_in_the_spool(self):
        self.start_agent("a")
        path = self.file("moved", os.urandom(1 << 20))
        cat, comm = self.of_its_own(shutil.which("cat"))
        trace, operator = self.start_on("a", "--comm", comm, "--content=bytes")
        self.start(["sh", "-c", f"while :; do {cat} {path}; sleep 0.1; done"], stdout=subprocess.DEVNULL)

        def is_mostly_hole():
            for folder, _, names in os.walk(self.path("spool-a")):
                if "payload" in names:
                    status = os.stat(os.path.join(folder, "payload"))
                    return status.st_size > 4 << 20 and status.st_blocks * 512 < status.st_size / 2
            return False
        self.wait_for(is_mostly_hole, "the room is given back")
        self.assertEqual(self.stop(operator), 0, self.said("operator"))
        given = subprocess.run([DYETRACE, "cat", trace.path, "--path", support.outer_root() + path], capture_output=True, check=False)
        with open(path, "rb") as file:
            self.assertEqual((given.returncode, given.stdout == file.read()), (0, True), given.stderr)

    def test_an_agent_is_not_in_its_own_trace_and_what_it_sends_is_not_missed(self):
        agent = self.start_agent("a").pid
        trace, operator = self.start_on("a", "-a", "--where", f"pid_in_namespace = {agent} or pid_in_namespace = {self.collector.pid}")
        taken = f"FROM events WHERE pid_in_namespace = {self.collector.pid} AND connection_id IS NOT NULL AND name IN ('read', 'recvmsg') AND bytes > 0"
        self.wait_for(lambda: self.count(trace) and trace.number("SELECT count(*) " + taken) > 3, "the collector receives")
        self.assertEqual(self.stop(operator), 0, self.said("operator"))
        self.assertEqual(trace.number(f"SELECT count(*) FROM events WHERE pid_in_namespace = {agent}"), 0)
        self.assertEqual(trace.rows("FROM contradictions"), [])

    def test_duration_ends_it_on_all_hosts(self):
        self.start_agent("a")
        trace = self.run_on("a", "--duration", "500ms", "--comm", "nobody")
        self.assertEqual(trace.info()["state"], "finished")

    def test_a_late_agent_joins(self):
        reads = self.start_reads()
        self.start_agent("a")
        trace, operator = self.start_on("all", "-p", str(reads.pid))
        self.start_agent("b")
        self.wait_for(lambda: trace.number("SELECT count(DISTINCT host) FROM events") == 2, "b records too")
        self.assertEqual(self.stop(operator), 0, self.said("operator"))
        self.check_accounting(trace, ["a", "b"])

    def test_sessions_lists_and_stops(self):
        reads = self.start_reads()
        self.start_agent("a")
        trace, operator = self.start_on("all", "-p", str(reads.pid))
        address = ["--collector", f"127.0.0.1:{self.port}", "--insecure"]
        listed = subprocess.run([DYETRACE, "sessions", *address], capture_output=True, text=True, check=True)
        session = listed.stdout.split()[0]
        self.assertIn("recording", listed.stdout)
        self.assertIn("a records", listed.stdout)
        subprocess.run([DYETRACE, "sessions", *address, "--stop", session], check=True, timeout=support.PATIENCE_S)
        self.assertEqual(operator.wait(timeout=support.PATIENCE_S), 0, self.said("operator"))
        self.check_accounting(trace, ["a"])

    def test_top_shows_who_does_io_on_all_hosts(self):
        reads = self.start_reads()
        self.start_agent("a")
        self.start_agent("b")
        trace, operator = self.start_on("all", "-p", str(reads.pid))
        self.wait_for_more(trace)
        lines = []

        def both_are_seen():
            done = subprocess.run([DYETRACE, "top", trace.path, "--json", "-d", "500ms", "--duration", "2s"], capture_output=True, text=True,
                                  check=False, timeout=support.PATIENCE_S)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            lines[:] = [json.loads(line) for line in done.stdout.splitlines()]
            return {line["host"] for line in lines} == {"a", "b"}
        self.wait_for(both_are_seen, "a row of each host")
        self.assertEqual({(line["comm"], line["pid"], line["errors"], line["written_bytes"]) for line in lines}, {("calls", reads.pid, 0, 0)})
        self.assertTrue(all(0 < line["read_bytes"] <= line["calls"] and 0 < line["p99_ns"] <= line["max_ns"] for line in lines), lines)
        table = subprocess.run([DYETRACE, "top", trace.path, "--duration", "1s"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(table, r"^a \d+\.\d s ago · b \d+\.\d s ago\nhost:process\[pid\] +calls/s +errors +read +written +p99 +max\n")
        self.assertRegex(table, rf"\n[ab]:calls\[{reads.pid}\] +[\d,]+ .*B/s")
        self.stop(operator)
        ended = subprocess.run([DYETRACE, "top", trace.path], capture_output=True, text=True, check=False, timeout=support.PATIENCE_S)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("is not being recorded any more", self.one_line(ended.stderr))

    def test_an_answer_is_less_than_two_seconds_behind(self):
        """A machine that is busy with others may be late; it is not late again and again."""
        reads = self.start_reads()
        self.start_agent("a")
        trace, operator = self.start_on("a", "-p", str(reads.pid))
        self.wait_for_more(trace)
        self.wait_for(lambda: self.is_young(lambda: trace.number("SELECT max(start_ns) FROM events")), "an answer is less than two seconds old")
        self.stop(operator)

    def test_the_page_shows_all_hosts_while_they_record(self):
        reads = self.start_reads()
        self.start_agent("a")
        self.start_agent("b")
        trace, operator = self.start_on("all", "-p", str(reads.pid))
        self.wait_for_more(trace)
        page = PageServer(self, trace.path)
        self.wait_for(lambda: page.answer("trace")[1]["hosts"] == ["a", "b"], "both hosts are named")
        self.assertTrue(page.answer("trace")[1]["is_recording"])
        newest_of_each = "SELECT min(newest) FROM (SELECT max(start_ns) AS newest FROM selected GROUP BY host)"
        self.wait_for(lambda: self.is_young(lambda: page.number(newest_of_each)), "an answer of both is less than two seconds old")
        status, report = page.answer("report")
        self.assertEqual(status, 200, report)
        self.assertEqual(report["overview"]["hosts"], 2)
        self.stop(operator)
        def has_ended():
            status, answer = page.answer("trace")
            self.assertEqual(status, 200, answer)
            return not answer["is_recording"]
        self.wait_for(has_ended, "its end is seen")
        self.assertEqual(page.number("SELECT count(*) FROM selected"), self.count(trace))
        self.assertEqual(page.stop(), 0)

    @staticmethod
    def is_young(newest_ns):
        """Whether the answer has what happened two seconds before the question."""
        asked_ns = support.boot_ns()
        return newest_ns() > asked_ns - 2 * 10**9

    def test_an_operator_that_is_killed_leaves_a_session_that_can_be_stopped(self):
        reads = self.start_reads()
        self.start_agent("a")
        trace, operator = self.start_on("all", "-p", str(reads.pid), "--duration", "2m")
        operator.kill()
        more = self.wait_for_more(trace)
        self.wait_for_more(trace, more)
        address = ["--collector", f"127.0.0.1:{self.port}", "--insecure"]
        listed = subprocess.run([DYETRACE, "sessions", *address], capture_output=True, text=True, check=True)
        subprocess.run([DYETRACE, "sessions", *address, "--stop", listed.stdout.split()[0]], check=True, timeout=support.PATIENCE_S)
        self.wait_for(lambda: trace.info()["state"] == "finished", "it ends")
        self.check_accounting(trace, ["a"])


class LimitsTest(fleet.FleetTest):
    def setUp(self):
        super().setUp()
        self.start_collector()

    def begin(self, *options, count="200"):
        self.start_agent("a", *options)
        reads = self.start_reads(count)
        return self.start_on("a", "-p", str(reads.pid), "--ring", "64M")  # beside others the recorder may have to wait for seconds

    def test_the_agent_holds_back_what_its_bandwidth_does_not_allow_and_says_so(self):
        trace, operator = self.begin("--bandwidth-max", "64K", count="1000")
        self.wait_for(lambda: "--bandwidth-max 66 kB/s holds shipping back" in self.said("agent-a"), "it says so")
        self.assertEqual(self.stop(operator), 0, self.said("operator"))
        self.check_accounting(trace, ["a"])
        self.assertEqual(trace.rows("SELECT * FROM gaps"), [])

    def test_the_agent_holds_back_what_its_share_of_a_cpu_does_not_allow(self):
        """It may use 10 ms a second, and what is recorded at once costs it several times as much."""
        self.start_agent("a", "--cpu-max", "1")
        content = os.urandom(32 << 20)
        cat, comm = self.of_its_own(shutil.which("cat"))
        trace = self.run_on("a", "--comm", comm, "--content=bytes", "--", cat, self.file("much", content), stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, capture_output=False)
        self.assertIn("--cpu-max 1 holds shipping back", self.said("agent-a"))
        self.assertEqual((trace.info()["state"], trace.rows("SELECT * FROM gaps")), ("finished", []))
        accounting = trace.accounting()
        self.assertEqual(accounting["generated"], sum(accounting[name] for name in ("filtered", "aggregated", "delivered", "lost")))
        given = subprocess.run([DYETRACE, "cat", trace.path, "--path", support.outer_root() + self.path("much")], capture_output=True, check=False)
        self.assertEqual((given.returncode, given.stdout == content), (0, True), given.stderr)

    def test_a_session_ends_when_the_memory_that_is_allowed_is_used(self):
        self.start_agent("a", "--memory-max", "24M")
        reads = self.start_reads()
        with self.say_to("operator") as said:
            operator = self.start([*self.command_on("a"), "-p", str(reads.pid)], stderr=said)
        self.wait_for(lambda: operator.poll() is not None, "the session ends by itself")
        self.assertIn("--memory-max allows 25 MB", self.said("agent-a"))
        if "recording " in self.said("operator"):
            self.check_accounting(Trace(self.path("store/fleet")), ["a"])
        else:  # it held too much before it began, as it does on a busy machine
            self.assertIn("--memory-max allows 25 MB", self.said("operator"))

    def test_an_agent_needs_no_capability_but_those_of_its_service(self):
        with open(os.path.join(support.ROOT, "packaging/dyetrace-agent.service"), encoding="utf-8") as unit:
            allowed = next(line for line in unit if line.startswith("CapabilityBoundingSet=")).split("=")[1].split()
        bounding = "-all," + ",".join("+" + name.removeprefix("CAP_").lower() for name in allowed)
        with self.say_to("agent-a") as said:
            self.start(["setpriv", "--no-new-privs", "--inh-caps=-all", f"--bounding-set={bounding}", DYETRACE, "agent", "--collector",
                        f"127.0.0.1:{self.port}", "--host", "a", "--spool", self.path("spool-a"), "--insecure"], stderr=said)
        self.wait_for(lambda: "connected to" in self.said("agent-a"), "it connects")
        calls, comm = self.of_its_own(program("calls"))
        trace = self.run_on("a", "--comm", comm, "--", calls, self.file("read"), "1", "100")
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE name = 'pread64' AND requested = 1"), 100)


class TwoOfOneTest(fleet.FleetTest):
    def test_the_second_agent_of_a_host_is_refused_and_both_are_told(self):
        self.start_collector()
        self.start_agent("a")
        second = self.path("spool-second")
        with self.say_to("second") as said:
            self.start([DYETRACE, "agent", "--collector", f"127.0.0.1:{self.port}", "--host", "a", "--spool", second, "--insecure"],
                       stderr=said)
        self.wait_for(lambda: "an agent of host 'a' is connected already" in self.said("second"), "the second is told")
        self.wait_for(lambda: "another agent claims host 'a'" in self.said("agent-a"), "the first is told")
        self.stop(self.agents["a"], signal.SIGTERM)
        self.wait_for(lambda: "connected to" in self.said("second"), "the second takes the place that is free")

    def test_a_spool_belongs_to_one_agent(self):
        self.start_collector()
        self.start_agent("a")
        done = subprocess.run([DYETRACE, "agent", "--collector", f"127.0.0.1:{self.port}", "--host", "a", "--spool", self.path("spool-a"),
                               "--insecure"], capture_output=True, text=True, check=False, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another agent has the spool", self.one_line(done.stderr))

    def test_insecure_is_for_loopback_only(self):
        for verb in (["collector", "--listen", "0.0.0.0", "--store", self.path("store")],
                     ["agent", "--collector", "192.0.2.1", "--spool", self.path("spool")]):
            done = subprocess.run([DYETRACE, *verb, "--insecure"], capture_output=True, text=True, check=False, timeout=support.PATIENCE_S)
            self.assertEqual(done.returncode, 1)
            self.assertIn("--insecure is for 127.0.0.1", self.one_line(done.stderr))


if __name__ == "__main__":
    support.main()
