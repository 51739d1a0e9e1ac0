#!/usr/bin/env python3
"""Bytes where no call shows them: rewritten in another form, in memory that processes share, compressed and encrypted."""

import contextlib
import json
import os
import random
import subprocess
import sys

import servers
import support
from following import FollowTest

CARD = "4929123456781234"

# Reads a file, sends some of it in base64 within JSON; the other end writes what it gets.
REWRITER = r"""
import base64, os, socket
listener = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    data = os.read(os.open("source", os.O_RDONLY), 100000)
    talk = socket.create_connection(listener.getsockname())
    talk.sendall(b'{"value":"' + base64.b64encode(data[4990:5040]) + b'"}')
    os._exit(0)
talk = listener.accept()[0]
data = b""
while got := talk.recv(4096):
    data += got
os.write(os.open("target", os.O_WRONLY | os.O_CREAT), data)
os.wait()
"""

# One process reads a file into memory that it shares with another one, which writes it; a third one shares nothing and writes the same.
POOL = r"""
import mmap, os
size = os.path.getsize("source")
def write(name, data):
    os.write(os.open(name, os.O_WRONLY | os.O_CREAT), data)
if os.fork() == 0:
    import random
    write("stranger", random.Random("source").randbytes(size))
    os._exit(0)
os.wait()
memory = mmap.mmap(-1, size)
if os.fork() == 0:
    file = os.open("source", os.O_RDONLY)
    for at in range(0, size, 65536):
        memory[at : at + 65536] = os.read(file, 65536)
    os._exit(0)
os.wait()
if os.fork() == 0:
    write("target", bytes(memory))
    os._exit(0)
os.wait()
"""


# One process reads a file and sends it encrypted; another one writes what it gets.
TLS = r"""
import os, socket, ssl
listener = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    data = os.read(os.open("source", os.O_RDONLY), 10 ** 7)
    context = ssl.create_default_context(cafile="certificate")
    with context.wrap_socket(socket.create_connection(listener.getsockname()), server_hostname="localhost") as talk:
        talk.sendall(data)
        talk.unwrap()
    os._exit(0)
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain("certificate", "key")
with context.wrap_socket(listener.accept()[0], server_side=True) as talk, open("target", "wb") as target:
    while got := talk.recv(65536):
        target.write(got)
    talk.unwrap()
os.wait()
"""

# Writes a file by two operations of an io_uring. With the argument "polled" the kernel takes them from the ring without a call.
RING = r"""
import ctypes, mmap, os, struct, sys, time
IO_URING_SETUP, IO_URING_ENTER, WRITE, GETEVENTS, SQES = 425, 426, 23, 1, 0x10000000
syscall = ctypes.CDLL(None, use_errno=True).syscall
is_polled = sys.argv[1:] == ["polled"]
params = ctypes.create_string_buffer(120)
SQPOLL = WAKE = 2
struct.pack_into("III", params, 8, SQPOLL if is_polled else 0, 0, 60_000)
ring = syscall(IO_URING_SETUP, 4, params)
assert ring >= 0, os.strerror(ctypes.get_errno())
tail, array = struct.unpack_from("I", params, 44)[0], struct.unpack_from("I", params, 64)[0]
queue = mmap.mmap(ring, array + 16)
entries = mmap.mmap(ring, 4 * 64, offset=SQES)
text = ctypes.create_string_buffer(b"x" * 1000)
target = os.open("target", os.O_WRONLY | os.O_CREAT)
for i in range(2):
    struct.pack_into("BBHiQQI", entries, i * 64, WRITE, 0, 0, target, i * 1000, ctypes.addressof(text), 1000)
    struct.pack_into("I", queue, array + i * 4, i)
struct.pack_into("I", queue, tail, 2)
assert syscall(IO_URING_ENTER, ring, 2, 2, WAKE if is_polled else GETEVENTS, None, 0) == 2
while os.path.getsize("target") < 2000:
    time.sleep(0.01)
"""


