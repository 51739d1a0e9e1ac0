#!/usr/bin/env python3
"""Flows through pipes, FIFOs, sockets and files that processes share: what one end put in the other one took out, whatever becomes of the ends."""

import sys

import support
from following import FollowTest

CHANNELS = """
import os, socket
def child(work):
    if os.fork() == 0:
        work()
        os._exit(0)
listener = socket.socket(socket.AF_UNIX)
listener.bind("listener")
listener.listen()
def client():
    near = socket.socket(socket.AF_UNIX)
    near.connect("listener")
    near.sendall(b"u" * 70000)
    near.recv(2, socket.MSG_WAITALL)
child(client)
far = listener.accept()[0]
far.recv(100, socket.MSG_PEEK)
assert len(far.recv(70000, socket.MSG_WAITALL)) == 70000
far.send(b"ok")
os.mkfifo("fifo")
def writer():
    fifo = os.open("fifo", os.O_WRONLY)
    os.write(fifo, b"f" * 100000)
    os.write(fifo, b"g" * 10)
child(writer)
fifo, taken = os.open("fifo", os.O_RDONLY), 0
while data := os.read(fifo, 9999):
    taken += len(data)
assert taken == 100010
for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    near, far = socket.socketpair(socket.AF_UNIX, kind)
    near.send(b"m" * 50)
    near.send(b"n" * 60)
    assert len(far.recv(20)) == 20
    assert len(far.recv(100)) == 60
tcp = socket.create_server(("127.0.0.1", 0))
near = socket.create_connection(tcp.getsockname())
far = tcp.accept()[0]
near.sendmsg([b"a" * 1000, b"b" * 500])
assert len(far.recv(700, socket.MSG_PEEK | socket.MSG_WAITALL)) == 700
assert len(far.recv(1500, socket.MSG_WAITALL)) == 1500
assert [os.wait()[1] for _ in range(2)] == [0, 0]
"""


