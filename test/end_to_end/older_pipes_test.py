#!/usr/bin/env python3
"""Pipes that were there before the recording: whose bytes a read took, and from when on the counts agree."""

import os
import subprocess
import sys

import support
from following import FollowTest

REQUESTS = 5
WOKEN_BY_A_PIPE = """
import collections, os, select, socket, sys, threading
waiting, (out, wake) = collections.deque(), os.pipe()
os.set_blocking(out, False)
def answer():
    ready = select.epoll()
    ready.register(out, select.EPOLLIN)
    while True:
        ready.poll()
        try:
            while os.read(out, 256): pass
        except BlockingIOError: pass
        while waiting:
            client, text = waiting.popleft()
            client.sendall(text)
            client.close()
threading.Thread(target=answer, daemon=True).start()
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
print('ready', flush=True)
while True:
    client, _ = listener.accept()
    waiting.append((client, client.recv(99)))
    os.write(wake, b'c')
"""

# One thread hands what it is told to another one, which takes byte by byte, or number by number, and asks for no more.
TAKEN_ONE_BY_ONE = """
import os, select, socket, sys, threading
kind, waits, size = sys.argv[1], sys.argv[2] == 'epoll', 1
if kind == 'pipe':
    out, wake = os.pipe()
elif kind == 'socket':
    out, wake = (end.detach() for end in socket.socketpair())
else:
    out, size = os.eventfd(0, os.EFD_SEMAPHORE if kind == 'semaphore' else 0), 8
    wake = out
def take():
    ready = select.epoll()
    ready.register(out, select.EPOLLIN)
    while True:
        if waits: ready.poll()
        os.read(out, size)
        print('taken', flush=True)
threading.Thread(target=take, daemon=True).start()
print('ready', flush=True)
for line in sys.stdin:
    os.write(wake, (1).to_bytes(size, sys.byteorder))
"""

# Three processes that have both ends of a pipe, and read or write 10 bytes when they are told to: "holderA write".
SHARED = """
import os, signal, sys
out, into = os.pipe()
def holder(name):
    asked, ask = os.pipe()
    told, tell = os.pipe()
    if pid := os.fork():
        return pid, ask, told
    with open('/proc/self/comm', 'w') as comm: comm.write(name)
    while what := os.read(asked, 1):
        os.write(into, name[-1].encode() * 10) if what == b'w' else os.read(out, 10)
        os.write(tell, b'.')
holders = {name: holder(name) for name in ('holderA', 'holderX', 'holderR')}
print(holders['holderA'][0], holders['holderR'][0], flush=True)
for line in sys.stdin:
    name, what = line.split()
    os.write(holders[name][1], what[:1].encode())
    os.read(holders[name][2], 1)
    print('done', flush=True)
for pid, _, _ in holders.values():
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
"""
# X takes what A has put, and puts as much.
EXCHANGED = ("holderA write", "holderR read", "holderA write", "holderX read", "holderX write", "holderR read", "holderA write", "holderR read")


