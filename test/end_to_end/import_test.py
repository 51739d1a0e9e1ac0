#!/usr/bin/env python3
"""Logs of other tracers: what they say is what the trace says, and what Falcon's rules order is ordered."""

import collections
import errno
import json
import os
import random
import re
import shutil
import subprocess
import sys

import falcon_world
import support

LINE = re.compile(r"(?:(\d+) +)?([\d:.]+) (\w+)\((.*)\)\s+= (\S+)(?: (E[A-Z0-9]+))?")
PIPELINE = "echo hello | tr a-z A-Z > out.txt; cat out.txt | wc -c; cat nothing; (exit 3); kill -9 $$"
NETWORK = r"""
import os, socket, threading
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    served, _ = listener.accept()
    asked = served.recv(100)
    served.sendall(b"answer to " + asked)
    served.close()
thread = threading.Thread(target=serve)
thread.start()
client = socket.create_connection(listener.getsockname())
client.sendall(b"question")
client.recv(100)
client.close()
thread.join()
near, far = socket.socketpair()
near.send(b"xy")
far.recv(10)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
udp.sendto(b"datagram", udp.getsockname())
udp.recvfrom(10)
file = os.open("f.txt", os.O_RDWR | os.O_CREAT)
os.write(file, b"abc")
os.lseek(file, 1, 0)
os.read(file, 2)
os.rename("f.txt", "g.txt")
child = os.fork()
if child == 0:
    os._exit(7)
os.waitpid(child, 0)
"""


def text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class ImportTest(support.EndToEndTest):
    def imported(self, *arguments, name="trace", status=0):
        trace = support.Trace(self.path(name))
        done = subprocess.run([support.DYETRACE, "import", *arguments, "-o", trace.path], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, status, done.stderr)
        trace.said = done.stderr
        return trace

    def strace(self, options, command, name="log"):
        self.skip_without([] if shutil.which("strace") else ["strace"])
        subprocess.run(["strace", *options, "-o", self.path(name), *command], cwd=self.folder, capture_output=True, timeout=support.PATIENCE_S)
        return self.path(name)

    def lines(self, path):
        """Calls of a log as strace prints them: task, time, name, arguments, result, error; halves put together."""
        halves, calls = {}, []
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                line = line.rstrip("\n")
                task = line.split()[0]
                if line.endswith("<unfinished ...>"):
                    halves[task] = line.removesuffix("<unfinished ...>")
                elif " resumed>" in line:
                    line = halves.pop(task) + line.split(" resumed>", 1)[1]
                match = LINE.match(line)
                if match and not line.endswith("<unfinished ...>"):
                    calls.append(match.groups())
        return calls