class ChannelTest(FollowTest):
    def test_a_child_writes_what_its_parent_read_and_control_blocks_move_it_on(self):
        source = self.random_file("source", 8192)
        trace = self.record(*self.python(INHERITED), cwd=self.folder)
        trail = self.trail(trace, "--path", self.seen(source))
        self.assertEqual(self.files(trail), {"source", "inherited", "submitted"})
        rows = trace.rows("SELECT a.name AS source, b.name AS target, certainty FROM flows f JOIN events a ON a.event_id = from_event "
                          "JOIN events b ON b.event_id = to_event WHERE rule = 'file' AND b.path LIKE '%/inherited'")
        self.assertEqual([(row["source"], row["target"], row["certainty"]) for row in rows], [("write", "pread64", "certain")])

    def test_what_one_end_put_in_the_other_took_out(self):
        trace = self.record("--", sys.executable, "-c", CHANNELS, cwd=self.folder)
        rows = trace.rows("SELECT rule || ' ' || certainty AS how, a.name AS source, b.name AS target, "
                          "sum(f.bytes) AS bytes, bool_and((f.object_id = f.to_object_id) = (rule = 'pipe')) AS ends "
                          "FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event "
                          "WHERE rule <> 'file' GROUP BY ALL ORDER BY 1")
        self.assertEqual([(row["how"], row["source"], row["target"], int(row["bytes"])) for row in rows],
                         [("pipe certain", "write", "read", 100_010),
                          ("tcp certain", "sendmsg", "recvfrom", 2200),
                          ("unix certain", "sendto", "recvfrom", 100 + 70_000 + 2 + 2 * (20 + 60))])
        self.assertEqual({row["ends"] for row in rows}, {True})

    def flows_in(self, program, rule):
        """Bytes of the calls that put and took, those of the flow between them, and how sure it is."""
        trace = self.record("--", sys.executable, "-c", program, name=rule, cwd=self.folder)
        rows = trace.rows("SELECT a.bytes AS put, b.bytes AS taken, f.bytes, certainty FROM flows f JOIN events a ON a.event_id = from_event "
                          f"JOIN events b ON b.event_id = to_event WHERE rule = '{rule}' ORDER BY a.time, b.time")
        return [(int(row["put"]), int(row["taken"]), int(row["bytes"]), row["certainty"]) for row in rows]

    def test_a_fifo_that_all_have_closed_has_lost_what_was_in_it(self):
        program = """
import os
os.mkfifo("q")
def pass_on(bytes, asked):
    if os.fork() == 0:
        fifo = os.open("q", os.O_WRONLY)
        os.write(fifo, b"x" * bytes)
        os._exit(0)
    fifo = os.open("q", os.O_RDONLY)
    os.read(fifo, asked)
    os.close(fifo)
    os.wait()
pass_on(3000, 1000)
pass_on(2500, 4096)
"""
        self.assertEqual([(3000, 1000, 1000, "certain"), (2500, 2500, 2500, "certain")], self.flows_in(program, "pipe"))

    def test_a_socket_of_messages_that_is_connected_elsewhere_sends_them_there(self):
        program = """
from socket import *
ends = [socket(AF_UNIX, SOCK_DGRAM) for _ in range(3)]
for end, name in zip(ends, "abc"): end.bind(name)
for name, bytes in (("a", 30), ("b", 40)):
    ends[2].connect(name)
    ends[2].send(b"x" * bytes)
ends[0].recv(100)
ends[1].recv(100)
"""
        self.assertEqual([(30, 30, 30, "certain"), (40, 40, 40, "certain")], self.flows_in(program, "unix"))

    def test_what_is_left_of_a_packet_is_lost(self):
        program = """
import os
out, into = os.pipe2(os.O_DIRECT)
for bytes in (100, 60): os.write(into, b"x" * bytes)
for _ in range(2): os.read(out, 30)
"""
        self.assertEqual({"likely"}, {certainty for *_, certainty in self.flows_in(program, "pipe")})

    def test_a_condition_that_left_out_calls_makes_counts_a_guess(self):
        """Unless as much was taken as was put where nothing was left."""
        program = "import os; out, into = os.pipe(); os.write(into, b'x' * 10); os.write(into, b'y' * 30); os.read(out, 100)"
        for condition, certainty in (("name <> 'write' or bytes < 20", "likely"), ("name <> 'openat'", "certain")):
            trace = self.record("--where", condition, "--", sys.executable, "-c", program, name=certainty, cwd=self.folder)
            rows = trace.rows("SELECT DISTINCT certainty FROM flows WHERE rule = 'pipe'")
            self.assertEqual([row["certainty"] for row in rows], [certainty])


# What a parent read its child writes; that is copied by asynchronous I/O: one control block reads, another one writes.
INHERITED = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
data = os.read(os.open("source", os.O_RDONLY), 8192)
if os.fork() == 0:
    os.write(os.open("inherited", os.O_WRONLY | os.O_CREAT, 0o600), data)
    os._exit(0)
assert os.wait()[1] == 0
context = ctypes.c_ulong(0)
assert libc.syscall(206, 8, ctypes.byref(context)) == 0
buffer = ctypes.create_string_buffer(8192)
def run(operation, fd):
    block = ctypes.create_string_buffer(struct.pack("<QIIHhIQQqQII", 1, 0, 0, operation, 0, fd, ctypes.addressof(buffer), 8192, 0, 0, 0, 0))
    blocks = (ctypes.c_void_p * 1)(ctypes.addressof(block))
    assert libc.syscall(209, context, 1, blocks) == 1
    done = ctypes.create_string_buffer(32)
    assert libc.syscall(208, context, 1, 1, done, None) == 1
    assert struct.unpack("<QQqq", done.raw)[2] == 8192
run(0, os.open("inherited", os.O_RDONLY))
run(1, os.open("submitted", os.O_WRONLY | os.O_CREAT, 0o600))
"""

# Four processes write and read eight blocks of one file at the same time; no block is ever written twice with the same bytes.


if __name__ == "__main__":
    support.main()
