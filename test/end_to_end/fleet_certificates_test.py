#!/usr/bin/env python3
"""Who may do what on the road between hosts: certificates, rights, wrong ones, old ones, a clock that is wrong."""

import os
import shutil
import subprocess
import time

import fleet
import support
from support import DYETRACE, boot_ns, program

DAY_S = 24 * 3600


class CertificateTest(fleet.FleetTest):
    def setUp(self):
        super().setUp()
        self.authority("pki")
        for words in (("--collector", "main"), ("--host", "a"), ("--operator", "ada", "--may", "record,read"), ("--operator", "eve")):
            self.issue("pki", *words)

    def authority(self, name):
        subprocess.run([DYETRACE, "pki", "init", self.path(name)], check=True, capture_output=True)

    def issue(self, authority, *words):
        subprocess.run([DYETRACE, "pki", "issue", self.path(authority), *words], check=True, capture_output=True)

    def security_of(self, kind, name):
        return ["--certificates", self.path(f"pki/{kind}-{name}")]

    def refused_agent(self, host, certificates, what):
        """An agent that does not get in says why; what the collector said meanwhile."""
        before = len(self.said("collector"))
        road = fleet.Road(self.port)
        self.addCleanup(road.close)
        with self.say_to("refused") as said:
            agent = self.start([DYETRACE, "agent", "--collector", f"127.0.0.1:{road.port}", "--host", host, "--spool", self.path("spool-refused"),
                                "--certificates", certificates], stderr=said)
        self.wait_for(lambda: what in self.said("refused"), f"it says '{what}'")
        tried = len(road.pairs)
        self.wait_for(lambda: len(road.pairs) > tried + 2 or agent.poll() is not None, "it tries again, unless it ended with that")
        self.assertEqual(self.said("refused").count(what), 1, "once, however often it tries")
        if agent.poll() is None:
            agent.kill()
        agent.wait()
        return self.said("collector")[before:]


class RightsTest(CertificateTest):
    def test_everything_works_and_keys_are_private(self):
        self.start_collector()
        self.start_agent("a")
        calls, comm = self.of_its_own(program("calls"))
        trace = self.run_on("a", "--comm", comm, "--", calls, self.file("read"), "1", "100")
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE name = 'pread64' AND requested = 1"), 100)
        self.check_accounting(trace, ["a"])
        for key in ("pki/ca.key", "pki/host-a/key.pem"):
            self.assertEqual(os.stat(self.path(key)).st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(self.path("spool-a")).st_mode & 0o777, 0o700)

    def test_who_may_read_may_not_record(self):
        self.start_collector()
        self.start_agent("a")
        done = self.run_on("a", "--", "true", operator="eve", status=1)
        self.assertIn("does not let its owner record", self.one_line(done.said))
        address = ["--collector", f"127.0.0.1:{self.port}"]
        listed = subprocess.run([DYETRACE, "sessions", *address, *self.security_of("operator", "eve")], capture_output=True, text=True, check=False)
        self.assertEqual((listed.returncode, listed.stderr), (0, "connected: a\n"))
        stopped = subprocess.run([DYETRACE, "sessions", *address, *self.security_of("operator", "eve"), "--stop", "x"], capture_output=True,
                                 text=True, check=False)
        self.assertIn("does not let its owner stop", self.one_line(stopped.stderr))

    def test_an_agent_may_neither_read_nor_record(self):
        self.start_collector()
        self.start_agent("a")
        listed = subprocess.run([DYETRACE, "sessions", "--collector", f"127.0.0.1:{self.port}", *self.security_of("host", "a")],
                                capture_output=True, text=True, check=False)
        self.assertIn("does not let its owner read", self.one_line(listed.stderr))

    def test_an_agent_writes_as_its_own_host_only(self):
        self.start_collector()
        said = self.refused_agent("b", self.path("pki/host-a"), "its certificate does not let it write as host 'b'")
        self.assertIn("its certificate does not let it write as host 'b'", said)

    def test_an_operator_is_no_agent_and_no_collector(self):
        self.start_collector()
        self.refused_agent("a", self.path("pki/operator-ada"), "its certificate does not let it write as host 'a'")
        self.stop(self.collector)
        with self.say_to("false-collector") as said:
            self.start([DYETRACE, "collector", "--listen", f"127.0.0.1:{self.port}", "--store", self.path("other"),
                        "--certificates", self.path("pki/operator-ada")], stderr=said)
        self.wait_for(lambda: "listening on" in self.said("false-collector"), "it listens")
        self.start_agent("a", connects=False)
        self.wait_for(lambda: "not that of a collector" in self.said("agent-a"), "the agent refuses it")


