#!/usr/bin/env python3
"""Queues of messages, of System V and of POSIX: whose message a receiver got, in order of type, of priority and of sending."""

import ctypes
import os
import struct
import subprocess
import sys

import support
from following import FollowTest

MESSAGES = 200
# What the programs below have: send and receive, of which the latter returns the text, over a queue that they have before they are forked.
QUEUES = """
import ctypes, os, random, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
IPC_PRIVATE, O_NONBLOCK = 0, 0o4000
def checked(result):
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
class SystemV:
    def __init__(self):
        self.queue = checked(libc.msgget(IPC_PRIVATE, 0o600))
    def send(self, text, type):
        checked(libc.msgsnd(self.queue, struct.pack('@l', type) + text, len(text), 0))
    def receive(self, type=0):
        room = ctypes.create_string_buffer(8 + 8192)
        length = checked(libc.msgrcv(self.queue, room, 8192, ctypes.c_long(type), 0))
        return room.raw[8:8 + length]
    def end(self):
        libc.msgctl(self.queue, 0, None)
class Posix:
    def __init__(self):
        self.name = b'/dyetrace-test-%d' % os.getpid()
        self.queue = checked(libc.mq_open(self.name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600, None))
    def send(self, text, type):
        checked(libc.mq_send(self.queue, text, len(text), type))
    def receive(self, type=None):
        room = ctypes.create_string_buffer(8192)
        length = checked(libc.mq_receive(self.queue, room, 8192, None if type is None else ctypes.byref(ctypes.c_uint())))
        return room.raw[:length]
    def end(self):
        libc.mq_unlink(self.name)
def child(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid
"""
# Two senders, two receivers; types or priorities 1 to 3; and at the end of it each message was taken.
CROWD = QUEUES + """
queue, messages = {'msg': SystemV, 'mq': Posix}[sys.argv[1]](), int(sys.argv[2])
def send(seed):
    random_of = random.Random(seed)
    for number in range(messages // 2): queue.send(b'%d: %06d' % (seed, number) + b'.' * random_of.randrange(200), random_of.randrange(1, 4))
def receive(type):
    for _ in range(messages // 2): queue.receive(type)
workers = [child(lambda: send(1)), child(lambda: send(2)), child(lambda: receive(0)), child(lambda: receive(0))]
for worker in workers: os.waitpid(worker, 0)
queue.end()
"""
# One after the other: the first three wait in the queue, the last ones are waited for.
TURNS = QUEUES + """
queue = {'msg': SystemV, 'mq': Posix}[sys.argv[1]]()
for number, type in enumerate((1, 2, 1)): queue.send(b'waits %d' % number, type)
assert [queue.receive(-2 if sys.argv[1] == 'msg' else None) for _ in range(3)] == ([b'waits 0', b'waits 2', b'waits 1'] if sys.argv[1] == 'msg' else [b'waits 1', b'waits 0', b'waits 2'])
there, back = os.pipe()
def answer():
    for _ in range(5):
        queue.receive()
        os.write(back, b'.')
worker = child(answer)
for number in range(5):
    queue.send(b'comes', 1)
    os.read(there, 1)
os.waitpid(worker, 0)
queue.end()
"""
# A daemon that takes what it is told over a queue, in another process; it has been used before.
DAEMON = QUEUES + """
queue = {'msg': SystemV, 'mq': Posix}[sys.argv[1]]()
queue.send(b'from before', 1)
def answer():
    while True: os.write(1, queue.receive() + b'\\n')
child(answer)
for line in sys.stdin: queue.send(b'one of a length', 1)
queue.end()
"""

# Gets what was in the queue before, which is as long as what it sent, and then what it sent.
OLDER = QUEUES + """
class Known(SystemV):
    def __init__(self, number): self.queue = number
queue = Known(int(sys.argv[1]))
with open('sent', 'rb') as file: queue.send(file.read(), 1)
for name in ('first', 'second'):
    with open(name, 'wb') as file: file.write(queue.receive())
"""


