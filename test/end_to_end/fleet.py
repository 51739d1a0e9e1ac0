"""What the tests of agents and collectors share: a collector and agents on one machine, and a road between them that can be bad."""

import os
import signal
import socket
import subprocess
import threading

import support
from support import DYETRACE, Trace, program


class Road:
    """A TCP proxy from a free port to `port`: forwards, is cut (says and hears nothing, closes nothing), or changes what goes up."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open = threading.Event()
        self.open.set()
        self.change = lambda data: data  # of what goes to the collector
        self.pairs = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        self.open.clear()

    def mend(self):
        self.open.set()

    def close(self):
        self.listener.close()
        for sockets in self.pairs:
            for end in sockets:
                end.close()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
                self.open.wait()
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                if self.listener.fileno() < 0:
                    return
                near.close()
                continue
            self.pairs.append((near, far))
            threading.Thread(target=self._forward, args=(near, far, True), daemon=True).start()
            threading.Thread(target=self._forward, args=(far, near, False), daemon=True).start()

    def _forward(self, source, target, upward):
        try:
            while data := source.recv(1 << 16):
                self.open.wait()
                target.sendall(self.change(data) if upward else data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class FleetTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.agents = {}
        self.collector = None
        self.port = support.free_port()  # a collector that is killed comes back to it
        self.addCleanup(self.end_recorders)

    def end_recorders(self):
        """Recorders outlive their agents, that is what they are for: end those of this test, by their own numbers."""
        for folder, _, files in os.walk(self.folder):
            if "trace.json" in files and "/trace" in folder:
                info = Trace(folder).info()
                try:
                    with open(f"/proc/{info['recorder']['pid']}/cmdline", encoding="utf-8", errors="replace") as command:
                        if folder in command.read():
                            os.kill(info["recorder"]["pid"], signal.SIGKILL)
                except (OSError, KeyError):
                    pass

    def wait_for(self, condition, what, seconds=support.PATIENCE_S):
        """The same, and what is in vain comes with what all have said, and which files they have."""
        try:
            support.wait_for(condition, what, seconds)
        except AssertionError as error:
            files = [os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names]
            said = [f"--- {os.path.basename(file)}\n{self.last_words(file)}" for file in files if file.endswith(".said")]
            sizes = [f"{os.path.getsize(file):>10} {os.path.relpath(file, self.folder)}" for file in sorted(files)[:60] if os.path.exists(file)]
            raise AssertionError("\n".join([str(error), *said, *sizes])) from error

    @staticmethod
    def last_words(file):
        with open(file, encoding="utf-8", errors="replace") as said:
            return said.read()[-3000:]

    def security_of(self, kind, name):
        """How an agent, a collector or an operator of this name proves who it is."""
        return ["--insecure"]

    def say_to(self, name):
        return open(self.path(name + ".said"), "ab")

    def start_collector(self, *options, store="store", environment=None):
        before = len(self.said("collector")) if os.path.exists(self.path("collector.said")) else 0
        with self.say_to("collector") as said:
            self.collector = self.start([DYETRACE, "collector", "--listen", f"127.0.0.1:{self.port}", "--store", self.path(store),
                                         *self.security_of("collector", "main"), *options], stderr=said, env=environment)
        self.wait_for(lambda: "listening on" in self.said("collector")[before:] or self.collector.poll() is not None, "it listens")
        self.assertIsNone(self.collector.poll(), self.said("collector"))
        return self.collector

    def start_agent(self, host, *options, port=None, spool=None, connects=True):
        name = "agent-" + host
        before = len(self.said(name)) if os.path.exists(self.path(name + ".said")) else 0
        with self.say_to(name) as said:
            self.agents[host] = self.start([DYETRACE, "agent", "--collector", f"127.0.0.1:{port or self.port}", "--host", host,
                                            "--spool", spool or self.path("spool-" + host), *self.security_of("host", host), *options],
                                           stderr=said)
        if connects:
            self.wait_for(lambda: "connected to" in self.said(name)[before:], f"the agent of {host} connects")
        return self.agents[host]

    def run_on(self, hosts, *words, status=0, name="fleet", operator="ada", **options):
        """`dyetrace record --on`; the trace on the collector, and what was said."""
        options = {"capture_output": True, "text": True, "timeout": 4 * support.PATIENCE_S} | options
        done = subprocess.run([*self.command_on(hosts, name, operator), *words], check=False, **options)
        self.assertEqual(done.returncode, status, done.stderr + self.said("collector"))
        trace = Trace(self.path("store/" + name))
        trace.said = done.stderr
        return trace

    def command_on(self, hosts, name="fleet", operator="ada"):
        return [DYETRACE, "record", "--on", hosts, "--collector", f"127.0.0.1:{self.port}", *self.security_of("operator", operator), "-o", name]

    def start_on(self, hosts, *words, name="fleet"):
        """The same in the background; all hosts record when this returns."""
        with self.say_to("operator") as said:
            operator = self.start([*self.command_on(hosts, name), *words], stderr=said)
        self.wait_for(lambda: "recording " in self.said("operator") or operator.poll() is not None, "all hosts record")
        self.assertIsNone(operator.poll(), self.said("operator"))
        return Trace(self.path("store/" + name)), operator

    def start_reads(self, count="40"):
        """A process that reads all the time: so often, a hundred times a second."""
        return self.start([program("calls"), self.file("read"), "1", count, "endless"])

    def wait_for_more_in_spool(self, host):
        """What this host records goes on, whoever takes it."""
        def spooled():
            return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(self.path("spool-" + host)) for name in names
                       if name.endswith(".seg"))
        before = spooled()
        self.wait_for(lambda: spooled() > before, f"the recorder of {host} goes on")

    def count(self, trace):
        try:
            return trace.number("SELECT count(*) FROM events")
        except AssertionError:
            return 0  # not there yet

    def arrived(self, trace):
        """How many calls have arrived. Nobody looks at what they did, which would take most of the time of who waits for them."""
        try:
            return trace.number("SELECT count(*) FROM internal.raw_syscall_event")
        except AssertionError:
            return 0

    def wait_for_more(self, trace, than=0, patience=support.PATIENCE_S):
        """How many calls there are when there are more than that."""
        counts = [than]

        def are_more():
            counts.append(self.arrived(trace))
            return counts[-1] > than
        self.wait_for(are_more, f"more than {than} calls arrive", patience)
        return counts[-1]

    def check_accounting(self, trace, hosts):
        """What the kernel counted is in the trace or in a gap of it, on each host."""
        self.assertEqual(trace.info()["state"], "finished")
        rows = trace.rows("SELECT h.host, (SELECT sum(generated) FROM accounting a WHERE a.host = h.host) AS generated, "
                          "(SELECT sum(filtered) FROM accounting a WHERE a.host = h.host) AS filtered, "
                          "(SELECT sum(lost) FROM accounting a WHERE a.host = h.host) AS lost, "
                          "(SELECT count(*) FROM events e WHERE e.host = h.host) AS kept, "
                          "(SELECT coalesce(sum(lost), 0) FROM gaps g WHERE g.host = h.host AND reason NOT IN ('ring_full', 'program_not_run')) AS in_gaps "
                          "FROM hosts h ORDER BY 1")
        self.assertEqual([row["host"] for row in rows], hosts)
        for row in rows:
            numbers = {name: int(value) for name, value in row.items() if name != "host"}
            self.assertGreater(numbers["generated"], 0, rows)
            self.assertEqual(numbers["generated"], sum(numbers[name] for name in ("filtered", "lost", "kept", "in_gaps")), rows)
        return rows

    def no_holes(self, trace):
        """On each CPU the sequence numbers of what was delivered are without holes."""
        self.assertEqual(trace.number("SELECT coalesce(sum(last + 1 - kept), 0) FROM (SELECT max(sequence) AS last, count(*) AS kept "
                                      "FROM internal.raw_syscall_event GROUP BY host_index, cpu)"), 0)
