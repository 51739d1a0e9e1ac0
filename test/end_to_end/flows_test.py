#!/usr/bin/env python3
"""Where bytes went and where they came from: the table flows, and `dyetrace follow`, over real programs whose truth the test knows."""

import os
import random
import re
import subprocess
import sys

import following
import servers
import support
from following import FollowTest
from support import DYETRACE, PATIENCE_S

MEGABYTE = 1 << 20

# Takes `chunk` bytes at a time from the last process and hands them to the next one; the first reads a file, the last writes one.
# Another pair of processes talks beside them all the time, with bytes of its own.
RELAY = following.RELAY_PARTS + r"""
chunks = [int(word) for word in sys.argv[4:]]
size = os.path.getsize(source)

child(lambda: noise(200, *connection()))
links = [connection() for _ in chunks[1:]]
def first():
    file, left = os.open(source, os.O_RDONLY), size
    while data := os.read(file, chunks[0]):
        links[0][0].sendall(data)
    os.close(file)
def hop(index):
    with open(copy if index == 1 else target, "wb", buffering=0) as file:
        left = size
        while left:
            want = min(left, chunks[index])
            data = links[index - 1][1].recv(want, socket.MSG_WAITALL)
            assert len(data) == want
            left -= want
            if index == 1 or index + 1 == len(chunks):
                file.write(data)
            if index + 1 < len(chunks):
                links[index][0].sendall(data)
child(first)
for index in range(1, len(chunks)):
    child(lambda: hop(index))
for _ in range(len(chunks) + 1):
    status = os.wait()[1]
    assert status == 0, status
"""


class RelayTest(FollowTest):
    def test_a_relay_of_four_processes_with_other_pieces_at_each_hop(self):
        source = self.random_file("source", 5 * MEGABYTE + 12345)
        chunks = ["4096", "65536", "1048576", "99991"]
        trace = self.record(*self.python(RELAY, source, self.path("target"), self.path("copy"), *chunks))
        trail = self.trail(trace, "--path", self.seen(source))
        self.assertEqual(self.files(trail), {"source", "copy", "target"})
        self.assertEqual(len({hop["process"] for hop in trail["hops"]}), 4, self.follow(trace, "--path", self.seen(source)))
        size = os.path.getsize(source)
        for hop in trail["hops"]:
            self.assertEqual((hop["offset"], hop["offset_end"], hop["bytes"]), (0, size, size), hop)
        self.assertEqual({link["certainty"] for link in trail["links"] if link["rules"] == ["tcp"]}, {"certain"})
        back = self.trail(trace, "--path", self.seen(self.path("target")), "--back")
        self.assertEqual(self.files(back), {"target", "source"})
        self.assertEqual(len({hop["process"] for hop in back["hops"]}), 4)

    def test_some_bytes_of_a_relay_are_followed_alone(self):
        source = self.random_file("source", 3 * MEGABYTE)
        trace = self.record(*self.python(RELAY, source, self.path("target"), self.path("copy"), "4096", "50021", "300007"))
        trail = self.trail(trace, "--path", f"{self.seen(source)}:1000003-1000103")
        self.assertEqual(self.files(trail), {"source", "copy", "target"})
        self.assertEqual({(hop["offset"], hop["offset_end"], hop["bytes"]) for hop in trail["hops"]}, {(1000003, 1000103, 100)})

    def test_traffic_beside_it_has_no_flow_to_it(self):
        source = self.random_file("source", MEGABYTE)
        trace = self.record(*self.python(RELAY, source, self.path("target"), self.path("copy"), "4096", "4099", "5000"))
        noise = self.trail(trace, "--path", self.seen(self.path("target.noise")), "--back")
        self.assertEqual(self.files(noise), {"target.noise"})
        self.assertGreater(len(noise["hops"]), 1)


