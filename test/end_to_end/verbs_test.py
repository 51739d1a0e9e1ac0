#!/usr/bin/env python3
"""The verbs that keep no trace (stat, top, doctor) and the prompt of sql, at a terminal."""

import ctypes
import json
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time

import support
from support import DYETRACE, program

CALLS = 5000  # of each of two threads


class CountingTest(support.EndToEndTest):
    def run_verb(self, *arguments, status=0):
        done = subprocess.run([DYETRACE, *arguments], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_stat_counts_every_call_its_bytes_and_its_errors(self):
        command = (program("calls"), self.file("read"), "2", str(CALLS))
        lines = [json.loads(line) for line in self.run_verb("stat", "--json", "--", *command).stdout.splitlines()]
        reads = [line for line in lines if line["name"] == "pread64"]
        self.assertEqual(len(reads), 1)
        trace = self.record("--no-seal", "--ring", "64M", "--", *command)
        recorded = trace.numbers("SELECT count(*) AS calls, sum(bytes) AS bytes, count(error) AS errors FROM events WHERE name = 'pread64'")
        self.assertGreaterEqual(recorded["calls"], 2 * CALLS)
        self.assertEqual({name: reads[0][name] for name in recorded}, recorded)
        self.assertLessEqual(reads[0]["p50_ns"], reads[0]["p99_ns"])
        self.assertLessEqual(reads[0]["p99_ns"], 1.25 * reads[0]["max_ns"])
        self.assertGreaterEqual(reads[0]["duration_ns"], reads[0]["max_ns"])
        recorded = {row["name"]: int(row["calls"]) for row in trace.rows("SELECT name, count(*) AS calls FROM events GROUP BY 1")}
        counted = {line["name"]: line["calls"] for line in lines}
        self.assertEqual(recorded.pop("exit_group"), 1)  # never returns, and what ended is counted
        for name in ("futex", "mmap", "munmap", "rt_sigprocmask", "madvise"):  # what threads do differs from run to run
            recorded.pop(name, None), counted.pop(name, None)
        self.assertEqual(counted, recorded)

    def test_stat_says_it_in_a_table_and_passes_the_status_on(self):
        done = self.run_verb("stat", "--", "sh", "-c", "cat /nowhere/at/all; echo mine; exit 7", status=7)
        self.assertEqual(done.stdout, "mine\n", "the command's output is the command's")
        self.assertRegex(done.stderr, r"\n [\d,]+ system calls in [^\n]+, [1-9]\d* failed\n")
        self.assertRegex(done.stderr, r"\n call +calls +errors +bytes +time +p50 +p99 +max\n")
        self.assertRegex(done.stderr, r"\n write +\d+ ")

    # Reads an empty pipe, a socket to which nobody writes, and a descriptor that is closed.
    ASKS_AGAIN = """if True:
        import os, socket, sys
        pipe, (left, right) = os.pipe2(os.O_NONBLOCK)[0], socket.socketpair()
        left.setblocking(False)
        for _ in range(int(sys.argv[1])):
            for descriptor in (pipe, left.fileno(), 99):
                try: os.read(descriptor, 1)
                except OSError: pass
        """

    def test_what_would_have_to_wait_is_no_error(self):
        command = (sys.executable, "-c", self.ASKS_AGAIN, "40")
        trace = self.record("--no-seal", "--", *command)
        of_reads = "count(*) FILTER (WHERE is_failure(error, class)) AS errors, count(*) FILTER (WHERE would_wait(error, class)) AS would_wait"
        recorded = trace.numbers(f"SELECT {of_reads} FROM events WHERE name = 'read'")
        self.assertEqual(recorded["would_wait"], 80)
        self.assertGreaterEqual(recorded["errors"], 40)
        (reads,) = [line for line in map(json.loads, self.run_verb("stat", "--json", "--", *command).stdout.splitlines()) if line["name"] == "read"]
        self.assertEqual({name: reads[name] for name in recorded}, recorded)
        self.assertRegex(self.run_verb("stat", "--", *command).stderr, r" [\d,]+ failed, 80 would have had to wait\n")
        failed = self.record("--no-seal", "--errors", "--", *command, name="failed")
        self.assertEqual(failed.numbers(f"SELECT {of_reads} FROM events WHERE name = 'read'"), {**recorded, "would_wait": 0})

    def test_top_knows_errors(self):
        running = self.start([sys.executable, "-c", self.ASKS_AGAIN, str(10**9)])
        trace, recorder = self.start_recording("-p", str(running.pid), "--no-seal", name="live")
        for words in (["-p", str(running.pid)], [trace.path]):
            lines = [json.loads(line) for line in self.run_verb("top", "--json", "-d", "200ms", "--duration", "1s", *words).stdout.splitlines()]
            of = {name: sum(line[name] for line in lines if line["pid"] == running.pid) for name in ("calls", "errors", "would_wait")}
            self.assertGreater(of["errors"], 0, words)
            self.assertLess(abs(of["would_wait"] - 2 * of["errors"]), of["errors"] // 2 + 3, words)
        running.kill()
        self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)

    def test_top_names_who_reads_how_much(self):
        running = self.start([program("calls"), self.file("read"), "2", "20", "endless"])
        done = self.run_verb("top", "--json", "-d", "200ms", "--duration", "1s", "-p", str(running.pid))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertGreater(len(lines), 1, "a line per process and interval")
        self.assertEqual({line["pid"] for line in lines}, {running.pid})
        self.assertEqual({line["comm"] for line in lines}, {"calls"})
        self.assertTrue(all(line["calls"] > 0 and line["read_bytes"] > 0 and line["written_bytes"] == 0 for line in lines), lines)
        table = self.run_verb("top", "-d", "200ms", "--duration", "500ms", "-p", str(running.pid)).stdout
        self.assertRegex(table, r"pid +process +calls/s +errors +read +written +p99 +max\n")
        self.assertRegex(table, rf"\n +{running.pid} calls +[\d,]+ .*B/s")
        self.assertNotIn("\x1b", table, "no terminal, no control sequences")

    def test_doctor_says_what_can_be_seen_here(self):
        said = self.run_verb("doctor").stdout
        self.assertRegex(said, r"(?m)^ *system calls +yes")
        trace = self.record("--no-seal", "--", "true")
        for row in trace.rows("SELECT source FROM coverage WHERE state = 'off'"):
            self.assertIn(row["source"].split()[0], said.replace("-", "_") + said, "what a recording misses, the doctor knows")


class PromptTest(support.EndToEndTest):
    """A person at a terminal."""

    def setUp(self):
        super().setUp()
        self.trace = self.record("--no-seal", "--", "cat", "/etc/hostname")
        self.screen = ""

    def open_prompt(self):
        pid, self.terminal = os.forkpty()
        if pid == 0:
            os.environ.update(HOME=self.folder, TERM="xterm", NO_COLOR="1")
            os.execv(DYETRACE, [DYETRACE, "sql", self.trace.path])
        self.prompt = pid
        self.read_until("dyetrace> ")

    def cpu_s(self):
        """What the prompt has used up to now."""
        with open(f"/proc/{self.prompt}/stat", encoding="ascii") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def read_until(self, words):
        """What the terminal shows from now on, up to these words; after a prompt it is read key by key: the terminal shows what is typed earlier, and nobody has read it."""
        shown, deadline = "", time.monotonic() + support.PATIENCE_S
        while words not in shown:
            ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"waited in vain for {words!r}: {shown!r}")
            try:
                shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", os.read(self.terminal, 4096).decode(errors="replace"))
                shown = shown.replace("\r", "").replace("\x07", "")
            except OSError as ended:
                raise AssertionError(f"the prompt ended before {words!r}: {shown!r}") from ended
        if words.endswith("> "):
            self.wait_for(lambda: not termios.tcgetattr(self.terminal)[3] & termios.ICANON, "it reads key by key")
        return shown

    def type(self, keys, until):
        os.write(self.terminal, keys.encode())
        return self.read_until(until)

    def close_prompt(self, keys=".quit\n"):
        os.write(self.terminal, keys.encode())
        deadline = time.monotonic() + support.PATIENCE_S
        while time.monotonic() < deadline:  # what it still writes must be read, or it waits for us
            pid, status = os.waitpid(self.prompt, os.WNOHANG)
            if pid != 0:
                os.close(self.terminal)
                return os.waitstatus_to_exitcode(status)
            if select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    os.read(self.terminal, 4096)
                except OSError:
                    pass
        raise AssertionError("the prompt did not end")

    def test_it_answers_and_remembers(self):
        self.open_prompt()
        self.assertIn("4242", self.type("SELECT 42\n", "...> ") + self.type("* 101;\n", "dyetrace> "), "a statement ends at its semicolon")
        self.assertIn("events", self.type("SHOW TABLES;\n", "dyetrace> "))
        self.assertEqual(self.close_prompt(), 0)
        history = os.path.join(self.folder, ".dyetrace_history")
        self.assertEqual(os.stat(history).st_mode & 0o777, 0o600, "a question may name what is secret")
        self.open_prompt()
        self.type("\x1b[A\x1b[A\x1b[A", "101;")  # arrow up: .quit, SHOW TABLES, and what was asked before
        self.assertIn("4242", self.type("\n", "dyetrace> "))
        self.assertEqual(self.close_prompt("\x04"), 0)

    def test_it_completes_tables_columns_and_keywords(self):
        self.open_prompt()
        self.type("SEL\t", "SELECT")
        self.type(" count(*) FROM clock_sna\t", "clock_snapshots")
        self.assertRegex(self.type(";\n", "dyetrace> "), r"\d")
        listed = self.type("from event_\t", "dyetrace> ")
        self.assertIn("event_id  event_objects", listed, "several are listed, each once")
        self.type("o\t", "objects ")
        self.type("\x03", "dyetrace> ")
        self.assertEqual(self.close_prompt(), 0)

    def test_it_takes_what_people_type_who_do_not_write_english(self):
        os.environ["LC_ALL"] = "POSIX"
        self.addCleanup(os.environ.pop, "LC_ALL")
        self.open_prompt()
        self.assertIn("grün日本", self.type("SELECT 'grün' || '日本';\n", "dyetrace> "))
        os.write(self.terminal, b"SELECT 'a\xffb';\n")
        self.assertIn("a\ufffdb", self.read_until("dyetrace> "), "what is no character")
        self.assertEqual(self.close_prompt(), 0)
        self.open_prompt()
        self.type("\x1b[A\x1b[A\x1b[A", "日")
        self.assertIn("grün日本", self.type("\n", "dyetrace> "), "the history has it")
        self.assertEqual(self.close_prompt(), 0)

    def test_ctrl_c_clears_the_line_and_the_history_is_kept(self):
        self.open_prompt()
        self.type("SELECT 'first';\n", "dyetrace> ")
        self.type("SELECT 'half", "half")
        self.type("\x03", "dyetrace> ")
        self.type("SELECT 'more\n", "...> ")
        self.type("\x03", "dyetrace> ")
        self.assertIn("sound", self.type("SELECT 'sou' || 'nd';\n", "dyetrace> "), "nothing of the lines before is left")
        self.assertEqual(self.close_prompt(), 0)
        with open(os.path.join(self.folder, ".dyetrace_history"), encoding="utf-8") as file:
            history = file.read()
        self.assertIn("first", history.replace("\\040", " "))
        self.assertNotIn("half", history)

    def threads_that_take(self, number):
        """Threads of the prompt that do not block the signal, without the one that reads keys."""
        for thread in os.listdir(f"/proc/{self.prompt}/task"):
            with open(f"/proc/{self.prompt}/task/{thread}/status", encoding="utf-8", errors="replace") as status:
                blocked = int(re.search(r"SigBlk:\s*([0-9a-f]+)", status.read())[1], 16)
            if int(thread) != self.prompt and not blocked >> (number - 1) & 1:
                yield int(thread)

    def test_ctrl_c_is_heard_whichever_thread_it_comes_to(self):
        self.open_prompt()
        self.type("SELECT 'half", "half")
        others = list(self.threads_that_take(signal.SIGINT))
        if not others:
            self.skipTest("DuckDB has no threads of its own on one CPU")
        self.assertEqual(ctypes.CDLL(None).tgkill(self.prompt, others[0], signal.SIGINT), 0)
        self.read_until("dyetrace> ")
        self.assertIn("42", self.type("SELECT 6 * 7;\n", "dyetrace> "))
        self.assertEqual(self.close_prompt(), 0)

    def test_ctrl_c_ends_a_statement_and_not_the_prompt(self):
        self.open_prompt()
        used_s = self.cpu_s()
        os.write(self.terminal, b"SELECT count(*) FROM range(100000000000) a WHERE a.range % 7 = 3;\n")
        self.wait_for(lambda: self.cpu_s() > used_s + 0.5, "it runs; before that Ctrl-C would clear the line, which ends as well")
        self.assertIn("interrupted", self.type("\x03", "dyetrace> "))
        self.assertIn("41", self.type("SELECT 40 + 1;\n", "dyetrace> "))
        self.assertEqual(self.close_prompt(), 0)

    def test_public_tables_only_are_shown(self):
        names = [row["table"] for row in self.trace.rows("SHOW TABLES")]
        self.assertIn("events", names)
        self.assertEqual([name for name in names if name.startswith(("_", "raw_", "live_"))], [])

    def test_arguments_are_an_object_as_in_trace(self):
        self.assertEqual({type(row["arguments"]) for row in self.trace.rows("SELECT arguments FROM events WHERE arguments IS NOT NULL")},
                         {dict})


if __name__ == "__main__":
    sys.exit(support.main())