class OlderPipeTest(FollowTest):
    def flows_of(self, trace):
        """How many flows, certain ones and edges there are of the 10 bytes that were written at a time."""
        return trace.numbers("SELECT count(*) AS flows, count(*) FILTER (certainty = 'certain') AS certain, count(*) FILTER (EXISTS (SELECT 1 FROM edges e "
                             "WHERE e.from_event = f.from_event AND e.to_event = f.to_event)) AS edges FROM flows f WHERE rule = 'pipe' AND bytes = 10")

    def test_who_is_not_recorded_may_take_and_put_the_same_number(self):
        """The sum over the pipe agrees then, and proves nothing; where all processes are recorded it does."""
        two = "comm IN ('holderA', 'holderR')"
        for name, options, expected in (("processes", None, {"certain": 0, "edges": 0}), ("condition", ["-a", "--where", two], {"certain": 0, "edges": 0}),
                                        ("all", ["-a"], {"flows": 4, "certain": 4, "edges": 4})):
            holders = self.start([sys.executable, "-c", SHARED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            pids = holders.stdout.readline().split()
            trace, recorder = self.start_recording(*(options or ["-p", ",".join(pids)]), name=name)
            for line in EXCHANGED:
                holders.stdin.write(line + "\n")
                holders.stdin.flush()
                self.assertEqual(holders.stdout.readline(), "done\n")
            self.assertEqual(self.stop(recorder), 0)
            holders.communicate()
            found = self.flows_of(trace)
            self.assertEqual({key: found[key] for key in expected}, expected, name)
        begun = f"import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], input={chr(10).join(EXCHANGED)!r}, text=True, check=True)"
        trace = self.record("--where", two, "--", sys.executable, "-c", begun, SHARED, name="begun")
        found = self.flows_of(trace)
        self.assertEqual((found["certain"], found["edges"]), (0, 0))
        self.assertGreater(found["flows"], 0)

    def test_bytes_that_were_in_a_pipe_before_are_not_those_that_came_later(self):
        """A reader takes no more than it asks for, 10 by 10, of which two are older than the recording; with and without a look at whether more is there."""
        for wait in ("", "assert not select.select([out], [], [], 0)[0]", "assert not asked.poll(1)"):
            program = ("import os, select, sys; out, into = os.pipe(); asked = select.poll(); asked.register(out, select.POLLIN); os.write(into, b'x' * 20)\n"
                       "print('ready', flush=True); sys.stdin.readline()\n"
                       f"os.read(out, 10); os.read(out, 10); {wait}\n"
                       f"for i in range(3): os.write(into, b'y' * 10); os.read(out, 10); {wait}")
            reader = self.start([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            reader.stdout.readline()
            trace, recorder = self.start_recording("-p", str(reader.pid), name=f"trace{len(wait)}")
            reader.communicate("on\n")
            self.assertEqual(reader.wait(), 0)
            self.assertEqual(recorder.wait(support.PATIENCE_S), 0)
            rows = trace.rows("SELECT r.start_ns > w.start_ns AS later, f.bytes FROM flows f JOIN events w ON w.event_id = f.from_event JOIN events r ON r.event_id = f.to_event "
                              "WHERE f.rule = 'pipe' AND w.bytes = 10")
            self.assertEqual([(row["later"], int(row["bytes"])) for row in rows], [(True, 10)] * 3, wait)

    def test_what_somebody_else_took_is_known_once_a_pipe_is_seen_empty(self):
        """This test takes what was written first; the program then waits in vain, and reads what it writes next."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        program = ("import os, select, sys; pipe = os.open(sys.argv[1], os.O_RDWR)\n"
                   "print('ready', flush=True); sys.stdin.readline(); os.write(pipe, b'x' * 10)\n"
                   "print('written', flush=True); sys.stdin.readline()\n"
                   "asked = select.poll(); asked.register(pipe, select.POLLIN); assert not asked.poll(1)\n"
                   "os.write(pipe, b'y' * 10); os.read(pipe, 10)")
        writer = self.start([sys.executable, "-c", program, fifo], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        writer.stdout.readline()
        trace, recorder = self.start_recording("-p", str(writer.pid), name="taken")
        writer.stdin.write("on\n")
        writer.stdin.flush()
        writer.stdout.readline()
        with open(fifo, "rb", buffering=0) as out:
            self.assertEqual(out.read(10), b"x" * 10)
        writer.communicate("on\n")
        self.assertEqual((writer.wait(), recorder.wait(support.PATIENCE_S)), (0, 0))
        rows = trace.rows(f"SELECT row_number() OVER (ORDER BY e.start_ns) AS number, e.event_id IN (SELECT from_event FROM flows) AS flows FROM events e WHERE name = 'write' AND path = '{self.seen(fifo)}'")
        self.assertEqual([(int(row["number"]), row["flows"]) for row in rows], [(1, False), (2, True)])

    def test_a_daemon_that_was_there_before_hands_requests_over_by_its_pipe(self):
        """A thread takes requests, and wakes another one by a pipe, as Ceph does, which answers: each answer was caused by its request."""
        port = support.free_port()
        daemon = self.start([sys.executable, "-c", WOKEN_BY_A_PIPE, str(port)], stdout=subprocess.PIPE, text=True)
        daemon.stdout.readline()
        ask = f"import socket\nfor i in range({REQUESTS}):\n s = socket.create_connection(('127.0.0.1', {port})); s.sendall(b'%09d' % i); assert s.recv(99) == b'%09d' % i"
        subprocess.run([sys.executable, "-c", ask], check=True)  # its pipe was used before, too
        for name, condition in (("all", []), ("where", ["--where", f"comm = '{support.comm_of(daemon.pid)}' and name not in ('futex', 'epoll_wait')"])):
            trace, recorder = self.start_recording("-a", *condition, name=name)
            subprocess.run([sys.executable, "-c", ask], check=True)
            self.assertEqual(self.stop(recorder), 0)
            (found,) = trace.rows("SELECT count(*) AS wakes, count(*) FILTER (certainty = 'certain') AS certain FROM flows f JOIN events e ON e.event_id = f.from_event "
                                  f"WHERE f.rule = 'pipe' AND e.pid = {daemon.pid}")
            self.assertEqual((int(found["wakes"]), int(found["certain"])), (REQUESTS, REQUESTS), name)
            self.assertEqual(trace.number("SELECT count(*) FROM edges d JOIN events r ON r.event_id = d.from_event JOIN events w ON w.event_id = d.to_event "
                                          f"WHERE d.rule = 'pipe' AND r.pid = {daemon.pid} AND w.pid = {daemon.pid} AND r.tid <> w.tid"), REQUESTS, name)

    def test_a_thread_that_takes_byte_by_byte_was_woken_by_who_put_them_there(self):
        """As those who take messages of a known length do (Python's multiprocessing): no call finds nothing, and none gets less than it asked for."""
        kinds, daemons = {"pipe": "pipe", "socket": "unix", "eventfd": "eventfd", "semaphore": "eventfd"}, {}
        for kind in kinds:
            for wait in ("epoll", "blocked"):
                daemons[kind, wait] = self.start([sys.executable, "-c", TAKEN_ONE_BY_ONE, kind, wait], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                daemons[kind, wait].stdout.readline()

        def ask():
            for daemon in daemons.values():
                daemon.stdin.write("on\n")
                daemon.stdin.flush()
                daemon.stdout.readline()

        ask()  # they were used before, too
        pids = ", ".join(str(daemon.pid) for daemon in daemons.values())
        trace, recorder = self.start_recording("-a", "--where", f"pid in ({pids}) and name in ('read', 'write')")
        for _ in range(REQUESTS + 1):
            ask()
        self.assertEqual(self.stop(recorder), 0)
        for (kind, wait), daemon in daemons.items():
            ends = (f"JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event WHERE rule = '{kinds[kind]}' AND a.tid <> b.tid "
                    f"AND a.pid = {daemon.pid} AND b.pid = {daemon.pid}")
            if kinds[kind] != "eventfd":
                self.assertEqual(trace.numbers(f"SELECT count(*) AS flows, count(*) FILTER (certainty = 'certain') AS certain FROM flows {ends}"),
                                 {"flows": REQUESTS + 1, "certain": REQUESTS + 1}, (kind, wait))
            # the first number may have found another one there, if its reader did not wait for it to be written
            self.assertGreaterEqual(trace.number(f"SELECT count(*) FROM edges {ends}"), REQUESTS, (kind, wait))


if __name__ == "__main__":
    support.main()