# A file goes through a connection, a proxy that splices it into another one, and into a file; the pieces of the three have other sizes.
SPLICED = """
import os, socket, sys
kind, source, target = sys.argv[1:]
def pair():
    if kind == 'unix': return socket.socketpair()
    listener = socket.create_server(('127.0.0.1', 0))
    near = socket.create_connection(listener.getsockname())
    return near, listener.accept()[0]
near, proxied = pair()
passed, far = pair()
if os.fork() == 0:
    passed.close(); far.close(); proxied.close()
    with open(source, 'rb', buffering=0) as file:
        while piece := file.read(7001): near.sendall(piece)
    os._exit(0)
near.close()
if os.fork() == 0:
    far.close()
    out, into = os.pipe()
    while left := os.splice(proxied.fileno(), into, 65536):
        while left: left -= os.splice(out, passed.fileno(), left)
    os._exit(0)
proxied.close(); passed.close()
with open(target, 'wb', buffering=0) as file:
    while piece := far.recv(5003): file.write(piece)
"""


class ProgramTest(FollowTest):
    def test_cp_and_a_pipeline(self):
        source = self.random_file("source", MEGABYTE)
        trace = self.record("--content=hash", "--", "sh", "-c", "cp source copied; cat source | tee teed | sha256sum > sum",
                            cwd=self.folder)
        trail = self.trail(trace, "--path", self.seen(source))
        self.assertEqual(self.files(trail), {"source", "copied", "teed"})
        text = self.follow(trace, "--path", self.seen(source))
        self.assertRegex(text, r"sha256sum\[\d+\] read pipe:.*certain \(pipe\)")
        self.assertIn("sight lost", text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()[1:]), 80, text)
        back = self.trail(trace, "--path", self.seen(self.path("teed")), "--back")
        self.assertEqual(self.files(back), {"teed", "source"})
        pipes = trace.rows("SELECT certainty, sum(f.bytes) AS bytes FROM flows f JOIN events e ON e.event_id = to_event "
                           f"WHERE rule = 'pipe' AND e.comm IN ('tee', 'sha256sum') GROUP BY 1")
        self.assertEqual([(row["certainty"], int(row["bytes"])) for row in pipes], [("certain", 2 * MEGABYTE)])

    def test_what_the_kernel_copies(self):
        source = self.random_file("source", 300_000)
        program = """
import os, socket
a = os.open("source", os.O_RDONLY)
def out(name): return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
os.sendfile(out("sent"), a, 1000, 100000)
os.copy_file_range(a, out("ranged"), 200000, offset_src=50, offset_dst=0)
r, w = os.pipe()
r2, w2 = os.pipe()
assert os.splice(a, w, 60000, offset_src=7) == 60000
import ctypes
assert ctypes.CDLL(None).tee(r, w2, 50000, 0) == 50000
assert os.splice(r, out("spliced"), 60000) == 60000
assert os.splice(r2, out("teed"), 60000) == 50000
near, far = socket.socketpair()
assert os.sendfile(near.fileno(), a, 0, 5000) == 5000
os.write(out("through_socket"), far.recv(5000))
"""
        trace = self.record(*self.python(program), cwd=self.folder)
        trail = self.trail(trace, "--path", self.seen(source))
        self.assertEqual(self.files(trail), {"source", "sent", "ranged", "spliced", "teed", "through_socket"})
        self.assertEqual({link["certainty"] for link in trail["links"] if "hash" not in link["rules"]}, {"certain"})
        teed = self.trail(trace, "--path", self.seen(self.path("teed")), "--back")
        self.assertEqual(self.files(teed), {"teed", "source"})
        self.assertEqual([hop["bytes"] for hop in teed["hops"]], [50000] * len(teed["hops"]))

    def test_what_is_spliced_from_socket_to_socket_keeps_its_place(self):
        source = self.random_file("source", 300_000)
        for kind in ("tcp", "unix"):
            target = self.path(kind)
            trace = self.record("--content=anchors", "--", sys.executable, "-c", SPLICED, kind, source, target, name="trace-" + kind)
            with open(source, "rb") as given, open(target, "rb") as got:
                self.assertEqual(given.read(), got.read())
            splices = trace.numbers("SELECT sum(f.bytes) FILTER (b.name = 'splice' AND a.name <> 'splice') AS taken, sum(f.bytes) FILTER (a.name = 'splice' AND b.name = 'splice') AS piped, "
                                    "sum(f.bytes) FILTER (a.name = 'splice' AND b.name <> 'splice') AS given, count(*) FILTER (certainty <> 'certain') AS unsure "
                                    "FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event WHERE 'splice' IN (a.name, b.name)")
            self.assertEqual(splices, {"taken": 300_000, "piped": 300_000, "given": 300_000, "unsure": 0}, kind)
            trail = self.trail(trace, "--path", f"{self.seen(source)}:123456-123457")
            self.assertIn((self.seen(target), 123_456, 123_457), {(hop["path"], hop["offset"], hop["offset_end"]) for hop in trail["hops"]}, kind)

    def test_nginx_sends_a_file_to_curl(self):
        self.skip_without(servers.missing("nginx", "curl"))
        source = self.random_file("page", 500_000)
        port = support.free_port()
        with open(self.path("nginx.conf"), "w", encoding="utf-8") as file:
            file.write(f"daemon off; master_process off; pid {self.path('pid')}; error_log stderr;\n"
                       "events {}\nhttp { access_log off; sendfile on; sendfile_max_chunk 64k; server { "
                       f"listen unix:{self.path('socket')}; listen 127.0.0.1:{port}; root {self.folder}; }} }}\n")
        script = ("nginx -c $PWD/nginx.conf -e stderr & until curl -s --unix-socket socket http://x/nginx.conf > /dev/null; do sleep 0.1; done; "
                  f"curl -s -o fetched http://127.0.0.1:{port}/page; kill $!; wait")
        trace = self.record("--content=hash", "--", "sh", "-c", script, cwd=self.folder)
        with open(source, "rb") as sent, open(self.path("fetched"), "rb") as fetched:
            self.assertEqual(sent.read(), fetched.read())
        trail = self.trail(trace, "--path", self.seen(source))
        sends = [hop for hop in trail["hops"] if hop["name"] == "sendfile"]
        takes = [hop for hop in trail["hops"] if hop["process"].startswith("curl")]
        self.assertEqual([hop["bytes"] for hop in sends], [500_000])
        self.assertIn(500_000, [hop["bytes"] for hop in takes if hop["name"].startswith("recv")])
        self.assertTrue(any(link["rules"] == ["tcp"] and link["certainty"] == "certain" for link in trail["links"]))

    def test_what_a_program_changes_is_only_possible(self):
        source = self.file("numbers", b"".join(b"%d\n" % random.Random(n).randrange(10 ** 9) for n in range(20000)))
        trace = self.record("--content=hash", "--", "sort", "-n", "-o", "sorted", "numbers", cwd=self.folder)
        result = self.seen(self.path("sorted"))
        self.assertEqual(self.files(self.trail(trace, "--path", result, "--back")), {"sorted"})
        self.assertIn("sight lost", self.follow(trace, "--path", result, "--back"))
        possible = self.trail(trace, "--path", result, "--back", "--min-certainty", "possible")
        self.assertIn("numbers", self.files(possible))
        self.assertEqual({link["certainty"] for link in possible["links"]}, {"possible"})
        forward = self.trail(trace, "--path", self.seen(source), "--min-certainty", "possible")
        self.assertIn("sorted", self.files(forward))

    def test_a_compressed_copy_is_where_sight_is_lost(self):
        source = self.random_file("plain", 200_000)
        trace = self.record("--content=hash", "--", "sh", "-c", "gzip -c plain > packed.gz; cat packed.gz | cat > packed2.gz",
                            cwd=self.folder)
        trail = self.trail(trace, "--path", self.seen(source))
        self.assertEqual(self.files(trail), {"plain"})
        self.assertEqual([(support.program_of(hop["process"]), hop["lost_sight"]) for hop in trail["hops"]], [("gzip", True)])
        possible = self.trail(trace, "--path", self.seen(source), "--min-certainty", "possible")
        self.assertEqual(self.files(possible), {"plain", "packed.gz", "packed2.gz"})

    def test_what_a_mapping_may_have_written_is_never_certain_to_be_what_was_written(self):
        """A file that nobody maps, one mapped for reading, and two that a child changes: through a mapping for writing, and through one that it makes writable."""
        self.random_file("source", 20_000)
        trace = self.record("--content=hash", "--", sys.executable, "-S", "-E", "-c", """
import ctypes, mmap, os
def copied(source, target):
    with open(source, "rb", buffering=0) as file: data = file.read()
    with open(target, "wb", buffering=0) as file: file.write(data)
for name in ("alone", "looked_at", "changed", "unlocked"):
    copied("source", name)
    copied(name, name + ".before")
with open("looked_at", "rb") as file: assert mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)[0] >= 0
if os.fork() == 0:
    with open("changed", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory: memory[:7] = b"changed"
    libc, fd = ctypes.CDLL(None), os.open("unlocked", os.O_RDWR)
    libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    memory = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    assert libc.mprotect(ctypes.c_void_p(memory), ctypes.c_size_t(4096), mmap.PROT_READ | mmap.PROT_WRITE) == 0
    ctypes.memmove(memory, b"changed", 7)
    os._exit(0)
os.wait()
if os.fork() == 0:
    for name in ("alone", "looked_at", "changed", "unlocked"): copied(name, name + ".after")
    os._exit(0)
os.wait()
""", cwd=self.folder)
        flows = trace.rows("SELECT e.path, certainty FROM flows JOIN events e ON e.event_id = to_event "
                           "WHERE rule = 'file' AND regexp_matches(path, '/(alone|looked_at|changed|unlocked)$') ORDER BY e.start_ns")
        certainties = {name: [row["certainty"] for row in flows if row["path"].endswith("/" + name)] for name in ("alone", "looked_at", "changed", "unlocked")}
        self.assertEqual(certainties, {"alone": ["certain"] * 2, "looked_at": ["certain"] * 2,
                                       "changed": ["certain", "likely"], "unlocked": ["certain", "likely"]})
        caused = trace.rows("SELECT DISTINCT e.path FROM edges JOIN events e ON e.event_id = to_event WHERE rule = 'file' AND regexp_matches(path, '/(alone|looked_at|changed|unlocked)$')")
        self.assertEqual({os.path.basename(row["path"]) for row in caused}, {"alone", "looked_at"}, "what is likely is no cause")
        self.assertIn("likely (file)", self.follow(trace, "--path", self.seen(self.path("changed.after")), "--back"))

    def test_while_it_is_recorded(self):
        source = self.random_file("source", 100_000)
        trace, recorder = self.start_recording("--content=hash", "--", "sh", "-c", "cat source | cat > copy; exec sleep 1000",
                                               cwd=self.folder)
        self.wait_for(lambda: trace.number("SELECT count(*) FROM events WHERE name = 'execve' AND path LIKE '%/sleep' OR comm = 'sleep'") > 0,
                      "the copy is made and recorded")
        self.assertEqual(self.files(self.trail(trace, "--path", self.seen(source))), {"source", "copy"})
        self.assertFalse(os.path.exists(os.path.join(trace.path, "derived")))
        self.stop(recorder, 15)

    def test_a_trace_without_fingerprints_says_what_it_lacks(self):
        source = self.random_file("source", 100_000)
        trace = self.record("--", "sh", "-c", "cat source | cat > copy", cwd=self.folder)
        text = self.follow(trace, "--path", self.seen(source))
        self.assertIn("record --content=hash", text)
        self.assertNotIn("copy", text)

    def test_what_was_there_before_a_file_was_emptied_or_made_anew_is_gone(self):
        program = """
import ctypes, os
def write(name, flags, data):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | flags, 0o600); os.write(fd, data); os.close(fd)
def read(name):
    fd = os.open(name, os.O_RDONLY); os.read(fd, 100); os.close(fd)
write("a", 0, b"1" * 90); write("a", os.O_TRUNC, b"2" * 40); read("a")
write("b", 0, b"1" * 90); os.unlink("b"); write("b", 0, b"3" * 20); read("b")
write("c", 0, b"1" * 90); os.truncate("c", 0); fd = os.open("c", os.O_RDWR); os.ftruncate(fd, 0); os.ftruncate(fd, 90); read("c")
write("d", 0, b"1" * 90); write("d", os.O_APPEND, b"4" * 9); read("d")
write("e", 0, b"1" * 90); fd = os.open("e", os.O_RDWR)
assert ctypes.CDLL(None).fallocate(fd, 3, ctypes.c_long(10), ctypes.c_long(20)) == 0
read("e")
"""
        trace = self.record("--", sys.executable, "-c", program, cwd=self.folder)
        rows = trace.rows("SELECT parse_filename(e.path) AS name, list(f.bytes ORDER BY from_offset)::VARCHAR AS bytes, "
                          "list(DISTINCT certainty)::VARCHAR AS certainty FROM flows f JOIN events e ON e.event_id = to_event "
                          f"WHERE rule = 'file' AND starts_with(e.path, '{self.seen(self.folder)}') GROUP BY 1 ORDER BY 1")
        self.assertEqual([(row["name"], row["bytes"], row["certainty"]) for row in rows],
                         [("a", "[40]", "[certain]"), ("b", "[20]", "[certain]"), ("d", "[90, 9]", "[certain]"), ("e", "[10, 60]", "[certain]")])


