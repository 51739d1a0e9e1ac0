#!/usr/bin/python3
"""The page's server: what a browser is given, and who is given nothing."""

import concurrent.futures
import contextlib
import gzip
import json
import os
import re
import signal
import socket
import stat
import subprocess
import urllib.request

import jsonschema
import support
from page_server import PageServer
from support import DYETRACE


SQL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "api", "page", "sql")

# Two processes on one connection: 10 bytes out, 20 bytes back, three times.
TALK = """
import os, socket, sys, time
listening = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    talk, _ = listening.accept()
    while talk.recv(10):
        time.sleep(0.05)
        talk.sendall(b"a" * 20)
    os._exit(0)
talk = socket.create_connection(listening.getsockname())
for _ in range(3):
    talk.sendall(b"q" * 10)
    talk.recv(20)
talk.close()
os.wait()
notes = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
os.write(notes, b"hello")
os.pread(notes, 3, 2)
"""


class UiTest(support.EndToEndTest):
    def test_a_trace_in_the_browser(self):
        trace = self.record("--", "cat", self.file("read"))
        page = PageServer(self, trace.path)

        status, answer, body = page.ask("GET", f"/{page.token}/")
        self.assertEqual((status, answer.headers["Content-Encoding"]), (200, "gzip"))
        self.assertIn("default-src 'self'", answer.headers["Content-Security-Policy"])
        text = gzip.decompress(body).decode()
        for name in re.findall(r'(?:href|src)="([^":]+)"', text):
            self.assertEqual(page.ask("GET", f"/{page.token}/{name}")[0], 200, name)

        events = trace.number("SELECT count(*) FROM events")
        status, info = page.answer("trace")
        self.assertEqual((status, info["path"], info["is_recording"], info["losses"], info["damages"], info["events"]), (200, trace.path, False, "", [], events))
        self.assertEqual(int(info["begin_ns"]), trace.number("SELECT epoch_ns(min(time)) FROM events"))
        status, rows = page.answer("query", sql="SELECT count(*) AS events FROM events")
        self.assertEqual((status, rows["rows"], rows["columns"]), (200, [[events]], [{"name": "events", "kind": "number"}]))
        status, report = page.answer("report")
        self.assertEqual(status, 200)
        self.assertGreater(report["overview"]["calls"], 0)
        self.assertTrue(any(row["process"].startswith("cat[") for row in report["activities"]), report["activities"])
        status, short = page.answer("report", findings_only=True)
        self.assertEqual((status, short["overview"], short["findings"], short["activities"]), (200, report["overview"], report["findings"], []))

        status, wrong = page.answer("query", sql="SELECT * FROM nowhere")
        self.assertEqual(status, 400, wrong)
        self.assertIn("nowhere", wrong["error"])
        self.assertEqual(page.ask("GET", "/")[0], 404)
        self.assertEqual(page.ask("POST", "/0123456789abcdef0123456789abcdef/api/trace", "{}")[0], 404)
        self.assertEqual(page.ask("GET", f"/{page.token}/", host="evil.example")[0], 403)
        self.assertEqual(page.stop(), 0)

    def test_a_statement_that_makes_gigabytes_fails_alone(self):
        trace = self.record("--", "cat", self.file("read"))
        page = PageServer(self, trace.path)
        events = trace.number("SELECT count(*) FROM events")
        large = ["SELECT repeat('x', 4000000000)", "SELECT length(repeat('x', 4000000000)) + 1", *["SELECT list(repeat('x', 100000000) || i) FROM range(100) t(i)"] * 3]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for status, answer in pool.map(lambda sql: page.answer("query", sql=sql), large):
                self.assertGreaterEqual(status, 400, answer)
                self.assertRegex(answer["error"], r"^[^\n]*[Mm]emory[^\n]*$")
        # What was free went back, so another answer can have it.
        status, answer = page.answer("query", sql="SELECT repeat('x', 40000000)")
        self.assertTrue(answer["error"].startswith("a row of 40,000,004 bytes: "), answer)
        self.assertEqual(page.number("SELECT count(*) FROM events"), events)
        with open(f"/proc/{page.process.pid}/status", encoding="utf-8") as file:
            most_kb = int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1])
        self.assertLess(most_kb, 3_700_000)  # 3.5 GB that are its own, and what it maps of files
        self.assertEqual(page.stop(), 0)

    def test_selected_is_what_the_condition_and_the_time_leave(self):
        trace = self.record("--", "cat", self.file("read"))
        page = PageServer(self, trace.path)
        count = "SELECT count(*) FROM selected"
        self.assertEqual(page.number(count), trace.number("SELECT count(*) FROM events"))
        for where in ("class = 'file'", "error IS NOT NULL", "arguments LIKE '%READ%'", "path GLOB '/etc/*' AND bytes > 10"):
            self.assertEqual(page.number(count, selection={"where": where}), trace.number(f"SELECT count(*) FROM events WHERE {where}"), where)
        begin = trace.number("SELECT epoch_ns(min(time)) FROM events")
        middle = trace.number(f"SELECT (epoch_ns(max(time)) - {begin}) // 2 FROM events")
        self.assertEqual(page.number(count, selection={"to_ns": middle}), trace.number(f"SELECT count(*) FROM events WHERE epoch_ns(time) - {begin} <= {middle}"))
        self.assertEqual(page.number(count, selection={"from_ns": middle}),
                         trace.number(f"SELECT count(*) FROM events WHERE epoch_ns(time) - {begin} + coalesce(duration_ns, 0)::BIGINT >= {middle}"))
        self.assertEqual(page.number(count, selection={"from_ns": -2**63, "to_ns": 2**63 - 1}), trace.number("SELECT count(*) FROM events"))
        self.assertEqual(page.number(count, selection={"from_ns": 2**63 - 1, "to_ns": -2**63}), 0)
        columns = [column["name"] for column in page.answer("query", sql="SELECT * FROM selected LIMIT 1")[1]["columns"]]
        self.assertEqual(columns[-4:], ["at_ns", "process", "verb", "target"])
        self.assertIn("arguments", columns)
        status, wrong = page.answer("query", sql=count, selection={"where": "pth = 'x'"})
        self.assertEqual(status, 400)
        self.assertIn("did you mean 'path'", wrong["error"])

    def test_every_question_is_in_the_openapi_description_and_answers_as_it_says(self):
        trace = self.record("--", "cat", self.file("read"))
        page = PageServer(self, trace.path)
        described = json.loads(gzip.decompress(page.ask("GET", f"/{page.token}/openapi.json")[2]))
        asked = json.loads(page.ask("GET", f"/{page.token}/api/")[2])["questions"]
        self.assertEqual(sorted(f"/api/{name}" for name in asked), sorted(described["paths"]))
        revision = page.answer("timeline_rows")[1]["revision"]
        for path, operations in described["paths"].items():
            operation = operations["post"]
            with self.subTest(path):
                content = operation["requestBody"]["content"]["application/json"]
                self.valid(content["example"], content["schema"], described)
                words = dict(content["example"])
                words.update({"revision": revision} if "revision" in words else {})
                words.update({"start": support.outer_root() + words["start"]} if "start" in words else {})
                status, answer, body = page.ask("POST", f"/{page.token}{path}", json.dumps(words))
                self.assertEqual(status, 200, body)
                (kind, media), = operation["responses"]["200"]["content"].items()
                self.assertEqual(answer.headers["Content-Type"], kind)
                if kind == "application/json":
                    self.valid(json.loads(body), media["schema"], described)

    def test_rows_of_every_name_answer_as_described(self):
        trace = self.record("--content=anchors", "--", "cat", self.file("read"))
        page = PageServer(self, trace.path)
        described = json.loads(gzip.decompress(page.ask("GET", f"/{page.token}/openapi.json")[2]))
        schemas = described["components"]["schemas"]
        files = {name.removesuffix(".sql"): self.statement(name) for name in os.listdir(SQL) if name.endswith(".sql")}
        rest = files.pop("space_time")
        self.assertEqual(sorted(files), schemas["RowsName"]["enum"])
        event = str(trace.number("SELECT min(event_id) FROM events WHERE bytes > 0"))
        values = {"step": 1000, "by": "program", "object": "1", "access": "read", "boxes": 60, "epochs": 12, "like": "it's", "from_ns": None, "to_ns": 10**9, "most": 9, "event": event,
                  "events": [event], "start_min_ns": "0", "start_max_ns": str(2**63 - 1), "begin_ns": "0", "lanes": "node", "is_all": True, "window_begin": None, "window_end": None,
                  "lanes_max": 40, "lines_max": 30, "inner_max": 60, "moves_max": 60}
        for name, statement in files.items():
            with self.subTest(name):
                text = statement + (rest if statement.endswith(",") else "")
                question = {"name": name, "parameters": {word: values[word] for word in re.findall(r"\$(\w+)", text)}, "selection": {"from_ns": 0}}
                self.valid(question, schemas["RowsQuestion"], described)
                status, rows = page.answer("rows", **question)
                self.assertEqual(status, 200, rows)
                self.valid(rows, schemas["Rows"], described)
        for words, why in (({"name": "nowhere"}, "no rows are called 'nowhere'"), ({"name": "space_time"}, "no rows are called 'space_time'"), ({"name": "file"}, "'object' is missing"),
                           ({"name": "hosts", "parameters": {"object": 1}}, "there is no parameter 'object'"), ({"name": "file", "parameters": {"object": "1 OR true"}}, "1 OR true")):
            status, wrong = page.answer("rows", **words)
            self.assertEqual(status, 400)
            self.assertIn(why, wrong["error"])

    @staticmethod
    def statement(name):
        with open(os.path.join(SQL, name), encoding="utf-8") as file:
            return "".join(line for line in file if not line.lstrip().startswith("--")).strip()

    def test_sql_says_what_the_page_says_of_conversations_and_files(self):
        trace = self.record("--", "/usr/bin/python3", "-c", TALK, self.path("notes"))
        talks = trace.rows("SELECT comm, peer, sent_bytes, received_bytes, round_trips FROM conversations() c JOIN processes USING (process_id) ORDER BY sent_bytes")
        self.assertEqual([(talk["sent_bytes"], talk["received_bytes"]) for talk in talks], [(30, 60), (60, 30)])
        self.assertEqual(talks[0]["round_trips"], 3)  # it asked three times
        trips = trace.rows("SELECT bytes, trip_ns, (SELECT bytes FROM events e WHERE e.event_id = sent_event_id) AS sent FROM round_trips() WHERE bytes = 20 ORDER BY sent_at_ns")
        self.assertEqual([(trip["bytes"], trip["sent"]) for trip in trips], [(20, 10)] * 3)
        self.assertTrue(all(trip["trip_ns"] >= 50_000_000 for trip in trips), trips)  # who answers sleeps so long
        notes = trace.number("SELECT object_id FROM objects WHERE ends_with(path, '/notes')")
        moves = f"SELECT access, first_byte, bytes FROM file_moves({notes}) ORDER BY at_ns"
        self.assertEqual(trace.rows(moves), [{"access": "write", "first_byte": 0, "bytes": 5}, {"access": "read", "first_byte": 2, "bytes": 3}])

        page = PageServer(self, trace.path)
        columns = "process_id, process, peer, sockets, sent_bytes, received_bytes, calls, round_trips, waited_ns, retransmissions, sent_again_bytes, errors"
        rows = page.answer("rows", name="conversations", parameters={"from_ns": None, "to_ns": None, "most": 9})[1]
        names = [column["name"] for column in rows["columns"]]
        said = trace.rows(f"SELECT {columns} FROM conversations() ORDER BY coalesce(sent_bytes, 0) + coalesce(received_bytes, 0) DESC, calls DESC, process")
        shown = [dict(zip(names, row)) for row in rows["rows"]]
        for row in shown:  # the condition that a click on it sets
            self.assertRegex(row["process"], rf"\[{row.pop('who').removeprefix('pid = ')}\]$")
            self.assertEqual(row.pop("all_conversations"), len(said))
        self.assertEqual([{name: str(cell) for name, cell in row.items()} for row in shown], [{name: str(cell) for name, cell in talk.items()} for talk in said])
        asked = page.answer("query", sql=moves, selection={"where": "name GLOB 'write*'"})[1]
        self.assertEqual(asked["rows"], [["write", 0, 5]])
        self.assertEqual(page.answer("query", sql=page.answer("examples")[1]["first"])[0], 200)

    @staticmethod
    def valid(value, schema, described):
        jsonschema.Draft202012Validator({**schema, "components": described["components"]}).validate(value)

    def test_a_trail_is_what_follow_says(self):
        source = self.file("source", bytes(range(256)) * 64)
        trace = self.record("--content=anchors", "--", "sh", "-c", f"cat {source} | cat > {self.path('target')}")
        page = PageServer(self, trace.path)
        seen = {name: support.outer_root() + self.path(name) for name in ("source", "target")}
        event = trace.number("SELECT min(event_id) FROM events WHERE name = 'write' AND object_type = 'pipe'")
        fingerprint = trace.number(f"SELECT fingerprint FROM events WHERE event_id = {event}")
        for words, arguments in (({"start": seen["source"]}, ["--path", seen["source"]]),
                                 ({"start": seen["target"] + ":100-200", "direction": "back"}, ["--path", seen["target"] + ":100-200", "--back"]),
                                 ({"start": f"event:{event}", "min_certainty": "certain"}, ["--event", str(event), "--min-certainty", "certain"]),
                                 ({"start": f"hash:{fingerprint}"}, ["--hash", str(fingerprint)])):
            said = subprocess.run([DYETRACE, "follow", trace.path, *arguments, "--json"], capture_output=True, text=True, timeout=support.PATIENCE_S, check=True)
            self.assertGreater(len(json.loads(said.stdout)["hops"]), 1, arguments)
            self.assertEqual(page.answer("follow", **words), (200, json.loads(said.stdout)))
        few = page.answer("follow", start=seen["source"], hops_max=2)[1]
        self.assertEqual((len(few["hops"]), few["hops_left_out"]), (2, 2))
        for words, why in (({"start": "source"}, "dye:NAME"), ({"start": "dye:none"}, "record --dye"), ({"start": "event:none"}, "no event"), ({}, "start"),
                           ({"start": seen["source"], "min_certainty": "sure"}, "certain, likely, possible"), ({"start": "/nowhere"}, "/nowhere")):
            status, wrong = page.answer("follow", **words)
            self.assertIn(status, (400, 404), wrong)
            self.assertIn(why, wrong["error"])

    def test_rows_as_a_file(self):
        trace = self.record("--", "cat", self.file("read"))
        page = PageServer(self, trace.path)
        sql = "SELECT name, count(*) AS calls FROM selected GROUP BY ALL ORDER BY ALL"
        status, answer, body = page.ask("POST", f"/{page.token}/api/save", json.dumps({"sql": sql, "format": "csv"}))
        self.assertEqual((status, answer.headers["Content-Disposition"]), (200, 'attachment; filename="rows.csv"'))
        self.assertEqual(body.decode().split(), ["name,calls"] + [f"{row['name']},{row['calls']}" for row in trace.rows(sql.replace("selected", "events"))])
        status, wrong = page.answer("save", sql=sql, format="doc")
        self.assertEqual((status, wrong["error"]), (400, "no format 'doc': csv, json or parquet"))

    def test_a_recording_shows_itself_while_it_runs_and_after_and_leaves_the_page_out(self):
        trace, said = self.path("trace"), self.path("said")
        with open(said, "wb") as file:
            recorder = self.start([DYETRACE, "record", "--ui", "-o", trace, "-a"], stderr=file)
        self.wait_for(lambda: "http://" in self.text_of(said), "it says where the page is")
        url = re.search(r"http://\S+", self.text_of(said))[0]
        info = json.loads(self.post(url + "api/trace"))
        self.assertEqual((info["path"], info["is_recording"]), (trace, True))
        pages = {int(pid) for pid in subprocess.run(["pgrep", "-f", f"dyetrace ui {trace}"], capture_output=True, text=True, check=True).stdout.split()}
        recorder.send_signal(signal.SIGINT)
        self.wait_for(lambda: "until Ctrl-C" in self.text_of(said), "the recording has ended")
        self.wait_for(lambda: not json.loads(self.post(url + "api/trace"))["is_recording"], "the page knows it")  # it looks again when it is asked
        self.assertEqual(self.stop(recorder), 0)
        self.assertRaises(OSError, self.post, url + "api/trace")
        in_trace = {int(row["pid"]) for row in support.Trace(trace).rows("SELECT DISTINCT pid FROM events")}
        self.assertTrue(pages)
        self.assertFalse(pages & in_trace)

    @staticmethod
    def post(url):
        with urllib.request.urlopen(url, b"{}", timeout=support.PATIENCE_S) as answer:
            return answer.read()

    def test_root_may_say_a_port_that_others_may_not(self):
        trace = self.record("--no-seal", "--", "true")
        for port in range(1023, 0, -1):
            with socket.socket() as unused, contextlib.suppress(OSError):
                unused.bind(("127.0.0.1", port))
                break
        page = PageServer(self, trace.path, "--port", str(port))
        self.assertEqual(page.port, str(port))
        self.assertEqual(page.answer("filter", where=" " * 70_000 + "pid = 1")[0], 400, "what is wrong with a question is not the server's")

    def test_with_a_port_the_address_stays(self):
        trace = self.record("--", "true")
        state = self.path("state")
        addresses = []
        said = self.path("said")
        for _ in range(2):
            with open(said, "wb") as file:
                server = self.start([DYETRACE, "ui", trace.path, "--port", str(self.free_port(addresses))], stderr=file, env={**os.environ, "XDG_STATE_HOME": state})
            self.wait_for(lambda: "http://" in self.text_of(said), "it says where the page is")
            addresses.append(re.search(r"http://\S+", self.text_of(said))[0])
            self.stop(server)
        self.assertEqual(addresses[0], addresses[1])
        kept = os.path.join(state, "dyetrace", os.listdir(os.path.join(state, "dyetrace"))[0])
        self.assertEqual(stat.S_IMODE(os.stat(kept).st_mode), 0o600)

    @staticmethod
    def text_of(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    @staticmethod
    def free_port(addresses):
        return int(re.search(r":(\d+)/", addresses[0])[1]) if addresses else support.free_port()

    def test_what_is_no_trace_is_said_in_one_line(self):
        done = subprocess.run([DYETRACE, "ui", self.path("none")], capture_output=True, text=True, timeout=support.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.path("none"), self.one_line(done.stderr))
        self.assertFalse(os.path.exists(self.path("none")))


if __name__ == "__main__":
    support.main()
