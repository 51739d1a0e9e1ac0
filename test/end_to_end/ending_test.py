#!/usr/bin/env python3
"""How a recording ends: with its command, by a signal, by the clock, by kill -9."""

import array
import contextlib
import ctypes
import fcntl
import os
import signal
import struct
import subprocess
import termios

import support
from support import DYETRACE, boot_ns, program

CLOCK_NANOSLEEP = 230
PR_SET_CHILD_SUBREAPER = 36
FLOW_BYTES = 1 << 20  # of a segment
LOST_AT_DEATH_MAX_NS = 1_000_000_000  # what the design allows
KILLS, BOOK_CALLS_MAX, THREADS = 4, 16 << 20, 5  # see programs/ledger.cpp
PREAD64 = 17


class EndingTest(support.EndToEndTest):
    def test_the_exit_status_of_the_command_passes_through(self):
        for status in (0, 1, 42, 255):
            self.record("--", "sh", "-c", f"exit {status}", name=f"status{status}", status=status)

    def test_the_signal_that_ends_the_command_passes_through(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            trace = self.record("--", "sh", "-c", f"kill -{int(number)} $$", name=f"signal{int(number)}", status=-number)
            self.assertEqual(trace.info()["state"], "finished")
            self.assertEqual(trace.number("SELECT exit_code & 127 FROM processes"), number)

    def test_a_command_that_cannot_run_gives_the_status_of_a_shell(self):
        trace = self.record("--", "/nowhere/at_all", name="missing", status=127)
        self.one_line(trace.said.splitlines(keepends=True)[0])
        trace = self.record("--", self.file("no_program"), name="not_executable", status=126)
        self.one_line(trace.said.splitlines(keepends=True)[0])

    def test_sigterm_is_passed_to_the_command_and_the_trace_ends_well(self):
        ready = self.path("ready")
        trace, recorder = self.start_recording("--", "sh", "-c", f"trap 'exit 7' TERM; : >{ready}; while :; do sleep 0.05; done")
        self.wait_for(lambda: os.path.exists(ready), "the command is ready for it")
        self.assertEqual(self.stop(recorder, signal.SIGTERM), 7)
        self.assertEqual(trace.info()["state"], "finished")

    def test_ctrl_c_reaches_both_and_the_summary_is_printed(self):
        """A terminal sends it to the whole foreground group."""
        said = open(self.path("trace.said"), "wb")
        self.addCleanup(said.close)
        trace = support.Trace(self.path("trace"))
        pid, terminal = os.forkpty()
        if pid == 0:
            os.dup2(said.fileno(), 2)
            os.execv(DYETRACE, [DYETRACE, "record", "-o", trace.path, "--", "sleep", "1000000"])
        ended = []
        self.addCleanup(lambda: ended or os.kill(pid, signal.SIGKILL))
        self.wait_for(lambda: self.listens(trace), "it listens")
        self.wait_for(lambda: CLOCK_NANOSLEEP in map(support.call_of, support.children_of(pid, "sleep")), "the command sleeps")
        os.write(terminal, b"\x03")
        _, status = os.waitpid(pid, 0)
        ended.append(pid)
        os.close(terminal)
        self.assertEqual(os.WTERMSIG(status), signal.SIGINT)
        self.assertIn("nothing lost", self.said())
        self.assertEqual(trace.info()["state"], "finished")
        self.assertEqual(trace.rows("SELECT state, error FROM events WHERE name = 'clock_nanosleep'"),
                         [{"state": "finished", "error": "ERESTART_RESTARTBLOCK"}])

    @staticmethod
    def is_sealer(process):
        """By its command line, for its program is /proc/self/exe."""
        try:
            with open(f"/proc/{process}/cmdline", "rb") as words:
                return words.read().startswith(b"dyetrace\0seal\0")
        except OSError:
            return False  # it has ended

    def sealer_sleeps(self):
        """It takes only what nobody else wants, from its first moments on: nothing for minutes, beside other tests."""
        os.sched_setscheduler(self.sealer, os.SCHED_OTHER, os.sched_param(0))
        with open(f"/proc/{self.sealer}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "S"

    def record_with_a_sealer_that_stands_still(self, start):
        """Returns what `start` returns, the recorder first; its command runs no more, and nothing is sealed. Ends when the summary was said."""
        started = start("--segment-records", "1000", "--", "sh", "-c", f"until test -e {self.path('go')}; do sleep 0.01; done; exec {program('calls')} {self.file('read')} 2 3000")
        recorder = started[0]
        self.wait_for(lambda: support.children_of(recorder, "dyetrace-store"), "the sealer runs")
        (self.sealer,) = support.children_of(recorder, "dyetrace-store")
        self.wait_for(self.sealer_sleeps, "it waits for something to seal")
        os.sched_setscheduler(self.sealer, os.SCHED_IDLE, os.sched_param(0))
        os.kill(self.sealer, signal.SIGSTOP)
        self.addCleanup(lambda: self.is_sealer(self.sealer) and os.kill(self.sealer, signal.SIGKILL))
        self.file("go")
        return started

    def in_the_background(self, *arguments):
        self.trace, self.recorder = self.start_recording(*arguments)
        return (self.recorder.pid,)

    def at_a_terminal(self, *arguments):
        self.trace = support.Trace(self.path("trace"))
        pid, terminal = os.forkpty()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            os.execv(DYETRACE, [DYETRACE, "record", "-o", self.trace.path, *arguments])
        return pid, terminal

    def test_the_summary_comes_at_once_and_sealing_can_be_left_alone(self):
        # Becomes the parent of the sealer then: the kernel sends SIGHUP to what stands still and has nobody left in its session.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.addCleanup(ctypes.CDLL(None).prctl, PR_SET_CHILD_SUBREAPER, 0)
        self.record_with_a_sealer_that_stands_still(self.in_the_background)
        self.wait_for(lambda: "events in" in self.said(), "the summary")
        share = lambda: (os.sched_getscheduler(self.sealer), os.getpriority(os.PRIO_PROCESS, self.sealer))
        own = os.getpriority(os.PRIO_PROCESS, 0)
        self.wait_for(lambda: share() == (os.SCHED_OTHER, own), "who waits for it does not wait for all others")
        self.assertEqual(self.stop(self.recorder), 0)
        self.assertIn("sealing goes on alone", self.said())
        self.assertEqual(share()[0], os.SCHED_IDLE)
        self.assertGreater(self.trace.number("SELECT count(*) FROM events WHERE name = 'pread64'"), 5999)
        os.sched_setscheduler(self.sealer, os.SCHED_OTHER, os.sched_param(0))
        os.kill(self.sealer, signal.SIGCONT)
        self.wait_for(lambda: not any(name.startswith("segment-") for name in os.listdir(self.trace.path)), "it went on")

    def test_a_sealer_that_is_left_alone_holds_nothing_that_others_read_to_its_end(self):
        watched = self.start(["sleep", "1000"])
        trace, recorder = self.start_recording("--no-seal", "-p", str(watched.pid))
        shell = self.start(["sh", "-c", '"$0" seal --follow --quiet "$1" & echo $!; read go', DYETRACE, trace.path], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        sealer = int(shell.stdout.readline())
        self.wait_for(lambda: os.path.exists(os.path.join(trace.path, "sealed-000000")), "it is at work")
        shell.stdin.close()
        self.assertEqual(shell.stdout.read(), b"")
        self.assertTrue(os.path.exists(f"/proc/{sealer}"), "it goes on")
        self.assertEqual(self.stop(recorder), 0)
        self.wait_for(lambda: not os.path.exists(f"/proc/{sealer}"), "and ends with the recording")

    def test_sealing_says_how_far_it_is_and_can_be_stopped(self):
        _, terminal = self.record_with_a_sealer_that_stands_still(self.at_a_terminal)
        said = b""
        while b"ends it" not in said.partition(b"sealing: ")[2]:  # all of it, on a terminal of 80 columns
            said += os.read(terminal, 4096)
        self.assertIn(b"events in", said)
        os.write(terminal, b"\x1c")
        with contextlib.suppress(OSError):  # the terminal ends with it
            while more := os.read(terminal, 4096):
                said += more
        os.close(terminal)
        self.assertIn(b"sealing was stopped", said)
        self.assertFalse(self.is_sealer(self.sealer))
        count = self.trace.number("SELECT count(*) FROM events")
        subprocess.run([DYETRACE, "seal", "-q", self.trace.path], check=True)
        self.assertEqual(self.trace.number("SELECT count(*) FROM events"), count)

    def test_a_signal_ends_a_recording_without_a_command(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            trace, recorder = self.start_recording("-a", name=f"all{int(number)}")
            self.assertEqual(self.stop(recorder, number), 0)
            self.assertEqual(trace.info()["state"], "finished")

    def test_duration_ends_it_and_the_command_goes_on(self):
        done = self.path("done")
        trace, recorder = self.start_recording("--duration", "2s", "--", "sh", "-c", f"sleep 1000000; touch {done}")
        self.wait_for(lambda: trace.info()["state"] == "finished", "the recording ends")
        self.assertIsNone(recorder.poll(), "it waits for its command")
        (shell,) = support.children_of(recorder.pid, "sh")
        (sleeper,) = support.children_of(shell, "sleep")
        os.kill(sleeper, signal.SIGKILL)
        self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)
        self.assertTrue(os.path.exists(done))
        self.assertEqual(trace.number(f"SELECT count(*) FROM events WHERE argument_path = '{done}'"), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE state = 'unfinished' AND name IN ('wait4', 'clock_nanosleep')"), 2)

    def test_the_end_of_the_process_ends_its_recording(self):
        sleeper = self.start(["sleep", "infinity"])
        _, recorder = self.start_recording("-p", str(sleeper.pid))
        sleeper.kill()
        sleeper.wait(timeout=support.PATIENCE_S)
        self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)


class KillTest(support.EndToEndTest):
    def kill_in_full_flow(self, until, *options):
        trace, recorder = self.start_recording(*options, "--", program("calls"), self.file("read"), "2", "1000", "endless")
        self.wait_for(lambda: support.children_of(recorder.pid, "calls"), "the command runs")
        (self.command,) = support.children_of(recorder.pid, "calls")
        self.addCleanup(os.kill, self.command, signal.SIGKILL)

        def is_in_full_flow():
            support.hurry_sealers_of(recorder.pid)
            return until(trace.path)

        self.wait_for(is_in_full_flow, "it is in full flow")
        self.killed_ns = boot_ns()
        recorder.kill()
        recorder.wait()
        return trace

    def check(self, trace):
        self.wait_for(lambda: trace.number("SELECT count(*) FROM gaps WHERE reason = 'recorder_died'") == 1, "the trace says so")
        self.assertIn("recorder", trace.warnings)
        last_ns = trace.number("SELECT max(start_ns + duration_ns) FROM events")
        self.assertLess(self.killed_ns - last_ns, LOST_AT_DEATH_MAX_NS)
        gap = trace.numbers("SELECT begin_ns, end_ns, lost, cpu FROM gaps WHERE reason = 'recorder_died'")
        self.assertIsNone(gap["cpu"])
        self.assertLessEqual(gap["begin_ns"], last_ns + LOST_AT_DEATH_MAX_NS)
        # nothing is missing before the end: on each CPU the sequence has no holes
        self.assertEqual(trace.number("SELECT sum(last + 1 - kept) FROM (SELECT max(sequence) AS last, count(*) AS kept "
                                      "FROM internal.raw_syscall_event GROUP BY cpu)"), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM gaps WHERE reason <> 'recorder_died'"), 0)
        self.assertTrue(os.path.exists(f"/proc/{self.command}"), "the traced command goes on")

    def test_kill_loses_less_than_a_second_and_the_trace_says_so(self):
        trace = self.kill_in_full_flow(lambda path: os.path.getsize(f"{path}/segment-000001.seg") > FLOW_BYTES, "--no-seal", "--ring", "64M")
        self.check(trace)
        self.assertIn(trace.info()["state"], ("recording", "died"))

    def test_kill_while_segments_become_parquet(self):
        trace = self.kill_in_full_flow(lambda path: os.path.exists(f"{path}/sealed-000001"), "--ring", "64M", "--segment-records", "100000")
        self.check(trace)
        count = trace.number("SELECT count(*) FROM events")
        os.kill(self.command, signal.SIGSTOP)
        self.wait_for(lambda: trace.info()["state"] == "died", "the sealer finishes what is there")
        self.assertEqual(trace.number("SELECT count(*) FROM events"), count)
        # the recorder's own sealer says so before it lets go of the trace
        self.wait_for(lambda: subprocess.run([DYETRACE, "seal", "-q", trace.path], check=False).returncode == 0, "it can be sealed again")
        self.assertEqual(trace.number("SELECT count(*) FROM events"), count)
        self.check(trace)

    def times_in_book(self, book, thread):
        """When each call of this thread ended, by its number."""
        with open(book, "rb") as file:
            file.seek(thread * 8 * (1 + BOOK_CALLS_MAX))
            (count,) = array.array("Q", file.read(8))
            return array.array("Q", file.read(8 * count))

    def test_each_call_that_a_kill_loses_lies_in_a_gap(self):
        """CPUs are written one after another: when the last block was made, calls of others were missing that had ended long before."""
        for kill in range(KILLS):
            trace, recorder = self.start_recording("--no-seal", "--ring", "4M", "--", program("ledger"), self.path("book"), str(THREADS), name=f"kill{kill}")
            self.wait_for(lambda: support.children_of(recorder.pid, "ledger"), "the program runs")
            (ledger,) = support.children_of(recorder.pid, "ledger")
            try:
                self.wait_for(lambda: os.path.getsize(f"{trace.path}/segment-000001.seg") > FLOW_BYTES, "it is in full flow")
                killed_ns = boot_ns()
                recorder.kill()
                recorder.wait()
            finally:
                os.kill(ledger, signal.SIGKILL)
            gaps = [(int(row["begin_ns"]), int(row["end_ns"] or 1 << 63)) for row in trace.rows("SELECT begin_ns, end_ns FROM gaps")]
            kept = {int(row["call"]) for row in trace.rows(f"SELECT argument3 AS call FROM internal.raw_syscall_event WHERE syscall = {PREAD64} AND requested = 1")}
            for thread in range(THREADS):
                ends = self.times_in_book(self.path("book"), thread)
                lost = [n for n, end_ns in enumerate(ends) if end_ns <= killed_ns and (thread << 32 | n) not in kept]
                # the book has the end of a call a little later than the call has, and the end of the one before earlier than its beginning
                unsaid = [n for n in lost if not any(begin <= ends[n] and (n == 0 or ends[n - 1] <= end) for begin, end in gaps)]
                self.assertEqual(unsaid[:3], [], f"thread {thread}: {len(unsaid)} of {len(lost)} lost calls, of {len(ends)}, are in no gap: {gaps}")


if __name__ == "__main__":
    support.main()