class StraceTest(ImportTest):
    def test_calls_results_and_errors_are_those_of_the_log(self):
        log = self.strace(["-f", "-tt", "-yy", "-s", "64"], ["sh", "-c", PIPELINE])
        trace = self.imported(log)
        told = collections.Counter()
        for task, _, name, _, result, error in self.lines(log):
            value = None if result == "?" or error else str(int(re.match(r"-?(0x)?[0-9a-f]+", result)[0], 0))
            if name == "rt_sigreturn" and error:  # it has not failed: it gives back what the interrupted call returned
                value, error = str(-getattr(errno, error)), None
            told[(task, name, value, error)] += 1
        seen = collections.Counter()
        for row in trace.rows("SELECT tid::VARCHAR AS tid, name, CASE WHEN error IS NULL THEN result::VARCHAR END AS result, error FROM events "
                              "WHERE kind = 'syscall'"):
            seen[(row["tid"], row["name"], row["result"], row["error"])] += 1
        self.assertGreater(sum(told.values()), 300)
        self.assertEqual({k: v for k, v in told.items() if seen[k] != v}, {k: seen[k] for k, v in told.items() if seen[k] != v})
        self.assertEqual(trace.number("SELECT sum(lost) FROM accounting"), 0)

    def test_descriptors_processes_signals_and_ends_are_those_of_the_log(self):
        log = self.strace(["-f", "-tt", "-yy", "-s", "64"], ["sh", "-c", PIPELINE])
        trace = self.imported(log)
        calls = self.lines(log)
        told = collections.Counter()
        for _, _, name, arguments, result, error in calls:
            path = re.match(r"\d+<(/[^<>]*)>", arguments)
            if name in ("read", "write", "close") and path and not error:
                told[(name, path[1])] += 1
        seen = collections.Counter({(row["name"], row["path"]): int(row["n"]) for row in trace.rows(
            "SELECT name, path, count(*) AS n FROM events WHERE name IN ('read', 'write', 'close') AND path LIKE '/%' AND object_type = 'file' GROUP BY ALL")})
        self.assertTrue(told)
        self.assertEqual(told, seen)
        children = {result: task for task, _, name, _, result, error in calls if name in ("clone", "clone3", "vfork", "fork") and not error}
        self.assertGreater(len(children), 3)
        seen = {str(row["pid"]): str(row["ppid"]) for row in trace.rows("SELECT pid, ppid FROM processes WHERE parent_process_id IS NOT NULL")}
        self.assertEqual(children, seen)
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE name = 'signal_deliver'"), len(re.findall(r"^\d+ +\S+ --- SIG", text(log), re.M)))
        self.assertEqual(trace.number("SELECT count(*) FROM processes WHERE exit_code = 3 * 256"), text(log).count("+++ exited with 3 +++"))
        self.assertEqual(trace.number("SELECT count(*) FROM processes WHERE exit_code = 9"), 1)  # by its own SIGKILL
        self.assertEqual(trace.number("SELECT count(*) FROM contradictions"), 0)
        rules = {row["rule"] for row in trace.rows("SELECT DISTINCT rule FROM edges")}
        self.assertLessEqual({"fork", "exit", "pipe"}, rules)

    def test_bytes_are_followed_over_sockets_and_files(self):
        with open(self.path("net.py"), "w", encoding="utf-8") as file:
            file.write(NETWORK)
        log = self.strace(["-f", "-ttt", "-T", "-yy", "-s", "64"], [sys.executable, "net.py"])
        trace = self.imported(log)
        pairs = trace.rows("SELECT a.name AS sent, b.name AS taken, e.rule, happened_before(a.event_id, b.event_id) AS before, "
                           "happened_before(b.event_id, a.event_id) AS after, a.local_port = b.remote_port AS meet, "
                           "a.fingerprint IS NOT NULL AS printed FROM edges e JOIN events a ON a.event_id = from_event "
                           "JOIN events b ON b.event_id = to_event WHERE e.rule IN ('tcp', 'connect') ORDER BY a.start_ns")
        self.assertEqual([(row["rule"], row["taken"]) for row in pairs], [("connect", "accept4"), ("tcp", "recvfrom"), ("tcp", "recvfrom")])
        for row in pairs[1:]:
            self.assertTrue(row["before"] and not row["after"] and row["meet"] and row["printed"], row)
        self.assertEqual(trace.number("SELECT count(*) FROM flows WHERE rule = 'unix' AND certainty = 'certain'"), 1)
        offsets = trace.rows("SELECT name, file_offset, bytes, path FROM events WHERE path LIKE '%/f.txt' AND name IN ('read', 'write') ORDER BY start_ns")
        self.assertEqual([(row["name"], int(row["file_offset"]), int(row["bytes"])) for row in offsets], [("write", 0, 3), ("read", 1, 2)])
        self.assertEqual(trace.number("SELECT count(*) FROM contradictions"), 0)
        times = [float(time) for _, time, name, *_ in self.lines(log) if name == "openat"]
        seen = trace.rows("SELECT epoch_ns(time) AS time FROM events WHERE name = 'openat' ORDER BY start_ns")
        self.assertEqual(len(times), len(seen))
        for said, row in zip(sorted(times), seen):
            self.assertLess(abs(said - int(row["time"]) / 1e9), 1e-5)

    def test_what_is_renamed_is_followed_by_both_names(self):
        self.file("source", b"what it is about" * 100)
        log = self.strace(["-f", "-tt", "-yy", "-s", "4096"], ["sh", "-c", "dd if=source of=a bs=4096 status=none; mv a b; mkdir d; mv b d/c; dd if=d/c of=copy bs=4096 status=none"])
        trace = self.imported(log)
        for name in ("a", "b", "d/c"):
            path = os.path.join(os.path.realpath(self.folder), name)
            back = json.loads(subprocess.run([support.DYETRACE, "follow", trace.path, "--path", path, "--back", "--json"], capture_output=True, check=True, timeout=support.PATIENCE_S).stdout)
            self.assertTrue(any((hop["path"] or "").endswith("/source") for hop in back["hops"]), (name, back))
        renames = trace.rows("SELECT object_id = object2_id AS same, path, path2 FROM events WHERE name LIKE 'rename%' AND result = 0 ORDER BY start_ns")
        self.assertEqual([(row["same"], os.path.basename(row["path"]), os.path.basename(row["path2"])) for row in renames], [(True, "a", "b"), (True, "b", "c")])

    def test_two_files_that_are_exchanged_have_each_the_name_of_the_other(self):
        program = ("import ctypes\n"
                   "for name in ('first', 'second'):\n"
                   "    with open(name, 'w') as file:\n"
                   "        file.write(name)\n"
                   "assert ctypes.CDLL(None).renameat2(-100, b'first', -100, b'second', 2) == 0")
        trace = self.imported(self.strace(["-f", "-tt", "-yy", "-s", "4096"], [sys.executable, "-S", "-E", "-c", program]))
        for name in ("first", "second"):
            path = os.path.join(os.path.realpath(self.folder), name)
            self.assertEqual(trace.number(f"SELECT count(DISTINCT object_id) FROM object_names WHERE path = '{path}'"), 2, name)
        for name, other in (("first", "second"), ("second", "first")):
            written = trace.number(f"SELECT any_value(object_id) FROM events WHERE name = 'write' AND path LIKE '%/{name}'")
            self.assertEqual([os.path.basename(row["path"]) for row in trace.rows(f"SELECT path FROM object_names WHERE object_id = {written} ORDER BY valid_from_ns")], [name, other])

    def test_a_log_for_each_task_is_merged_into_one_order(self):
        for durations in ([], ["-T"]):
            name = "split" + "".join(durations)
            self.strace(["-ff", "-ttt", "-yy", *durations], ["sh", "-c", PIPELINE], name)
            logs = sorted(os.path.join(self.folder, file) for file in os.listdir(self.folder) if file.startswith(name + "."))
            trace = self.imported(*logs, name="trace" + name)
            calls = sum(len(re.findall(r"^\S+ \w+\(", text(log), re.M)) for log in logs)
            self.assertEqual(trace.number("SELECT count(*) FROM events WHERE kind = 'syscall'"), calls)
            self.assertEqual(trace.number("SELECT count(*) FROM contradictions"), 0)
            self.assertEqual(trace.number("SELECT count(*) FROM processes WHERE parent_process_id IS NOT NULL"), len(logs) - 1)
            self.assertGreater(trace.number("SELECT count(*) FROM edges WHERE rule = 'pipe'"), 0)

    def test_descriptors_are_known_without_decorations(self):
        log = self.strace(["-f", "-t"], ["sh", "-c", PIPELINE])
        trace = self.imported(log, "--date", "2026-11-22", "--host", "web1")
        self.assertEqual(trace.rows("SELECT DISTINCT host, time::DATE AS day FROM events"), [{"host": "web1", "day": "2026-11-22"}])
        self.assertGreater(trace.number("SELECT count(*) FROM edges WHERE rule = 'pipe'"), 0)
        self.assertGreater(trace.number("SELECT count(*) FROM events WHERE name = 'write' AND path LIKE '%out.txt'"), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM contradictions"), 0)

    def test_every_command_reads_the_trace(self):
        trace = self.imported(self.strace(["-f", "-tt", "-T", "-yy"], ["sh", "-c", PIPELINE]))
        for verb, *options in (["report"], ["pattern", "--path", "*out.txt"], ["follow", "--path", self.path("out.txt")], ["seal"]):
            command = [verb, trace.path, *options]
            done = subprocess.run([support.DYETRACE, *command], capture_output=True, text=True, timeout=support.PATIENCE_S)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        self.assertFalse([name for name in os.listdir(trace.path) if name.startswith("segment-")])


class HostileTest(ImportTest):
    def test_what_is_no_log_is_refused_in_one_line(self):
        for content in (b"", b"hello\nworld\n", os.urandom(4096), b"{}\n", b"[]", b"{" * 5000, b"\0" * 5000):
            self.one_line(self.imported(self.file("log", content), status=1).said.splitlines()[-1])
            self.assertFalse(os.path.exists(self.path("trace")))
        self.one_line(self.imported(self.path("nowhere"), status=1).said)
        self.one_line(self.imported(self.folder, status=1).said)
        self.one_line(self.imported(self.file("log"), "--date", "yesterday", status=2).said)

    def test_a_line_of_ten_megabytes_costs_itself(self):
        event = {"type": "LOG", "thread": "1@h", "timestamp": 1, "message": "m"}
        log = self.file("falcon", "\n".join(json.dumps(each) for each in (event, event | {"message": "x" * 10_000_000}, event)).encode())
        trace = self.imported(log)
        self.assertEqual(trace.number("SELECT count(*) FROM events"), 2)
        self.assertEqual(trace.rows("SELECT reason, lost::VARCHAR AS lost FROM gaps"), [{"reason": "unreadable_line", "lost": "1"}])
        self.assertIn("falcon:2", trace.said)
        log = self.file("strace", b'7 close(3) = 0\n7 write(1, "' + b"x" * 10_000_000 + b'", 10000000) = 10000000\n7 close(4) = 0\n')
        trace = self.imported(log, name="other")
        self.assertEqual(trace.number("SELECT count(*) FROM events"), 2)
        self.assertEqual(trace.accounting()["lost"], 1)

    def test_a_log_comes_through_standard_input(self):
        done = subprocess.run([support.DYETRACE, "import", "-", "-q", "-o", self.path("trace")], input=b"7 close(3) = 0\n", capture_output=True,
                              timeout=support.PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(support.Trace(self.path("trace")).number("SELECT count(*) FROM events"), 1)


class FalconTest(ImportTest):
    def answers(self, world, trace):
        """Position in the world of each event id, all pairs that are ordered, and the logical orders."""
        rows = trace.rows("SELECT event_id, host, comm, row_number() OVER (PARTITION BY thread_id ORDER BY start_ns) AS turn, "
                          "logical_order(event_id) AS logical FROM events")
        orders = world.thread_orders()
        self.assertEqual(len(rows), len(world.events))
        position = {int(row["event_id"]): orders[f'{row["comm"]}@{row["host"]}'][int(row["turn"]) - 1] for row in rows}
        logical = {position[int(row["event_id"])]: int(row["logical"]) for row in rows}
        pairs = trace.rows("SELECT a.event_id AS a, b.event_id AS b FROM events a, events b WHERE a.event_id <> b.event_id AND happened_before(a.event_id, b.event_id)")
        return {(position[int(row["a"])], position[int(row["b"])]) for row in pairs}, logical

    def expect_rules(self, world, before, logical):
        rules = list(world.before)
        for order in world.thread_orders().values():
            rules += zip(order, order[1:])
        for sections in world.sections.values():
            for i, (thread, locked, unlocked) in enumerate(sections):
                for other, other_locked, other_unlocked in sections[:i]:
                    if thread != other:
                        one = (other_unlocked, locked) if (other_unlocked, locked) in before else (unlocked, other_locked)
                        rules.append(one)
        for a, b in rules:
            self.assertIn((a, b), before, (world.events[a], world.events[b]))
            self.assertLess(logical[a], logical[b], (world.events[a], world.events[b]))
        for waits, notifies in world.waits_and_notifies.values():
            self.assertEqual(matched(waits, lambda wait: [notify for notify in notifies if (notify, wait) in before]), len(waits))
        self.assertFalse([pair for pair in before if pair[::-1] in before])

    def test_every_rule_holds_in_random_worlds(self):
        for seed in range(support.deep(2, 6)):
            with self.subTest(seed=seed):
                world = falcon_world.World(seed)
                trace = self.imported("--format", "falcon", *world.write(self.path(f"log{seed}")), name=f"trace{seed}")
                before, logical = self.answers(world, trace)
                self.expect_rules(world, before, logical)
                self.assertEqual(trace.number("SELECT count(*) FROM contradictions"), 0)

    def test_nothing_is_ordered_that_the_world_did_not_order(self):
        for seed in range(100, 100 + support.deep(1, 3)):
            with self.subTest(seed=seed):
                world = falcon_world.World(seed, waits=False)
                trace = self.imported(*world.write(self.path(f"log{seed}")), name=f"trace{seed}")
                before, logical = self.answers(world, trace)
                self.expect_rules(world, before, logical)
                closed = closure(world, len(world.events))
                self.assertEqual(before - closed, set())

    def test_a_block_that_is_relayed_is_a_chain_of_hosts(self):
        """CaT's case: client to three nodes, each of which stores what it relays; raw clocks of the hosts have nothing in common."""
        lines, nodes = [], ["client", "d1", "d2", "d3"]
        for i, node in enumerate(nodes):
            begin, thread = 10 ** (15 - 3 * i), {"thread": f"7@{node}", "pid": 7, "data": {"host": node, "comm": "java"}}
            ends = lambda a: {"src": f"10.0.0.{a}", "src_port": 40000 + a, "dst": f"10.0.0.{a + 1}", "dst_port": 50010, "socket": f"s{a}", "socket_type": "TCP"}
            if i > 0:
                lines.append(thread | {"type": 9, "timestamp": begin, "size": 8192, "returned_value": 4096} | ends(i - 1))
                lines.append(thread | {"type": 21, "timestamp": begin + 1, "filename": "/data/blk", "fd": 5, "offset": 0, "size": 4096, "returned_value": 4096})
            if i < 3:
                lines.append(thread | {"type": 8, "timestamp": begin + 2, "size": 4096, "returned_value": 4096} | ends(i))
        trace = self.imported(self.file("cat.json", json.dumps(lines).encode()))
        hops = trace.rows("SELECT a.host AS sender, b.host AS receiver FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event "
                          "WHERE rule = 'tcp' AND certainty = 'certain' AND f.bytes = 4096 ORDER BY logical_order(from_event)")
        self.assertEqual([(row["sender"], row["receiver"]) for row in hops], list(zip(nodes, nodes[1:])))
        self.assertEqual(trace.number("SELECT count(*) FROM events w, events s WHERE w.name = 'pwrite64' AND s.host = 'client' AND s.name = 'sendto' "
                                      "AND happened_before(s.event_id, w.event_id)"), 3)


    def test_times_that_contradict_the_messages_are_no_obstacle(self):
        """Milliseconds of user space, as Falcon took them: many messages come before they are sent."""
        noise, lines = random.Random(1), []
        for i in range(300):
            sender, receiver = ("a", "b") if i % 2 == 0 else ("b", "a")
            ends = {"src": sender, "src_port": 1, "dst": receiver, "dst_port": 1, "socket": "s", "socket_type": "TCP", "size": 5}
            for kind, host in (("SND", sender), ("RCV", receiver)):
                lines.append({"type": kind, "thread": f"7@{host}", "timestamp": 1525880628342 + 3 * i + noise.randrange(-20, 20)} | ends)
        # A thread's own events keep their order.
        for host in "ab":
            own = [line for line in lines if line["thread"] == f"7@{host}"]
            for line, time in zip(own, sorted(line["timestamp"] for line in own)):
                line["timestamp"] = time
        trace = self.imported(self.file("log", json.dumps(lines).encode()))
        self.assertEqual(trace.number("SELECT count(*) FROM edges WHERE rule = 'tcp'"), 300)
        self.assertEqual(trace.number("SELECT count(*) FROM contradictions WHERE kind <> 'clock'"), 0)
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE time BETWEEN '2018-05-09 15:43:47' AND '2018-05-09 15:43:51'"), 600)
        done = subprocess.run([support.DYETRACE, "report", trace.path], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)


def matched(waits, notifies_of):
    """How many waits get a notify of their own."""
    owner = {}

    def find(wait, tried):
        for notify in notifies_of(wait):
            if notify not in tried:
                tried.add(notify)
                if notify not in owner or find(owner[notify], tried):
                    owner[notify] = wait
                    return True
        return False

    return sum(find(wait, set()) for wait in waits)


def closure(world, count):
    """All pairs that follow from what really happened: threads, gifts, and locks in their order."""
    steps = list(world.before)
    for order in world.thread_orders().values():
        steps += zip(order, order[1:])
    for sections in world.sections.values():
        steps += [(first[2], second[1]) for first, second in zip(sections, sections[1:])]
    after = [set() for _ in range(count)]
    for a, b in sorted(steps, reverse=True):  # what really happened is a topological order
        after[a] |= {b} | after[b]
    return {(a, b) for a in range(count) for b in after[a]}


if __name__ == "__main__":
    support.main()
