#!/usr/bin/env python3
"""Bytes where no call shows them: rewritten in another form, in memory that processes share, compressed and encrypted."""

import os
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
        self.assertEqual([(5000, 5000 + len(CARD))], [(hop["begin"], hop["end"]) for hop in back["hops"] if hop["path"] == self.seen(source)])

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
            self.assertGreaterEqual(hop["begin"], 50_000)
            self.assertLess(hop["begin"], 60_000)
            self.assertLessEqual(hop["end"], 90_000)
            self.assertGreater(hop["end"], 80_000)

    def test_a_whole_call_is_known_by_its_fingerprint(self):
        key = "hex:00112233445566778899aabbccddeeff"
        trace = self.record("--content=hash", "--content-key", key, "--", "sh", "-c", "echo of no use to anybody > target", cwd=self.folder)
        text = "of no use to anybody\n"
        self.assertIn("nothing", self.refused(trace, "--text", text))
        self.assertEqual({"target"}, self.files(self.trail(trace, "--text", text, "--content-key", key)))


class SharedMemoryTest(FollowTest):
    def test_one_process_reads_and_another_writes(self):
        source = self.random_file("source", 300_000)
        trace = self.record("--content=anchors", "--", sys.executable, "-c", POOL, cwd=self.folder)
        trail = self.trail(trace, "--path", self.seen(source))
        self.assertEqual({"source", "target"}, self.files(trail))
        self.assertEqual(2, len({hop["process"] for hop in trail["hops"]}))
        self.assertEqual({"likely"}, {link["certainty"] for link in trail["links"]})

    def test_what_a_client_says_is_in_the_files_of_postgresql(self):
        if missing := servers.missing_programs():
            self.skipTest(f"{', '.join(missing)} is not installed: tools/install_packages test")
        with servers.PostgreSQL(self.folder) as postgres:
            trace, recorder = self.start_recording("-a", "--content=hash", "--dye", f"card={CARD}")
            postgres.ask("CREATE TABLE cards (number text)")
            postgres.ask(f"INSERT INTO cards VALUES ('{CARD}')")
            postgres.ask("CHECKPOINT")
            file = postgres.ask("SELECT pg_relation_filepath('cards')")[0]
            self.stop(recorder)
        trail = self.trail(trace, "--dye", "card")
        wrote = {hop["process"] for hop in trail["hops"] if hop["path"] and hop["path"].endswith("/" + file)}
        took = {hop["process"] for hop in trail["hops"] if hop["name"] == "recvfrom"}
        self.assertEqual((1, 1), (len(wrote), len(took)), self.follow(trace, "--dye", "card"))
        self.assertNotEqual(wrote, took)  # the checkpointer, or the writer; and the client's backend
        self.assertEqual({("unix", "certain"), ("dye", "likely")},
                         {(rule, link["certainty"]) for link in trail["links"] for rule in link["rules"]})


if __name__ == "__main__":
    support.main()
