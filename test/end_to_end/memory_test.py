#!/usr/bin/env python3
"""Bytes that go from one process into another without a file or a socket between: through its memory, and through queues."""

import subprocess
import sys

import support
from following import FollowTest

CARD = "4929123456781234"

# A process reads a file and waits; another one takes what it read out of its memory and writes that; or, the other way round, puts it there.
PARTS = r"""
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
size = os.path.getsize("source")
memory = ctypes.create_string_buffer(size)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
def there():
    return ctypes.byref(Vector(ctypes.addressof(memory), size))
def put(name):
    os.write(os.open(name, os.O_WRONLY | os.O_CREAT), memory)
def take():
    assert os.readv(os.open("source", os.O_RDONLY), [memory]) == size
ask, asked = os.pipe()
answer, answered = os.pipe()
owner = os.fork()
"""
TAKEN = PARTS + r"""
if owner == 0:
    take()
    os.write(answered, b"1")
    os.read(ask, 1)
    os._exit(0)
os.read(answer, 1)
assert libc.process_vm_readv(owner, there(), 1, there(), 1, 0) == size
put("target")
os.write(asked, b"1")
os.wait()
"""
GIVEN = PARTS + r"""
if owner == 0:
    os.read(ask, 1)
    put("target")
    os._exit(0)
take()
assert libc.process_vm_writev(owner, there(), 1, there(), 1, 0) == size
os.write(asked, b"1")
os.wait()
"""

# A message through a queue of either kind, with a dye in it.
QUEUES = r"""
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
text = sys.argv[1].encode() * 5
size = len(text)
message = ctypes.create_string_buffer((1).to_bytes(8, "little") + text, 8 + size)
room = ctypes.create_string_buffer(8192)
queue = libc.msgget(0, 0o600)
assert libc.msgsnd(queue, message, ctypes.c_size_t(size), 0) == 0
assert libc.msgrcv(queue, room, ctypes.c_size_t(8184), ctypes.c_long(0), 0) == size and room.raw[8:8 + size] == text
libc.msgctl(queue, 0, None)
name = f"/dyetrace-{os.getpid()}".encode()
queue = libc.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None)
assert queue >= 0 and libc.mq_unlink(name) == 0
assert libc.mq_send(queue, text, ctypes.c_size_t(size), 3) == 0
assert libc.mq_receive(queue, room, ctypes.c_size_t(8192), None) == size
"""


# Calls that move bytes which no event tells: of each group of src/schema/moves.toml that a file system and a kernel have here.
UNSEEN = r"""
import ctypes, fcntl, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
segment = libc.shmget(0, ctypes.c_size_t(4096), 0o600)
libc.shmat.restype = ctypes.c_void_p
assert libc.shmat(segment, None, 0) not in (None, ctypes.c_void_p(-1).value)
libc.shmctl(segment, 0, None)
semaphore = libc.semget(0, 1, 0o600)
assert libc.semop(semaphore, struct.pack("=HhH", 0, 1, 0), ctypes.c_size_t(1)) == 0
libc.semctl(semaphore, 0, 0, 0)
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()
word = ctypes.c_uint32(0)
assert libc.syscall(202, ctypes.byref(word), 1, 1, None, None, 0) == 0
os.setxattr("source", "user.a", b"value")
if os.fork() == 0:
    libc.ptrace(0, 0, None, None)
    os._exit(0)
os.wait()
"""
UNSEEN_GROUPS = {"shared memory of System V", "System V semaphores", "netlink, packet and vsock sockets", "futexes between processes",
                 "values of extended attributes", "memory of traced processes"}


# Each wakes nobody; that it could is enough. Private ones (128) are seen.
FUTEX = """
import ctypes, sys
word, other, operation = ctypes.c_uint32(0), ctypes.c_uint32(0), int(sys.argv[1])
libc = ctypes.CDLL(None)
if operation & 127 == 7:
    libc.syscall(202, ctypes.byref(word), operation - 1, 0, None, None, 0)
assert libc.syscall(202, ctypes.byref(word), operation, 1, ctypes.c_long(1), ctypes.byref(other), 0 if operation & 127 != 10 else 1) == 0
"""

# A page that nobody has written to is given to who touches it.
FILLED = r"""
import ctypes, fcntl, mmap, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
faults = libc.syscall(323, 1)
if faults < 0:
    sys.exit()
fcntl.ioctl(faults, 0xc018aa3f, struct.pack("=QQQ", 0xaa, 0, 0))
page, text = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), ctypes.create_string_buffer(b"filled", 8192)
address, source = (ctypes.addressof(ctypes.c_char.from_buffer(memory)) for memory in (page, text))
fcntl.ioctl(faults, 0xc020aa00, struct.pack("=QQQQ", address, 4096, 1, 0))
fcntl.ioctl(faults, 0xc028aa03, struct.pack("=QQQQq", address, source, 4096, 0, 0))
print(page[:6].decode())
"""

