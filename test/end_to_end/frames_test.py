#!/usr/bin/env python3
"""Programs that put frames in between the bytes that they pass on, and others that take them out: a trail goes up to the frame, and on beyond it."""

import json
import os
import random
import shutil
import subprocess
import sys

import support
from following import FollowTest

DYE = b"a dye of thirty-two bytes, whole"  # it lies over the borders of packets
NEAR = 8192  # bytes: before the first anchor, and after the last one

# A client that reads a file and sends packets of data, each after its head: a length, a sequence number and a checksum of each 512 bytes. Three nodes store the data,
# and all but the last one pass packets on.
PIPELINE = r"""
import os, socket, struct, sys, zlib
source, target, packet = sys.argv[1], sys.argv[2], int(sys.argv[3])

def connection():
    listener = socket.create_server(("127.0.0.1", 0))
    near = socket.create_connection(listener.getsockname())
    return near, listener.accept()[0]

links = [connection() for _ in range(3)]

def only(*ends):
    for link in links:
        for end in link:
            if end not in ends:
                end.close()

def client():
    sink = links[0][0]
    only(sink)
    file, gathered, number = os.open(source, os.O_RDONLY), b"", 0
    while True:
        got = os.read(file, 4096)
        gathered += got
        while len(gathered) >= packet or (not got and gathered):
            data, gathered = gathered[:packet], gathered[packet:]
            sums = b"".join(struct.pack(">I", zlib.crc32(data[at:at + 512])) for at in range(0, len(data), 512))
            sink.sendall(struct.pack(">IHHQQB", len(data), 25, len(sums), number, number * packet, 0) + sums + data)
            number += 1
        if not got:
            return

def node(index):
    source_end, sink = links[index][1], links[index + 1][0] if index < 2 else None
    only(source_end, sink)
    with open(f"{target}{index + 1}", "wb", buffering=0) as file:
        while head := source_end.recv(25, socket.MSG_WAITALL):
            size, _, sums, *_ = struct.unpack(">IHHQQB", head)
            rest = source_end.recv(sums + size, socket.MSG_WAITALL)
            if sink:
                sink.sendall(head + rest)
            file.write(rest[sums:])

for work in (client, lambda: node(0), lambda: node(1), lambda: node(2)):
    if os.fork() == 0:
        work()
        os._exit(0)
only()
for _ in range(4):
    assert os.wait()[1] == 0
"""

# A server of HTTP/1.1 that answers in chunks, and a client that stores what is in them; `curl` does as well.
SERVER = r"""
import os, socket, sys
path, chunk = sys.argv[1], int(sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
end = listener.accept()[0]
while b"\r\n\r\n" not in end.recv(65536):
    pass
end.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
file = os.open(path, os.O_RDONLY)
while data := os.read(file, chunk):
    end.sendall(b"%x\r\n%s\r\n" % (len(data), data))
end.sendall(b"0\r\n\r\n")
end.close()
"""

# A relay that puts a number of two bytes before pieces of odd lengths, and one that takes them out.
ODD = r"""
import os, random, socket, struct, sys
source, target = sys.argv[1:3]
listener = socket.create_server(("127.0.0.1", 0))
lengths = random.Random(5)
if os.fork() == 0:
    end, file, gathered = socket.create_connection(listener.getsockname()), os.open(source, os.O_RDONLY), b""
    while got := os.read(file, 10000):
        gathered += got
    while gathered:
        size = lengths.randrange(3000, 50000)
        piece, gathered = gathered[:size], gathered[size:]
        end.sendall(struct.pack(">H", len(piece)) + piece)
    os._exit(0)
end = listener.accept()[0]
with open(target, "wb", buffering=0) as file:
    while head := end.recv(2, socket.MSG_WAITALL):
        file.write(end.recv(struct.unpack(">H", head)[0], socket.MSG_WAITALL))
assert os.wait()[1] == 0
"""

# A client that sends the length of each piece and then the piece, as it was read; who gets them stores nothing.
SEPARATE = r"""
import os, socket, struct, sys
source, size = sys.argv[1], int(sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
near = socket.create_connection(listener.getsockname())
far = listener.accept()[0]
if os.fork() == 0:
    near.close()
    while head := far.recv(8, socket.MSG_WAITALL):
        far.recv(struct.unpack(">Q", head)[0], socket.MSG_WAITALL)
    os._exit(0)
file = os.open(source, os.O_RDONLY)
while piece := os.read(file, size):
    near.sendall(struct.pack(">Q", len(piece)))
    near.sendall(piece)
near.close()
assert os.wait()[1] == 0
"""


