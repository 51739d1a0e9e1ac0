#!/usr/bin/env python3
"""Copies that are the same, and copies of which a byte was changed: by whom, where and between which calls."""

import hashlib
import json
import os
import random
import socket
import subprocess
import sys
import threading

import following
import servers
import support
from following import FollowTest
from support import DYETRACE, PATIENCE_S

SIZE = 2 << 20
PIECE_MAX = 8192  # bytes: a change lies between two anchors, some 1,024 bytes apart

# Each job runs three processes over loopback, which take and give pieces of other sizes. The second one does with the content what the job
# says: nothing, a byte that is flipped or put in at a position, or lengths in front of its pieces, which the third takes off again. `spoil`
# is a byte that the third one flips before it writes. The pid of who does it goes into a file.
RELAY = following.RELAY_PARTS + r"""
def pieces(take, size):
    gathered = b""
    while got := take():
        gathered += got
        while len(gathered) >= size:
            yield gathered[:size]
            gathered = gathered[size:]
    if gathered:
        yield gathered

def changed(piece, begin, what, at):
    if what in ("flip", "spoil", "insert") and begin <= at < begin + len(piece):
        i = at - begin
        return piece[:i] + (b"+" + piece[i:] if what == "insert" else bytes([piece[i] ^ 1]) + piece[i + 1:])
    return struct.pack("<I", len(piece)) + piece if what == "frame" else piece

def first(path, near):
    with open(path, "rb", buffering=0) as file:
        for piece in pieces(lambda: file.read(4096), 70001):
            near.sendall(piece)

def second(name, far, near, what, at):
    begin = 0
    for piece in pieces(lambda: far.recv(65536), 65537):
        near.sendall(piece if what == "spoil" else changed(piece, begin, what, at))
        begin += len(piece)

def unframed(far):
    while head := far.recv(4, socket.MSG_WAITALL):
        yield far.recv(struct.unpack("<I", head)[0], socket.MSG_WAITALL)

def third(path, far, what, at):
    begin = 0
    with open(path + ".out", "wb", buffering=0) as file:
        for piece in unframed(far) if what == "frame" else pieces(lambda: far.recv(99991), 1 << 20):
            file.write(changed(piece, begin, what, at) if what == "spoil" else piece)
            begin += len(piece)

for job in sys.argv[4:]:
    name, what, at = job.split(":")
    path = os.path.join(source, name)
    (a, b), (c, d) = connection(), connection()
    ends = [[a], [b, c], [d]]
    works = [lambda: first(path, a), lambda: second(name, b, c, what, int(at)), lambda: third(path, d, what, int(at))]
    for work, own in zip(works, ends):
        def alone(work=work, own=own):
            for one in (a, b, c, d):
                if one not in own:
                    one.close()
            if own == ([d] if what == "spoil" else [b, c]):
                with open(os.path.join(source, "pids"), "a") as file:
                    file.write(f"{name} {os.getpid()}\n")
            work()
        child(alone)
    for one in (a, b, c, d):
        one.close()
    for _ in works:
        assert os.wait()[1] == 0
"""


