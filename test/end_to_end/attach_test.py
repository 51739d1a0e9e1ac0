#!/usr/bin/env python3
"""Attached in mid-run: what was open before is known, so that no event has an unknown descriptor."""

import http.client
import os
import subprocess
import sys

import servers
import support

THREADS = 100
CONNECTIONS = 50
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "attached.py")
KINDS = {"file", "directory", "pipe", "socket", "anonymous"}


class AttachTest(support.EndToEndTest):
    def start_program(self):
        running = self.start([sys.executable, PROGRAM, self.folder, str(THREADS)], stdin=-1, stdout=-1)
        self.addCleanup(running.stdout.close)
        self.assertEqual(running.stdout.readline(), b"ready\n")
        return running

    def check(self, running, *options, end):
        trace, recorder = self.start_recording(*options, name="trace")
        mine = f"pid = {running.pid}"
        self.wait_for(lambda: trace.number(f"SELECT count(*) FROM events WHERE {mine} AND name = 'fsync'") > 5, "it is recorded")
        if end:
            running.stdin.close()
            self.assertEqual(running.wait(timeout=support.PATIENCE_S), 0)
            self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)
        else:
            self.assertEqual(self.stop(recorder), 0)
            running.stdin.close()
            self.assertEqual(running.wait(timeout=support.PATIENCE_S), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM gaps"), 0)
        # of a close that had begun before the recording the descriptor was gone already; the program here closes nothing
        unknown = trace.rows("SELECT comm, exe, name, state, error, fd, duration_ns IS NULL AS entry_missed, count(*) AS calls FROM events "
                             "WHERE fd >= 0 AND object_id IS NULL AND error IS DISTINCT FROM 'EBADF' AND state = 'finished' "
                             f"AND ({mine} OR name <> 'close' OR duration_ns IS NOT NULL) GROUP BY ALL")
        self.assertEqual(unknown, [])
        kinds = trace.rows(f"SELECT DISTINCT object_type FROM events WHERE {mine} AND fd >= 0 AND object_type IS NOT NULL")
        self.assertLessEqual(KINDS, {row["object_type"] for row in kinds})
        self.assertEqual(trace.number(f"SELECT count(DISTINCT tid) FROM events WHERE {mine}"), THREADS + 1)
        paths = {row["path"] for row in trace.rows(f"SELECT DISTINCT path FROM events WHERE {mine} AND name = 'pwrite64'")}
        expected = {self.path(name) for name in ("renamed", "of_thread", *(f"file{number}" for number in range(2, 8)))}
        # in a chroot a path begins with what lies above it
        self.assertEqual([name for name in expected if not any(path.endswith(name) for path in paths)], [])
        ends = trace.rows(f"SELECT DISTINCT local_address, remote_address FROM events WHERE {mine} AND name = 'sendto' AND bytes = 8")
        self.assertEqual(ends, [{"local_address": "127.0.0.1", "remote_address": "127.0.0.1"}])
        return trace

    def test_a_process_with_many_threads(self):
        running = self.start_program()
        self.check(running, "-p", str(running.pid), end=True)

    def test_a_process_with_children_and_their_children(self):
        """As a server's first process has them: what a client asks for is done by its workers."""
        family = ("import os, time\n"
                  "for generation in range(3):\n"
                  "    if generation == 2 or os.fork(): break\n"
                  "os.write(1, f'{generation} {os.getpid()}\\n'.encode())\n"
                  "while True: os.stat('/'); time.sleep(0.01)\n")
        running = self.start([sys.executable, "-c", family], stdout=subprocess.PIPE, text=True)
        self.addCleanup(running.stdout.close)
        pids = [pid for _, pid in sorted(running.stdout.readline().split() for _ in range(3))]
        self.assertEqual(pids[0], str(running.pid))
        trace, recorder = self.start_recording("-p", pids[0])
        seen = lambda: [str(row["pid"]) for row in trace.rows("SELECT DISTINCT pid FROM events WHERE name IN ('stat', 'newfstatat')")]
        self.wait_for(lambda: sorted(seen()) == sorted(pids), "all three generations are recorded")
        self.assertEqual(self.stop(recorder), 0)

    def check_sets(self, *whom):
        """nginx has a pointer handed back for each of its sockets, and here made all of them before anybody looked."""
        with servers.Nginx(self.folder) as server:
            connections = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=support.PATIENCE_S) for _ in range(CONNECTIONS)]
            for connection in connections:
                self.ask(connection)
            trace, recorder = self.start_recording(*(word.format(worker=server.worker) for word in whom))
            for connection in connections:
                self.ask(connection)
            self.assertEqual(self.stop(recorder), 0)
            ports = [connection.sock.getsockname()[1] for connection in connections]
            for connection in connections:
                connection.close()
            worker = server.worker
        ready = trace.rows(f"""
            SELECT e.event_id, m.fd, o.object_type, s.remote_port FROM events e JOIN event_objects m USING (event_id)
            LEFT JOIN objects o ON o.object_id = m.object_id LEFT JOIN sockets s ON s.object_id = m.object_id
            WHERE e.pid = {worker} AND e.name = 'epoll_wait' AND m.role = 'poll'""")
        self.assertEqual([row for row in ready if row["object_type"] != "socket" or row["fd"] is None], [])
        self.assertLessEqual(set(ports), {row["remote_port"] for row in ready})
        self.assertEqual(trace.rows("SELECT * FROM coverage WHERE source = 'epoll'"), [])

    def ask(self, connection):
        connection.request("GET", "/nginx.conf")
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertGreater(len(answer.read()), 0)

    def test_what_nginx_waits_for_is_known(self):
        self.check_sets("-p", "{worker}")

    def test_what_nginx_waits_for_is_known_of_the_whole_system(self):
        self.check_sets("-a", "--ring", "128M")

    def test_the_whole_system(self):
        running = self.start_program()
        self.check(running, "-a", "--ring", "128M", end=False)  # whatever else goes on here

    def test_a_number_is_meant_in_the_pid_namespace_of_who_types_it(self):
        """In a container's own namespace the shell is process 1, and the command of the recorder has a small number too."""
        script = f"""
            {support.DYETRACE} record --no-seal -o {self.path("own")} -- true &&
            {support.DYETRACE} record --no-seal -o {self.path("first")} -p 1 &
            for i in $(seq 600); do [ ! -e {self.path("first")}/segment-000001.seg ] || : >{self.path("seen")}; sleep 0.05
                [ ! -e {self.path("end")} ] || exit 0; done"""
        inside = self.start(["unshare", "--pid", "--fork", "--mount", "--propagation", "unchanged", "sh", "-c", f"{support.OWN_PROC} || exit 1\n{script}"],
                            stderr=-1)
        self.addCleanup(inside.stderr.close)
        trace = support.Trace(self.path("first"))
        self.wait_for(lambda: self.listens(trace), "it listens")
        self.wait_for(lambda: trace.number("SELECT count(*) FROM events WHERE path LIKE '%/seen'") > 0, "the shell is recorded")
        self.assertEqual(trace.rows("SELECT DISTINCT pid_in_namespace AS pid, comm FROM events WHERE path LIKE '%/seen'"),
                         [{"pid": 1, "comm": "sh"}])
        self.assertEqual(support.Trace(self.path("own")).rows("SELECT comm FROM processes"), [{"comm": "true"}])
        self.file("end")
        inside.wait(timeout=support.PATIENCE_S)

    def test_who_is_not_there_is_said_and_nothing_is_left_behind(self):
        gone = self.start(["true"])
        gone.wait()
        for number, status, words in ((gone.pid, 1, f"there is no process {gone.pid}"), (0, 2, "'0' is no process"),
                                      (-5, 2, "'-5' is no process")):
            done = subprocess.run([support.DYETRACE, "record", "-o", self.path("trace"), "-p", str(number)], capture_output=True,
                                  text=True, timeout=support.PATIENCE_S)
            self.assertEqual(done.returncode, status)
            self.assertIn(words, self.one_line(done.stderr))
            self.assertFalse(os.path.exists(self.path("trace")), "the next try must not find it in its way")

    def test_a_thread_is_told_from_a_process(self):
        running = self.start_program()
        self.addCleanup(running.stdin.close)
        thread = max(int(one) for one in os.listdir(f"/proc/{running.pid}/task"))
        done = subprocess.run([support.DYETRACE, "record", "-o", self.path("trace"), "-p", str(thread)], capture_output=True,
                              text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{thread} is a thread of process {running.pid}", self.one_line(done.stderr))

    def test_a_process_that_is_hidden_from_bpf_is_told_from_one_that_is_not_there(self):
        """Some virtual machines hide process 1; elsewhere it can be watched."""
        trace = support.Trace(self.path("trace"))
        done = subprocess.run([support.DYETRACE, "record", "-o", trace.path, "-p", "1", "--duration", "200ms"], capture_output=True,
                              text=True, timeout=support.PATIENCE_S)
        everything = self.record("-a", "--duration", "200ms", name="all")
        hidden = everything.rows("SELECT state FROM coverage WHERE source = 'process 1'")
        if done.returncode == 0:
            self.assertEqual(hidden, [])
        else:
            self.assertIn("process 1 is there, but this kernel keeps it from BPF programs", self.one_line(done.stderr))
            self.assertEqual(hidden, [{"state": "off"}])
            self.assertIn("process 1", everything.said)

    def test_a_ring_has_a_size_that_the_kernel_takes(self):
        for size in ("1", "63K", "513M", "100G", "x"):
            done = subprocess.run([support.DYETRACE, "record", "--ring", size, "-o", self.path("trace"), "--", "true"],
                                  capture_output=True, text=True, timeout=support.PATIENCE_S)
            self.assertEqual(done.returncode, 2, size)
            self.assertIn("size", self.one_line(done.stderr))
        for size in ("64K", "512M"):
            self.record("--no-seal", "--ring", size, "--", "true", name=size)


if __name__ == "__main__":
    support.main()
