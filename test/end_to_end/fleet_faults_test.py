#!/usr/bin/env python3
"""What happens to a recording on many hosts when something breaks: it goes on, and its accounting closes at the end."""

import os
import signal
import socket
import subprocess

import fleet
import support
from support import boot_ns

REPLAYED_BYTES = 60_000  # as much as HTTP/2 lets go unanswered

HTTP2_PREFACE, HTTP2_HEADER, HTTP2_PING = 24, 9, 6  # RFC 9113


def without_pings(sent):
    """What a client of HTTP/2 sent: a server ends a connection on which they come all at once."""
    kept, at = sent[:HTTP2_PREFACE], HTTP2_PREFACE
    while at + HTTP2_HEADER <= len(sent):
        end = at + HTTP2_HEADER + int.from_bytes(sent[at:at + 3], "big")
        if sent[at + 3] != HTTP2_PING:
            kept += sent[at:end]
        at = end
    return kept


class FaultTest(fleet.FleetTest):
    """A session of one host with a process that reads all the time; each test breaks something in its midst."""

    def begin(self, *agent_options, count="40", road=False, words=()):
        self.start_collector()
        self.road = fleet.Road(self.port) if road else None
        if road:
            self.addCleanup(self.road.close)
        self.agent_options = agent_options
        self.reads = self.start_reads(count)
        self.start_agent("a", *agent_options, port=self.road.port if road else None)
        # a ring for seconds: beside others who work the recorder may have to wait so long
        self.trace, self.operator = self.start_on("a", "-p", str(self.reads.pid), "--ring", "256M", *words)
        return self.wait_for_more(self.trace)

    def restart_agent(self, connects=True):
        self.start_agent("a", *self.agent_options, port=self.road.port if self.road else None, connects=connects)

    def spool_segments(self):
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(self.path("spool-a")) for name in names
                      if name.endswith(".seg"))

    def end(self):
        """Stops it and looks at what is there: everything, on each CPU, in the trace or in a gap."""
        self.wait_for_more(self.trace, self.arrived(self.trace))
        self.assertEqual(self.stop(self.operator), 0, self.said("operator") + self.said("collector") + self.said("agent-a"))
        self.assertFalse(self.spool_segments(), "the spool is empty")
        return self.check_accounting(self.trace, ["a"])

    def end_without_a_gap(self):
        rows = self.end()
        self.assertEqual(self.trace.rows("SELECT * FROM gaps"), [])
        self.no_holes(self.trace)
        return rows


class DeathTest(FaultTest):
    def test_the_agent_is_killed_and_the_recording_goes_on(self):
        self.begin()
        self.agents["a"].kill()
        self.agents["a"].wait()
        while_dead_ns = boot_ns()
        self.wait_for_more_in_spool("a")
        until_ns = boot_ns()
        self.restart_agent()
        self.end_without_a_gap()
        self.assertGreater(self.trace.number(f"SELECT count(*) FROM events WHERE start_ns BETWEEN {while_dead_ns} AND {until_ns}"), 0)

    def test_the_collector_is_killed_and_comes_back(self):
        self.begin()
        for _ in range(2):
            self.collector.kill()
            self.collector.wait()
            while_dead_ns = boot_ns()
            self.wait_for_more_in_spool("a")
            self.start_collector()
            self.wait_for(lambda: self.trace.number(f"SELECT count(*) FROM events WHERE start_ns > {while_dead_ns}") > 0, "it goes on")
        self.end_without_a_gap()

    def test_both_are_killed(self):
        self.begin()
        for process in (self.agents["a"], self.collector):
            process.kill()
            process.wait()
        before = self.arrived(self.trace)
        self.start_collector()
        self.restart_agent()
        self.wait_for_more(self.trace, before)
        self.end_without_a_gap()

    def test_the_recorder_is_killed_and_the_trace_says_since_when(self):
        self.begin()
        recorder = self.trace_of_host().info()["recorder"]["pid"]
        os.kill(recorder, signal.SIGKILL)
        self.wait_for(lambda: self.operator.poll() is not None, "the session ends by itself")
        self.assertEqual(self.trace.number("SELECT count(*) FROM gaps WHERE reason = 'recorder_died' AND host = 'a'"), 1)
        self.assertGreater(self.count(self.trace), 0)

    def trace_of_host(self):
        return support.Trace(os.path.join(self.trace.path, "host-0000"))


