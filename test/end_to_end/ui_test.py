#!/usr/bin/env python3
"""The page's server: what a browser is given, and who is given nothing."""

import gzip
import http.client
import json
import os
import re
import signal
import subprocess

import support
from support import DYETRACE


class UiTest(support.EndToEndTest):
    def serve(self, trace):
        with open(self.path("ui.said"), "wb") as said:
            self.server = self.start([DYETRACE, "ui", trace], stderr=said)
        self.wait_for(lambda: "http://" in self.said() or self.server.poll() is not None, "it says where the page is")
        self.port, self.token = re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.said()).groups()

    def said(self):
        with open(self.path("ui.said"), encoding="utf-8") as file:
            return file.read()

    def ask(self, method, path, body=None, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=support.PATIENCE_S)
        connection.request(method, path, body, {"Host": host} if host else {})
        answer = connection.getresponse()
        bytes_ = answer.read()
        connection.close()
        return answer.status, answer, bytes_

    def answer(self, question, **words):
        status, _, body = self.ask("POST", f"/{self.token}/api/{question}", json.dumps(words))
        return status, json.loads(body)

    def test_a_trace_in_the_browser(self):
        trace = self.record("--", "cat", self.file("read"))
        self.serve(trace.path)

        status, page, body = self.ask("GET", f"/{self.token}/")
        self.assertEqual((status, page.headers["Content-Encoding"]), (200, "gzip"))
        self.assertIn("default-src 'self'", page.headers["Content-Security-Policy"])
        text = gzip.decompress(body).decode()
        for name in re.findall(r'(?:href|src)="([^"]+)"', text):
            self.assertEqual(self.ask("GET", f"/{self.token}/{name}")[0], 200, name)

        self.assertEqual(self.answer("trace"), (200, {"path": trace.path, "is_recording": False, "losses": "", "damages": []}))
        events = trace.number("SELECT count(*) FROM events")
        status, rows = self.answer("query", sql="SELECT count(*) AS events FROM events")
        self.assertEqual((status, rows["rows"], rows["columns"]), (200, [[events]], [{"name": "events", "kind": "number"}]))
        status, report = self.answer("report")
        self.assertEqual(status, 200)
        self.assertGreater(report["overview"]["calls"], 0)
        self.assertTrue(any(row["process"].startswith("cat[") for row in report["activities"]), report["activities"])

        status, wrong = self.answer("query", sql="SELECT * FROM nowhere")
        self.assertEqual(status, 400, wrong)
        self.assertIn("nowhere", wrong["error"])
        self.assertEqual(self.ask("GET", "/")[0], 404)
        self.assertEqual(self.ask("POST", "/0123456789abcdef0123456789abcdef/api/trace", "{}")[0], 404)
        self.assertEqual(self.ask("GET", f"/{self.token}/", host="evil.example")[0], 403)

        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(timeout=support.PATIENCE_S), 0)

    def test_what_is_no_trace_is_said_in_one_line(self):
        done = subprocess.run([DYETRACE, "ui", self.path("none")], capture_output=True, text=True, timeout=support.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.path("none"), self.one_line(done.stderr))
        self.assertFalse(os.path.exists(self.path("none")))


if __name__ == "__main__":
    support.main()
