#!/usr/bin/env python3
"""The command lines of programs: kept, cut and said to be cut, left out when asked; shown where names alone would be alike."""

import json
import os
import subprocess
import sys

import support

SECRET = "opensesame-4711"

# A server and its worker, each of which writes what it is over the words that it was started with, as nginx and PostgreSQL do.
SERVER = r"""
import ctypes, os, sys
def be(name):
    with open("/proc/self/stat", encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    begin, end = int(words[45]), int(words[46])
    ctypes.memset(begin, 0, end - begin)
    ctypes.memmove(begin, name, len(name))
for line in sys.stdin:
    break
if os.fork() == 0:
    os.getppid()
    be(b"server: worker process " + sys.argv[1].encode())
    print("worker", flush=True)
    sys.stdin.read()
    os._exit(0)
os.getppid()
be(b"server: master process")
print("master", flush=True)
sys.stdin.read()
"""


class ArgumentsTest(support.EndToEndTest):
    def commands(self, trace, program):
        return sorted(row["command"] for row in trace.rows(f"SELECT command FROM processes WHERE exe LIKE '%/{program}' AND command IS NOT NULL"))

    def test_a_process_has_the_command_line_of_its_program(self):
        one = self.file("one it's")
        trace = self.record("--", "sh", "-c", 'head -c 5 "$0"; head -n 1 /etc/passwd', one)
        quoted = "'" + one.replace("'", "'\\''") + "'"
        self.assertEqual(self.commands(trace, "head"), [f"head -c 5 {quoted}", "head -n 1 /etc/passwd"])

    def test_the_words_of_a_command_are_its_own(self):
        """Brackets, commas and what looks like an option are for the command, not for the line of options before it."""
        words = ['["a", "b"]', "[]", "[x", "--", "-p", "1,2"]
        self.record("--", sys.executable, "-c", f"import sys; sys.exit(sys.argv[1:] != {words!r})", *words)
        trace = self.record("--redact", "[a,b]", "--", "sh", "-c", ": [a,b] a b", name="redacted")
        self.assertIn("sh -c ': ***** a b'", [row["command"] for row in trace.rows("SELECT command FROM processes WHERE command IS NOT NULL")])

    def test_what_runs_already_has_one_too(self):
        running = self.start([sys.executable, "-c", "import sys\nfor line in sys.stdin: print(line, flush=True)", "a relay"], stdin=-1, stdout=-1)
        self.addCleanup(running.stdin.close)
        self.addCleanup(running.stdout.close)
        trace, recorder = self.start_recording("-p", str(running.pid), name="running")
        running.stdin.write(b"x\n")
        running.stdin.flush()
        running.stdout.readline()
        self.assertEqual(self.stop(recorder), 0)
        [row] = trace.rows(f"SELECT command FROM processes WHERE pid = {running.pid}")
        self.assertTrue(row["command"].endswith(" 'a relay'"), row)

    def test_what_a_process_calls_itself_later_is_its_command(self):
        server = self.start([sys.executable, "-S", "-E", "-c", SERVER, SECRET], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.stdout.close)
        trace, recorder = self.start_recording("-p", str(server.pid), "--redact", SECRET)
        server.stdin.write(b"go\n")
        server.stdin.flush()
        self.assertEqual({b"worker\n", b"master\n"}, {server.stdout.readline(), server.stdout.readline()})
        self.assertEqual(self.stop(recorder), 0)
        self.assertEqual(["'server: master process'", f"'server: worker process {'*' * len(SECRET)}'"], [row["command"] for row in trace.rows("SELECT command FROM processes ORDER BY 1")])
        report = json.loads(subprocess.run([support.DYETRACE, "report", "--json", trace.path], check=True, capture_output=True).stdout)
        program = os.path.basename(os.path.realpath(sys.executable))
        self.assertIn(f"{program} master process", {row["process"].rsplit("[", 1)[0] for row in report["activities"]})

    def test_who_hangs_all_the_time_has_a_command_and_is_reported(self):
        sleeper = self.start(["sleep", "1000"])
        self.wait_for(lambda: support.call_of(sleeper.pid) is not None and support.comm_of(sleeper.pid) == "sleep", "it sleeps")
        trace, recorder = self.start_recording("-p", str(sleeper.pid))
        self.assertEqual(self.stop(recorder), 0)
        self.assertEqual([{"command": "sleep 1000"}], trace.rows("SELECT command FROM processes"))
        text = subprocess.run([support.DYETRACE, "report", trace.path], check=True, capture_output=True, text=True).stdout
        self.assertNotIn("in 0 ns", text)
        self.assertIn(f"sleep[{sleeper.pid}]", text)
        self.assertIn("blocked", text)

    def test_a_long_one_is_cut_and_says_so(self):
        trace = self.record("--", "/bin/true", "x" * 2000)
        [command] = self.commands(trace, os.path.basename(os.path.realpath("/bin/true")))
        self.assertEqual(command, "/bin/true " + "x" * (1024 - len("/bin/true ")) + "…")

    def test_none_is_kept_when_asked(self):
        command = ["--", "sh", "-c", 'exec sh -c : "$0"', SECRET]
        self.assertGreater(self.record(*command, name="kept").number(f"SELECT count(*) FROM processes WHERE command LIKE '%{SECRET}%'"), 0)
        trace = self.record("--no-arguments", *command)
        for folder, _, names in os.walk(trace.path):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(SECRET.encode(), file.read(), name)
        self.assertEqual(trace.number("SELECT count(command) FROM processes"), 0)
        self.assertGreater(trace.number("SELECT count(*) FROM processes"), 0)

    def test_what_is_to_be_redacted_lies_nowhere_in_the_trace(self):
        script = "exec sh -c ': secret%s; exit 0' dummy"
        trace = self.record("--redact", "secret1", "--redact", "re:--token \\S+", "--", "sh", "-c", script % 1, "curl", "--token", "tok-4711")
        commands = [row["command"] for row in trace.rows("SELECT command FROM processes WHERE command IS NOT NULL")]
        self.assertTrue(any(": *******; exit 0" in command for command in commands), commands)
        self.assertFalse(any("secret1" in command or "tok-4711" in command for command in commands), commands)
        for folder, _, names in os.walk(trace.path):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                self.assertFalse(b"secret1" in content or b"tok-4711" in content, name)

    def test_programs_of_one_name_are_told_apart(self):
        source, copy = self.file("source"), self.path("copy")
        trace = self.record("--", "sh", "-c", 'dd if="$0" of="$1" bs=4096; dd if="$1" of=/dev/null bs=512', source, copy)
        report = json.loads(subprocess.run([support.DYETRACE, "report", "--json", trace.path], check=True, capture_output=True).stdout)
        who = {row["process"].rsplit("[", 1)[0] for row in report["activities"]}
        self.assertLessEqual({"dd if=source of=copy bs=40…", "dd if=copy of=null bs=512"}, who)
        trail = json.loads(subprocess.run([support.DYETRACE, "follow", trace.path, "--path", support.outer_root() + source, "--json"], check=True, capture_output=True).stdout)
        self.assertTrue(all(hop["process"].startswith("dd if=") for hop in trail["hops"]), trail)
        self.assertEqual({(hop["host"], hop["node"]) for hop in trail["hops"]}, {(trace.info()["hosts"][0]["name"],) * 2})

    def test_the_table_of_follow_is_as_wide_as_it_is_told(self):
        source = self.file("source")
        script = 'cat "$0" > "$0.1"; for i in 1 2 3 4 5; do cat "$0.$i" > "$0.$((i + 1))"; done'
        trace = self.record("--", "sh", "-c", script, source)
        ask = [support.DYETRACE, "follow", trace.path, "--path", support.outer_root() + source, "--table"]
        def columns(width):
            table = subprocess.run(ask, check=True, capture_output=True, text=True, env={**os.environ, "COLUMNS": width}).stdout
            return max(line.count("cat") for line in table.splitlines() if not line.startswith("+"))
        self.assertLess(columns("80"), 6)
        self.assertEqual(columns("300"), 6)

    def test_a_node_is_shown_where_it_is_not_the_host(self):
        source = self.file("source")
        trace = self.record("--node-by=netns", "--", "sh", "-c", 'unshare --net cat "$0" > "$0.1"', source)
        for form in ([], ["--table"]):
            text = subprocess.run([support.DYETRACE, "follow", trace.path, "--path", support.outer_root() + source, *form], check=True, capture_output=True, text=True,
                                  env={**os.environ, "COLUMNS": "200"}).stdout
            self.assertRegex(text, r"net:\[\d+\]:cat")


if __name__ == "__main__":
    support.main()
