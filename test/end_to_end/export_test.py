#!/usr/bin/env python3
"""dyetrace export: what it writes, read by the formats' own tools and messages, is what SQL says of the trace."""

import contextlib
import csv
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import tempfile

import support
from page_server import PageServer
from support import DYETRACE

READERS = os.path.join(support.BUILD, "readers", "bin")
if not os.path.exists(READERS):  # made once, beside the preset release
    READERS = os.path.join(support.ROOT, "build", "readers", "bin")

# A server, three files of which one needs many calls, over a connection each.
SERVE = """
cd "$0"; python3 -m http.server --bind 127.0.0.1 {port} >/dev/null 2>&1 & server=$!
until curl -s -o /dev/null http://127.0.0.1:{port}/small; do sleep 0.1; done
curl -s http://127.0.0.1:{port}/small >/dev/null
curl -s http://127.0.0.1:{port}/large >/dev/null
kill $server; wait $server; true
"""


# Words of arguments as C++ says them to us, and as the macro says them to whoever reads a trace with views.sql.
BOTH_ARGUMENTS = """
SELECT count(*) AS calls, count(DISTINCT k.name) AS names, count(*) FILTER (v.arguments IS DISTINCT FROM _arguments_text(k.labels, k.types, k.sets, k.pair,
    k.choices, e.argument0, e.argument1, e.argument2, e.argument3, e.argument4, e.argument5, e.name, e.name2)) AS different
FROM internal.raw_syscall_event e LEFT JOIN internal.syscall_words k ON k.abi = e.abi AND k.number = e.syscall
JOIN events v ON v.event_id = _event_id(e.host_index, e.cpu, e.sequence)
"""


