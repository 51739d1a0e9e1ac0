#!/usr/bin/env python3
"""What happened before what: a program whose processes give things to each other, and marks around each gift whose order is known."""

import sys

import support

# In each scene a child gives and its parent takes. Both look for files that are not there just before and just after: these are the marks.
#
#   child    give.before ── gives ── give.after
#                             └──────────┐
#   parent   take.before ────────────── takes ── take.after
SCENES = r"""
import ctypes, errno, fcntl, os, signal, socket, struct, threading, time

def mark(scene, what):
    try:
        os.stat(f"mark:{scene}:{what}")
    except FileNotFoundError:
        pass

def scene(name, give, take):
    "The child lives until its parent has taken: its end would be a gift of its own, if it came while fork blocks signals."
    taken, takes = os.pipe()
    child = os.fork()
    if child == 0:
        mark(name, "give.before")
        give()
        mark(name, "give.after")
        os.read(taken, 1)
        os._exit(0)
    mark(name, "take.before")
    take()
    mark(name, "take.after")
    os.write(takes, b"!")
    os.waitpid(child, 0)
    os.close(taken)
    os.close(takes)

def is_in_call(process, *numbers):
    with open(f"/proc/{process}/syscall") as file:
        return file.read().split()[0] in numbers

def again(done):
    "Waits without a gift: until it is so, and once more, for the first time may overlap the gift."
    while not done():
        time.sleep(0.01)
    assert done()

def read_all(data, size=100):
    assert data(size), "nothing came"

r, w = os.pipe()
scene("pipe", lambda: os.write(w, b"pipe"), lambda: read_all(lambda n: os.read(r, n)))
near, far = socket.socketpair()
scene("unix", lambda: near.sendall(b"unix"), lambda: read_all(far.recv))
listener = socket.create_server(("127.0.0.1", 0))
client = socket.socket()
def descriptors_of(process):
    return len(os.listdir(f"/proc/{process}/fd"))
def connect_without_blocking():
    "The first call connects, and the second asks whether it did: when the other end has accepted."
    while not is_in_call(os.getppid(), "43", "288"):  # until then it opens files of its own
        time.sleep(0.01)
    before = descriptors_of(os.getppid())
    client.setblocking(False)
    client.connect_ex(listener.getsockname())
    while descriptors_of(os.getppid()) == before:
        time.sleep(0.01)
    assert client.connect_ex(listener.getsockname()) in (0, errno.EISCONN)

scene("connect", connect_without_blocking, lambda: globals().update(served=listener.accept()[0]))
client = socket.create_connection(listener.getsockname())
served = listener.accept()[0]
scene("tcp", lambda: client.sendall(b"tcp"), lambda: read_all(served.recv))
scene("eof", lambda: client.shutdown(socket.SHUT_WR), lambda: globals().update(end=served.recv(10)))
assert end == b""
server, sender = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
server.bind(("127.0.0.1", 0))
scene("datagram", lambda: sender.sendto(b"datagram", server.getsockname()), lambda: read_all(server.recvfrom))
counter = os.eventfd(0)
scene("eventfd", lambda: os.eventfd_write(counter, 3), lambda: read_all(lambda n: os.eventfd_read(counter)))

got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
scene("signal", lambda: os.kill(os.getppid(), signal.SIGUSR1), lambda: again(lambda: got))

def descriptor(name):
    return os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
shared = descriptor("shared")
scene("file", lambda: os.pwrite(shared, b"file", 0), lambda: again(lambda: os.pread(shared, 4, 0)))
os.close(descriptor("old"))
def is_there():
    try:
        return os.close(os.open("new", os.O_RDONLY)) is None
    except FileNotFoundError:
        return False
scene("name", lambda: os.rename("old", "new"), lambda: again(is_there))

def waits_for_lock(process):
    "Whether it is in fcntl or flock: both only wait here."
    return is_in_call(process, "72", "73")

def lock_scene(name, lock, unlock, wait, waits=True):
    "A child has a lock when its parent asks for it."
    told, tells = os.pipe()
    child = os.fork()
    if child == 0:
        file = descriptor(name)
        lock(file)
        os.write(tells, b"!")
        while waits and not waits_for_lock(os.getppid()):
            time.sleep(0.01)
        mark(name, "give.before")
        unlock(file)
        mark(name, "give.after")
        os._exit(0)
    os.read(told, 1)
    mark(name, "take.before")
    file = descriptor(name)
    wait(file)
    mark(name, "take.after")
    os.waitpid(child, 0)
    os.close(file)

def lock_of_file(kind):
    "Of the open file, not of the process: struct flock from byte 5 to the end."
    return lambda file: fcntl.fcntl(file, fcntl.F_OFD_SETLKW, struct.pack("hhlli4x", kind, os.SEEK_SET, 5, 0, 0))

def lock_from_here(file):
    os.lseek(file, 10, os.SEEK_SET)
    fcntl.lockf(file, fcntl.LOCK_EX, 10, 0, os.SEEK_CUR)

lock_scene("lock", lambda file: fcntl.flock(file, fcntl.LOCK_EX), lambda file: fcntl.flock(file, fcntl.LOCK_UN),
           lambda file: fcntl.flock(file, fcntl.LOCK_EX))
lock_scene("lock-range", lock_from_here, lambda file: fcntl.lockf(file, fcntl.LOCK_UN, 0, 0), lambda file: fcntl.lockf(file, fcntl.LOCK_EX, 0, 15))
lock_scene("lock-file", lock_of_file(fcntl.F_WRLCK), lock_of_file(fcntl.F_UNLCK), lock_of_file(fcntl.F_RDLCK))
lock_scene("lock-close", lambda file: fcntl.lockf(file, fcntl.LOCK_EX), lambda file: os.close(descriptor("lock-close")),
           lambda file: fcntl.lockf(file, fcntl.LOCK_EX))
lock_scene("lock-end", lambda file: fcntl.lockf(file, fcntl.LOCK_EX), lambda file: os._exit(0), lambda file: fcntl.lockf(file, fcntl.LOCK_EX))
lock_scene("other bytes", lambda file: fcntl.lockf(file, fcntl.LOCK_EX, 10, 0), lambda file: fcntl.lockf(file, fcntl.LOCK_UN, 10, 0),
           lambda file: fcntl.lockf(file, fcntl.LOCK_EX, 10, 10), waits=False)

mark("fork", "give.before")
child = os.fork()
if child == 0:
    mark("fork", "take.after")
    mark("exit", "give.before")
    os._exit(0)
mark("fork", "give.after")
mark("exit", "take.before")
os.waitpid(child, 0)
mark("exit", "take.after")

libc = ctypes.CDLL(None)
def futex_of(thread):
    "Operation and time limit of the futex that it waits for; None: it does not."
    with open(f"/proc/self/task/{thread}/syscall") as file:
        words = file.read().split()
    return (int(words[2], 16), int(words[4], 16)) if words[0] == "202" else None
def waits_for_end():
    "Whether the first thread is in a futex that is not private: until this one's number is cleared."
    futex = futex_of(os.getpid())
    return futex is not None and not futex[0] & 128

@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def is_joined(_):
    while not waits_for_end():
        time.sleep(0.01)
    mark("exit-join", "give.before")

thread = ctypes.c_ulong()
assert libc.pthread_create(ctypes.byref(thread), None, is_joined, None) == 0
mark("exit-join", "take.before")
libc.pthread_join(thread, None)
mark("exit-join", "take.after")

lock = threading.Lock()
lock.acquire()
def wait_for_lock():
    mark("futex", "take.before")
    lock.acquire()
    mark("futex", "take.after")
waiter = threading.Thread(target=wait_for_lock)
waiter.start()
while (futex_of(waiter.native_id) or (0, 1))[1]:  # that of the interpreter has a time limit
    time.sleep(0.01)
mark("futex", "give.before")
lock.release()
waiter.join()
"""

