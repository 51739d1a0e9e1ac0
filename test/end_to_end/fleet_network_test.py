#!/usr/bin/env python3
"""Two hosts, each in a network of its own, and what their cable does to a recording: it is cut, it loses packets.

    DYETRACE_CUT_S=60 test/end_to_end/fleet_network_test.py       the cut lasts so long; without that, until the collector notices it
"""

import os
import shutil
import time

import fleet
import laboratory
import support
from support import program

CUT_S = float(os.environ.get("DYETRACE_CUT_S", "0"))
LOSS_PERCENT = 5
PACKETS = 20  # lost each way before a test believes in the loss


class NetworkTest(fleet.FleetTest):
    """`far` has the collector; on both a process reads all the time. What happens, happens to the cable of `near`."""

    def setUp(self):
        super().setUp()
        self.skip_without(laboratory.lacking())
        self.lab = laboratory.Laboratory("near", "far")
        self.addCleanup(self.lab.close)
        self.fleet = laboratory.Fleet(self.lab, self.folder)

    def begin(self, count="40"):
        self.reads = self.file("read")
        calls, comm = self.of_its_own(program("calls"))
        for host in self.lab.hosts:
            host.start([calls, self.reads, "1", count, "endless"])
        self.fleet.record(self.lab["far"], "fleet", "--comm", comm, "--ring", "64M")  # beside others a recorder may wait seconds for the disk
        self.trace = self.fleet.trace
        self.wait_for(lambda: self.newest("near") > 0, "the first events arrive")

    def newest(self, host):
        """When its newest call that has arrived happened; as in arrived() of all, nobody looks at what it did."""
        try:
            return self.trace.number(f"SELECT coalesce(max(start_ns), 0) FROM internal.raw_syscall_event JOIN internal.hosts h USING (host_index) WHERE h.name = '{host}'")
        except AssertionError:
            return 0  # not there yet

    def wait_for_what_happens_now(self, host):
        now_ns = support.boot_ns()
        self.wait_for(lambda: self.newest(host) > now_ns, f"what happens on {host} arrives", 2 * support.PATIENCE_S)

    def end_without_a_gap(self):
        said = self.fleet.stop()
        self.assertEqual(said.count("nothing lost"), len(self.lab.hosts), said)
        rows = self.check_accounting(self.trace, ["far", "near"])
        self.assertEqual([int(row["lost"]) for row in rows], [0, 0], rows)
        self.assertEqual(self.trace.rows("SELECT * FROM gaps"), [])

    def test_the_link_goes_down_and_comes_back(self):
        """A dead connection closes nothing: both ends notice by themselves, and the one that lives is not held up."""
        self.begin()
        self.lab["near"].cut()
        cut_ns = support.boot_ns()
        self.wait_for(lambda: "agent of near disconnected" in self.fleet.said("collector"), "the collector notices")
        self.wait_for_what_happens_now("far")
        time.sleep(max(0, CUT_S - (support.boot_ns() - cut_ns) / 1e9))
        self.assertLess(self.newest("near"), cut_ns, "nothing comes over a cable that is cut")
        mended_ns = support.boot_ns()
        self.lab["near"].mend()
        self.wait_for_what_happens_now("near")
        self.assertGreater(self.trace.number(f"SELECT count(*) FROM events WHERE host = 'near' AND start_ns BETWEEN {cut_ns} AND {mended_ns}"), 0)
        self.end_without_a_gap()

    def test_one_packet_of_twenty_is_lost(self):
        if not shutil.which("nft"):
            self.skip_without(["nftables"])
        self.begin(count="300")
        self.lab["near"].lose(LOSS_PERCENT)
        self.wait_for(lambda: min(self.lab["near"].lost()) >= PACKETS, "packets are lost each way", 2 * support.PATIENCE_S)
        self.wait_for_what_happens_now("near")
        self.end_without_a_gap()
        self.assertNotIn("damaged", self.fleet.said("collector"))


if __name__ == "__main__":
    support.main()