class DyeTrailTest(FollowTest):
    def test_a_dye_is_followed_from_one_form_to_another(self):
        source = self.file("source", b"x" * 5000 + CARD.encode() + b"y" * 3000)
        trace = self.record("--dye", f"card={CARD}", "--dye-forms", "base64", "--", sys.executable, "-c", REWRITER, cwd=self.folder)
        trail = self.trail(trace, "--dye", "card")
        self.assertEqual(["read", "sendto", "recvfrom", "write"], [hop["name"] for hop in trail["hops"]])
        self.assertEqual([True, False, False, False], [hop["is_start"] for hop in trail["hops"]])
        self.assertEqual([["dye"], ["tcp"], ["dye"]], [link["rules"] for link in trail["links"]])
        back = self.trail(trace, "--path", self.seen(self.path("target")), "--back")
        self.assertEqual({"target", "source"}, self.files(back))
        self.assertEqual([(5000, 5000 + len(CARD))], [(hop["offset"], hop["offset_end"]) for hop in back["hops"] if hop["path"] == self.seen(source)])

    def test_what_is_no_dye_is_told_with_those_that_there_are(self):
        trace = self.record("--dye", f"card={CARD}", "--dye", "never=not to be met", "--", "true")
        self.assertIn("there are: card never", self.refused(trace, "--dye", "cards"))
        self.assertIn("was not met", self.refused(trace, "--dye", "card"))
        self.assertIn("record --dye NAME=TEXT", self.refused(trace, "--text", "neither known nor long"))
        self.assertIn("4 at least", self.refused(trace, "--text", "abc", status=2))


class TextTest(FollowTest):
    def test_content_that_the_trace_never_named_is_known_by_its_anchors(self):
        source = self.random_file("source", 200_000)
        with open(source, "rb") as file:
            inner = self.file("inner", file.read()[50_000:90_000])
        trace = self.record("--content=anchors", "--", "sh", "-c", "cat source | cat > target", cwd=self.folder)
        trail = self.trail(trace, "--text", f"@{inner}")
        self.assertEqual({"source", "target"}, self.files(trail))
        for hop in trail["hops"]:
            self.assertGreaterEqual(hop["offset"], 50_000)
            self.assertLess(hop["offset"], 60_000)
            self.assertLessEqual(hop["offset_end"], 90_000)
            self.assertGreater(hop["offset_end"], 80_000)

    def test_a_whole_call_is_known_by_its_fingerprint(self):
        key = "hex:00112233445566778899aabbccddeeff"
        trace = self.record("--content=hash", "--content-key", key, "--", "sh", "-c", "echo of no use to anybody > target", cwd=self.folder)
        text = "of no use to anybody\n"
        self.assertIn("nothing", self.refused(trace, "--text", text))
        self.assertEqual({"target"}, self.files(self.trail(trace, "--text", text, "--content-key", key)))


    def test_in_a_trace_with_bytes_a_short_text_is_searched_for(self):
        self.file("source", b"." * 70_000 + b"a word of it" + b"." * 100)
        program = ("import os\n"
                   "data = os.read(os.open('source', os.O_RDONLY), 100_000)\n"
                   "os.write(os.open('target', os.O_WRONLY | os.O_CREAT), data[69_990:70_050])\n"
                   "os.write(os.open('other', os.O_WRONLY | os.O_CREAT), data[:60])\n")
        trace = self.record("--content=bytes", "--", sys.executable, "-c", program, cwd=self.folder)
        trail = self.trail(trace, "--text", "word of", "--min-certainty", "possible")
        self.assertEqual({"source", "target", "other"}, self.files(trail))
        starts = {os.path.basename(hop["path"]): (hop["offset"], hop["offset_end"]) for hop in trail["hops"] if hop.get("offset") in (70_002, 12)}
        self.assertEqual(starts, {"source": (70_002, 70_009), "target": (12, 19)})
        self.assertIn("nothing", self.refused(trace, "--text", "another word"))


class SharedMemoryTest(FollowTest):
    def test_one_process_reads_and_another_writes(self):
        source = self.random_file("source", 300_000)
        trace = self.record("--content=anchors", "--", sys.executable, "-c", POOL, cwd=self.folder)
        trail = self.trail(trace, "--path", self.seen(source))
        self.assertEqual({"source", "target"}, self.files(trail))
        self.assertEqual(2, len({hop["process"] for hop in trail["hops"]}))
        self.assertEqual({"likely"}, {link["certainty"] for link in trail["links"]})


