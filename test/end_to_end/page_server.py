"""`dyetrace ui` as a browser speaks to it."""

import http.client
import json
import re
import signal

import support
from support import DYETRACE


class PageServer:
    """Ends with the test, or when it is stopped."""

    def __init__(self, test, trace, *options):
        self.file = test.path("ui.said")
        with open(self.file, "wb") as said:
            self.process = test.start([DYETRACE, "ui", trace, *options], stderr=said)
        test.wait_for(lambda: "http://" in self.said() or self.process.poll() is not None, "it says where the page is")
        self.port, self.token = re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.said()).groups()

    def said(self):
        with open(self.file, encoding="utf-8") as file:
            return file.read()

    def ask(self, method, path, body=None, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=support.PATIENCE_S)
        connection.request(method, path, body, {"Host": host} if host else {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer, content

    def answer(self, question, **words):
        status, _, body = self.ask("POST", f"/{self.token}/api/{question}", json.dumps(words))
        return status, json.loads(body)

    def number(self, sql, **words):
        status, answer = self.answer("query", sql=sql, **words)
        assert status == 200, answer
        return int(answer["rows"][0][0])

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=support.PATIENCE_S)