class FramesTest(FollowTest):
    def content(self, size, *dyes_at):
        content = bytearray(random.Random(size).randbytes(size))
        for at in dyes_at:
            content[at:at + len(DYE)] = DYE
        return bytes(content)

    def claims(self, trace, rule="anchor"):
        """What likely flows of a rule say: from which file or connection, to which, how many bytes."""
        return trace.rows(f"""SELECT coalesce(a.path, 'connection') AS source, coalesce(b.path, 'connection') AS target, b.comm, sum(f.bytes)::BIGINT AS bytes
            FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event WHERE rule = '{rule}' AND certainty = 'likely' GROUP BY ALL""")

    def check_all_is_true(self, trace, kept):
        """Each byte that a likely flow says to have gone from one file into another is there: `kept` are the contents of files, by name."""
        trail = self.trail(trace, "--path", self.seen(self.path("source")))
        self.assertEqual({os.path.basename(hop["path"]) for hop in trail["hops"] if hop["path"].startswith("/")}, set(kept), trail)
        self.assertEqual({link["certainty"] for link in trail["links"]} - {"certain", "likely"}, set())
        return trail

    def test_a_dye_over_the_border_of_packets_goes_through_a_pipeline(self):
        packet = 64512
        border = 3 * packet
        content = self.content(10 * packet + 1234, border - 10)
        source = self.file("source", content)
        trace = self.record("--content=anchors", "--dye", f"d={DYE.decode()}", "--", sys.executable, "-c", PIPELINE, source, self.path("stored"), str(packet))
        for node in (1, 2, 3):
            with open(self.path(f"stored{node}"), "rb") as file:
                self.assertEqual(file.read(), content)
        names = {"source", "stored1", "stored2", "stored3"}
        self.check_all_is_true(trace, names)
        # The very bytes of the dye, from the client to each node, by flows that are likely at least.
        trail = self.trail(trace, "--path", f"{self.seen(source)}:{border - 10}-{border - 10 + len(DYE)}")
        reached = {os.path.basename(hop["path"]): (hop["offset"], hop["offset_end"], hop["bytes"]) for hop in trail["hops"] if hop["path"].startswith("/")}
        whole = (border - 10, border - 10 + len(DYE), len(DYE))
        self.assertEqual(reached, {name: whole for name in names}, self.follow(trace, "--path", f"{self.seen(source)}:{border - 10}-{border + 22}"))
        back = self.trail(trace, "--path", f"{self.seen(self.path('stored3'))}:{border - 10}-{border - 10 + len(DYE)}", "--back")
        self.assertEqual({os.path.basename(hop["path"]) for hop in back["hops"] if hop["path"].startswith("/")}, {"source", "stored3"})
        # Nearly all bytes are followed all the way.
        everything = self.trail(trace, "--path", self.seen(source))
        for hop in everything["hops"]:
            if os.path.basename(hop["path"]).startswith("stored"):
                self.assertGreater(hop["bytes"], len(content) - 2 * NEAR, hop)

    def test_a_file_that_comes_in_chunks_is_followed_whole(self):
        self.skip_without([] if shutil.which("curl") else ["curl"])
        content = self.content(1_000_000)
        source = self.file("source", content)
        script = f"exec 3< <({sys.executable} -c \"$1\" \"$2\" 16384); read -u 3 port; curl -sS -o \"$3\" http://127.0.0.1:$port/"
        trace = self.record("--content=anchors", "--", "bash", "-c", script, "bash", SERVER, source, self.path("got"))
        with open(self.path("got"), "rb") as file:
            self.assertEqual(file.read(), content)
        trail = self.trail(trace, "--path", self.seen(source))
        (got,) = [hop for hop in trail["hops"] if os.path.basename(hop["path"]) == "got"]
        self.assertGreater(got["bytes"], len(content) - 2 * NEAR, trail)
        self.assertEqual((got["offset"] < NEAR, got["offset_end"] > len(content) - NEAR), (True, True), got)

    def test_lengths_at_odd_places_are_left_out_and_nothing_else(self):
        content = self.content(600_000)
        source = self.file("source", content)
        trace = self.record("--content=anchors", "--", sys.executable, "-c", ODD, source, self.path("got"))
        with open(self.path("got"), "rb") as file:
            self.assertEqual(file.read(), content)
        trail = self.trail(trace, "--path", self.seen(source))
        (got,) = [hop for hop in trail["hops"] if os.path.basename(hop["path"]) == "got"]
        self.assertGreater(got["bytes"], len(content) - 2 * NEAR, trail)
        done = subprocess.run([support.DYETRACE, "verify-copies", trace.path, "--path", self.seen(source)], capture_output=True, text=True, check=False,
                              timeout=support.PATIENCE_S)
        self.assertNotIn("CHANGED", done.stdout)

    def test_all_is_compared_where_frames_are_sent_by_calls_of_their_own(self):
        source = self.file("source", self.content(400_000))
        for size in (500, 4000, 65536):
            trace = self.record("--content=anchors", "--", sys.executable, "-c", SEPARATE, source, str(size), name=f"trace{size}")
            done = subprocess.run([support.DYETRACE, "verify-copies", trace.path, "--path", self.seen(source), "--json"], capture_output=True, text=True, check=False,
                                  timeout=support.PATIENCE_S)
            answer = json.loads(done.stdout)
            self.assertEqual((done.returncode, answer["verdict"], answer["bytes_not_compared"], answer["bytes_compared"]), (0, "same", 0, 800_000), (size, answer))


if __name__ == "__main__":
    support.main()
