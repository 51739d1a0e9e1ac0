#!/usr/bin/env python3
"""A hostile world: full disks, damaged files, missing rights, company. One clear line, and what was recorded stays readable."""

import concurrent.futures
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys

import support
from support import DYETRACE, program

sys.path.append(os.path.join(support.ROOT, "test", "page"))
import traces  # noqa: E402

SEED = 7
AGE_MAX_NS = 2_000_000_000
DAMAGES = 8  # of each file
PARQUET_DAMAGES = 3  # of each of these; src/store/damage_test.cpp has every kind, with what it costs


class DiskTest(support.EndToEndTest):
    def small_disk(self, size):
        """A folder on a file system that is soon full."""
        disk = self.path("disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=False)
        return disk

    def record_on(self, disk, calls, *options):
        return self.record_command_on(disk, f"{program('calls')} {self.file('read')} 2 {calls}", *options)

    def record_command_on(self, disk, command, *options):
        done = self.path("done")
        trace = support.Trace(os.path.join(disk, "trace"))
        recorder = subprocess.run([DYETRACE, "record", "--ring", "256M", *options, "-o", trace.path, "--", "sh", "-c", f"{command} && touch {done}"],
                                  capture_output=True, text=True, timeout=4 * support.PATIENCE_S)
        self.assertTrue(os.path.exists(done), "the command went on to its end")
        trace.said, trace.status = recorder.stderr, recorder.returncode
        return trace

    def check_that_the_accounting_says_what_the_disk_cost(self, trace):
        self.assertEqual(trace.status, 1, "the command succeeded, the recording did not")
        errors = [line for line in trace.said.splitlines() if line.startswith("dyetrace: error: ")]
        self.assertEqual(len(errors), 1, trace.said)
        self.assertRegex(errors[0], r"the command goes on; events from \d\d:\d\d:\d\d on are missing: .*segment-000001.seg.*ENOSPC")
        self.assertNotIn("nothing lost", trace.said)
        self.assertEqual(trace.info()["state"], "finished")
        accounting, stored = trace.accounting(), trace.number("SELECT count(*) FROM events")
        self.assertGreater(stored, 1000)
        self.assertEqual(accounting["delivered"], stored)
        self.assertEqual(accounting["generated"], stored + accounting["lost"])
        gaps = trace.rows("SELECT reason, lost, begin_ns, end_ns FROM gaps")
        self.assertEqual([(gap["reason"], int(gap["lost"])) for gap in gaps], [("disk_full", accounting["lost"])])
        self.assertGreater(accounting["lost"], 0)
        self.assertIn(f"{accounting['lost']:,} events lost", trace.said)
        self.assertIn(f"1 gap: {accounting['lost']:,} events lost (the disk was full: the recording ended there)", trace.warnings)
        # what is missing is missing from the gap's begin on: before it the sequences of each CPU have no hole
        self.assertEqual(trace.number(f"""
            WITH kept AS (SELECT start_ns + coalesce(duration_ns, 0) AS end_ns, sequence, cpu FROM internal.raw_syscall_event)
            SELECT count(*) FROM (SELECT max(sequence) + 1 - count(*) AS holes FROM kept WHERE end_ns < {gaps[0]['begin_ns']} GROUP BY cpu)
            WHERE holes <> 0"""), 0)

    def test_a_full_disk_ends_the_recording_and_not_the_command(self):
        trace = self.record_on(self.small_disk("2m"), 2_000_000, "--no-seal")
        self.check_that_the_accounting_says_what_the_disk_cost(trace)

    def test_a_full_disk_leaves_a_trace_that_others_can_read(self):
        trace = self.record_on(self.small_disk("2m"), 2_000_000)
        self.check_that_the_accounting_says_what_the_disk_cost(trace)
        names = os.listdir(trace.path)
        self.assertEqual([name for name in names if name.startswith("sealing-") or ".new" in name], [])
        self.assertLessEqual({"views.sql", "hosts.parquet", "sealed-000000"}, set(names))
        duckdb = os.path.join(support.ROOT, "build", "readers", "bin", "duckdb")  # tools/install_packages test
        asked = subprocess.run([duckdb, "-csv", "-noheader", "-init", "views.sql", "-c", "SELECT count(*) >= 0 FROM events"], cwd=trace.path,
                               capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual((asked.stdout.strip(), asked.returncode), ("true", 0), asked.stderr)

    def test_a_disk_without_room_for_parquet_costs_nothing_else(self):
        # each call's offset is 62 bits of chance, so that neither form gets small: the segment was 6.1 MB, its Parquet 7.4
        reads, all_reads = 400_000, "SELECT count(*) FROM events WHERE name = 'pread64' AND ends_with(path, '/read') AND file_offset > 0"
        script = f"import os, random; f = os.open('{self.file('read')}', os.O_RDONLY)\nfor i in range({reads}): os.pread(f, 1, 1 + random.getrandbits(62))"
        trace = self.record_command_on(self.small_disk("9m"), f'python3 -c "{script}"')
        self.assertEqual(trace.status, 0, trace.said)
        self.assertIn("nothing lost", trace.said)
        self.assertEqual(trace.number(all_reads), reads)
        self.assertEqual(trace.number("SELECT count(*) FROM gaps"), 0)
        self.assertIn(f"`dyetrace seal {trace.path}` goes on when the cause is gone", trace.said)
        self.assertIn("No space left", trace.said)
        self.assertEqual([name for name in os.listdir(trace.path) if name.startswith("sealing-")], [])
        subprocess.run(["mount", "-o", "remount,size=100m", os.path.dirname(trace.path)], check=True)
        subprocess.run([DYETRACE, "seal", "-q", trace.path], check=True)
        self.assertEqual([name for name in os.listdir(trace.path) if name.startswith("segment-")], [])
        self.assertEqual(trace.number(all_reads), reads)

    def test_a_limit_of_file_size_is_an_error_like_a_full_disk(self):
        done = self.path("done")
        trace = support.Trace(self.path("trace"))
        # the command has the limit too, and takes the kernel's signal as any other program does
        command = f"{program('calls')} {self.file('read')} 2 1000000; touch {done}; dd if=/dev/zero of={self.path('large')} bs=1M count=20"
        recorder = subprocess.run(["bash", "-c", 'ulimit -f 2048; exec "$@"', "bash", DYETRACE, "record", "--ring", "256M", "--no-seal",
                                   "-o", trace.path, "--", "bash", "-c", command],
                                  capture_output=True, text=True, timeout=4 * support.PATIENCE_S)
        self.assertTrue(os.path.exists(done), "the command went on to its end")
        self.assertEqual(2048 * 1024, os.path.getsize(self.path("large")))
        self.assertEqual(recorder.returncode, -signal.SIGXFSZ, recorder.stderr)
        errors = [line for line in recorder.stderr.splitlines() if line.startswith("dyetrace: error: ")]
        self.assertEqual(len(errors), 1, recorder.stderr)
        self.assertRegex(errors[0], r"events from \d\d:\d\d:\d\d on are missing: .*EFBIG.*ulimit -f")
        self.assertEqual(trace.info()["state"], "finished")
        self.assertEqual(trace.accounting()["delivered"], trace.number("SELECT count(*) FROM events"))

    def test_a_limit_of_file_size_that_leaves_no_room_is_said_in_one_line(self):
        log = self.file("log", b"1 1700000000.000001 read(0, \"\", 1) = 0 <0.000001>\n")
        trace = self.path("trace")
        for verb in (["record", "-o", trace, "--", "touch", self.path("ran")], ["trace", "touch", self.path("ran")],
                     ["stat", "--", "touch", self.path("ran")], ["import", log, "-o", trace]):
            done = subprocess.run(["bash", "-c", 'ulimit -f 40; exec "$@"', "bash", DYETRACE, *verb], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, f"{verb}: {done.stderr}")
            self.assertRegex(self.one_line(done.stderr), "EFBIG.*ulimit -f")
            self.assertFalse(os.path.exists(trace), verb)
            self.assertFalse(os.path.exists(self.path("ran")), "the command must not run unrecorded")

    def test_a_disk_that_is_full_already_is_said_in_one_line(self):
        disk = self.small_disk("256k")
        done = subprocess.run([DYETRACE, "record", "-o", os.path.join(disk, "trace"), "--", "touch", self.path("ran")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(os.path.join(disk, "trace"), self.one_line(done.stderr))
        self.assertIn("ENOSPC", done.stderr)
        self.assertEqual(os.listdir(disk), [])
        self.assertFalse(os.path.exists(self.path("ran")), "the command must not run unrecorded")

    def test_a_folder_that_cannot_be_written_is_said_in_one_line(self):
        for output in (os.path.join(self.file("no_folder"), "trace"), "/proc/trace", "/nowhere/at/all"):
            done = subprocess.run([DYETRACE, "record", "-o", output, "--", "touch", self.path("ran")], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, output)
            self.assertIn(output, self.one_line(done.stderr))
            self.assertFalse(os.path.exists(self.path("ran")), "the command must not run unrecorded")

    def test_a_trace_that_is_there_is_not_touched(self):
        trace = self.record("--", "true")
        count = trace.number("SELECT count(*) FROM events")
        done = subprocess.run([DYETRACE, "record", "-o", trace.path, "--", "true"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(trace.path, self.one_line(done.stderr))
        self.assertEqual(trace.number("SELECT count(*) FROM events"), count)


class LimitTest(support.EndToEndTest):
    def test_too_few_descriptors_are_said_with_their_limit(self):
        for verb in (["record", "-o", self.path("trace"), "--", "true"], ["trace", "true"], ["stat", "--", "true"]):
            done = subprocess.run(["bash", "-c", 'ulimit -n 20; exec "$@"', "bash", DYETRACE, *verb], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, verb)
            self.assertRegex(self.one_line(done.stderr), "EMFILE.*ulimit -n")
            self.assertNotIn("this kernel lacks", done.stderr)


class RightsTest(support.EndToEndTest):
    def test_nobody_is_told_what_is_missing(self):
        binary = shutil.copy(DYETRACE, self.path("dyetrace"))
        folder = self.path("nobody")
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        for verb in (["record", "-o", f"{folder}/trace", "--", "true"], ["trace", "true"], ["stat", "--", "true"]):
            done = subprocess.run([binary, *verb], capture_output=True, text=True, user=65534, group=65534, extra_groups=[], cwd=folder)
            self.assertEqual(done.returncode, 1, verb)
            self.assertIn("CAP_BPF", self.one_line(done.stderr))
        self.assertEqual(os.listdir(folder), [])


class CompanyTest(support.EndToEndTest):
    def test_two_recorders_at_once_each_have_their_own_command(self):
        counts = {"one": 100_000, "two": 70_000}
        recorders = {}
        for name, count in counts.items():
            recorders[name] = self.start([DYETRACE, "record", "--ring", "64M", "-o", self.path(name), "--", program("calls"),
                                          self.file("read" + name), "2", str(count)], stderr=subprocess.DEVNULL)
        for name, count in counts.items():
            self.assertEqual(recorders[name].wait(timeout=support.PATIENCE_S), 0)
            trace = support.Trace(self.path(name))
            self.assertEqual(trace.number("SELECT count(*) FROM events WHERE name = 'pread64' AND contains(path, '" + self.folder + "/')"),
                             2 * count)
            self.assertEqual(trace.number("SELECT count(DISTINCT exe) FROM events"), 1)

    def test_two_recorders_of_the_same_process_see_the_same(self):
        running = self.start(["sh", "-c", f"read go; exec {program('calls')} {self.file('read')} 2 20000"], stdin=-1)
        names = ("one", "two")
        recorders = [self.start_recording("--ring", "64M", "-p", str(running.pid), name=name) for name in names]
        running.stdin.write(b"go\n")
        running.stdin.close()
        self.assertEqual(running.wait(timeout=support.PATIENCE_S), 0)
        seen = []
        for trace, recorder in recorders:
            self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)
            self.assertEqual(trace.number("SELECT count(*) FROM gaps"), 0)
            # from the exec on: before it each recorder came at a moment of its own
            seen.append(trace.rows("SELECT tid, name, result, path, argument_path, file_offset, bytes, count(*) AS calls FROM events "
                                   "WHERE start_ns > (SELECT max(start_ns) FROM events WHERE name = 'execve') GROUP BY ALL ORDER BY ALL"))
        self.assertGreater(sum(int(row["calls"]) for row in seen[0]), 40_000)
        self.assertEqual(seen[0], seen[1])

    def test_the_recorder_and_its_sealer_are_not_in_their_trace(self):
        # a copy, so that this test's own questions can be told from the recorder and its sealer
        build = os.path.dirname(DYETRACE)
        os.mkdir(self.path("copy"))
        for name in ("dyetrace", "dyetrace-store"):
            shutil.copy(os.path.join(build, name), self.path("copy"))
        os.symlink(os.path.join(build, "libduckdb.so"), os.path.join(self.path("copy"), "libduckdb.so"))
        trace = support.Trace(self.path("trace"))
        recorder = self.start([self.path("copy/dyetrace"), "record", "-a", "--ring", "64M", "-o", trace.path], stderr=subprocess.DEVNULL)
        self.wait_for(lambda: self.listens(trace), "it listens")
        trace.number("SELECT count(*) FROM events")  # by a dyetrace that is nobody's recorder
        subprocess.run([program("calls"), self.file("read"), "2", "600000"], check=True)  # enough for a sealed segment
        self.assertEqual(self.stop(recorder), 0)
        self.assertGreater(len([name for name in os.listdir(trace.path) if name.startswith("sealed-")]), 1)
        self.assertEqual(trace.number(f"SELECT count(*) FROM events WHERE pid = {recorder.pid}"), 0)
        self.assertEqual(trace.rows(f"SELECT DISTINCT exe FROM processes WHERE contains(exe, '{self.path('copy')}/')"), [])
        self.assertGreater(trace.number("SELECT count(*) FROM processes WHERE contains(exe, '/dyetrace')"), 0, "others' are seen")
        # this test's own questions are dyetrace too, but they do not write into the trace
        self.assertEqual(trace.number(f"SELECT count(*) FROM events WHERE contains(path, '{trace.path}') AND open_flags NOT LIKE "
                                      "'O_RDONLY%'"), 0)

    def test_a_reader_is_at_most_two_seconds_behind(self):
        trace, recorder = self.start_recording("--ring", "64M", "--", program("calls"), self.file("read"), "2", "50", "endless")
        ages_ns = []

        def is_young():
            asked_ns = support.boot_ns()  # how long an answer takes is another question: the trace grows all the time
            newest_ns = trace.number("SELECT coalesce(max(start_ns + duration_ns), 0) FROM events WHERE name = 'pread64'")
            ages_ns.append(asked_ns - newest_ns)
            return ages_ns[-1] < AGE_MAX_NS
        self.wait_for(is_young, "a reader is in step")  # a machine that is busy with others may be late; it is not late again and again
        print(f"the newest event that a reader saw was {ages_ns[-1] / 1e6:.0f} ms old when it asked", file=sys.stderr)
        recorder.send_signal(signal.SIGTERM)
        recorder.wait(timeout=support.PATIENCE_S)

    def test_a_trace_is_read_while_it_is_written(self):
        trace, recorder = self.start_recording("--ring", "64M", "--", program("calls"), self.file("read"), "2", "50", "endless")
        counts = []
        for _ in range(5):
            counts.append(trace.number("SELECT count(*) FROM events"))
            self.wait_for(lambda: trace.number("SELECT count(*) FROM events") > counts[-1], "more events appear")
            self.assertEqual(trace.number("SELECT count(*) - count(DISTINCT event_id) FROM events"), 0)
        report = subprocess.run([DYETRACE, "report", trace.path], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("calls", report.stdout)
        recorder.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), -signal.SIGTERM)
        self.assertEqual(trace.info()["state"], "finished")


class NamesTest(support.EndToEndTest):
    """Names of files, programs and their words that turn a terminal, or the direction of what is read: every view shows them as text."""

    HARMFUL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\U000e0041]")

    def on_a_terminal(self, *words):
        """What it says to somebody who sits there; without colours, which are escapes of its own."""
        near, far = os.openpty()
        process = self.start([DYETRACE, *words], stdout=far, stderr=far, stdin=far, env=dict(os.environ, NO_COLOR="1", TERM="dumb", PAGER="cat"))
        os.close(far)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(near, 65536):
                shown += piece
        os.close(near)
        self.assertIn(process.wait(timeout=support.PATIENCE_S), (0, 1, 3), shown)
        return shown.decode(errors="surrogateescape")

    def check(self, *words, names=True):
        shown = self.on_a_terminal(*words).replace("\x1b[H\x1b[2J", "")  # with which `top` begins a table; none of the names has it
        shown = re.sub("(\r\x1b\\[Kdyetrace: reading the trace · \\d+ s)+\r\x1b\\[K", "", shown)  # what takes longer than a second
        found = self.HARMFUL.search(shown)
        self.assertIsNone(found, f"{words}: {shown[max(0, found.start() - 200):found.end() + 50]!r}" if found else "")
        self.assertIsNone(re.search("[\udc80-\udcff]", shown), f"{words}: bytes that are no text")
        if names:
            self.assertTrue("x1b" in shown or r"\33[31m" in shown, f"{words}: it shows one of the names; `trace` in octal, as strace")

    def test_they_are_text_in_every_verb(self):
        os.mkdir(self.path("names"))
        command = [sys.executable, "-c", traces.HOSTILE, self.path("names")]
        trace = self.record("--content=anchors", "--", *command)
        self.check("sql", trace.path, "SELECT DISTINCT path, comm, exe FROM events ORDER BY ALL")
        self.check("sql", trace.path, "SELECT exe, command FROM processes")
        self.check("sql", trace.path, "SELECT name, path, arguments FROM events ORDER BY start_ns")
        self.check("sql", trace.path, "SELECT DISTINCT path FROM events WHERE path LIKE '%names%'", "--format", "csv")
        self.check("export", trace.path, "--csv")
        self.check("report", trace.path, names=False)
        self.check("similar", trace.path, names=False)
        self.check("pattern", trace.path, "--path", "*", names=False)
        self.check("follow", trace.path, "--text", "x" * 100, "--min-certainty", "possible", names=False)
        for number, verb in enumerate((["trace", "-f"], ["trace", "-f", "-y"], ["stat", "--"], ["top", "--duration", "1s", "--"])):
            os.mkdir(self.path(f"names-{number}"))
            self.check(*verb, *command[:-1], self.path(f"names-{number}"), names=verb[0] == "trace")


class DamageTest(support.EndToEndTest):
    """Any byte may be wrong and any file cut: an answer with a warning, or one line; never a crash."""

    @staticmethod
    def damages(path, random_numbers, count):
        with open(path, "rb") as file:
            whole = file.read()
        for _ in range(count):
            at = random_numbers.randrange(len(whole))
            yield f"cut at {at}", whole[:at]
            flipped = bytearray(whole)
            flipped[at] ^= 1 << random_numbers.randrange(8)
            yield f"bit flipped at {at}", bytes(flipped)

    def ask(self, folder, what):
        done = subprocess.run([DYETRACE, "sql", folder, "SELECT count(*), count(path), sum(bytes) FROM events"], capture_output=True,
                              text=True, errors="replace", timeout=support.PATIENCE_S)
        self.assertIn(done.returncode, (0, 1), f"{what}: {done.stderr}")
        if done.returncode == 1:
            self.one_line(done.stderr)
        return done.returncode == 0

    def ask_damaged(self, trace, name, number, damage):
        """A copy of its own, so that all CPUs can ask."""
        what, content = damage
        copy = self.path(f"copy-{number}")
        shutil.copytree(trace.path, copy)
        with open(os.path.join(copy, name), "wb") as file:
            file.write(content)
        answered = self.ask(copy, f"{name} {what}, seed {SEED}")
        shutil.rmtree(copy)
        return answered

    def check(self, trace, name, count=DAMAGES):
        """Of twice `count` damages of the file, how many leave a trace that answers."""
        random_numbers = random.Random(f"{SEED} {os.path.basename(name)}")
        self.assertTrue(self.ask(trace.path, "whole"))
        damages = list(self.damages(os.path.join(trace.path, name), random_numbers, count))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return sum(pool.map(lambda number: self.ask_damaged(trace, name, number, damages[number]), range(len(damages))))

    def test_damaged_segment(self):
        trace = self.record("--no-seal", "--", "sh", "-c", "cat /etc/passwd /etc/hostname; ls -l /etc")
        # what comes after the header costs its block and no more
        self.assertGreater(self.check(trace, "segment-000001.seg"), 1.8 * DAMAGES)

    def test_damaged_parquet(self):
        trace = self.record("--", "sh", "-c", "cat /etc/passwd /etc/hostname; ls -l /etc")
        for name in ("syscall_event.parquet", "handle.parquet", "segment.json"):
            # every damage of a file costs what is in it and no more
            self.assertEqual(self.check(trace, os.path.join("sealed-000001", name), PARQUET_DAMAGES), 2 * PARQUET_DAMAGES)

    def test_a_damaged_file_is_named_and_its_events_are_a_gap(self):
        trace = self.record("--", "sh", "-c", "cat /etc/passwd /etc/hostname; ls -l /etc")
        events = trace.number("SELECT count(*) FROM internal.raw_syscall_event")
        path = os.path.join(trace.path, "sealed-000001", "syscall_event.parquet")
        ask = ("SELECT (SELECT count(*) FROM events WHERE kind = 'syscall') AS events, (SELECT count(*) > 0 FROM processes) AS others, "
               "(SELECT lost FROM gaps) AS lost, (SELECT reason FROM gaps) AS reason")
        for damage in (lambda: os.truncate(path, os.path.getsize(path) // 2), lambda: os.truncate(path, 0), lambda: os.remove(path)):
            damage()
            self.assertEqual(trace.rows(ask), [{"events": 0, "others": True, "lost": events, "reason": "damaged_file"}])
            self.assertIn("sealed-000001/syscall_event.parquet' is damaged (", trace.warnings)
            self.assertIn(f"{events:,} events", trace.warnings)
        for verb in ("report", "seal"):
            done = subprocess.run([DYETRACE, verb, trace.path], capture_output=True, text=True, timeout=support.PATIENCE_S)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_damaged_description(self):
        trace = self.record("--", "true")
        self.check(trace, "trace.json")


if __name__ == "__main__":
    support.main()