CROWD = """
import os, random
file = os.open("crowd", os.O_RDWR | os.O_CREAT, 0o600)
for number in range(4):
    if os.fork() == 0:
        choose = random.Random(number)
        for turn in range(2500):
            at = choose.randrange(8) * 4096
            if choose.random() < 0.5:
                os.pwrite(file, (b"%d %d|" % (number, turn) * 1400)[:4096], at)
            else:
                os.pread(file, 4096, at)
        os._exit(0)
assert [os.wait()[1] for _ in range(4)] == [0] * 4
"""


# Three processes write lines of 64 bytes, no two of them the same, into one pipe; one reads them.
CHORUS = """
import os
take, put = os.pipe()
for number in range(3):
    if os.fork() == 0:
        for turn in range(1500):
            os.write(put, (b"%d %d|" % (number, turn) * 20)[:64])
        os._exit(0)
os.close(put)
while os.read(take, 64):
    pass
assert [os.wait()[1] for _ in range(3)] == [0] * 3
"""


class CrowdTest(FollowTest):
    def test_who_wrote_what_was_read_is_always_named_and_certain_is_never_wrong(self):
        trace = self.record("--content=hash", "--", sys.executable, "-c", CROWD, cwd=self.folder)
        found = trace.numbers("""
            WITH crowd AS (SELECT event_id, name, fingerprint FROM events WHERE path LIKE '%/crowd' AND bytes = 4096),
            written AS (SELECT event_id, fingerprint FROM crowd WHERE name = 'pwrite64'),
            reads AS (SELECT r.event_id, w.event_id AS writer FROM crowd r JOIN written w USING (fingerprint) WHERE r.name = 'pread64')
            SELECT (SELECT count(*) FROM reads) AS reads,
                   (SELECT count(*) FROM reads ANTI JOIN flows f ON f.to_event = event_id AND f.from_event = writer) AS missing,
                   (SELECT count(*) FROM flows f JOIN reads ON f.to_event = event_id WHERE certainty = 'certain' AND f.from_event <> writer) AS wrong,
                   (SELECT count(*) FROM flows f JOIN reads ON f.to_event = event_id WHERE certainty = 'certain') AS certain,
                   (SELECT count(*) FROM flows f JOIN reads ON f.to_event = event_id WHERE certainty = 'likely') AS likely""")
        self.assertGreater(found["reads"], 3000, found)
        self.assertEqual((found["missing"], found["wrong"]), (0, 0), found)
        self.assertGreater(found["certain"], 0, found)

    def test_of_many_writers_to_a_pipe_certain_is_never_wrong(self):
        trace = self.record("--content=hash", "--", sys.executable, "-c", CHORUS)
        found = trace.numbers("""
            SELECT count(*) AS flows, count(*) FILTER (certainty = 'certain') AS certain,
                   count(*) FILTER (a.fingerprint <> b.fingerprint) AS wrong,
                   count(*) FILTER (certainty = 'certain' AND a.fingerprint <> b.fingerprint) AS wrongly_certain
            FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event
            WHERE rule = 'pipe' AND a.bytes = 64 AND b.bytes = 64""")
        self.assertEqual((found["flows"], found["wrongly_certain"]), (4500, 0), found)


