"""The parts of bench/run that are about many hosts: real agents, and fleets of simulated ones (fleet_load.cpp). docs/scale.md has one run of them."""

import contextlib
import ctypes
import glob
import os
import re
import shutil
import signal
import subprocess
import time

import servers
from measurements import print_table, run_pgbench, start_pgbench
from simulated_fleet import SimulatedFleet
from tracers import BUILD, DYETRACE, LOAD, LOOP_RING, PATIENCE_S, Recording, Said, folder_bytes, output_of

INSECURE = "FLEET_INSECURE" in os.environ
SIZES = tuple(int(hosts) for hosts in os.environ.get("FLEET_SIZES", "10,100,1000").split(","))
TRUNK_RATE = 100_000  # events a second of three agents together
TRUNK_S = 60
SMALL_TPS = 10        # a host that does a little: PostgreSQL at so many transactions a second
SMALL_S = 60
LARGE_S = 10          # one that does what it can
ANSWER_S = 120        # longer is not waited for
SEALED_S = 240
COST_REQUESTS = 100_000
COST_CALLS = 1_000_000
WINDOW_S = 20         # in which a collector's CPU time is taken
TICKS = os.sysconf("SC_CLK_TCK")
CLONE_NEWNET = 0x40000000


def own_network():
    """From here on this process and its children have a loopback device that nobody else speaks on: its counters are ours."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no network namespace")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def loopback_bytes():
    with open("/proc/self/net/dev", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.strip().startswith("lo:"))


class Usage:
    """What a process has used, and what of its children that it has waited for."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        self.cpu_s = (int(fields[11]) + int(fields[12])) / TICKS
        self.children_cpu_s = (int(fields[13]) + int(fields[14])) / TICKS
        self.threads = int(fields[17])
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            status = file.read()
        self.memory_bytes = 1024 * int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        self.memory_bytes_max = 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])
        self.files = len(os.listdir(f"/proc/{pid}/fd"))