class VerifyTest(FollowTest):
    def verify(self, trace, *arguments, status):
        done = subprocess.run([DYETRACE, "verify-copies", trace.path, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertIn(done.returncode, status if isinstance(status, tuple) else (status,), done.stdout + done.stderr)
        return done.stderr if status == 2 else done.stdout

    def answer(self, trace, path, *, status):
        return json.loads(self.verify(trace, "--path", self.seen(path), "--json", status=status))

    def only_change(self, answer):
        self.assertEqual(len(answer["changes"]), 1, answer)
        return answer["changes"][0]

    def relay(self, jobs, *options, size=SIZE):
        for job in jobs:
            self.random_file(job.split(":")[0], size)
        trace = self.record(*options, "--", sys.executable, "-c", RELAY, self.folder, "-", "-", *jobs)
        with open(self.path("pids"), encoding="utf-8") as file:
            return trace, dict(line.split() for line in file)

    def assert_placed(self, change, at):
        self.assertLessEqual(change["begin"], at)
        self.assertGreater(change["end"], at)
        self.assertLess(change["end"] - change["begin"], PIECE_MAX)
        self.assertEqual((change["bad_begin"], change["bad_end"]), (change["begin"], change["end"]))


class RelayTest(VerifyTest):
    FLIPS = [0, SIZE - 1]  # those between: ExactTest, whose pieces are found in the same way

    def test_a_byte_that_one_process_changed_is_placed_to_it_and_to_a_short_piece(self):
        jobs = [f"flip{at}:flip:{at}" for at in self.FLIPS] + ["insert:insert:777777", "frame:frame:0", "healthy:none:0"]
        trace, pids = self.relay(jobs, "--content=anchors")
        for at in self.FLIPS:
            with self.subTest(at=at):
                answer = self.answer(trace, self.path(f"flip{at}"), status=1)
                change = self.only_change(answer)
                self.assert_in_memory_of(answer, change, pids[f"flip{at}"])
                self.assertEqual(change["outcome"], "changed")
                self.assert_placed(change, at)
                self.assertEqual(answer["bytes_not_compared"], 0)
        self.assert_named(trace, pids["flip0"])
        self.assert_inserted(trace, pids["insert"])
        self.assert_the_same(self.answer(trace, self.path("healthy"), status=0), not_compared=0)
        # pieces with a frame inside cannot be compared where they have it
        self.assert_the_same(self.answer(trace, self.path("frame"), status=0), not_compared=2 * (SIZE // 65537 + 1) * PIECE_MAX)

    def assert_in_memory_of(self, answer, change, pid):
        self.assertEqual(change["place"], "memory")
        good, bad = answer["copies"][change["good"]], answer["copies"][change["bad"]]
        self.assertIn(f"[{pid}]", good["process"])
        self.assertIn(f"[{pid}]", bad["process"])
        self.assertTrue(good["name"].startswith("recv"), good)
        self.assertTrue(bad["name"].startswith("send"), bad)
        self.assertEqual({answer["copies"][i]["name"] for i in change["later"]}, {"recvfrom", "write"})

    def assert_named(self, trace, pid):
        """In words, and from the other end, and only where the question is about the bytes that changed."""
        text = self.verify(trace, "--path", self.seen(self.path("flip0.out")), status=1)
        self.assertRegex(text, rf"in the memory of python3?[^ ]*\[{pid}\]")
        self.assertRegex(text, r"\n1 change · no gaps in this time\n$")
        for line in text.splitlines()[1:]:
            self.assertLessEqual(len(line), 80, line)
        self.verify(trace, "--path", self.seen(self.path("flip0.out")) + ":0-1", status=1)
        self.verify(trace, "--path", self.seen(self.path("flip0.out")) + ":500000-", status=0)

    def assert_inserted(self, trace, pid):
        answer = self.answer(trace, self.path("insert"), status=1)
        change = self.only_change(answer)
        self.assert_in_memory_of(answer, change, pid)
        self.assertEqual(change["outcome"], "resized")
        self.assertLessEqual(change["begin"], 777777)
        self.assertGreaterEqual(change["end"], 777777)
        self.assertEqual(change["bad_end"] - change["bad_begin"], change["end"] - change["begin"] + 1)

    def assert_the_same(self, answer, not_compared):
        self.assertEqual(answer["changes"], [])
        self.assertEqual(answer["copies_compared"], 5)
        self.assertEqual(answer["bytes_compared"] + answer["bytes_not_compared"], 5 * SIZE)
        self.assertLessEqual(answer["bytes_not_compared"], not_compared)


class ExactTest(VerifyTest):
    """With the bytes themselves in the trace."""

    SIZE = 1_100_000
    PLACES = [0, 4095, 4096, 1_000_003, SIZE - 1]

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_a_flipped_byte_is_named_with_what_it_was_whether_it_was_sent_or_written(self):
        flips = [(what, at, f"{what}{at}") for what in ("flip", "spoil") for at in self.PLACES]
        jobs = [f"{name}:{what}:{at}" for what, at, name in flips] + ["insert:insert:777777"]
        trace, pids = self.relay(jobs, "--content=bytes", size=self.SIZE)
        for what, at, name in flips:
            with self.subTest(what=what, at=at):
                answer = self.answer(trace, self.path(name), status=1)
                change, bad = self.only_change(answer), answer["copies"][answer["changes"][0]["bad"]]
                self.assert_placed(change, at)
                was, became = (self.content(file)[at : at + 1].hex() for file in (name, name + ".out"))
                self.assertEqual(change["places"], [{"begin": at, "end": at + 1, "bad_begin": at, "bad_end": at + 1, "old": was, "new": became}])
                self.assertEqual((change["place"], change["bytes_unknown_because"]), ("memory", None))
                self.assertEqual((bad["name"], f"[{pids[name]}]" in bad["process"]), ("sendto" if what == "flip" else "write", True))
        self.assertRegex(self.verify(trace, "--path", self.seen(self.path("spoil1000003.out")), status=1),
                         r"bytes\)\n  exactly    byte 1,000,003: [0-9a-f]{2} → [0-9a-f]{2}\n  in the memory of")
        (place,) = self.only_change(self.answer(trace, self.path("insert"), status=1))["places"]
        self.assertEqual((place["begin"], place["end"] - place["begin"], place["new"]), (777777, 0, b"+".hex()))

    def test_what_was_not_kept_is_not_told(self):
        """Of two changes in one call one is in the part of it that the trace has."""
        content = random.Random(4).randbytes(300_000)
        self.file("source", content)
        script = ("data = bytearray(open('source', 'rb', buffering=0).read())\n"
                  "data[100_005] ^= 1\ndata[200_000:200_003] = b'new'\n"
                  "open('target', 'wb', buffering=0).write(data)\n")
        trace = self.record("--content=bytes:150000", "--", sys.executable, "-c", script, cwd=self.folder)
        first, second = self.answer(trace, self.path("target"), status=1)["changes"]
        self.assertEqual([(place["begin"], place["old"], place["new"]) for place in first["places"]],
                         [(100_005, content[100_005:100_006].hex(), bytes([content[100_005] ^ 1]).hex())])
        self.assertEqual((second["bytes_unknown_because"], second["places"]), ("not_kept", None))
        self.assertRegex(self.verify(trace, "--path", self.seen(self.path("target")), status=1), r"exactly    not known: of this piece [\d,]+ bytes were not kept\n")


class ProgramsTest(VerifyTest):
    def test_copies_of_cp_cat_and_nginx_are_the_same(self):
        self.skip_without(servers.missing("nginx", "curl"))
        source = self.random_file("page", 500_000)
        port = support.free_port()
        self.file("nginx.conf", f"daemon off; master_process off; pid {self.path('pid')}; error_log stderr;\nevents {{}}\n"
                  f"http {{ access_log off; sendfile on; sendfile_max_chunk 64k; server {{ listen unix:{self.path('socket')}; "
                  f"listen 127.0.0.1:{port}; root {self.folder}; }} }}\n".encode())
        script = ("cp page copied; cat copied | cat > catted; "
                  "nginx -c $PWD/nginx.conf -e stderr & until curl -s --unix-socket socket http://x/nginx.conf > /dev/null; do sleep 0.1; done; "
                  f"curl -s -o fetched http://127.0.0.1:{port}/catted; kill $!; wait")
        trace = self.record("--content=anchors", "--", "sh", "-c", script, cwd=self.folder)
        answer = self.answer(trace, source, status=0)
        self.assertTrue({"copied", "catted", "fetched"} <= {copy["what"].split("/")[-1] for copy in answer["copies"]}, answer)
        # nginx's head stands in front of what curl takes: there is no anchor at their border
        self.assertLess(answer["bytes_not_compared"], 4 * PIECE_MAX)
        self.assertGreater(answer["bytes_compared"], 6 * 490_000)

    def test_what_a_proxy_frames_in_another_way_is_the_same(self):
        """nginx takes chunks of 5,000 bytes from a server that nobody records, stores what is in them, and gives curl chunks of its own."""
        self.skip_without(servers.missing("nginx", "curl"))
        content = random.Random(8).randbytes(900_000)
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (content[at:at + 5000] for at in range(0, len(content), 5000)))
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        port = support.free_port()
        self.file("nginx.conf", f"daemon off; master_process off; pid {self.path('pid')}; error_log stderr;\nevents {{}}\n"
                  f"http {{ access_log off; server {{ listen 127.0.0.1:{port}; location /stored {{ proxy_pass http://127.0.0.1:{listener.getsockname()[1]}; "
                  f"proxy_http_version 1.1; proxy_temp_path {self.path('temporary')}; proxy_store {self.path('stored')}; }} }} }}\n".encode())
        script = (f"nginx -c $PWD/nginx.conf -e stderr & until curl -s -o /dev/null http://127.0.0.1:{port}/; do sleep 0.1; done; "
                  f"curl -s -o fetched http://127.0.0.1:{port}/stored; until test -e stored; do sleep 0.1; done; kill $!; wait; cat stored > again")
        trace = self.record("--content=anchors", "--", "sh", "-c", script, cwd=self.folder)
        server.join(PATIENCE_S)
        for name in ("stored", "fetched", "again"):
            with open(self.path(name), "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).digest(), hashlib.sha256(content).digest(), name)
        answer = json.loads(self.verify(trace, "--path", self.seen(self.path("fetched")), "--json", status=(0, 3)))
        self.assertEqual(answer["changes"], [])
        self.assertIn(self.seen(self.path("fetched")), {copy["what"] for copy in answer["copies"]})
        self.assertGreater(answer["bytes_compared"], 900_000)
        self.assertEqual(answer["verdict"], "not_all_compared" if answer["bytes_open"] else "same")

    def test_a_journal_that_is_older_than_the_content_is_not_what_others_are_held_against(self):
        """A server has a journal with heads between what it was sent, by somebody that nobody records; what it stores, and a copy of that, are as they were sent."""
        content = random.Random(9).randbytes(300_000)
        sizes = range(0, len(content), 5000)
        server = self.file("server.py", f"""
import os, socket
journal = open("journal", "wb", buffering=0)
journal.write(os.urandom(20_000))
listener = socket.create_server(("127.0.0.1", 0))
with open("port.new", "w") as file:
    file.write(str(listener.getsockname()[1]))
os.rename("port.new", "port")
incoming = listener.accept()[0].makefile("rb", buffering=0)
def take(size):
    taken = b""
    while len(taken) < size:
        taken += incoming.read(size - len(taken))
    return taken
pieces = [take(80) and take(5000) for _ in range({len(sizes)})]
with open("stored", "wb", buffering=0) as stored:
    for piece in pieces:
        stored.write(piece)
with open("stored", "rb", buffering=0) as stored:
    for number in range(len(pieces)):
        journal.write(b"RECORD %033d" % number + stored.read(5000))
with open("stored", "rb") as stored, open("copy", "wb") as copy:
    copy.write(stored.read())
""".encode())

        def send():
            support.wait_for(lambda: os.path.exists(self.path("port")), "the server listens")
            with open(self.path("port"), encoding="ascii") as file, socket.create_connection(("127.0.0.1", int(file.read()))) as connection:
                connection.sendall(b"".join(b"H" * 80 + content[at:at + 5000] for at in sizes))

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        trace = self.record("--content=anchors", "--", sys.executable, server, cwd=self.folder)
        sender.join(PATIENCE_S)
        answer = json.loads(self.verify(trace, "--path", self.seen(self.path("stored")), "--json", status=(0, 1, 3)))
        for change in answer["changes"]:
            good, bad = (os.path.basename(answer["copies"][change[side]]["what"]) for side in ("good", "bad"))
            self.assertEqual((good, bad), ("stored", "journal"))

    def test_what_changed_in_a_file_between_write_and_read_was_changed_there_or_replaced(self):
        """Once through a mapping, which no event tells of, and once by a process that was seen."""
        content = self.random_file("source", 200_000)
        script = ("import mmap, os, sys\nfrom shutil import copyfileobj\n"
                  "for name in ('mapped', 'written'):\n"
                  "    with open('source', 'rb', buffering=0) as source, open(name, 'wb', buffering=0) as file: copyfileobj(source, file, 5000)\n"
                  "with open('mapped', 'r+b') as file, mmap.mmap(file.fileno(), 0) as memory: memory[123456] ^= 1\n"
                  "if os.fork() == 0:\n"
                  "    os.pwrite(os.open('written', os.O_WRONLY), b'changed', 5000)\n"
                  "    os._exit(0)\n"
                  "os.wait()\n"
                  "os.system('cat mapped | cat > mapped.out; cat written | cat > written.out')\n")
        trace = self.record("--content=anchors", "--", sys.executable, "-c", script, cwd=self.folder)
        answer = self.answer(trace, self.path("mapped.out"), status=1)
        change = self.only_change(answer)
        self.assertEqual(change["place"], "file")
        self.assertEqual([answer["copies"][change[side]]["name"] for side in ("good", "bad")], ["write", "read"])
        self.assertLessEqual(change["begin"], 123456)
        self.assertGreater(change["end"], 123456)
        self.assertIn("a writer that was not seen", self.verify(trace, "--path", self.seen(self.path("mapped")), status=1))
        self.assertIn(content, self.verify(trace, "--path", self.seen(self.path("mapped")), status=1))
        answer = self.answer(trace, self.path("written.out"), status=3)  # seven bytes alone can be compared with nothing
        self.assertEqual((answer["changes"], answer["bytes_open"]), ([], 7 * 4))
        (replaced,) = answer["replaced"]
        self.assertEqual((replaced["name"], os.path.basename(replaced["what"]), replaced["begin"] <= 5000 < replaced["end"]), ("pwrite64", "written", True))
        self.assertRegex(self.verify(trace, "--path", self.seen(self.path("written.out")), status=3), r"\nreplaced   \S.* pwrite64 \S*written \d")

    def test_a_copy_that_ends_before_its_source_is_said_to_be_shorter(self):
        """As a backup is whose disk was full; not one that two wrote, the first half each its own."""
        self.random_file("source", 400_000)
        script = "cat source > whole; cat source | head -c 300000 > part; cat source | { head -c 200000; cat; } > halves"
        trace = self.record("--content=anchors", "--", "sh", "-c", script, cwd=self.folder)
        answer = self.answer(trace, self.path("source"), status=3)
        (shorter,) = answer["shorter"]
        copy = answer["copies"][shorter["copy"]]
        self.assertEqual((os.path.basename(copy["what"]), copy["end"], shorter["begin"], shorter["end"]), ("part", 300_000, 300_000, 400_000))
        self.assertRegex(self.verify(trace, "--path", self.seen(self.path("source")), status=3), r"\nshorter    \S.* 0–300,000, by 100,000 bytes\n")

    def test_what_the_kernel_put_after_another_file_is_known_to_be_shorter(self):
        """What `cat a b > c` leaves of b on a full disk, where cat lets the kernel copy."""
        self.random_file("first", 400_000)
        self.random_file("second", 300_000)
        script = ("import os\n"
                  "target = os.open('c', os.O_WRONLY | os.O_CREAT)\n"
                  "for name, size in (('a', 400_000), ('b', 200_000)):\n"
                  "    source = os.open(name, os.O_RDONLY)\n"
                  "    while size > 0:\n"
                  "        size -= os.copy_file_range(source, target, size)\n")
        trace = self.record("--content=anchors", "--", "sh", "-c", 'cat first > a; cat second > b; "$0" -c "$1"', sys.executable, script, cwd=self.folder)
        answer = self.answer(trace, self.path("c"), status=3)
        (shorter,) = answer["shorter"]
        copy = answer["copies"][shorter["copy"]]
        self.assertEqual((copy["name"], copy["end"], copy["begin2"], copy["end2"]), ("copy_file_range", 200_000, 400_000, 600_000))
        self.assertEqual((shorter["begin"], shorter["end"]), (200_000, 300_000))
        self.assertRegex(self.verify(trace, "--path", self.seen(self.path("c")), status=3), r"\nshorter    \S.* 400,000–600,000, by 100,000 bytes\n")
        (shorter,) = self.answer(trace, f"{self.path('c')}:590000-700000", status=3)["shorter"]
        self.assertEqual((shorter["begin"], shorter["end"]), (200_000, 300_000))

    def test_what_cannot_be_verified_is_said(self):
        self.random_file("source", 50_000)
        keyed = self.record("--content=anchors", "--content-key", "hex:" + "7" * 32, "--", "cp", "source", "copy", cwd=self.folder)
        self.assertIn("without --content-key", self.verify(keyed, "--path", self.seen(self.path("source")), status=2))
        redacted = self.record("--content=bytes", "--redact", "a word", "--", "cp", "source", "copy", name="redacted", cwd=self.folder)
        self.assertIn("and --redact", self.verify(redacted, "--path", self.seen(self.path("source")), status=2))
        self.assertIn("--path, --event and --dye", self.verify(keyed, status=2))
        self.assertIn("was ever called", self.verify(keyed, "--path", "/none", status=2))

    def test_what_a_dye_or_an_event_was_seen_in(self):
        self.file("source", b"x" * 3000 + b"a word that is nowhere else" + random.Random(1).randbytes(60_000))
        trace = self.record("--content=anchors", "--dye", "word=that is nowhere else", "--", "sh", "-c", "cat source | cat > copy", cwd=self.folder)
        self.assertIn("no change", self.verify(trace, "--dye", "word", status=0))
        event = trace.number("SELECT event_id FROM events WHERE ends_with(path, '/source') AND name = 'read' AND bytes > 0 LIMIT 1")
        self.assertIn("no change", self.verify(trace, "--event", str(event), status=0))
        self.assertIn("moved bytes of event 1", self.verify(trace, "--event", "1", status=2))
        self.assertIn("was not seen", self.verify(trace, "--dye", "other", status=2))


class HealthyTest(VerifyTest):
    """Whoever does what it is there for is not accused."""

    def answers(self, script, *names, status=(0, 3)):
        trace = self.record("--content=anchors", "--", *script, cwd=self.folder)
        answers = [json.loads(self.verify(trace, "--path", self.seen(self.path(name)), "--json", status=status)) for name in names]
        for name, answer in zip(names, answers):
            self.assertEqual(answer["changes"], [], name)
            self.assertGreater(answer["bytes_compared"], 0, name)
        return answers

    def test_who_packs_a_file_into_an_archive_and_takes_it_out(self):
        """What cannot be made shorter is in there as it was, with heads between."""
        self.skip_without(servers.missing("gzip", "zstd"))
        self.random_file("source", 300_000)
        self.answers(["sh", "-c", "gzip -k source; zstd -q source -o source.zst"], "source", "source.gz", "source.zst")
        os.rename(self.path("trace"), self.path("first"))
        self.answers(["sh", "-c", "gzip -dc source.gz > one; zstd -dqc source.zst > two"], "source.gz", "source.zst", "one", "two")

    def test_who_writes_pages_of_a_log_again_with_more_in_them(self):
        """And another log over the old one, which has another name then; a third process keeps a copy of each."""
        script = """
import os
def page(fill): return os.urandom(fill) + bytes(8192 - fill)
for name in ("1", "2"):
    log = os.open("log", os.O_RDWR | os.O_CREAT)
    for number in range(20):
        for fill in (3000, 8192):  # the second one by another process
            if os.fork() == 0:
                os.pwrite(log, page(fill), number * 8192)
                os._exit(0)
            os.wait()
            os.pread(log, 8192, number * 8192)
    os.system(f"cp log archived{name}; cat log | cat > piped{name}")
    os.rename("log", "recycled")
    os.rename("recycled", "log")
"""
        names = ("log", "archived1", "piped1", "archived2", "piped2")
        answers = dict(zip(names, self.answers([sys.executable, "-c", script], *names)))
        self.assertGreater(answers["piped1"]["bytes_compared"], 3 * 20 * 8192 // 2)  # each page alone: not what is before its first anchor, and after its last one

    def test_a_database_whose_pages_change_where_they_are(self):
        script = """
import os, sqlite3
database = sqlite3.connect("db")
database.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, b BLOB)")
for number in range(20):
    database.executemany("INSERT INTO t (b) VALUES (?)", [(os.urandom(900),) for _ in range(100)])
    database.commit()
    database.execute("UPDATE t SET b = ? WHERE i = ?", (os.urandom(900), number * 37 + 1))
    database.commit()
os.system("cp db copy")
"""
        (answer,) = self.answers([sys.executable, "-c", script], "db")
        self.assertTrue(answer["replaced"])
        self.assertEqual({one["name"] for one in answer["replaced"]}, {"pwrite64"})

    def test_who_makes_a_file_of_an_old_one_and_of_what_arrived(self):
        self.skip_without(servers.missing("rsync"))
        os.mkdir(self.path("there"))
        self.random_file("source", 350_000)
        script = ("rsync source there/; head -c 5000 /dev/urandom | dd of=source conv=notrunc bs=5000 seek=10 iflag=fullblock status=none; "
                  "rsync --checksum --no-whole-file source there/; cmp source there/source")
        for answer in self.answers(["sh", "-c", script], "source", "there/source"):
            self.assertTrue(answer["replaced"])

    def test_two_who_read_a_device_read_other_bytes(self):
        for answer in self.answers(["sh", "-c", "for name in a b c; do head -c 300000 /dev/urandom > $name; cat $name > copy; done"], "a", "b", status=0):
            self.assertEqual((answer["verdict"], answer["bytes_not_compared"]), ("same", 0))

    def test_a_cache_whose_heads_are_read_first(self):
        """The file was there before: who reads its head only is not whom all others are held against."""
        self.random_file("cached", 400_000)
        script = ("import os\nfile = os.open('cached', os.O_RDONLY)\nos.pread(file, 4096, 0)\n"
                  "for name in ('one', 'two'): os.system(f'cat cached | cat > {name}')\n")
        (answer,) = self.answers([sys.executable, "-c", script], "cached")
        self.assertGreater(answer["bytes_compared"], 7 * 390_000)


if __name__ == "__main__":
    support.main()
