#!/usr/bin/env python3
"""What goes wrong late, long after all began well: the disk fails, a quota or a memory limit is met, there are more descriptors than anybody has."""

import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys

import support
from support import DYETRACE, program

DESCRIPTORS = 100_000
SYS_RESOURCE = 1 << 24


def has_capability(bit):
    with open("/proc/self/status", encoding="ascii") as file:
        return any(line.startswith("CapEff:") and int(line.split()[1], 16) & bit for line in file)


class BadDiskTest(support.EndToEndTest):
    """libbad_disk.so makes calls fail as a disk does that dies, or a quota that is met."""

    CALLS = 200_000

    def bad_disk(self, name, **how):
        words = {f"BAD_DISK_{word.upper()}": str(value) for word, value in how.items()}
        return dict(os.environ, LD_PRELOAD=program("libbad_disk.so"), BAD_DISK_NAME=name, **words)

    def record_on(self, environment, *options, then=":"):
        """The command ends well whatever becomes of its recording; it is not of the bad disk itself. What the recorder says is in $said."""
        done, said = self.path("done"), self.path("said")
        trace = support.Trace(self.path("trace"))
        command = f"unset LD_PRELOAD; {program('calls')} {self.file('read')} 2 {self.CALLS} && {then} && touch {done}"
        with open(said, "w", encoding="utf-8") as errors:
            trace.status = subprocess.run([DYETRACE, "record", "--ring", "256M", *options, "-o", trace.path, "--", "sh", "-c", command],
                                          env={**environment, "said": said}, stderr=errors, timeout=4 * support.PATIENCE_S, check=False).returncode
        with open(said, encoding="utf-8") as errors:
            trace.said = errors.read()
        self.assertTrue(os.path.exists(done), trace.said)
        return trace

    def check(self, trace, reason, what, name):
        """As a full disk: one line, and a gap that says how many events are missing and why."""
        self.assertEqual(trace.status, 1, "the command succeeded, the recording did not")
        errors = [line for line in trace.said.splitlines() if line.startswith("dyetrace: error: ")]
        self.assertEqual(len(errors), 1, trace.said)
        self.assertRegex(errors[0], rf"the command goes on; events from \d\d:\d\d:\d\d on are missing: .*segment-000001.seg.*{name}")
        self.assertEqual(trace.info()["state"], "finished")
        accounting, stored = trace.accounting(), trace.number("SELECT count(*) FROM events")
        self.assertEqual(accounting["delivered"], stored)
        self.assertEqual(accounting["generated"], stored + accounting["lost"])
        self.assertGreater(accounting["lost"], 0)
        self.assertEqual(trace.rows("SELECT reason, lost FROM gaps"), [{"reason": reason, "lost": accounting["lost"]}])
        self.assertIn(f"events lost ({what}: the recording ended there)", trace.warnings)

    def test_a_disk_that_fails_late_is_not_called_full(self):
        trace = self.record_on(self.bad_disk("/segment-", bytes=100_000, times=1), "--no-seal")
        self.check(trace, "disk_error", "the disk failed", "EIO")

    def test_a_quota_that_is_met_is_a_full_disk(self):
        trace = self.record_on(self.bad_disk("/segment-", bytes=100_000, times=1, error=errno.EDQUOT), "--no-seal")
        self.check(trace, "disk_full", "the disk was full", "EDQUOT")

    def test_a_payload_that_the_disk_did_not_take_ends_it_and_the_trace_says_so(self):
        """Its events were written all the same, up to there."""
        later = f"until grep -q 'the command goes on' $said; do sleep 0.1; done && cat {self.file('later')}"
        trace = self.record_on(self.bad_disk("/payload", bytes=100_000, times=1), "--content=bytes", "--no-seal", then=later)
        self.assertEqual(trace.status, 1, trace.said)
        self.assertRegex(trace.said, r"the command goes on; events from \d\d:\d\d:\d\d on are missing: .*payload.*EIO")
        self.assertGreater(trace.number("SELECT count(*) FROM events WHERE name = 'pread64'"), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE ends_with(path, '/later')"), 0)
        self.assertEqual(trace.rows("SELECT reason FROM gaps WHERE reason <> 'ring_full'"), [{"reason": "disk_error"}])
        self.assertIn("(the disk failed: the recording ended there)", trace.warnings)

    def test_a_disk_that_takes_nothing_any_more_leaves_what_it_took(self):
        """Not even the end can be written: it is read as a trace whose recorder died, and so it says."""
        trace = self.record_on(self.bad_disk("/segment-", bytes=100_000), "--no-seal")
        self.assertEqual(trace.status, 1)
        self.assertIn("EIO", trace.said)
        self.assertGreater(trace.number("SELECT count(*) FROM events WHERE name = 'pread64'"), 0)
        self.assertEqual(trace.rows("SELECT reason, lost FROM gaps"), [{"reason": "recorder_died", "lost": None}])

    def test_parquet_that_the_disk_did_not_take_replaces_no_segment(self):
        trace = self.record_on(self.bad_disk("/sealing-", sync=1))
        self.assertEqual(trace.status, 0, trace.said)
        self.assertIn(f"`dyetrace seal {trace.path}` goes on when the cause is gone", trace.said)
        names = os.listdir(trace.path)
        self.assertIn("segment-000001.seg", names)
        self.assertEqual([name for name in names if name.startswith("sealed-000001")], [])
        all_reads = "SELECT count(*) FROM events WHERE name = 'pread64' AND ends_with(path, '/read')"
        self.assertEqual(trace.number(all_reads), 2 * self.CALLS)
        subprocess.run([DYETRACE, "seal", "-q", trace.path], check=True, timeout=support.PATIENCE_S)
        self.assertNotIn("segment-000001.seg", os.listdir(trace.path))
        self.assertEqual(trace.number(all_reads), 2 * self.CALLS)


class MemoryTest(support.EndToEndTest):
    """A recording in a control group whose memory ends. What its maps take counts there, too."""

    def group(self, limit):
        """A folder of control groups with this limit; of version 1 or 2, as the machine has them."""
        for parent, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            group = f"{parent}/dyetrace-test-{os.getpid()}"
            with contextlib.suppress(OSError):
                os.mkdir(group)
                self.addCleanup(os.rmdir, group)
                with open(f"{group}/{file}", "w", encoding="ascii") as said:
                    said.write(str(limit))
                return group
        self.skipTest("there are no control groups with a limit of memory here")

    def record_in(self, group, *words):
        def join():
            with open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
        trace = support.Trace(self.path("trace"))
        done = subprocess.run([DYETRACE, "record", "--no-seal", "-o", trace.path, *words], preexec_fn=join, capture_output=True, text=True,
                              timeout=4 * support.PATIENCE_S)
        trace.said, trace.status = done.stderr, done.returncode
        return trace

    def test_a_command_that_takes_all_memory_is_killed_and_recorded_to_its_end(self):
        greedy = (f"import os\nf = os.open('{self.file('read')}', os.O_RDONLY)\nfor i in range(10000): os.pread(f, 1, i)\n"
                  "taken = []\nwhile True: taken.append(b'x' * (1 << 20))")
        trace = self.record_in(self.group(700 << 20), "--", sys.executable, "-c", greedy)
        self.assertEqual(trace.status, -signal.SIGKILL, trace.said)
        self.assertEqual(trace.info()["state"], "finished")
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE name = 'pread64' AND ends_with(path, '/read')"), 10_000)
        self.assertEqual(trace.accounting()["lost"], 0)
        self.assertIn("nothing lost", trace.said)

    def test_too_little_memory_to_begin_is_said_and_the_command_does_not_run_unrecorded(self):
        trace = self.record_in(self.group(48 << 20), "--ring", "256M", "--", "touch", self.path("ran"))
        self.assertNotEqual(trace.status, 0, trace.said)
        self.assertFalse(os.path.exists(self.path("ran")))
        if trace.status != -signal.SIGKILL:  # where the kernel says no instead of killing
            self.assertIn("the memory cgroup that this runs in, has too little left", self.one_line(trace.said))


class DescriptorsTest(support.EndToEndTest):
    """More than any table has that was made with the usual limits in mind: in one process, or in as few as may have them here."""

    PROGRAM = """
import os, resource, sys
path, is_early, most, processes = sys.argv[1], sys.argv[2] == "early", int(sys.argv[3]), int(sys.argv[4])
resource.setrlimit(resource.RLIMIT_NOFILE, (most + 100, max(most + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
ready, is_ready = os.pipe()
wait, go = os.pipe()
for process in range(processes):
    if os.fork() == 0:
        os.close(go)
        files = [os.open(path, os.O_RDONLY) for _ in range(most if is_early else 0)]
        os.write(is_ready, b"x")
        os.read(wait, 1)
        files = files or [os.open(path, os.O_RDONLY) for _ in range(most)]
        for file in files: os.pread(file, 1, file)
        os._exit(0)
for process in range(processes): os.read(ready, 1)
os.write(1, b"ready\\n")
os.read(0, 1)
os.close(go)
for process in range(processes): assert os.wait()[1] == 0
"""

    def check(self, when):
        with open("/proc/sys/fs/nr_open", encoding="ascii") as file:
            most = int(file.read()) if has_capability(SYS_RESOURCE) else resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        each = min(DESCRIPTORS, most - 100)
        processes = -(-DESCRIPTORS // each)
        print(f"{processes} processes with {each:,} descriptors each", file=sys.stderr)
        running = self.start([sys.executable, "-c", self.PROGRAM, self.file("read", b"x" * (DESCRIPTORS + 200)), when, str(each), str(processes)],
                             stdin=-1, stdout=-1)
        self.addCleanup(running.stdout.close)
        self.assertEqual(running.stdout.readline(), b"ready\n")
        trace, recorder = self.start_recording("--ring", "256M", "-p", str(running.pid))
        running.stdin.write(b"x")
        running.stdin.close()
        self.assertEqual(running.wait(timeout=support.PATIENCE_S), 0)
        self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0, self.said())
        self.assertEqual(trace.rows("SELECT * FROM gaps"), [])
        read = trace.numbers("SELECT count(*) AS calls, count(DISTINCT (pid, fd)) AS descriptors, count(path) AS named, count(object_id) AS known "
                             "FROM events WHERE name = 'pread64'")
        self.assertEqual(set(read.values()), {each * processes}, read)
        self.assertEqual(len(trace.rows("SELECT DISTINCT path, object_id FROM events WHERE name = 'pread64'")), 1)

    def test_a_hundred_thousand_that_were_open_before(self):
        self.check("early")

    def test_a_hundred_thousand_that_are_opened_meanwhile(self):
        self.check("late")


if __name__ == "__main__":
    support.main()