class Fleet:
    """A collector on loopback and whoever is started beside it, with certificates unless FLEET_INSECURE is set; all end with the block."""

    def __init__(self, folder):
        self.folder = folder
        self.port = 0
        self.collector = None
        self.agents = {}

    def __enter__(self):
        os.mkdir(self.folder)
        if not INSECURE:
            subprocess.run([DYETRACE, "pki", "init", self.path("pki")], check=True, capture_output=True)
        self.start_collector()
        return self

    def __exit__(self, *_):
        for process in [*self.agents.values(), self.collector]:
            process.terminate()
        for process in [*self.agents.values(), self.collector]:
            process.wait(timeout=PATIENCE_S)
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def security(self, kind, name, *rights):
        """How they prove who they are."""
        if INSECURE:
            return ["--insecure"]
        folder = self.path(f"pki/{kind}-{name}")
        if not os.path.exists(folder):
            subprocess.run([DYETRACE, "pki", "issue", self.path("pki"), f"--{kind}", name, *rights], check=True, capture_output=True)
        return ["--certificates", folder]

    def security_of_many(self, hosts):
        for number in range(0 if INSECURE else hosts):
            self.security("host", f"host-{number:04}")
        return ["--insecure"] if INSECURE else ["--certificates", self.path("pki")]

    def said(self, name):
        with open(self.path(name + ".said"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def _start(self, name, words, until):
        with open(self.path(name + ".said"), "wb") as said:
            process = subprocess.Popen([DYETRACE, *words], stdin=subprocess.DEVNULL, stderr=said)
        deadline = time.monotonic() + PATIENCE_S
        while until not in self.said(name):
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise RuntimeError(f"{name}: {self.said(name)}")
            time.sleep(0.02)
        return process

    def start_collector(self):
        self.collector = self._start("collector", ["collector", "--listen", f"127.0.0.1:{self.port}", "--store", self.path("store"),
                                                    *self.security("collector", "main")], "listening on")
        self.port = int(re.search(r"listening on 127.0.0.1:(\d+)", self.said("collector"))[1])

    def start_agent(self, name):
        where = ["--collector", f"127.0.0.1:{self.port}", "--spool", self.path("spool-" + name)]
        self.agents[name] = self._start("agent-" + name, ["agent", *where, "--host", name, *self.security("host", name)], "connected to")

    def operator(self, name, *words):
        return ["record", "--on", "all", "--collector", f"127.0.0.1:{self.port}", "-o", name,
                *self.security("operator", "bench", "--may", "record,read"), *words]

    def start_session(self, name, *words):
        """All hosts record when this returns."""
        return self._start("operator", self.operator(name, *words), "recording ")

    def end_session(self, operator):
        """Seconds until everything is there."""
        begin = time.monotonic()
        operator.send_signal(signal.SIGINT)
        status = operator.wait(timeout=PATIENCE_S)
        if status != 0:
            raise RuntimeError(self.said("operator") + self.said("collector"))
        return time.monotonic() - begin

    def trace(self, name):
        return os.path.join(self.path("store"), name)


def answer(trace, *question):
    """What it says, and how long that took; None and why if there is no answer."""
    begin = time.monotonic()
    try:
        done = subprocess.run([DYETRACE, *question[:1], trace, *question[1:]], capture_output=True, text=True, timeout=ANSWER_S, check=False)
    except subprocess.TimeoutExpired:
        return None, f"> {ANSWER_S} s"
    seconds = time.monotonic() - begin
    return (done.stdout, f"{seconds:.1f} s") if done.returncode == 0 else (None, done.stderr.strip().splitlines()[-1][:60])


def questions(trace):
    count, counted = answer(trace, "sql", "SELECT count(*) FROM events", "--format", "csv")
    _, grouped = answer(trace, "sql", "SELECT host, name, count(*), sum(duration_ns) FROM events GROUP BY ALL ORDER BY 4 DESC LIMIT 5")
    _, reported = answer(trace, "report")
    return int(count.split()[-1]) if count else None, [counted, grouped, reported]


def record_postgres(path, seconds, folder, *pgbench):
    """A trace of PostgreSQL's server under TPC-B, in segments, as a fleet replays it."""
    with start_pgbench(folder) as server:
        server.run("pgbench", "-i", "-q", "-s", "1")
        with Recording(path, "--no-seal", "-p", str(server.pid)) as recording:
            server.run("pgbench", "-n", "-c", "2", "-T", str(seconds), *pgbench)
    shutil.rmtree(server.folder)
    return recording.said


@contextlib.contextmanager
def simulated(folder, hosts, trace, speed):
    """A collector and a fleet that is connected to it. Spools are in memory: the disk is the collector's alone, as it would be."""
    spools = f"/dev/shm/dyetrace-bench-{os.getpid()}"
    try:
        with Fleet(os.path.join(folder, "fleet")) as fleet:
            with SimulatedFleet(BUILD, fleet.port, hosts, trace, spools, *fleet.security_of_many(hosts), "--speed", str(speed)) as many:
                many.wait_for(many.are_connected, PATIENCE_S)
                yield fleet, many
    finally:
        shutil.rmtree(spools, ignore_errors=True)


def sealed(trace):
    """Seconds until all of it is Parquet."""
    begin = time.monotonic()
    while any(name.endswith(".seg") for _, _, names in os.walk(trace) for name in names):
        if time.monotonic() - begin > SEALED_S:
            return f"> {SEALED_S} s"
        time.sleep(0.2)
    return f"{time.monotonic() - begin:.0f} s"


class Steady:
    """A fleet that records as hosts do: what the collector uses, how long questions take, what a collector that dies costs."""

    def __init__(self, folder, hosts, recorded):
        with simulated(folder, hosts, recorded, 1) as (self.fleet, self.many):
            self.hosts = hosts
            idle = Usage(self.fleet.collector.pid)
            begin = time.monotonic()
            operator = self.fleet.start_session("steady")
            self.starting_s = time.monotonic() - begin
            self.trace = self.fleet.trace("steady")
            time.sleep(5)  # the first second is not like the others
            self.use = self.watch(idle)
            self.recovery = self.kill_collector()  # while all still record
            _, self.live = questions(self.trace)
            self.ending_s = self.fleet.end_session(operator)
            self.count, self.ended = questions(self.trace)
            self.sealed = sealed(self.trace)
            _, self.at_rest = questions(self.trace)
            self.events, self.bytes = self.many.now["events"], self.many.now["bytes"]
            self.store = folder_bytes(self.trace)

    def watch(self, idle):
        before, begin, written = Usage(self.fleet.collector.pid), time.monotonic(), dict(self.many.now)
        fleet_before, wire = Usage(self.many.process.pid), loopback_bytes()
        time.sleep(WINDOW_S)
        after, now, seconds = Usage(self.fleet.collector.pid), dict(self.many.now), time.monotonic() - begin
        fleet, wire = Usage(self.many.process.pid), loopback_bytes() - wire
        events, sent = now["events"] - written["events"], now["bytes"] - written["bytes"]
        cpu_s = after.cpu_s - before.cpu_s
        return [f"{self.hosts:,}", f"{events / seconds:,.0f}", f"{sent / seconds / 1e6:.2f}", f"{sent / events:.1f}", f"{wire / events:.1f}",
                f"{100 * cpu_s / seconds:.1f} %", f"{1e9 * cpu_s / events:,.0f}", f"{1e6 * cpu_s / seconds / self.hosts:,.0f}",
                f"{after.memory_bytes_max / 1e6:.0f}", f"{(after.memory_bytes_max - idle.memory_bytes) / self.hosts / 1e3:,.0f}",
                f"{after.files:,}", f"{after.threads}", f"{100 * (fleet.cpu_s - fleet_before.cpu_s) / seconds:.0f} %"]

    def kill_collector(self):
        self.fleet.collector.kill()
        self.fleet.collector.wait()
        self.many.wait_for(lambda: self.many.now["connected"] == 0, PATIENCE_S)
        begin = time.monotonic()
        self.fleet.start_collector()
        listening = time.monotonic() - begin
        self.many.wait_for(self.many.are_connected, PATIENCE_S)
        connected = time.monotonic() - begin
        self.many.wait_for(self.has_all, PATIENCE_S)
        there = time.monotonic() - begin
        self.many.wait_for(self.many.have_recovered, PATIENCE_S)
        return [f"{listening:.1f} s", f"{connected:.1f} s", f"{there:.1f} s", f"{time.monotonic() - begin:.1f} s"]

    def has_all(self):
        """What was written when it was asked is in the collector's files; of a recorded trace of one segment, which is not made Parquet before the end."""
        written = self.many.now["bytes"]
        return written <= sum(os.path.getsize(path) for path in glob.glob(os.path.join(self.trace, "host-*", "segment-*.seg")))


def small_trace(folder):
    path = os.environ.get("FLEET_TRACE", os.path.join(folder, "small"))
    if not os.path.exists(path):
        record_postgres(path, SMALL_S, folder, "-R", str(SMALL_TPS))
    return path


def fleet_steady(folder, _rounds, _median):
    """Simulated hosts that do a little each, as most hosts do, with a collector that is killed in the midst."""
    recorded = small_trace(folder)
    own_network()
    runs = [Steady(folder, hosts, recorded) for hosts in SIZES]
    print_table(f"simulated hosts, each PostgreSQL at {SMALL_TPS} transactions/s; the collector's use over {WINDOW_S} s",
                ["hosts", "events/s", "MB/s", "bytes/event", "on the wire", "CPU", "CPU ns/event", "CPU µs/s/host", "memory MB", "kB/host", "files", "threads",
                 "the fleet's CPU"], [run.use for run in runs])
    print_table("until all record; the collector is killed and started again: until it listens, all are connected, it has what had waited, "
                "each host was at rest once; until the session has ended",
                ["hosts", "all record", "listens", "connected", "has all", "at rest", "session ends"],
                [[f"{run.hosts:,}", f"{run.starting_s:.1f} s", *run.recovery, f"{run.ending_s:.1f} s"] for run in runs])
    kinds = ["count", "group by", "report"]
    print_table("until a question is answered", ["hosts", *(f"{kind}, {when}" for when in ("live", "ended", "Parquet") for kind in kinds), "sealed after"],
                [[f"{run.hosts:,}", *run.live, *run.ended, *run.at_rest, run.sealed] for run in runs])
    for run in runs:
        print(f"  {run.hosts:,} hosts: {run.events:,} events replayed, {run.count or 0:,} in the trace; {run.bytes / 1e6:.0f} MB sent, "
              f"{run.store / 1e6:.0f} MB as Parquet")


def fleet_fast(folder, _rounds, _median):
    """The same with hosts that have everything ready: what the collector takes at most, beside the fleet on the same CPUs."""
    large = os.path.join(folder, "large")
    record_postgres(large, LARGE_S, folder)
    rows = []
    for hosts, recorded in ((SIZES[0], large), (SIZES[1], large), (SIZES[2], small_trace(folder))):
        with simulated(folder, hosts, recorded, 0) as (fleet, many):
            before, fleet_before = Usage(fleet.collector.pid), Usage(many.process.pid)
            begin = time.monotonic()
            operator = fleet.start_session("fast")
            many.wait_for(many.have_shipped, PATIENCE_S)
            seconds = time.monotonic() - begin
            after, fleet_after = Usage(fleet.collector.pid), Usage(many.process.pid)
            fleet.end_session(operator)
            now = many.now
            cpu_s = after.cpu_s - before.cpu_s
            rows.append([f"{hosts:,}", f"{now['events']:,}", f"{now['bytes'] / 1e6:,.0f}", f"{seconds:.1f}", f"{now['events'] / seconds:,.0f}",
                         f"{now['bytes'] / seconds / 1e6:,.0f}", f"{cpu_s:.1f} s", f"{1e9 * cpu_s / now['bytes']:.1f}",
                         f"{fleet_after.cpu_s - fleet_before.cpu_s:.1f} s", f"{after.memory_bytes_max / 1e6:.0f}"])
    print_table("simulated hosts that have everything ready: until the last byte is acknowledged",
                ["hosts", "events", "MB", "s", "events/s", "MB/s", "collector CPU", "ns/byte", "fleet CPU", "collector memory MB"], rows)


def fleet_trunk(folder, _rounds, _median):
    """Three real agents on this machine record the same calls: each adds a third. 0 have to be lost."""
    own_network()
    with Fleet(os.path.join(folder, "trunk")) as fleet:
        for name in ("a", "b", "c"):
            fleet.start_agent(name)
        before = {name: Usage(agent.pid) for name, agent in fleet.agents.items()}
        wire = loopback_bytes()
        stdout, said = output_of([DYETRACE, *fleet.operator("trunk", "--comm", os.path.basename(LOAD), "--", LOAD, "rate",
                                                            str(os.cpu_count()), str(TRUNK_RATE // 3), str(TRUNK_S))])
        wire = loopback_bytes() - wire
        lost = sum(int(number.replace(",", "")) for number in re.findall(r"([\d,]+) events lost", said))
        after = {name: Usage(agent.pid) for name, agent in fleet.agents.items()}
        collector = Usage(fleet.collector.pid)
        events, _ = questions(fleet.trace("trunk"))
        agent_s = [after[name].cpu_s - before[name].cpu_s for name in after]
        recorder_s = [after[name].children_cpu_s - before[name].children_cpu_s for name in after]
        print_table(f"three agents, {TRUNK_RATE:,} events/s together for {TRUNK_S} s",
                    ["calls made", "events", "lost", "bytes/event on the wire", "agent CPU", "recorder CPU", "collector CPU", "agent memory", "collector memory"],
                    [[f"{int(stdout.split()[0]):,}", f"{events:,}", f"{lost:,}", f"{wire / events:.1f}",
                      f"{min(agent_s):.2f} to {max(agent_s):.2f} s", f"{min(recorder_s):.1f} to {max(recorder_s):.1f} s", f"{collector.cpu_s:.2f} s",
                      f"{max(use.memory_bytes_max for use in after.values()) / 1e6:.0f} MB", f"{collector.memory_bytes_max / 1e6:.0f} MB"]])
        for line in said.splitlines():
            print("  " + line)


class Agent:
    """An agent and its collector beside a load, in the place of a local recorder."""

    def __init__(self, folder, *words):
        self.fleet, self.words = Fleet(folder), words
        self.events = 0
        self.lost = 0

    def __enter__(self):
        self.fleet.__enter__()
        self.fleet.start_agent("a")
        self.session = self.fleet.start_session("trace", *self.words)
        return self

    def __exit__(self, *_):
        self.fleet.end_session(self.session)
        text = self.fleet.said("operator")
        self.events = int(re.search(r"([\d,]+) events", text)[1].replace(",", ""))
        lost = re.search(r"([\d,]+) events lost", text)
        self.lost = int(lost[1].replace(",", "")) if lost else 0
        self.fleet.__exit__()


class Cost:
    """What is left of a program's speed alone, with a local recorder and with an agent; in turns."""

    def __init__(self, folder, rounds):
        self.folder, self.rounds = folder, rounds
        self.rates, self.told = {}, []

    def measure(self, name, measure_once, *words):
        """`measure_once()` gives {test: operations per second}."""
        watchers = {
            "alone": contextlib.nullcontext,
            "recorder": lambda: Recording(os.path.join(self.folder, "local"), *words),
            "agent": lambda: Agent(os.path.join(self.folder, "fleet"), *words),
        }
        for _ in range(self.rounds):
            for watcher, begin in watchers.items():
                with begin() as beside:
                    for test, rate in measure_once().items():
                        self.rates.setdefault(test, {}).setdefault(watcher, []).append(rate)
                if watcher == "recorder":
                    shutil.rmtree(beside.path)
                if watcher == "agent":
                    self.told.append((name, beside))

    def loop(self):
        """One-byte reads; the ring holds all of them."""
        self.measure("loop", lambda: {"pread loop": 1e9 / float(output_of([LOAD, "pread", str(COST_CALLS)])[0].split()[-1])},
                     "-a", "--comm", os.path.basename(LOAD), "--ring", LOOP_RING)

    def redis(self):
        home = os.path.join(self.folder, "redis")
        os.mkdir(home)

        def measure_once():
            lines = server.run("-n", str(COST_REQUESTS), "-c", "50", "-t", "set,get", "--csv").splitlines()[1:]
            return {f"Redis {test}": float(rate) for test, rate in (line.replace('"', "").split(",")[:2] for line in lines)}

        with servers.Redis(home) as server:
            self.measure("Redis", measure_once, "-p", str(server.pid))

    def postgres(self):
        with start_pgbench(self.folder) as server:
            server.run("pgbench", "-i", "-q", "-s", "10")
            self.measure("PostgreSQL", lambda: {"pgbench TPC-B": run_pgbench(server, "TPC-B")}, "-p", str(server.pid))
        shutil.rmtree(server.folder)

    def tell(self, median):
        rows = []
        for test, taken in self.rates.items():
            alone, recorder, agent = (median(taken[watcher]) for watcher in ("alone", "recorder", "agent"))
            pairs = [with_agent / local for with_agent, local in zip(taken["agent"], taken["recorder"])]
            rows.append([test, f"{alone:,.0f}", f"{recorder / alone:.2f}", f"{agent / alone:.2f}", f"{median(pairs):.2f}",
                         f"{min(pairs):.2f} to {max(pairs):.2f}"])
        print_table(f"operations per second alone, what is left with a local recorder and with an agent (and its collector on the same CPUs); "
                    f"{self.rounds} rounds", ["", "alone", "recorder", "agent", "agent/recorder", "of single rounds"], rows)
        for name in dict.fromkeys(name for name, _ in self.told):
            events = sum(beside.events for other, beside in self.told if other == name)
            lost = sum(beside.lost for other, beside in self.told if other == name)
            print(f"  {name}: {events:,} events with an agent, {lost:,} lost")


def fleet_cost(folder, rounds, median):
    """What the program that is traced pays with an agent, beside what it pays with a local recorder."""
    cost = Cost(folder, rounds)
    for part in (cost.loop, cost.redis, cost.postgres):
        part()
    cost.tell(median)
