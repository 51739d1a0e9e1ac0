#!/usr/bin/env python3
"""What TCP sends again over a cable that loses packets, held against what the kernel says: of the same sockets (TCP_INFO), and of a whole network (RetransSegs).

Some virtual machines run no BPF program while process 1 has the CPU. What was sent again just then is told by the next row of its socket; if it was the
last, nothing tells. There a test is made again, ATTEMPTS times at most, until a trace has all; that no trace has more than the kernel holds for each.
"""

import shutil
import subprocess

import laboratory
import support

LOSS_PERCENT = 5
PORT = 7000
MEGABYTES = 4
HIDDEN_S = 100  # so wrong is the clock of a host

COUNT = """
import socket, struct, sys, time
def count(connection):
    while True:  # until nothing waits to be acknowledged, nor to be sent: then the window is full, and nothing is under way either
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
        unacknowledged, segments, unsent, data = (struct.unpack_from(format, info, at)[0] for format, at in (("I", 24), ("I", 100), ("I", 144), ("Q", 208)))
        if unacknowledged == unsent == 0:
            return segments, data
        time.sleep(0.01)
"""
RECEIVE = """
import socket, sys
listener = socket.create_server(("", int(sys.argv[1])))
print("listens", flush=True)
while True:
    connection, _ = listener.accept()
    while connection.recv(65536):
        pass
    connection.close()
"""
SEND = COUNT + """
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
for _ in range(int(sys.argv[3]) * 16):
    connection.sendall(b"x" * 65536)
print(*count(connection), file=open(sys.argv[4], "w"))
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
"""
# Closes at once; waits until the kernel has got rid of all: no socket of this network is on its way to its end.
SEND_AND_CLOSE = """
import socket, sys, time
def of_network(file, line, word):
    names, values = [row.split() for row in open("/proc/net/" + file) if row.startswith(line + ":")]
    return int(values[names.index(word)])
before = of_network("snmp", "Tcp", "RetransSegs")
for _ in range(20):
    connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    connection.sendall(b"x" * 200_000)
    connection.close()
while any(row.split()[3] in ("04", "09", "0B") for row in list(open("/proc/net/tcp"))[1:]):
    time.sleep(0.05)
print(of_network("snmp", "Tcp", "RetransSegs") - before, file=open(sys.argv[4], "w"))
"""
# A host that takes no notice of who wants to connect.
DEAF = """table netdev deaf {
    chain arriving {
        type filter hook ingress device "eth0" priority 0; policy accept;
        tcp flags == syn drop
    }
}
"""
ATTEMPTS = 4
HIDDEN = "not while process 1 has the CPU: this kernel keeps it from BPF programs"
HIDES = f"SELECT count(*) FROM coverage WHERE source = 'retransmissions' AND reason = '{HIDDEN}'"
SUMS = "SELECT coalesce(sum(segments), 0) AS segments, coalesce(sum(bytes), 0) AS bytes FROM retransmissions"
UNTIL_COUNTED = " WHERE tcp_flag IS DISTINCT FROM 'FIN'"  # which comes after the count


class RetransmissionTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.skip_without(laboratory.lacking() + ([] if shutil.which("nft") else ["nftables"]))
        self.lab = laboratory.Laboratory("near", "far")
        self.addCleanup(self.lab.close)
        receiver = self.lab["far"].start_python(RECEIVE, str(PORT), stdout=-1)
        self.addCleanup(receiver.stdout.close)
        self.assertEqual(receiver.stdout.readline(), b"listens\n")
        self.lab["near"].lose(LOSS_PERCENT)

    def until_all_is_seen(self, attempt, query=SUMS + UNTIL_COUNTED):
        """Calls attempt(name), which returns a trace; gives back the first that has all, else the last, and what the kernel counted."""
        for number in range(ATTEMPTS):
            trace = attempt(f"trace{number}")
            counted = dict(zip(("segments", "bytes"), self.counts()))
            told = trace.numbers(query)
            missed = trace.number("SELECT coalesce(sum(missed_segments), 0) FROM retransmissions")
            self.assertLessEqual(told["segments"] + missed, counted["segments"])
            if told["segments"] == counted["segments"] or trace.number(HIDES) == 0:
                break
        return trace, told, counted

    def command(self, code, counts="counts"):
        return ["python3", "-c", code, self.lab["far"].address, str(PORT), str(MEGABYTES), self.path(counts)]

    def counts(self, name="counts"):
        with open(self.path(name), encoding="ascii") as counts:
            return [int(number) for number in counts.read().split()]

    def record_near(self, code, *words, name="trace"):
        return self.record(*words, "--", *self.lab["near"].inside(self.command(code)), name=name)

    def test_what_is_sent_again_is_what_the_kernel_counts_of_the_socket(self):
        other = self.lab["near"].start(self.command(SEND, "others"))  # is not recorded
        trace, told, counted = self.until_all_is_seen(lambda name: self.record_near(SEND, name=name))
        other.wait(timeout=support.PATIENCE_S)
        self.assertGreater(counted["segments"], 0)
        self.assertGreater(self.counts("others")[0], 0)
        self.assertEqual(told, counted)
        self.assertIn(trace.rows("SELECT state, reason FROM coverage WHERE source = 'retransmissions'"),
                      [[{"state": "on", "reason": ""}], [{"state": "partial", "reason": HIDDEN}]])
        # each is a piece of what a call had sent before, on a socket to that port
        lost = trace.rows(f"""SELECT * FROM retransmissions r WHERE remote_port IS DISTINCT FROM {PORT} OR tcp_flag IS NULL AND NOT EXISTS (FROM events e WHERE
            e.object_id = r.object_id AND e.connection_id = r.connection_id AND e.name = 'sendto' AND e.start_ns <= r.time_ns AND e.time <= r.time
            AND r.stream_offset >= e.stream_offset AND r.stream_offset < e.stream_offset + e.bytes)""")
        self.assertEqual(lost, [])
        report = subprocess.run([support.DYETRACE, "report", trace.path], check=True, capture_output=True, text=True, timeout=support.PATIENCE_S).stdout
        self.assertRegex(" ".join(report.split()), rf"sent to {self.lab['far'].address}:{PORT} was sent again by TCP: \d+ segments")
        accounting = trace.accounting()
        self.assertEqual(accounting["generated"], accounting["delivered"])
        self.assertEqual(accounting["delivered"], trace.number("SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM retransmissions) + "
                                                          "(SELECT count(*) FROM event_objects)"))

    def test_sockets_that_were_closed_count_until_all_has_come(self):
        trace, told, counted = self.until_all_is_seen(lambda name: self.record_near(SEND_AND_CLOSE, name=name), SUMS)
        self.assertEqual(told["segments"], counted["segments"])
        self.assertGreater(trace.number("SELECT count(*) FROM retransmissions r JOIN events e USING (object_id) WHERE e.name = 'close' AND "
                                        "e.start_ns + e.duration_ns < r.time_ns"), 0)

    def test_a_condition_on_processes_holds_for_what_is_sent_again(self):
        trace = self.record_near(SEND, "--comm", "nobody")
        self.assertGreater(self.counts()[0], 0)
        self.assertEqual(trace.numbers(SUMS), {"segments": 0, "bytes": 0})

    def test_a_connection_that_is_not_answered_is_asked_for_again(self):
        far = self.lab["far"]

        def attempt(name):
            far.run(["nft", "-f", "-"], input=DEAF)
            trace, recorder = self.start_recording("--", *self.lab["near"].inside(self.command(SEND)), name=name)
            self.wait_for(lambda: trace.number("SELECT count(*) FROM retransmissions") > 0, "the SYN is sent again")
            far.run(["nft", "delete", "table", "netdev", "deaf"])
            self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)
            return trace
        trace, told, counted = self.until_all_is_seen(attempt)
        self.assertEqual(told, counted)
        first = trace.rows("SELECT tcp_flag, bytes, segments, stream_offset, congestion_state, remote_port FROM retransmissions ORDER BY time_ns LIMIT 1")
        self.assertEqual(first, [{"tcp_flag": "SYN", "bytes": 0, "segments": 1, "stream_offset": None, "congestion_state": "loss", "remote_port": PORT}])

    def test_the_time_is_that_of_the_cluster(self):
        hidden = laboratory.Clock(HIDDEN_S, 0, support.boot_ns())
        fleet = laboratory.Fleet(self.lab, self.folder, {"near": hidden.option})

        def attempt(name):
            fleet.record(self.lab["far"], name, "--comm", "python3")
            self.lab["near"].run(self.command(SEND))
            self.wait_for(lambda: fleet.trace.number("SELECT count(*) FROM events WHERE host = 'near' AND name = 'shutdown'") > 0, "all arrives")
            fleet.stop()
            return fleet.trace
        trace, _, counted = self.until_all_is_seen(attempt, f"{SUMS}{UNTIL_COUNTED} AND host = 'near' AND remote_port = {PORT}")
        # of the right order on any host; a clock that was not mapped would be off by seconds
        of_near, after_far = "host = 'near' AND name = 'connect'", "host = 'far' AND name = 'close'"
        rows = trace.rows(f"""SELECT host, sum(segments) AS segments,
            bool_and(time >= (SELECT min(time) FROM events WHERE {of_near}) - to_milliseconds(10)) AS is_after_the_connection,
            bool_and(time <= (SELECT max(time) FROM events WHERE {after_far}) + to_milliseconds(10)) AS is_before_the_end
            FROM retransmissions {UNTIL_COUNTED} AND remote_port = {PORT} GROUP BY host""")
        self.assertEqual(rows, [{"host": "near", "segments": counted["segments"], "is_after_the_connection": True, "is_before_the_end": True}])


if __name__ == "__main__":
    support.main()