class ExportTest(support.EndToEndTest):
    def export(self, trace, *arguments, status=0, **options):
        done = subprocess.run([DYETRACE, "export", trace.path, *arguments], capture_output=True, timeout=4 * support.PATIENCE_S, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        done.stderr = done.stderr.decode()
        return done

    def read(self, trace, kind, *arguments):
        self.export(trace, f"--{kind}", "-o", self.path(kind), *arguments)
        reader = os.path.join(support.ROOT, "test", "end_to_end", "read_export.py")
        done = subprocess.run([os.path.join(READERS, "python"), reader, kind, self.path(kind)], capture_output=True,
                              timeout=support.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = tempfile.TemporaryDirectory(prefix="dyetrace-test-")
        cls.addClassCleanup(cls.shared.cleanup)

    def once(self, record):
        """A trace that several tests look at and none of them changes: the first of them records it."""
        path = os.path.join(self.shared.name, record.__name__, "trace")
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path))
            os.rename(record().path, path)
        return support.Trace(path)

    def git_clone(self):
        """Many processes, pipes between them, and names that nobody likes."""
        hostile = "<b>\\\"&'\x1b[2J\u202e"
        subprocess.run(["git", "init", "-q", "origin"], cwd=self.folder, check=True)
        for name in (b"plain", hostile.encode(), b"not-utf8-\xff"):
            self.file(os.path.join("origin", os.fsdecode(name)))
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, "add", "."], cwd=self.path("origin"), check=True)
        subprocess.run([*git, "commit", "-qm", "all"], cwd=self.path("origin"), check=True)
        return self.record("--content=hash", "--", "sh", "-c",
                           f"git clone -q file://{self.path('origin')} {self.path('clone')}; cat {self.path('origin')}/* | tee {self.path('all')} >/dev/null")

    def setUp(self):
        super().setUp()
        self.skip_without([name for name in ("git", "tshark") if shutil.which(name) is None])
        self.skip_without([] if os.path.exists(os.path.join(READERS, "python")) else ["build/readers"])

    def test_perfetto_has_every_event_on_its_thread_with_its_values_and_arrows(self):
        trace = self.once(self.git_clone)
        exported = self.read(trace, "perfetto")
        offset = int(trace.rows("SELECT wall_offset_ns FROM hosts")[0]["wall_offset_ns"])
        self.assertEqual(exported["clocks"]["1"] - exported["clocks"]["6"], offset, "the page shows the wall clock")
        slices = {one["values"]["event_id"]: one for one in exported["slices"]}
        self.assertEqual(len(slices), len(exported["slices"]))
        names = {row["thread_id"]: f"{row['host']} / {row['pcomm']} {row['pid']} / {row['comm']} {row['tid']}" for row in trace.rows(
            "SELECT t.thread_id, t.host, p.comm AS pcomm, p.pid, t.comm, t.tid FROM threads t JOIN processes p USING (process_id)")}
        rows = trace.rows("SELECT event_id, thread_id, start_ns, duration_ns, state, name, class, path, bytes, error, fingerprint, arguments, file_offset "
                          "FROM events")
        self.assertGreater(len(rows), 1000)
        self.assertEqual(len(rows), len(slices))
        for row in rows:
            one = slices[int(row["event_id"])]
            self.assertEqual((one["name"], one["class"], one["time"]), (row["name"], row["class"], int(row["start_ns"])))
            self.assertEqual(one["track"].removesuffix(" / " + one["track"].split(" / ")[-1]) if one["track"].endswith(", overlapping") else one["track"],
                             names[row["thread_id"]])
            if row["duration_ns"] is not None:
                self.assertEqual(one["end"] - one["time"], int(row["duration_ns"]), one)
            for name in ("path", "error"):
                self.assertEqual(one["values"].get(name), row[name])
            for name in ("bytes", "file_offset", "fingerprint"):
                self.assertEqual(one["values"].get(name), None if row[name] is None else int(row[name]))
            if row["name"] not in ("read", "write", "pread64", "pwrite64", "readv", "writev", "close"):
                self.assertEqual(one["values"].get("arguments"), row["arguments"])
        self.assertTrue(any("not-utf8-\\xff" in (one["values"].get("path") or "") for one in slices.values()))
        self.assertTrue(any("<b>" in (one["values"].get("path") or "") for one in slices.values()))
        by_flow = {flow: one["values"]["event_id"] for one in slices.values() for flow in one["to"]}
        arrows = {(by_flow[flow], one["values"]["event_id"]) for one in slices.values() for flow in one["from"]}
        flows = {(int(row["from_event"]), int(row["to_event"])) for row in trace.rows("SELECT from_event, to_event FROM flows")}
        self.assertGreater(len(flows), 10)
        self.assertEqual(arrows, flows)
        again = self.path("again")
        self.export(trace, "--perfetto", "-o", again)
        with open(again, "rb") as one, open(self.path("perfetto"), "rb") as other:
            self.assertEqual(one.read(), other.read(), "the same trace, the same bytes")

    def test_arguments_have_the_same_words_for_all_who_read_the_trace(self):
        both = self.once(self.git_clone).numbers(BOTH_ARGUMENTS)
        self.assertGreater(both["calls"], 1000)
        self.assertGreater(both["names"], 30)
        self.assertEqual(both["different"], 0)

    def test_otlp_has_a_span_for_each_event_below_its_process(self):
        trace = self.once(self.git_clone)
        spans = self.read(trace, "otlp", "--where", "class = 'pipe' OR error IS NOT NULL")
        rows = {row["event_id"]: row for row in trace.rows("SELECT event_id, name, epoch_ns(time) AS begin_ns, duration_ns, pid, exe, tid, error, path, bytes, "
                                                           "parent_event_id FROM events LEFT JOIN (SELECT process_id, exe AS program FROM processes) "
                                                           "USING (process_id) WHERE class = 'pipe' OR error IS NOT NULL")}
        by_id = {span["id"]: span for span in spans}
        self.assertEqual(len(by_id), len(spans))
        events = {span["values"]["dyetrace.event_id"]: span for span in spans if "dyetrace.event_id" in span["values"]}
        self.assertEqual(events.keys(), rows.keys())
        for event, row in rows.items():
            span = events[event]
            self.assertEqual((span["name"], span["begin"], span["end"] - span["begin"]),
                             (row["name"], int(row["begin_ns"]), int(row["duration_ns"] or 0)))
            self.assertEqual((span["resource"]["process.pid"], span["values"]["thread.id"]), (int(row["pid"]), int(row["tid"])))
            self.assertEqual(span["status"], row["error"] or "")
            self.assertEqual(span["values"].get("file.path"), row["path"])
            if row["parent_event_id"] is None:
                root = by_id[span["parent"]]
                self.assertEqual((root["trace"], root["parent"]), (span["trace"], ""))
                self.assertLessEqual(root["begin"], span["begin"])
                self.assertGreaterEqual(root["end"], span["end"])
        links = {(by_id[link]["values"]["dyetrace.event_id"], span["values"]["dyetrace.event_id"]) for span in spans for link in span["links"]}
        flows = {(str(row["from_event"]), str(row["to_event"])) for row in trace.rows("SELECT from_event, to_event FROM flows")}
        self.assertEqual(links, {flow for flow in flows if flow[0] in rows and flow[1] in rows})
        self.assertGreater(len(links), 0)

    def test_csv_and_parquet_have_the_table_events_in_order(self):
        trace = self.record("--", "sh", "-c", f"echo 'a,\"b' > '{self.path('a,b')}'; ls -l {self.folder} / > /dev/null")
        where = ("--where", "class IN ('file', 'metadata')")
        ids = [row["event_id"] for row in trace.rows("SELECT event_id FROM events WHERE class IN ('file', 'metadata') ORDER BY time, event_id")]
        columns = [row["column_name"] for row in trace.rows("DESCRIBE events")]
        rows = list(csv.reader(self.export(trace, "--csv", *where).stdout.decode().splitlines()))
        self.assertEqual(rows[0], columns)
        self.assertEqual([row[0] for row in rows[1:]], ids)
        self.assertTrue(any("a,b" in row[columns.index("path")] for row in rows))
        self.export(trace, "--parquet", "-o", self.path("events.parquet"), *where)
        read = subprocess.run([os.path.join(READERS, "duckdb"), "-csv", "-noheader", "-c", f"SELECT event_id FROM '{self.path('events.parquet')}'"],
                              capture_output=True, text=True, check=True, timeout=support.PATIENCE_S)
        self.assertEqual(read.stdout.split(), ids)
        self.assertEqual([name for name in os.listdir(self.folder) if ".new-" in name], [])

    def tshark(self, *arguments):
        done = subprocess.run(["tshark", "-r", self.path("pcapng"), *arguments], capture_output=True, text=True, timeout=support.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_tshark_puts_together_what_a_web_server_sent(self):
        os.mkdir(self.path("www"))
        large = os.urandom(300_001)
        self.file("www/small", b"hello, world\n")
        self.file("www/large", large)
        trace = self.record("--content=bytes", "--", "sh", "-c", SERVE.format(port=18473), self.path("www"))
        done = self.export(trace, "--pcapng", "-o", self.path("pcapng"))
        self.assertNotIn("not in the trace", done.stderr)
        requests = self.tshark("-Y", "http.request", "-T", "fields", "-e", "http.request.uri").split()
        self.assertEqual(requests, ["/small"] * (len(requests) - 1) + ["/large"])
        self.assertEqual(set(self.tshark("-Y", "http.response", "-T", "fields", "-e", "http.response.code").split()), {"200"})
        os.mkdir(self.path("objects"))
        self.tshark("-q", "--export-objects", f"http,{self.path('objects')}")
        with open(self.path("objects/large"), "rb") as file:
            self.assertEqual(file.read(), large)
        self.assertEqual(self.tshark("-Y", "tcp.analysis.retransmission || tcp.analysis.lost_segment || tcp.analysis.out_of_order"), "",
                         "no byte twice, though both ends were recorded, and none is missing")
        connections = trace.number("SELECT count(DISTINCT connection_id) FROM events WHERE remote_port = 18473 AND bytes > 0")
        self.assertEqual(len(set(self.tshark("-T", "fields", "-e", "tcp.stream").split())), connections)
        self.assertEqual(self.tshark("-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-Y",
                                     "tcp.checksum.status == \"Bad\" || ip.checksum.status == \"Bad\""), "")
        first = trace.rows("SELECT epoch_ns(time) AS t, event_id FROM events WHERE name = 'sendto' AND remote_port = 18473 ORDER BY time LIMIT 1")[0]
        seen = self.tshark("-Y", f"frame.comment contains \"event {first['event_id']}\"", "-T", "fields", "-e", "frame.time_epoch").split()
        self.assertEqual([int(time.replace(".", "")) for time in seen], [int(first["t"])])

    def test_datagrams_of_ip_6_and_what_was_cut_and_what_has_no_packets(self):
        trace = self.record("--content=bytes:16", "--", "python3", "-c",
                            "import socket\n"
                            "a = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); a.bind(('::1', 0))\n"
                            "b = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); b.connect(a.getsockname())\n"
                            "for text in (b'first', b'first', b'x' * 100): b.send(text); a.recv(10, socket.MSG_PEEK); a.recv(1000)\n"
                            "c, d = socket.socketpair(); c.send(b'unix'); d.recv(4)\n")
        done = self.export(trace, "--pcapng", "-o", self.path("pcapng"))
        self.assertRegex(done.stderr, r"2 calls on sockets that are no TCP and no UDP of IP are left out")
        self.assertRegex(done.stderr, r"168 bytes that these calls moved are not in the trace")
        fields = ("-T", "fields", "-e", "ipv6.src", "-e", "udp.length", "-e", "frame.cap_len", "-e", "frame.len")
        self.assertEqual(self.tshark(*fields).splitlines(),
                         ["::1\t13\t53\t53", "::1\t13\t53\t53", "::1\t108\t64\t148"], "each datagram once, whatever was peeked at")
        self.assertEqual(self.export(trace, "--pcapng", "--where", "false").stdout[:4], b"\x0a\x0d\x0d\x0a")

    def test_what_cannot_be_is_one_line(self):
        trace = self.record("--", "true")
        self.assertIn("one of them", self.one_line(self.export(trace, status=2).stderr))
        self.assertIn("one of them", self.one_line(self.export(trace, "--csv", "--otlp", status=2).stderr))
        self.assertIn("-o FILE", self.one_line(self.export(trace, "--parquet", status=2).stderr))
        self.assertIn("--content=bytes", self.one_line(self.export(trace, "--pcapng", status=1).stderr))
        self.assertIn("nonsense", self.one_line(self.export(trace, "--csv", "--where", "nonsense = 1", status=1).stderr))
        self.assertIn("No such file", self.one_line(self.export(trace, "--csv", "-o", "/nowhere/x", status=1).stderr))
        for kind in ("perfetto", "otlp", "csv"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([DYETRACE, "export", trace.path, f"--{kind}"], stdout=full, stderr=subprocess.PIPE, text=True,
                                      timeout=support.PATIENCE_S, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("ENOSPC", self.one_line(done.stderr))
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([DYETRACE, "export", trace.path, "--otlp"], stdout=writer, stderr=subprocess.PIPE, text=True,
                              timeout=support.PATIENCE_S, check=False)
        os.close(writer)
        self.assertEqual(done.returncode, 1)
        self.assertIn("EPIPE", self.one_line(done.stderr))
        leader, follower = pty.openpty()
        done = subprocess.run([DYETRACE, "export", trace.path, "--perfetto"], stdout=follower, stderr=subprocess.PIPE, text=True,
                              timeout=support.PATIENCE_S, check=False)
        os.close(leader)
        os.close(follower)
        self.assertEqual(done.returncode, 1)
        self.assertIn("terminal", self.one_line(done.stderr))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("x")], [])

    def long_trace(self):
        """An export of it takes seconds, and as OTLP is larger than what the page gives."""
        return self.record("--ring", "256M", "--", support.program("calls"), self.file("read"), "2", "320000")

    def start_export(self, trace, *arguments, **options):
        return self.start([DYETRACE, "export", trace.path, *arguments], stderr=subprocess.PIPE, text=True, **options)

    @staticmethod
    def give_way():
        """So that who waits for what an export does comes first; no further down, where it would get nothing beside others who work."""
        os.nice(5)

    def drafts(self, folder):
        return [name for name in os.listdir(folder) if ".new-" in name]

    def test_an_export_that_is_ended_leaves_nothing_of_itself(self):
        trace = self.once(self.long_trace)
        os.mkdir(self.path("out"))
        draft_bytes = lambda: sum(os.path.getsize(self.path(os.path.join("out", name))) for name in self.drafts(self.path("out")))
        for kind, number, wanted in (("perfetto", signal.SIGINT, 1), ("otlp", signal.SIGTERM, 1), ("csv", signal.SIGHUP, 1), ("parquet", signal.SIGINT, 0)):
            with self.subTest(kind=kind):
                output = self.file(os.path.join("out", kind), b"old")
                exporter = self.start_export(trace, f"--{kind}", "-o", output, preexec_fn=self.give_way)
                self.wait_for(lambda: self.drafts(self.path("out")) and draft_bytes() >= wanted, "it writes")
                exporter.send_signal(number)
                _, said = exporter.communicate(timeout=support.PATIENCE_S)
                self.assertEqual(exporter.returncode, 1)
                self.assertIn(f"interrupted: nothing of it is kept, '{output}' is as it was before", self.one_line(said))
                self.assertEqual(os.listdir(self.path("out")), [kind])
                with open(output, "rb") as file:
                    self.assertEqual(file.read(), b"old")
                os.remove(output)
        output = self.path(os.path.join("out", "perfetto"))
        exporter = self.start_export(trace, "--perfetto", "--without-arguments", "-o", output,
                                     preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for(lambda: self.drafts(self.path("out")), "it writes")
        exporter.send_signal(signal.SIGHUP)
        exporter.communicate(timeout=support.PATIENCE_S)
        self.assertEqual((exporter.returncode, os.listdir(self.path("out"))), (0, ["perfetto"]), "nohup: what is ignored stays ignored")

    def test_whoever_sits_at_a_terminal_sees_how_far_it_is(self):
        trace = self.once(self.long_trace)
        leader, follower = pty.openpty()
        exporter = self.start([DYETRACE, "export", trace.path, "--otlp", "-o", self.path("spans")], stderr=follower)
        os.close(follower)
        said = b""
        try:
            while piece := os.read(leader, 4096):
                said += piece
        except OSError:  # the other end is gone
            pass
        os.close(leader)
        self.assertEqual(exporter.wait(support.PATIENCE_S), 0)
        lines = said.decode().split("\r\x1b[K")
        self.assertEqual(lines[0], "")
        self.assertRegex(lines[1], r"^dyetrace: (reading the trace|[\d.]+ .B written) · \d+ s$")
        self.assertRegex(lines[-1], r"^dyetrace: \S+/spans: [\d,]+ events · [\d.]+ .B\r\n$", "it is gone when the last line is said")

    def test_a_full_disk_is_said_and_costs_nothing_that_was_there(self):
        trace = self.once(self.long_trace)
        disk = self.path("disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=False)
        for kind in ("perfetto", "otlp", "csv", "parquet"):
            output = self.file(os.path.join("disk", kind), b"old")
            said = self.one_line(self.export(trace, f"--{kind}", "-o", output, status=1).stderr)
            self.assertIn(f"no room for the export: nothing of it is kept, '{output}' is as it was before; make room", said)
            self.assertEqual(os.listdir(disk), [kind])
            with open(output, "rb") as file:
                self.assertEqual(file.read(), b"old")
            os.remove(output)

    @staticmethod
    def cpu_ticks(process):
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
            return sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13]))

    @staticmethod
    def nameless_files(process):
        """Of the page's exports, which have no name while they are made."""
        folder = f"/proc/{process.pid}/fd"
        links = []
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                links.append(os.readlink(os.path.join(folder, name)))
        return [link for link in links if re.search(r"/dyetrace-[0-9a-f]{16} \(deleted\)$", link)]

    def test_the_page_makes_what_the_program_makes_within_limits_and_for_nobody_who_has_gone(self):
        trace = self.once(self.long_trace)
        page = PageServer(self, trace.path)
        page.number("SELECT count(arguments) FROM selected")  # what is made once is made
        before = self.cpu_ticks(page.process)
        status, answer, body = page.ask("POST", f"/{page.token}/api/export", json.dumps({"format": "perfetto"}))
        whole = self.cpu_ticks(page.process) - before
        self.assertEqual((status, answer.headers["Content-Disposition"]), (200, 'attachment; filename="trace.pftrace"'))
        self.assertNotIn("\x1b", self.export(trace, "--perfetto", "-o", self.path("perfetto")).stderr, "no terminal, no progress")
        with open(self.path("perfetto"), "rb") as file:
            self.assertEqual(body, file.read())
        status, wrong = page.answer("export", format="otlp")
        self.assertEqual(status, 500)
        self.assertIn("larger than 512 MB: select less, or take `dyetrace export", wrong["error"])
        self.assertIn("perfetto, otlp or pcapng", page.answer("export", format="csv")[1]["error"])
        self.assertEqual(page.answer("export", format="perfetto", selection={"where": "pth = 1"})[0], 400)

        before = self.cpu_ticks(page.process)
        words = json.dumps({"format": "perfetto"})
        with socket.create_connection(("127.0.0.1", int(page.port))) as browser:
            browser.sendall(f"POST /{page.token}/api/export HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(words)}\r\n\r\n{words}".encode())
            self.wait_for(lambda: self.cpu_ticks(page.process) > before + whole / 10, "it is being made")
            self.assertEqual(len(self.nameless_files(page.process)), 1)
        self.wait_for(lambda: not self.nameless_files(page.process), "it is given up")
        self.assertLess(self.cpu_ticks(page.process) - before, whole * 2 / 3, "nobody waits for it any more")

    def test_equal_pids_of_two_hosts_are_two_tracks_by_every_clock(self):
        with open(self.path("log"), "w", encoding="utf-8") as log:
            for number in range(6):
                log.write(json.dumps({"type": 21, "timestamp": 1500000000000 + number, "thread": f"7@web{number % 2}", "eventId": str(number),
                                      "filename": "/f", "size": 5, "offset": number, "fd": 3}) + "\n")
        trace = support.Trace(self.path("trace"))
        subprocess.run([DYETRACE, "import", self.path("log"), "-o", trace.path], check=True, capture_output=True, timeout=support.PATIENCE_S)
        for clock in ("raw", "wall", "cluster"):
            exported = self.read(trace, "perfetto", "--clock", clock)
            self.assertEqual([one["track"] for one in exported["slices"]], [f"web{number % 2} / 7 / 7" for number in range(6)])
            times = [one["time"] for one in exported["slices"]]
            self.assertEqual([time - times[0] for time in times], [number * 1_000_000 for number in range(6)])

    def test_what_was_lost_is_said_and_a_slice(self):
        trace, recorder = self.start_recording("-a")
        os.kill(recorder.pid, signal.SIGKILL)
        recorder.wait(support.PATIENCE_S)
        self.file("perfetto", b"old")
        exported = self.read(trace, "perfetto")
        self.assertIn("the recorder died", self.export(trace, "--csv").stderr)
        gaps = trace.rows("SELECT begin_ns, reason FROM gaps")
        lost = [one for one in exported["slices"] if one["class"] == "lost"]
        self.assertEqual(sorted((one["time"], one["values"]["reason"]) for one in lost), sorted((int(gap["begin_ns"]), gap["reason"]) for gap in gaps))
        self.assertTrue(all(one["track"].endswith(" / lost events") for one in lost))


if __name__ == "__main__":
    support.main()