class RoadTest(FaultTest):
    def test_the_network_is_cut_for_a_while(self):
        """Longer than a dead connection lives: the agent makes a new one."""
        before = self.begin(road=True)
        self.road.cut()
        self.wait_for(lambda: "agent of a disconnected" in self.said("collector"), "the collector notices")
        self.assertTrue(self.spool_segments(), "what cannot be shipped is kept")
        self.road.mend()
        self.wait_for_more(self.trace, before)
        self.end_without_a_gap()

    def test_bytes_that_are_damaged_on_their_way_are_sent_again(self):
        self.begin(road=True, count="3000")
        damaged = []

        def flip(data):
            if len(data) > 20_000 and len(damaged) < 3:
                damaged.append(len(data))
                middle = len(data) // 2
                return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:]
            return data
        self.road.change = flip
        self.wait_for(lambda: len(damaged) == 3, "enough went over the road")
        self.end_without_a_gap()
        self.assertIn("damaged on its way", self.said("collector"))

    def test_what_an_agent_sent_may_be_sent_again_by_somebody_and_changes_nothing(self):
        self.begin(road=True, count="200")
        self.agents["a"].kill()
        self.agents["a"].wait()
        sent = bytearray()
        self.road.change = lambda data: sent.extend(data) or data
        self.restart_agent()
        self.wait_for(lambda: len(sent) > REPLAYED_BYTES, "the agent sends events")
        self.road.change = lambda data: data
        for replays in range(1, 4):
            with self.replay(sent):
                self.wait_for(lambda replays=replays: self.said("agent-a").count("it came back") == replays, "it was taken for the agent")
                self.wait_for_more(self.trace, self.arrived(self.trace))
        self.end_without_a_gap()

    def replay(self, sent):
        """Says once more what an agent said, from the first byte of its connection on. How the collector ends it depends on what it has read by then."""
        again = socket.create_connection(("127.0.0.1", self.port), timeout=support.PATIENCE_S)
        again.sendall(without_pings(sent[:REPLAYED_BYTES]))
        return again

    def test_an_agent_of_another_version_is_refused_and_what_it_recorded_arrives_when_it_is_replaced(self):
        before = self.begin(road=True)
        protocol, program_name = b"\x08%c", b"\x1a"  # of Hello in fleet.proto: what the road makes of it is what another version says
        self.road.change = lambda data: data.replace(protocol % 1 + program_name, protocol % 2 + program_name)
        self.agents["a"].kill()
        self.agents["a"].wait()
        self.restart_agent(connects=False)
        for who in ("agent-a", "collector"):
            self.wait_for(lambda who=who: "speaks protocol 2 and this collector 1: use the same dyetrace on both" in self.said(who), f"the {who} says it")
        self.wait_for(self.spool_segments, "what cannot be shipped is kept")
        self.agents["a"].kill()
        self.agents["a"].wait()
        self.road.change = lambda data: data
        self.restart_agent()
        self.wait_for_more(self.trace, before)
        self.end_without_a_gap()


class DiskTest(FaultTest):
    def mount(self, name, size):
        os.mkdir(self.path(name))
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.path(name)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"cannot mount a small disk: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", self.path(name)], check=False)

    def fill(self, name):
        # Unbuffered: what a buffered file could not write it tries again, and fails again, when it is closed.
        with open(self.path(name) + "/ballast", "wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(b"x" * 65536)
            except OSError:
                pass

    def test_a_collector_whose_disk_is_full_makes_the_agent_wait(self):
        self.mount("store", "64m")
        before = self.begin()
        self.fill("store")
        self.wait_for(lambda: "No space left" in self.said("agent-a"), "the agent is told why it waits")
        os.unlink(self.path("store/ballast"))
        self.wait_for_more(self.trace, before)
        self.end_without_a_gap()

    def test_an_agent_whose_disk_is_full_ends_with_a_gap(self):
        self.mount("spool-a", "64m")
        self.begin()
        self.fill("spool-a")
        self.wait_for(lambda: self.operator.poll() is not None, "the session ends by itself")
        self.assertEqual(self.trace.number("SELECT count(*) FROM gaps WHERE reason = 'disk_full' AND host = 'a'"), 1)
        self.check_accounting_of_full_disk()

    def check_accounting_of_full_disk(self):
        accounting = self.trace.accounting()
        self.assertEqual(accounting["generated"], sum(accounting[name] for name in ("filtered", "aggregated", "delivered", "lost")))
        self.assertEqual(accounting["delivered"], self.count(self.trace))

    def test_a_full_spool_drops_the_oldest_events_and_says_how_many(self):
        before = self.begin("--spool-max", "1M", count="1000")
        self.collector.kill()
        self.collector.wait()
        self.wait_for(lambda: "events dropped" in self.said("agent-a"), "the spool gets full")
        self.start_collector()
        self.wait_for_more(self.trace, before)
        rows = self.end()
        self.assertGreater(int(rows[0]["in_gaps"]), 0)
        # on a machine that has no time for the recorder its ring gets full as well
        self.assertEqual({row["reason"] for row in self.trace.rows("SELECT DISTINCT reason FROM gaps")} - {"ring_full"}, {"spool_full"})
        named = self.trace.numbers("SELECT count(*) AS n, count(path) AS with_path FROM events WHERE name = 'pread64' AND requested = 1")
        self.assertEqual(named["n"], named["with_path"], "names that were announced in what was dropped are known")

    def test_a_segment_that_is_damaged_on_the_agents_disk_costs_its_blocks(self):
        before = self.begin("--spool-max", "4M", count="1000")
        self.collector.kill()
        self.collector.wait()
        self.wait_for(lambda: len(self.spool_segments()) >= 4, "segments wait")
        self.damage_two_blocks(self.spool_segments()[1])
        self.start_collector()
        self.wait_for_more(self.trace, before)
        rows = self.end()
        reasons = {row["reason"] for row in self.trace.rows("SELECT DISTINCT reason FROM gaps")}
        self.assertIn("damaged_block", reasons)
        self.assertGreater(int(rows[0]["in_gaps"]), 0)

    def damage_two_blocks(self, path):
        """A byte of what they hold: what a block held whose header is damaged cannot be counted (docs/trace_format.md)."""
        with open(path, "r+b") as segment:
            bytes_of_it = segment.read()
            headers = [at for at in range(0, len(bytes_of_it), 8) if bytes_of_it[at:at + 4] == b"DBLK"]
            for index in (len(headers) // 3, len(headers) // 2):
                position = headers[index + 1] - 16  # after the header, before what pads to the next one
                segment.seek(position)
                segment.write(bytes([bytes_of_it[position] ^ 0xff]))


if __name__ == "__main__":
    support.main()
