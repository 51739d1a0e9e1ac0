#!/usr/bin/env python3
"""Dyes as people use them: named on the command line, added and removed while the recording runs, asked for in SQL."""

import os
import random
import re
import stat
import subprocess
import sys
import unittest

import servers
import support
from support import DYETRACE, PATIENCE_S, EndToEndTest

CARD = "4929123456781234"
HITS = "SELECT d.dye, d.form, d.position, d.object_position, e.name, e.path, e.comm FROM dye_hits d JOIN events e USING (event_id) ORDER BY e.start_ns, d.position"

# Writes what it reads, line by line, and says when a line is written.
ECHO = """
import os, sys
for line in sys.stdin:
    os.write(int(sys.argv[1]), line.encode())
    print("done", flush=True)
"""


def dye(*arguments, status=0):
    done = subprocess.run([DYETRACE, "dye", *arguments], capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode != status:
        raise AssertionError(f"dye {arguments}: {done.returncode} {done.stderr}")
    return done


class DyeTest(EndToEndTest):
    def test_a_dye_is_found_in_its_forms_and_its_text_is_nowhere_in_the_trace(self):
        source, target = self.file("source", f"to {CARD} from".encode()), self.path("target")
        trace = self.record("--dye", f"card={CARD}", "--dye-forms", "base64", "--dye", "other=never seen", "--",
                            "sh", "-c", f"base64 {source} > {target}")
        hits = [hit for hit in trace.rows(HITS) if hit["comm"] == "base64"]
        self.assertEqual([("plain", 3, source), ("base64_0", 4, target)],
                         [(hit["form"], hit["object_position"], hit["path"].removeprefix(support.outer_root())) for hit in hits])
        self.assertIn("dye hits: card 2 · other 0", trace.said)
        self.assertEqual(["card", "other"], [row["dye"] for row in trace.rows("SELECT dye FROM dyes ORDER BY 1")])
        for folder, _, names in os.walk(trace.path):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(CARD.encode(), file.read(), name)

    def test_dyes_are_added_and_removed_while_the_recording_runs(self):
        output = os.open(self.path("output"), os.O_WRONLY | os.O_CREAT)
        echo = self.start([sys.executable, "-c", ECHO, str(output)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          pass_fds=[output])
        self.addCleanup(echo.stdout.close)
        trace, recorder = self.start_recording("-p", str(echo.pid), "--later-dyes")

        def say(line):
            echo.stdin.write(line + "\n")
            echo.stdin.flush()
            self.assertEqual("done\n", echo.stdout.readline())

        say(CARD)
        dye("add", trace.path, f"card={CARD}")
        say("x" + CARD)
        dye("add", trace.path, "pin=8241", "--dye-forms", "hex")
        say("38323431 8241")
        self.assertEqual(["card  16 bytes  plain", "pin  4 bytes  plain,hex"], dye("list", trace.path).stdout.splitlines())
        self.assertIn("there is a dye pin already", dye("add", trace.path, "pin=12345", status=1).stderr)
        dye("remove", trace.path, "card")
        self.assertIn("there is no dye card", dye("remove", trace.path, "card", status=1).stderr)
        say(CARD)
        mode = os.stat(os.path.join(trace.path, "control")).st_mode
        self.assertTrue(stat.S_ISSOCK(mode))
        self.assertEqual(0o600, stat.S_IMODE(mode))
        echo.stdin.close()
        recorder.wait(PATIENCE_S)
        writes = [(hit["dye"], hit["form"], hit["object_position"]) for hit in trace.rows(HITS) if hit["name"] == "write"
                  and hit["path"].endswith("/output")]
        self.assertEqual([("card", "plain", 18), ("pin", "hex", 35), ("pin", "plain", 44)], writes)
        rows = {row["dye"]: row for row in trace.rows("SELECT * FROM dyes")}
        self.assertLess(int(rows["card"]["added_ns"]), int(rows["card"]["removed_ns"]))
        self.assertIsNone(rows["pin"]["removed_ns"])
        self.assertFalse(os.path.exists(os.path.join(trace.path, "control")))
        self.assertIn("nobody looks for dyes", dye("list", trace.path, status=1).stderr)

    def test_only_what_carries_a_dye_is_kept(self):
        script = f"echo hello; echo {CARD} | tee {self.path('copy')} | cat > {self.path('second')}; cat {self.path('copy')}; ls /"
        trace = self.record("--dye", f"card={CARD}", "--only-dyed", "--", "bash", "-c", script)
        events = trace.rows("SELECT name, comm, path, dye_hits FROM events")
        self.assertEqual({1}, {int(event["dye_hits"]) for event in events})
        self.assertEqual({"bash", "tee", "cat"}, {event["comm"] for event in events})
        self.assertTrue(any(event["path"].endswith("/second") for event in events))
        self.assertEqual(len(events), trace.number("SELECT count(*) FROM dye_hits"))
        accounting = trace.accounting()
        self.assertEqual(accounting["generated"], accounting["filtered"] + accounting["delivered"])
        self.assertEqual(accounting["delivered"], 2 * len(events))  # a record of each hit

    def test_only_what_carries_a_dye_is_kept_where_it_is_split(self):
        program = (f"import os; fd = os.open('{self.path('file')}', os.O_WRONLY | os.O_CREAT); "
                   f"os.write(fd, b'{CARD[:7]}'); os.write(fd, b'{CARD[7:]}'); os.write(fd, b'rest')")
        trace = self.record("--dye", f"card={CARD}", "--only-dyed", "--", sys.executable, "-c", program)
        written = trace.rows("SELECT e.name, e.file_offset, d.position, d.object_position FROM events e JOIN dye_hits d USING (event_id) "
                             "WHERE e.path LIKE '%/file'")
        self.assertEqual([{"name": "write", "file_offset": 7, "position": -7, "object_position": 0}], written)
        self.assertEqual(1, trace.number("SELECT count(*) FROM events WHERE path LIKE '%/file'"))

    def test_a_dye_that_is_split_by_copies_inside_the_kernel_is_found_on_the_file_that_has_it(self):
        head, tail = CARD[:9], CARD[9:]
        source, tails = self.file("source", f"to {CARD} from".encode()), self.file("tails", f"{tail} from".encode())
        program = (f"import os, socket\n"
                   f"source, tails = os.open('{source}', os.O_RDONLY), os.open('{tails}', os.O_RDONLY)\n"
                   f"copy, page = (os.open(name, os.O_WRONLY | os.O_CREAT) for name in ('{self.path('copy')}', '{self.path('page')}'))\n"
                   f"os.copy_file_range(source, copy, 12)\nos.copy_file_range(source, copy, 100)\n"
                   f"os.write(page, b'header: {head}')\nos.copy_file_range(tails, page, 100)\n"
                   f"one, other = socket.socketpair()\n"
                   f"one.sendall(b'header: {head}')\nos.sendfile(one.fileno(), tails, 0, 100)\n")
        trace = self.record("--dye", f"card={CARD}", "--only-dyed", "--", sys.executable, "-c", program)
        crossings = trace.rows("SELECT e.name, d.position, d.object_position AS place, parse_filename(n.path) AS file "
                               "FROM dye_hits d JOIN events e USING (event_id) LEFT JOIN object_names n ON n.object_id = d.object_id "
                               "WHERE d.position < 0 ORDER BY e.start_ns")
        self.assertEqual([("copy_file_range", -9, 3, "source"), ("copy_file_range", -9, 8, "page"), ("sendfile", -9, None, "socket")],
                         [(hit["name"], hit["position"], hit["place"], hit["file"].split(":")[0]) for hit in crossings])

    def test_over_each_border_of_what_nginx_sends_with_sendfile_lies_the_dye_of_the_file_there(self):
        front = "seven: "  # so that no page begins with the dye
        with servers.Nginx(self.folder) as nginx:
            self.file("page", (front + CARD * (5_000_000 // len(CARD))).encode())
            trace, recorder = self.start_recording("--dye", f"card={CARD}", "-p", f"{nginx.pid},{nginx.worker}")
            subprocess.run(["curl", "-s", "-o", self.path("copy"), f"http://127.0.0.1:{nginx.port}/page"], check=True, timeout=PATIENCE_S)
            self.assertEqual(self.stop(recorder), 0, self.said())
        sent = trace.rows("SELECT e.event_id, e.file_offset2 AS begin, e.stream_offset, d.position, d.object_position FROM events e "
                          "LEFT JOIN (FROM dye_hits WHERE position < 0) d USING (event_id) WHERE e.name = 'sendfile' AND e.bytes > 0 "
                          "ORDER BY begin")
        self.assertGreater(len(sent), 1)
        for piece in sent:
            over = (int(piece["begin"]) - len(front)) % len(CARD) if int(piece["begin"]) > 0 else 0
            self.assertEqual(piece["position"], -over if over else None, piece)
            self.assertEqual(piece["object_position"], int(piece["stream_offset"]) - over if over else None, piece)

    def test_ten_thousand_dyes_of_a_file_are_looked_for_at_once(self):
        dyes = {f"customer-{i}": f"customer number {i * 7919 % 100003:06}" for i in range(10000)}
        lines = self.file("dyes", "\n".join(f"{name}={text}" for name, text in dyes.items()).encode())
        asked = [f"customer-{i}" for i in (0, 17, 4711, 9999)]
        source = self.file("source", ";".join(dyes[name] for name in asked).encode())
        trace = self.record("--dyes", lines, "--", "cat", source)
        hits = trace.rows("SELECT d.dye, d.position FROM dye_hits d JOIN events e USING (event_id) "
                          "WHERE e.comm = 'cat' AND e.name = 'write' ORDER BY d.position")
        self.assertEqual([(name, 23 * i) for i, name in enumerate(asked)], [(hit["dye"], hit["position"]) for hit in hits])
        self.assertEqual(10000, trace.number("SELECT count(*) FROM dyes"))
        self.assertIn("and 9,992 more dyes", trace.said)

    def test_a_condition_and_dyes_go_together(self):
        source = self.file("source", CARD.encode())
        trace = self.record("--dye", f"card={CARD}", "--only-dyed", "--content", "hash", "--where", "name = 'read'", "--",
                            "dd", f"if={source}", f"of={self.path('copy')}", "bs=100")
        events = trace.rows("SELECT name, dye_hits, fingerprint = fingerprint_of('" + CARD + "') AS whole FROM events")
        self.assertEqual([("read", 1, True)], [(event["name"], int(event["dye_hits"]), event["whole"]) for event in events])

    def test_a_new_dye_is_new_each_time(self):
        one, two = (dye("new", "--prefix", "order").stdout.strip() for _ in range(2))
        self.assertNotEqual(one, two)
        self.assertRegex(one, "^order-[a-z0-9]{20}$")

    def test_of_a_copied_file_every_occurrence_is_found_on_both_sides(self):
        random.seed(7)
        content = b"".join(random.choice([b"dye", b"trace", b"dyetrace", b"\n", b" "]) for _ in range(40000))
        source = self.file("source", content)
        trace = self.record("--dye", "word=dyetrace", "--", "dd", f"if={source}", f"of={self.path('target')}", "bs=509")
        found = trace.rows("SELECT e.name, d.object_position AS place FROM dye_hits d JOIN events e USING (event_id) "
                           "WHERE e.path LIKE '%/source' OR e.path LIKE '%/target' ORDER BY place")
        places = [match.start() for match in re.finditer(b"dyetrace", content)]
        for name in ("read", "write"):
            self.assertEqual(places, [hit["place"] for hit in found if hit["name"] == name])

    def test_occurrences_that_overlap_are_all_found_also_over_the_border_of_two_calls(self):
        content = b"abababab--bababa"
        path = self.path("file")
        program = ("import os\nfor cut in range(1, len(CONTENT)):\n"
                   "    file = os.open(f'PATH{cut}', os.O_RDWR | os.O_CREAT)\n"
                   "    os.write(file, CONTENT[:cut]); os.write(file, CONTENT[cut:])\n").replace("CONTENT", repr(content)).replace("PATH", path)
        trace = self.record("--dye", "word=abab", "--", sys.executable, "-c", program)
        found = trace.rows("SELECT e.path, list(d.object_position ORDER BY d.object_position) AS places FROM dye_hits d JOIN events e USING (event_id) "
                           f"WHERE ends_with(regexp_replace(e.path, '[0-9]+$', ''), '{path}') GROUP BY ALL")
        self.assertEqual(len(content) - 1, len(found))
        for row in found:
            self.assertEqual([0, 2, 4, 11], row["places"], row["path"])

    def test_what_is_too_much_to_be_compared_is_said(self):
        alike = self.file("dyes", "\n".join(f"name{i}=aaaa" for i in range(300)).encode())
        trace = self.record("--dyes", alike, "--", "sh", "-c", "echo aaaaaaaa")
        self.assertEqual([{"state": "partial", "reason": "220 places that may be dyes were too many to be compared"}],
                         trace.rows("SELECT state, reason FROM coverage WHERE source = 'dyes'"))
        self.assertEqual(5 * 256, trace.number("SELECT dye_hits FROM events WHERE comm = 'sh' AND name = 'write'"))

    def test_a_dye_that_cannot_be_looked_for_is_refused(self):
        done = subprocess.run([DYETRACE, "record", "-o", self.path("t"), "--only-dyed", "--", "true"], capture_output=True, text=True,
                              timeout=PATIENCE_S)
        self.assertEqual(2, done.returncode)
        self.assertIn("--only-dyed keeps nothing without a --dye", done.stderr)
        for wrong, why, status in (("card", "a dye is NAME=TEXT", 2), ("card=abc", "has 3 bytes", 2), ("card=@/nowhere", "/nowhere", 1)):
            done = subprocess.run([DYETRACE, "record", "-o", self.path("t"), "--dye", wrong, "--", "true"], capture_output=True,
                                  text=True, timeout=PATIENCE_S)
            self.assertEqual(status, done.returncode)
            self.assertIn(why, done.stderr)
            self.assertFalse(os.path.exists(self.path("t")))


if __name__ == "__main__":
    unittest.main()
