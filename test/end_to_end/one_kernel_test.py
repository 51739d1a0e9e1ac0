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

# One process writes into a pipe and a FIFO, the other one reads; the folder is the second word.
PIPES = r"""
import os, sys
name, folder, rounds = sys.argv[1], sys.argv[2], 100
def call_me(what):
    with open("/proc/self/comm", "w") as comm:
        comm.write(name + what)
reader, writer = os.pipe()
os.mkfifo(folder + "/fifo")
if os.fork() == 0:
    call_me("s")
    fifo = os.open(folder + "/fifo", os.O_WRONLY)
    for number in range(rounds):
        os.write(writer, b"%099d\n" % number)
        os.write(fifo, b"%099d\n" % number)
    os._exit(0)
call_me("c")
fifo = os.open(folder + "/fifo", os.O_RDONLY)
for number in range(rounds):
    os.read(reader, 100)
    os.read(fifo, 100)
assert os.wait()[1] == 0
"""

# A process waits in a read of a pipe, and in one of a connection, until there is a file `go` in the folder that is the second word; it says so with `waits`.
WAITING = r"""
import os, socket, sys, time
name, folder = sys.argv[1:3]
def call_me(what):
    with open("/proc/self/comm", "w") as comm:
        comm.write(name + what)
reader, writer = os.pipe()
near = socket.create_server(("127.0.0.1", 0))
far = socket.create_connection(near.getsockname())
near = near.accept()[0]
if os.fork() == 0:
    call_me("s")
    if os.fork() == 0:
        far.recv(100)
        os._exit(0)
    os.read(reader, 100)
    os.wait()
    os._exit(0)
call_me("c")
open(folder + "/waits", "w").close()
while not os.path.exists(folder + "/go"):
    time.sleep(0.05)
os.write(writer, b"p" * 100)
near.sendall(b"t" * 100)
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

    def test_ends_of_pipes_that_each_recorded_alone_belong_together(self):
        self.start_agent("a", f"--always=--where=comm = '{self.name}s'")
        self.start_agent("b", f"--always=--where=comm = '{self.name}c'")
        trace = self.run_on("all", "--content=hash", "-a", "--", sys.executable, "-c", PIPES, self.name, self.folder)
        piped = trace.rows(FLOWS.format("pipe"))
        self.assertEqual([(row["giver"], row["taker"], row["inverted"]) for row in piped], [("a", "b", 0)] * len(piped), piped)
        self.assertEqual(sum(row["bytes"] for row in piped), 2 * 100 * ROUNDS, piped)
        self.no_edge_is_doubted(trace)

    def test_a_call_that_began_before_an_agent_came_is_one_call(self):
        self.start_agent("a")
        where = f"comm in ('{self.name}c', '{self.name}s') and name in ('read', 'recvfrom', 'write', 'sendto')"
        trace, operator = self.start_on("all", "--content=hash", "--where", where, "--", sys.executable, "-c", WAITING, self.name, self.folder)
        self.wait_for(lambda: os.path.exists(self.path("waits")), "two processes wait")
        self.start_agent("b")
        self.wait_for(lambda: trace.number("SELECT count(*) FROM accounting WHERE host = 'b'") > 0, "the second agent records")
        self.file("go")
        self.assertEqual(operator.wait(timeout=support.PATIENCE_S), 0, self.said("operator"))
        moved = trace.rows("SELECT name, host, bytes FROM events WHERE bytes = 100 ORDER BY ALL")
        self.assertEqual([(row["name"], row["host"]) for row in moved], [(name, host) for name in ("read", "recvfrom", "sendto", "write") for host in ("a", "b")])
        self.assertEqual(trace.number("SELECT count(*) FROM twins WHERE item = 'event'"), 4)
        for rule in ("pipe", "tcp"):
            (flow,) = trace.rows(FLOWS.format(rule))
            self.assertEqual((flow["bytes"], flow["inverted"], flow["giver"], flow["taker"]), (100, 0, "a", "a"), rule)
        self.no_edge_is_doubted(trace)


if __name__ == "__main__":
    support.main()