MARKS = ("WITH marks AS (SELECT event_id, thread_id, split_part(argument_path, ':', 2) AS scene, split_part(argument_path, ':', 3) AS what "
         "FROM events WHERE argument_path LIKE 'mark:%') ")
# "lock-range": by the rule lock.
BETWEEN_PROCESSES = ["connect", "datagram", "eof", "eventfd", "file", "lock", "lock-close", "lock-file", "lock-range", "name", "pipe", "signal", "tcp", "unix"]
ALL = sorted(BETWEEN_PROCESSES + ["exit", "exit-join", "fork", "futex", "lock-end"])


class CauseTest(support.EndToEndTest):
    def test_a_gift_orders_what_lies_around_it_and_nothing_else(self):
        trace = self.record("--", sys.executable, "-c", SCENES, cwd=self.folder)
        rows = trace.rows(MARKS + "SELECT a.scene, happened_before(a.event_id, b.event_id) AS there, happened_before(b.event_id, a.event_id) AS back "
                          "FROM marks a JOIN marks b USING (scene) WHERE a.what = 'give.before' AND b.what = 'take.after' AND scene <> 'other bytes' ORDER BY 1")
        self.assertEqual([row["scene"] for row in rows], ALL)
        for row in rows:
            self.assertEqual((row["there"], row["back"]), (True, False), row)
        rows = trace.rows(MARKS + "SELECT a.scene, b.what, concurrent(a.event_id, b.event_id) AS answer FROM marks a JOIN marks b USING (scene) "
                          "WHERE a.what = 'give.after' AND b.what IN ('take.before', 'take.after') AND a.scene <> 'exit' ORDER BY 1, 2")
        self.assertEqual(len(rows), 2 * len(BETWEEN_PROCESSES) + 3)
        for row in rows:
            self.assertTrue(row["answer"], row)
        by_rule = trace.rows(MARKS + "SELECT DISTINCT g.scene, e.rule FROM edges e JOIN events a ON a.event_id = e.from_event JOIN events b ON b.event_id = e.to_event "
                             "JOIN marks g ON g.thread_id = a.thread_id AND g.what = 'give.before' JOIN marks t ON t.thread_id = b.thread_id AND t.scene = g.scene "
                             "AND t.what = 'take.after'")
        known = {(row["scene"], row["rule"]) for row in by_rule}
        for scene in ALL:
            self.assertIn((scene, scene.split("-")[0]), known)
        self.assertNotIn(("other bytes", "lock"), known)
        self.everything_agrees(trace)
        end = trace.number(MARKS + "SELECT event_id FROM marks WHERE scene = 'pipe' AND what = 'take.after'")
        steps = trace.rows(f"SELECT depth, rule, a.name AS gave, b.name AS took FROM causes({end}, 2) c JOIN events a USING (event_id) "
                           "JOIN events b ON b.event_id = c.led_to ORDER BY depth")
        self.assertEqual([(row["depth"], row["rule"]) for row in steps], [(1, "pipe"), (2, "fork")])
        self.assertEqual((steps[0]["gave"], steps[0]["took"]), ("write", "read"))

    def test_a_trace_that_is_in_order_has_no_contradictions(self):
        trace = self.record("--content=hash", "--", sys.executable, "-c", SCENES, cwd=self.folder)
        self.assertEqual(trace.rows("FROM contradictions"), [])

    def test_bytes_that_change_where_nobody_sees_it_are_told_and_order_nothing(self):
        self.file("memory", b"a" * 4096)
        change = """
import mmap, os
file = os.open("memory", os.O_RDWR)
os.pwrite(file, b"b" * 4096, 0)
mmap.mmap(file, 4096)[:1] = b"c"
if os.fork() == 0:
    os.pread(file, 4096, 0)
    os._exit(0)
os.wait()
"""
        trace = self.record("--content=hash", "--where", "name <> 'mmap'", "--", sys.executable, "-c", change, cwd=self.folder)
        rows = trace.rows("SELECT c.kind, likely_cause, rule, a.name AS gave, b.name AS took, len(events) AS events FROM contradictions c "
                          "JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event")
        self.assertEqual(rows, [{"kind": "different_bytes", "likely_cause": "truncated_capture", "rule": "file", "gave": "pwrite64", "took": "pread64",
                                 "events": 2}])
        self.assertEqual(trace.number("SELECT count(*) FROM edges JOIN contradictions USING (from_event, to_event)"), 0)
        seen = self.record("--content=hash", "--", sys.executable, "-c", change, cwd=self.folder, name="seen")
        self.assertEqual(seen.rows("FROM contradictions"), [], "who maps a file for writing may change it")
        self.assertEqual(seen.number("SELECT count(*) FROM edges e JOIN events a ON a.event_id = from_event WHERE a.name = 'pwrite64'"), 0)

    def test_bytes_that_nobody_sent_are_told(self):
        trace = self.record("--where", "name <> 'sendto'", "--", sys.executable, "-c", """
import socket
listener = socket.create_server(("127.0.0.1", 0))
near = socket.create_connection(listener.getsockname())
far = listener.accept()[0]
near.sendall(b"seen")
far.recv(4)
""", cwd=self.folder)
        rows = trace.rows("SELECT c.kind, likely_cause, rule, from_event, name, bytes, events = [event_id] AS alone FROM contradictions c "
                          "JOIN events b ON b.event_id = to_event")
        self.assertEqual(rows, [{"kind": "missing_send", "likely_cause": "truncated_capture", "rule": None, "from_event": None, "name": "recvfrom",
                                 "bytes": 4, "alone": True}])

    def everything_agrees(self, trace):
        """Laws that hold for any trace."""
        self.assertEqual(trace.number("SELECT count(*) FROM edges WHERE NOT happened_before(from_event, to_event)"), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM edges WHERE logical_order(from_event) >= logical_order(to_event)"), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM events e FULL JOIN causal_clocks c USING (event_id) WHERE e.event_id IS NULL OR c.event_id IS NULL"), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM events a ASOF JOIN events b ON a.thread_id = b.thread_id AND a.start_ns < b.start_ns "
                                      "WHERE NOT happened_before(a.event_id, b.event_id) OR happened_before(b.event_id, a.event_id)"), 0)
        self.assertEqual(trace.rows("SELECT happened_before(min(event_id), 18446744073709551614) AS answer FROM events")[0]["answer"], None)


if __name__ == "__main__":
    support.main()