class WrongCertificateTest(CertificateTest):
    def test_a_foreign_certificate_is_refused_and_both_say_so(self):
        self.start_collector()
        self.authority("others")
        self.issue("others", "--host", "a")
        said = self.refused_agent("a", self.path("others/host-a"), "its certificate is of another authority than ours")
        self.assertNotIn("connected", said)
        # it takes the collector for ours, but is not
        shutil.copy(self.path("pki/ca.pem"), self.path("others/host-a/ca.pem"))
        self.refused_agent("a", self.path("others/host-a"), "is not of the authority beside it")

    def test_a_certificate_without_its_key_is_said(self):
        shutil.copy(self.path("pki/operator-ada/key.pem"), self.path("pki/host-a/key.pem"))
        done = subprocess.run([DYETRACE, "agent", "--collector", "127.0.0.1:1", "--host", "a", "--spool", self.path("spool"), *self.security_of("host", "a")],
                              capture_output=True, text=True, check=False)
        self.assertIn("does not belong to certificate.pem", self.one_line(done.stderr))

    def test_an_expired_certificate_is_renewed_without_a_restart_and_nothing_is_lost(self):
        self.start_collector()
        self.start_agent("a")
        reads = self.start_reads()
        trace, operator = self.start_on("a", "-p", str(reads.pid))
        before = self.wait_for_more(trace)
        self.issue("pki", "--host", "a", "--days", "0")
        self.collector.kill()
        self.collector.wait()
        self.start_collector()
        self.wait_for(lambda: "has expired" in self.said("agent-a"), "the agent says why it does not connect")
        self.issue("pki", "--host", "a")
        self.wait_for_more(trace, before)
        self.assertEqual(self.stop(operator), 0, self.said("operator"))
        self.check_accounting(trace, ["a"])
        self.assertEqual(trace.rows("SELECT * FROM gaps"), [])

    def test_a_second_authority_is_refused_beside_the_first(self):
        done = subprocess.run([DYETRACE, "pki", "init", self.path("pki")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has an authority", self.one_line(done.stderr))


class ClockTest(CertificateTest):
    def wrong_by(self, seconds):
        return dict(os.environ, LD_PRELOAD=program("libwrong_clock.so"), WRONG_CLOCK_S=str(seconds))

    def test_a_collector_whose_clock_is_a_day_ahead_records_the_time_of_the_hosts(self):
        self.start_collector(environment=self.wrong_by(DAY_S))
        self.start_agent("a")
        begin_s = time.time()
        calls, comm = self.of_its_own(program("calls"))
        trace = self.run_on("a", "--comm", comm, "--", calls, self.file("read"), "1", "100")
        first_s = trace.number("SELECT epoch_ns(min(time)) FROM events") / 1e9
        self.assertLess(abs(first_s - begin_s), support.PATIENCE_S)
        self.check_accounting(trace, ["a"])

    def test_a_collector_whose_clock_is_a_day_behind_refuses_until_it_is_right(self):
        self.start_collector()
        self.start_agent("a")
        reads = self.start_reads()
        trace, operator = self.start_on("a", "-p", str(reads.pid))
        before = self.wait_for_more(trace)
        self.collector.kill()
        self.collector.wait()
        started = subprocess.run([DYETRACE, "collector", "--listen", f"127.0.0.1:{self.port}", "--store", self.path("store"),
                                  *self.security_of("collector", "main")], env=self.wrong_by(-DAY_S), capture_output=True, text=True, check=False)
        self.assertIn("is not valid yet: look at the clock of this host", self.one_line(started.stderr))
        while_refused_ns = boot_ns()
        self.wait_for_more_in_spool("a")
        until_ns = boot_ns()
        self.start_collector()
        self.wait_for_more(trace, before)
        self.assertEqual(self.stop(operator), 0, self.said("operator"))
        self.check_accounting(trace, ["a"])
        self.assertEqual(trace.rows("SELECT * FROM gaps"), [])
        self.assertGreater(trace.number(f"SELECT count(*) FROM events WHERE start_ns BETWEEN {while_refused_ns} AND {until_ns}"), 0)


if __name__ == "__main__":
    support.main()
