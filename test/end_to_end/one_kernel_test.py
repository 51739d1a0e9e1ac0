#!/usr/bin/env python3
"""Two agents on one kernel: what both record is one call, and one end of a connection is not its own peer."""

import os
import sys

import fleet
import support

ROUNDS = 100

# Sends and takes `rounds` messages over TCP, and as many through a pipe; each end has a name of its own.
TALK = r"""
import os, socket, sys
name, rounds = sys.argv[1], int(sys.argv[2])
def call_me(what):
    with open("/proc/self/comm", "w") as comm:
        comm.write(name + what)
listener = socket.create_server(("127.0.0.1", 0))
reader, writer = os.pipe()
if os.fork() == 0:
    call_me("s")
    end = listener.accept()[0]
    for number in range(rounds):
        end.sendall(end.recv(100, socket.MSG_WAITALL))
        os.write(writer, b"%099d\n" % number)
    os._exit(0)
call_me("c")
end = socket.create_connection(listener.getsockname())
for number in range(rounds):
    end.sendall(b"%099d\n" % number)
    end.recv(100, socket.MSG_WAITALL)
    os.read(reader, 100)
end.close()
assert os.wait()[1] == 0
"""

FLOWS = """SELECT a.host AS giver, b.host AS taker, a.comm AS from_comm, b.comm AS to_comm, certainty, sum(f.bytes)::BIGINT AS bytes,
    count(*) FILTER (epoch_ns(b.time) + b.duration_ns::BIGINT < epoch_ns(a.time)) AS inverted
    FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event WHERE rule = '{}' GROUP BY ALL ORDER BY ALL"""


class OneKernelTest(fleet.FleetTest):
    def setUp(self):
        super().setUp()
        self.start_collector()
        self.name = f"talk{os.getpid() % 10**8}"

    def talk(self, *words):
        return self.run_on("all", "--content=hash", *words, "--", sys.executable, "-c", TALK, self.name, str(ROUNDS))

    def no_edge_is_doubted(self, trace):
        self.assertEqual(trace.rows("FROM contradictions"), [])
        self.assertEqual(trace.rows("SELECT e.rule, a.comm, b.comm FROM edges e JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event "
                                    "WHERE a.thread_id & 18014398509481983 = b.thread_id & 18014398509481983"), [], "no thread waits for itself")

    def test_one_end_that_both_record_has_no_flows(self):
        for host in ("a", "b"):
            self.start_agent(host)
        trace = self.talk("--where", f"comm = '{self.name}c'")
        sends = trace.rows("SELECT host, count(*) AS n FROM events WHERE name = 'sendto' GROUP BY 1 ORDER BY 1")
        self.assertEqual(sends, [{"host": "a", "n": ROUNDS}, {"host": "b", "n": ROUNDS}], "each host has what it recorded")
        self.assertEqual(trace.rows(FLOWS.format("tcp")), [])
        self.no_edge_is_doubted(trace)
        self.assertIn("a and b are one kernel", trace.said)

    def test_what_both_record_flows_once(self):
        for host in ("a", "b"):
            self.start_agent(host)
        trace = self.talk("--where", f"comm in ('{self.name}c', '{self.name}s')")
        bytes_moved = 100 * ROUNDS
        client, server = self.name + "c", self.name + "s"
        row = {"giver": "a", "taker": "a", "certainty": "certain", "bytes": bytes_moved, "inverted": 0}
        self.assertEqual(trace.rows(FLOWS.format("tcp")), [row | {"from_comm": client, "to_comm": server}, row | {"from_comm": server, "to_comm": client}])
        (piped,) = trace.rows(FLOWS.format("pipe"))
        self.assertEqual((piped["giver"], piped["taker"], piped["bytes"]), ("a", "a", bytes_moved))
        self.no_edge_is_doubted(trace)
        calls = trace.number("SELECT count(*) FROM events WHERE host = 'b' AND kind = 'syscall'")
        self.assertEqual(trace.number("SELECT count(*) FROM twins t JOIN events e ON e.event_id = t.id WHERE item = 'event' AND e.kind = 'syscall'"), calls, "all that b recorded a did, too")
        # A twin stands in the order where the call stands that it is.
        (order,) = trace.rows("SELECT count(*) AS n, bool_and(happened_before(f.from_event, t.id)) AS forth, bool_or(happened_before(t.id, f.from_event)) AS back "
                              "FROM flows f JOIN twins t ON t.first_id = f.to_event WHERE item = 'event' AND rule = 'tcp'")
        self.assertEqual((order["n"] >= 2 * ROUNDS, order["forth"], order["back"]), (True, True, False), order)
        times = trace.numbers("SELECT count(*) AS n, max(abs(epoch_ns(a.time) - epoch_ns(b.time) - (a.start_ns::BIGINT - b.start_ns::BIGINT))) AS apart "
                              "FROM twins t JOIN events a ON a.event_id = t.id JOIN events b ON b.event_id = t.first_id")
        self.assertEqual(times["apart"], 0, "one kernel has one clock")

    def test_agents_that_each_record_a_part_give_the_whole(self):
        """One end by the one, both by the other."""
        self.start_agent("a", f"--always=--where=comm = '{self.name}s'")
        self.start_agent("b", f"--always=--where=comm in ('{self.name}c', '{self.name}s')")
        trace = self.talk("-a")
        client, server = self.name + "c", self.name + "s"
        row = {"certainty": "certain", "bytes": 100 * ROUNDS, "inverted": 0}
        self.assertEqual(trace.rows(FLOWS.format("tcp")), [row | {"giver": "a", "taker": "b", "from_comm": server, "to_comm": client},
                                                           row | {"giver": "b", "taker": "a", "from_comm": client, "to_comm": server}])
        self.no_edge_is_doubted(trace)


if __name__ == "__main__":
    support.main()