class AnswerTest(FollowTest):
    def setUp(self):
        super().setUp()
        self.source = self.random_file("source", 100_000)
        self.trace = self.record("--content=hash", "--", "sh", "-c", "cat source | cat > copy; cat copy | cat > copy2", cwd=self.folder)

    def test_flows_are_kept_in_the_trace(self):
        kept = os.path.join(self.trace.path, "derived", "flows.parquet")
        self.assertFalse(os.path.exists(kept))
        count = self.trace.number("SELECT count(*) FROM flows")
        self.assertGreater(count, 0)
        before = os.stat(kept).st_mtime_ns
        self.assertEqual(self.trace.number("SELECT count(*) FROM flows"), count)
        self.assertEqual(os.stat(kept).st_mtime_ns, before)
        views = self.trace.rows(f"SELECT count(*) AS n FROM read_parquet('{self.trace.path}/*/flows.parquet')")
        self.assertEqual(int(views[0]["n"]), count)

    def test_an_event_and_a_fingerprint_are_followed_as_a_path_is(self):
        by_path = self.trail(self.trace, "--path", self.seen(self.source))
        event = self.trace.rows("SELECT event_id, fingerprint FROM events WHERE name = 'read' AND path LIKE '%/source' AND bytes > 0")[0]
        by_event = self.trail(self.trace, "--event", event["event_id"])
        self.assertEqual(self.files(by_event), self.files(by_path))
        by_hash = self.trail(self.trace, "--hash", hex(int(event["fingerprint"])))
        self.assertEqual(self.files(by_hash), self.files(by_path))
        self.assertEqual(self.files(by_path), {"source", "copy", "copy2"})

    def test_a_graph_has_every_hop_and_link(self):
        trail = self.trail(self.trace, "--path", self.seen(self.source))
        dot = self.follow(self.trace, "--path", self.seen(self.source), "--dot")
        self.assertEqual(len(re.findall(r"^  \d+ \[label=", dot, re.MULTILINE)), len(trail["hops"]))
        self.assertEqual(len(re.findall(r"^  \d+ -> \d+ ", dot, re.MULTILINE)), len(trail["links"]))

    def refused(self, *arguments):
        done = subprocess.run([DYETRACE, "follow", self.trace.path, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        return self.one_line(done.stderr)

    def test_wrong_questions_get_one_line(self):
        self.assertIn("one of --path, --event, --hash, --dye and --text", self.refused())
        self.assertIn(f"did you mean {self.seen(self.path('copy2'))}", self.refused("--path", "/nowhere/copy2"))
        self.assertIn("no event 1 that moved bytes", self.refused("--event", "1"))
        self.assertIn("fingerprint 12345", self.refused("--hash", "12345"))
        self.assertIn("is no event", self.refused("--event", "cat"))
        self.assertIn("has no bytes", self.refused("--path", self.source + ":9-3"))

    def test_a_file_that_nobody_read_has_an_answer(self):
        text = self.follow(self.trace, "--path", self.seen(self.path("copy2")))
        self.assertIn("nobody read it", text)


if __name__ == "__main__":
    support.main()
