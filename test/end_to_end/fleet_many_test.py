#!/usr/bin/env python3
"""Fifty simulated hosts that replay what was recorded once: whatever happens to their collector, each event is there, once, on each."""

import os

import fleet
import support
from simulated_fleet import SimulatedFleet

HOSTS = 50
SEGMENT_RECORDS = 1000  # so that there are several

# What a host has, and what nobody may have changed.
SUMS = """SELECT {host} count(*) AS events, count(DISTINCT event_id) AS ids, count(DISTINCT object_id) AS objects, sum(duration_ns)::BIGINT AS durations,
    sum(result)::BIGINT AS results, min(start_ns) AS first, max(start_ns) AS last, count(path) AS named FROM events {group}"""


class ManyHostsTest(fleet.FleetTest):
    def setUp(self):
        super().setUp()
        self.start_collector()
        reads = self.start_reads("20")
        self.recorded = self.record("--no-seal", "--segment-records", str(SEGMENT_RECORDS), "--duration", "1500ms", "-p", str(reads.pid), name="recorded")
        reads.kill()
        self.segments = [name for name in os.listdir(self.recorded.path) if name.endswith(".seg")]
        self.assertGreater(len(self.segments), 1)

    def start_fleet(self, speed):
        simulated = SimulatedFleet(support.BUILD, self.port, HOSTS, self.recorded.path, self.path("spools"), "--insecure", "--speed", str(speed))
        simulated.__enter__()
        self.addCleanup(simulated.__exit__)
        simulated.wait_for(simulated.are_connected, support.PATIENCE_S)
        return simulated

    def end(self, trace, operator):
        """All of it, once; of each host the same as what was recorded, but for who it is."""
        self.assertEqual(self.stop(operator), 0, self.said("operator") + self.said("collector"))
        names = [f"host-{number:04}" for number in range(HOSTS)]
        self.check_accounting(trace, names)
        self.assertEqual(trace.rows("SELECT * FROM gaps"), [])
        self.no_holes(trace)
        (expected,) = self.recorded.rows(SUMS.format(host="", group=""))
        self.assertEqual(trace.rows(SUMS.format(host="host,", group="GROUP BY host ORDER BY host")), [{"host": name} | expected for name in names])
        self.assertEqual(trace.number("SELECT count(DISTINCT event_id) FROM events"), HOSTS * int(expected["events"]))
        self.assertEqual(trace.number("SELECT count(DISTINCT boot_id) FROM hosts"), HOSTS)
        self.wait_for(lambda: not self.left_in_spools(), "the spools are empty")

    def bytes_of_segments(self, folder):
        return sum(os.path.getsize(os.path.join(where, name)) for where, _, files in os.walk(folder) for name in files if name.endswith(".seg"))

    def left_in_spools(self):
        return [name for _, _, files in os.walk(self.path("spools")) for name in files if name not in ("agent", "instance")]

    def test_as_fast_as_the_collector_takes_it(self):
        simulated = self.start_fleet(0)
        trace, operator = self.start_on("all")
        simulated.wait_for(simulated.have_shipped, 2 * support.PATIENCE_S)
        self.end(trace, operator)

    def test_the_collector_is_killed_in_the_midst_and_comes_back(self):
        simulated = self.start_fleet(0.15)
        trace, operator = self.start_on("all")
        one_host = self.bytes_of_segments(self.recorded.path)
        # a question would take as long as the whole replay does on a busy machine
        self.wait_for(lambda: self.bytes_of_segments(trace.path) > one_host, "as much as one host has arrives")
        self.collector.kill()
        self.collector.wait()
        self.assertGreater(simulated.now["running"], 0, "in the midst")
        self.start_collector()
        simulated.wait_for(simulated.have_shipped, 2 * support.PATIENCE_S)
        self.end(trace, operator)

    def test_hosts_that_begin_together_begin_in_one_session(self):
        self.start_fleet(0)
        trace = self.run_on("all", "--", "true")
        self.assertEqual(trace.said.count("nothing lost"), HOSTS, trace.said)
        self.assertEqual(len(trace.rows("SELECT * FROM hosts")), HOSTS)


if __name__ == "__main__":
    support.main()