class LostSightTest(FollowTest):
    def text_file(self, name, lines):
        words = random.Random(name)
        return self.file(name, b"".join(b"%d bottles of %x\n" % (words.randrange(10 ** 6), words.randrange(10 ** 9)) for _ in range(lines)))

    def test_what_is_compressed_and_unpacked_again(self):
        source = self.text_file("source", 10_000)
        trace = self.record("--content=anchors", "--", "sh", "-c", "gzip -c source > packed; gzip -dc packed > unpacked", cwd=self.folder)
        text = self.follow(trace, "--path", self.seen(source))
        self.assertRegex(text, r"sight lost at event \d+: its output looks compressed or encrypted")
        self.assertLessEqual(max(len(line) for line in text.splitlines()[1:]), 80, text)
        back = self.trail(trace, "--path", self.seen(self.path("unpacked")), "--back")
        self.assertEqual(["its input looks compressed or encrypted"], [hop["lost_sight_because"] for hop in back["hops"]])
        beyond = self.trail(trace, "--path", self.seen(source), "--min-certainty", "possible")
        by_path = {os.path.basename(hop["path"]): hop["hop"] for hop in beyond["hops"] if hop["name"] == "write" and hop["path"]}
        how = {link["to_hop"]: (link["certainty"], link["rules"]) for link in beyond["links"]}
        self.assertEqual(("possible", ["process"]), how[by_path["packed"]])
        self.assertEqual(("likely", True), (how[by_path["unpacked"]][0], "anchor" in how[by_path["unpacked"]][1]))

    def test_what_is_sent_through_tls(self):
        self.skip_without(servers.missing("openssl"))
        source = self.text_file("source", 20_000)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", self.path("key"),
                        "-out", self.path("certificate")], check=True, capture_output=True)
        trace = self.record("--content=anchors", "--", sys.executable, "-c", TLS, cwd=self.folder)
        with open(source, "rb") as sent, open(self.path("target"), "rb") as got:
            self.assertEqual(sent.read(), got.read())
        trail = self.trail(trace, "--path", self.seen(source))
        self.assertEqual(["its output looks compressed or encrypted"], [hop["lost_sight_because"] for hop in trail["hops"]])
        beyond = self.trail(trace, "--path", self.seen(source), "--min-certainty", "possible")
        arrived = [hop["hop"] for hop in beyond["hops"] if hop["path"] and hop["path"].endswith(self.path("target"))]
        self.assertEqual({"likely"}, {link["certainty"] for link in beyond["links"] if link["to_hop"] in arrived})


class RingTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        with contextlib.suppress(FileNotFoundError), open("/proc/sys/kernel/io_uring_disabled", encoding="ascii") as disabled:
            if int(disabled.read()) == 2:
                self.skipTest("kernel.io_uring_disabled is 2: nobody gets a ring here")

    def unseen_ring(self, trace):
        report = json.loads(subprocess.run([support.DYETRACE, "report", "--json", trace.path], check=True, capture_output=True).stdout)
        finding, = (finding for finding in report["findings"] if finding["kind"] in ("unseen_ring", "polled_ring"))
        self.assertEqual(1, len(trace.rows(finding["query"])))
        return finding["text"]

    def test_the_report_says_who_does_io_that_is_not_seen(self):
        trace = self.record("--", sys.executable, "-c", RING, cwd=self.folder)
        self.assertEqual(2000, os.path.getsize(self.path("target")))
        taken, = trace.rows("select sum(result) as taken from events where name = 'io_uring_enter'")
        self.assertEqual(2, taken["taken"])
        self.assertIn("gave 2 operations to an io_uring", self.unseen_ring(trace))

    def test_the_report_says_whose_ring_the_kernel_empties_without_a_call(self):
        trace = self.record("--", sys.executable, "-c", RING, "polled", cwd=self.folder)
        self.assertEqual(2000, os.path.getsize(self.path("target")))
        self.assertIn("gave 2 operations to an io_uring, and others without a call (SQPOLL)", self.unseen_ring(trace))


if __name__ == "__main__":
    support.main()
