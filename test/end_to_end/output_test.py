#!/usr/bin/env python3
"""What a verb prints may not arrive: a full disk, a closed stdout, a reader that has gone. It is said once, and the status is not 0."""

import os
import re
import signal
import subprocess
import sys

import support
from support import DYETRACE

QUESTION = "SELECT name, count(*) FROM events GROUP BY ALL"
SILENT = {"agent", "collector", "import", "pki", "record", "seal", "ui"}  # they print nothing on stdout
ELSEWHERE = {"sessions"}  # wants a collector
TROUBLE = {"verify-copies": 2}  # 1 says that copies differ


class OutputTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.trace = self.record("--content=bytes", "--", "cat", "/etc/passwd")
        watched = self.start(["sleep", "1000"])
        self.live, _ = self.start_recording("--later-dyes", "--dye", "name=a text to look for", "-p", str(watched.pid), name="live")

    def verbs(self):
        """Every way to print something, in few words."""
        trace = self.trace.path
        return [[], ["--help"], ["--version"], ["record", "--help"], ["sql", "--help"], ["trace", "--help"], ["trace", "--version"],
                ["cat", trace, "--path", "/etc/passwd"], ["doctor"], ["doctor", "--json"], ["dye", "list", self.live.path], ["dye", "new"],
                ["export", trace, "--csv"], ["export", trace, "--otlp"], ["export", trace, "--perfetto"], ["follow", trace, "--path", "/etc/passwd"],
                ["follow", trace, "--path", "/etc/passwd", "--json"], ["hash", "/etc/passwd"], ["live", "--list"], ["live", "--explain", QUESTION],
                ["live", QUESTION, "--", "true"], ["live", QUESTION, "--json", "--", "true"], ["live", QUESTION, "--csv", "--every", "1ms", "--", "true"],
                ["pattern", trace, "--path", "*"], ["pattern", trace, "--path", "*", "--json"], ["probes", "sched*"], ["probes", "sched*", "--json"],
                ["report", trace], ["report", trace, "--json"], ["similar", trace], ["similar", trace, "--json"],
                ["sql", trace, QUESTION], ["sql", trace, QUESTION, "--format", "csv"], ["sql", trace, QUESTION, "--format", "json"],
                ["stat", "--json", "--", "true"], ["top", "--json", "-d", "1ms", "--", "true"], ["top", "-d", "1ms", "-a"],
                ["top", self.live.path, "-d", "1ms"], ["trace", "--json", "--", "true"], ["trace", "-o", "/dev/full", "--", "true"],
                ["verify-copies", trace, "--path", "/etc/passwd"], ["verify-copies", trace, "--path", "/etc/passwd", "--json"]]

    def check(self, words, done, reason):
        self.assertEqual(done.returncode, TROUBLE.get(words[0] if words else "", 1), f"{words}: {done.stderr}")
        errors = [line for line in done.stderr.splitlines() if line.startswith("dyetrace: error: ")]
        self.assertEqual(len(errors), 1, f"{words}: {done.stderr}")
        self.assertRegex(errors[0], f"cannot write .*{reason}", words)

    def test_no_output_replaces_what_a_trace_is(self):
        with open(os.path.join(self.trace.path, "trace.json"), "rb") as file:
            before = file.read()
        output = os.path.join(self.trace.path, "trace.json")
        for words in (["export", self.trace.path, "--csv"], ["export", self.trace.path, "--parquet"], ["sql", self.trace.path, QUESTION],
                      ["sql", self.trace.path, QUESTION, "--trust", "--format", "parquet"], ["trace"]):
            done = subprocess.run([DYETRACE, *words, "-o", output, *(["--", "true"] if words == ["trace"] else [])], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (2, f"dyetrace: error: '{output}' would lie in the trace '{os.path.realpath(self.trace.path)}': take another place\n"), words)
        with open(output, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_every_verb_is_here(self):
        shown = subprocess.run([DYETRACE, "--help"], capture_output=True, text=True, check=True).stdout
        verbs = set(re.findall(r"(?m)^  ([a-z-]+) ", shown.partition("\nVerbs:\n")[2].partition("\nExamples")[0]))
        self.assertEqual(verbs, {words[0] for words in self.verbs() if words and words[0] in verbs} | SILENT | ELSEWHERE)

    def test_a_full_disk_is_said(self):
        for words in self.verbs():
            with open("/dev/full", "wb") as full:
                done = subprocess.run([DYETRACE, *words], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True,
                                      timeout=support.PATIENCE_S)
            self.check(words, done, "No space left on device")

    def test_a_closed_stdout_is_said(self):
        for words in self.verbs():
            if "/dev/full" not in words:
                done = subprocess.run([DYETRACE, *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                      timeout=support.PATIENCE_S, preexec_fn=lambda: os.close(1))
                self.check(words, done, "Bad file descriptor")

    def test_a_file_that_may_grow_no_more_is_said(self):
        with open(self.path("out"), "wb") as out:
            done = subprocess.run(["bash", "-c", 'ulimit -f 1; exec "$@"', "bash", DYETRACE, "report", self.trace.path, "--json"], stdout=out,
                                  stderr=subprocess.PIPE, text=True, timeout=support.PATIENCE_S)
        self.check(["report"], done, "EFBIG.*ulimit -f")

    def test_a_reader_that_has_gone_is_told_nothing(self):
        for words in (["report", self.trace.path], ["--help"], ["hash", "/etc/passwd"], ["probes", "sched*"]):
            for ignored in (False, True):
                read, write = os.pipe()
                os.close(read)
                done = subprocess.run([DYETRACE, *words], stdout=write, stderr=subprocess.PIPE, text=True, timeout=support.PATIENCE_S,
                                      restore_signals=not ignored)
                os.close(write)
                self.assertEqual(done.returncode, 1 if ignored else -signal.SIGPIPE, words)
                self.assertNotIn("error", done.stderr, words)

    def test_a_command_finds_closed_what_was_closed(self):
        command = "import os, sys; os.write(2, repr([os.path.exists(f'/proc/self/fd/{number}') for number in (0, 1)]).encode())"
        done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&-', "sh", DYETRACE, "record", "--no-seal", "-o", self.path("closed"), "--", sys.executable,
                               "-c", command], stderr=subprocess.PIPE, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stderr.startswith("[False, False]"), done.stderr)

    def test_no_memory_is_one_line(self):
        done = subprocess.run(["bash", "-c", 'ulimit -d 20000; exec "$@"', "bash", DYETRACE, "sql", self.trace.path, "SELECT 1"],
                              capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("memory", self.one_line(done.stderr).lower())  # in DuckDB's words where it is the first to want some


if __name__ == "__main__":
    support.main()