class QueueTest(FollowTest):
    def flows(self, trace):
        return trace.numbers("SELECT count(*) AS flows, count(*) FILTER (certainty = 'certain') AS certain, count(*) FILTER (a.fingerprint <> b.fingerprint) AS wrong "
                             "FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event WHERE rule = 'queue'")

    def test_whose_message_a_receiver_got(self):
        for kind in ("msg", "mq"):
            trace = self.record("--content=hash", "--", sys.executable, "-c", TURNS, kind, name=kind)
            self.assertEqual(self.flows(trace), {"flows": 8, "certain": 8, "wrong": 0}, kind)
            self.assertEqual(trace.number("SELECT count(*) FROM edges d JOIN events a ON a.event_id = d.from_event JOIN events b ON b.event_id = d.to_event "
                                          "WHERE d.rule = 'queue' AND a.pid <> b.pid"), 5, kind)

    def test_without_content_the_order_is_known_all_the_same(self):
        for kind in ("msg", "mq"):
            trace = self.record("--", sys.executable, "-c", TURNS, kind, name=kind)
            self.assertEqual(self.flows(trace)["certain"], 8, kind)

    def test_of_a_crowd_certain_is_never_wrong(self):
        for kind in ("msg", "mq"):
            trace = self.record("--content=hash", "--", sys.executable, "-c", CROWD, kind, str(MESSAGES), name=kind)
            found = self.flows(trace)
            self.assertEqual((found["flows"], found["wrong"]), (MESSAGES, 0), (kind, found))
            # the same without what fingerprints tell
            trace = self.record("--", sys.executable, "-c", CROWD, kind, str(MESSAGES), name=kind + " blind")
            self.assertEqual(trace.number("SELECT count(*) FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event "
                                          "WHERE rule = 'queue' AND a.bytes <> b.bytes"), 0, kind)

    def test_a_queue_that_is_older_than_the_recording(self):
        """The kernel says how many messages are left in one of POSIX; in one of System V others of the same length may have been."""
        for kind, certain, blind in (("mq", "certain", "certain"), ("msg", "likely", "possible")):
            daemon = self.start([sys.executable, "-c", DAEMON, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            daemon.stdout.readline()
            pids = f"pid in ({daemon.pid}, {support.children_of(daemon.pid)[0]})"
            traces = [self.start_recording("-a", "--content=hash", "--where", pids, name=kind), self.start_recording("-a", "--where", pids, name=kind + " blind")]
            for _ in range(3):
                daemon.stdin.write("on\n")
                daemon.stdin.flush()
                daemon.stdout.readline()
            for (trace, recorder), certainty in zip(traces, (certain, blind)):
                self.assertEqual(self.stop(recorder), 0)
                self.assertEqual([row["certainty"] for row in trace.rows("SELECT certainty FROM flows WHERE rule = 'queue'")], [certainty] * 3, kind)
            os.kill(support.children_of(daemon.pid)[0], 9)
            daemon.communicate("")

    def test_what_was_in_a_queue_before_is_never_certain_to_be_what_was_sent(self):
        """Nobody says of a queue of System V how much is in it: a message of the same length and type may be an older one, as here."""
        libc = ctypes.CDLL(None)
        queue = libc.msgget(0, 0o600)
        self.addCleanup(libc.msgctl, queue, 0, None)
        self.file("sent", b"sent in the recording")
        for options, certainty, receiver in ((["--content=hash"], "likely", "second"), ([], "possible", None)):
            self.assertEqual(libc.msgsnd(queue, struct.pack("@l", 1) + b"older, and as long as", 21, 0), 0)
            trace = self.record(*options, "--", sys.executable, "-c", OLDER, str(queue), cwd=self.folder, name="t".join(["older", *options]))
            flows = trace.rows("SELECT certainty, to_event::VARCHAR AS taken FROM flows WHERE rule = 'queue'")
            self.assertEqual([row["certainty"] for row in flows], [certainty], options)
            self.assertEqual(trace.number("SELECT count(*) FROM edges WHERE rule = 'queue'"), 0, "a guess is no cause")
            said = self.follow(trace, "--path", self.seen(self.path("sent")), "--min-certainty", "possible")
            self.assertIn(f"{certainty} (queue)", said)
            if receiver:
                taken = [row["taken"] for row in trace.rows("SELECT event_id::VARCHAR AS taken FROM events WHERE name = 'msgrcv' ORDER BY start_ns")]
                self.assertEqual(flows[0]["taken"], taken[1], "by its fingerprint")


if __name__ == "__main__":
    support.main()