# What it uses is there before it is recorded.
EARLIER = r"""
import ctypes, socket, sys
sockets = [socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2) for _ in range(2)]
sockets[0].bind((0, 0))
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(0, ctypes.c_size_t(4096), 0o600)
assert libc.shmat(segment, None, 0) not in (None, ctypes.c_void_p(-1).value)
libc.shmctl(segment, 0, None)
print("ready", flush=True)
sys.stdin.readline()
sockets[1].sendto(b"text", sockets[0].getsockname())
"""


class CoverageTest(FollowTest):
    def sources(self, *command, name):
        trace = self.record("--", *command, name=name, cwd=self.folder)
        return {row["source"] for row in trace.rows("SELECT source, reason FROM coverage WHERE state <> 'on' AND length(reason) > 10")}

    def test_bytes_that_no_event_tells_are_said_once_a_call_moves_them(self):
        self.file("source")
        self.assertEqual(set(), UNSEEN_GROUPS & self.sources("true", name="quiet"))
        self.assertEqual(UNSEEN_GROUPS, UNSEEN_GROUPS & self.sources(sys.executable, "-S", "-E", "-c", UNSEEN, name="unseen"))

    def test_whatever_wakes_another_process_at_a_futex_is_said(self):
        for operation in (1, 3, 5, 7, 10):
            for private in (0, 128):
                sources = self.sources(sys.executable, "-S", "-E", "-c", FUTEX, str(operation | private), name=f"futex{operation | private}")
                self.assertEqual(private == 0, "futexes between processes" in sources, operation | private)

    def test_memory_that_another_thread_is_given_is_said(self):
        trace = self.record("--", sys.executable, "-S", "-E", "-c", FILLED)
        if not trace.printed:
            self.skipTest("no userfaultfd here")
        self.assertEqual("filled\n", trace.printed)
        self.assertEqual(1, trace.number("SELECT count(*) FROM coverage WHERE source = 'userfaultfd'"))

    def test_sockets_and_segments_that_are_older_than_the_recording_are_said(self):
        user = self.start([sys.executable, "-S", "-E", "-c", EARLIER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(user.stdout.close)
        self.assertEqual(b"ready\n", user.stdout.readline())
        trace, recorder = self.start_recording("-p", str(user.pid))
        user.communicate(b"go\n", timeout=support.PATIENCE_S)
        self.assertEqual(0, recorder.wait(timeout=support.PATIENCE_S))
        self.assertEqual(1, trace.number("SELECT count(*) FROM events WHERE name = 'sendto' AND bytes = 4"))
        self.assertEqual(["netlink, packet and vsock sockets", "shared memory of System V"],
                         [row["source"] for row in trace.rows("SELECT source FROM coverage WHERE source IN ('netlink, packet and vsock sockets', 'shared memory of System V') ORDER BY 1")])


class MemoryTest(FollowTest):
    def moved(self, program, call, transfer):
        source = self.random_file("source", 50_000)
        trace = self.record(*self.python(program), cwd=self.folder)
        row, = trace.rows(f"SELECT bytes, requested, transfer, unread_bytes, target_process_id IS NOT NULL AS known, target_process_id <> process_id AS other FROM events "
                          f"WHERE name = '{call}'")
        self.assertEqual({"bytes": 50_000, "requested": 50_000, "unread_bytes": 0}, {name: int(row[name]) for name in ("bytes", "requested", "unread_bytes")})
        self.assertEqual((transfer, True, True), (row["transfer"], row["known"], row["other"]))
        for trail in (self.trail(trace, "--path", self.seen(source)), self.trail(trace, "--path", self.seen(self.path("target")), "--back")):
            self.assertEqual({"source", "target"}, self.files(trail))
            self.assertIn(call, [hop["name"] for hop in trail["hops"]])
            self.assertEqual(1, [hop["name"] for hop in trail["hops"]].count(call))

    def test_what_is_taken_out_of_another_process_is_followed(self):
        self.moved(TAKEN, "process_vm_readv", "read")

    def test_what_is_put_into_another_process_is_followed(self):
        self.moved(GIVEN, "process_vm_writev", "write")

    def test_messages_of_queues_have_their_bytes_and_dyes(self):
        trace = self.record("--content=hash", "--dye", f"card={CARD}", "--", sys.executable, "-c", QUEUES, CARD)
        rows = trace.rows("SELECT name, transfer, bytes, unread_bytes, dye_hits, object_type, file_system, fingerprint FROM events "
                          "WHERE name IN ('msgsnd', 'msgrcv', 'mq_timedsend', 'mq_timedreceive') ORDER BY start_ns")
        self.assertEqual([("msgsnd", "write"), ("msgrcv", "read"), ("mq_timedsend", "write"), ("mq_timedreceive", "read")],
                         [(row["name"], row["transfer"]) for row in rows])
        for row in rows:
            self.assertEqual((80, 0, 5), tuple(int(row[name]) for name in ("bytes", "unread_bytes", "dye_hits")), row)
        self.assertEqual(1, len({row["fingerprint"] for row in rows}))
        self.assertEqual([None, None, "mqueue", "mqueue"], [row["file_system"] for row in rows])


if __name__ == "__main__":
    support.main()
