#!/usr/bin/env python3
"""What people run on three hosts, recorded on each with a clock of its own, and asked as one trace."""

import filecmp
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest

import laboratory
import servers
import support
from following import FollowTest

POSTGRES_PORT, REDIS_PORT, WEB_PORT, RELAY_PORT = 5432, 6379, 8000, 9000
ROW = f"row {os.getpid()}-{time.time_ns()}"  # nothing else on the machine has these
VALUE = f"value-{os.getpid()}-{time.time_ns()}"
PIECE = 50_000  # bytes that a relay acknowledges
FLIPPED = 123_456
ROUNDED_NS = 4  # down, where a time is turned from one clock to another
PIECE_MAX = 8192  # bytes: a change lies between two anchors, some 1,024 bytes apart
STREAMING_S = 60  # a standby that catches up on a busy machine

# A relay keeps what comes, hands it on and acknowledges what the next one has acknowledged. `flip` changes a byte of its own copy.
RELAY = r"""
import socket, sys
address, next_address, path, flip = sys.argv[1:5]
listener = socket.create_server((address, %d))
print("listens", flush=True)
near = listener.accept()[0]
far = socket.create_connection((next_address, %d)) if next_address else None
taken = 0
with open(path, "wb", buffering=0) as file:
    while piece := near.recv(%d, socket.MSG_WAITALL):
        if far:
            far.sendall(piece)
            far.recv(4, socket.MSG_WAITALL)
        at = int(flip or -1) - taken
        file.write(piece[:at] + bytes([piece[at] ^ 1]) + piece[at + 1:] if 0 <= at < len(piece) else piece)
        taken += len(piece)
        near.sendall(b"have")
""" % (RELAY_PORT, RELAY_PORT, PIECE)

CLIENT = r"""
import socket, sys
address, path = sys.argv[1:3]
with socket.create_connection((address, %d)) as relay, open(path, "rb", buffering=0) as file:
    while piece := file.read(%d):
        relay.sendall(piece)
        relay.recv(4, socket.MSG_WAITALL)
""" % (RELAY_PORT, PIECE)


def clocks():
    """Behind, by half of the time that this machine is up as no clock goes below zero, and fast; a day ahead and slow; right."""
    now = support.boot_ns()
    return {"alpha": laboratory.Clock(-(now // 2 // 10**9), 60, now), "beta": laboratory.Clock(86_400, -150, now), "gamma": laboratory.Clock(0, 0, now)}


def nginx_settings(folder, web):
    temporary = " ".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return (f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log; events {{ worker_connections 64; }}\n"
            f"http {{ access_log off; {temporary} {web} }}\n")


# A service of names: questions and answers are single datagrams.
NAMES = r"""
import socket, sys
service = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
service.bind((sys.argv[1], 53))
print("listens", flush=True)
while True:
    question, asker = service.recvfrom(512)
    service.sendto(b"address of " + question, asker)
"""

ASKERS = r"""
import socket, sys
for number in range(20):
    asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    asker.connect((sys.argv[1], 53))
    asker.send(b"%s %d" % (sys.argv[2].encode(), number % 3))
    asker.recv(512)
"""


class Site:
    """The servers of the three hosts, which run from before the recording on."""

    def __init__(self, lab, folder):
        self.lab, self.folder = lab, folder
        self.alpha, self.beta, self.gamma = lab.hosts

    def path(self, name):
        return os.path.join(self.folder, name)

    def make_folder(self, name):
        path = self.path(name)
        os.mkdir(path)
        os.chmod(path, 0o755)
        return path

    def start(self, host, name, command):
        """What it says goes to a file."""
        with open(self.path(name + ".log"), "wb") as log:
            return host.start(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def as_postgres(self, *command):
        return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "env", "LC_ALL=C", *command]

    def ask(self, host, statement):
        done = host.run(["psql", "-h", host.address, "-U", "postgres", "-qAtc", statement], check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    def start_database(self, host, name, data):
        self.start(host, name, self.as_postgres(f"{servers.PostgreSQL.binaries()}/postgres", "-D", data, "-c", f"port={POSTGRES_PORT}", "-c",
                                                f"listen_addresses={host.address}", "-c", f"unix_socket_directories={os.path.dirname(data)}"))
        support.wait_for(lambda: self.ask(host, "SELECT 1") == "1", f"{name} answers", servers.START_S)

    def start_databases(self):
        primary, standby = (os.path.join(self.make_folder(name), "data") for name in ("primary", "standby"))
        for data in (primary, standby):
            shutil.chown(os.path.dirname(data), "postgres")
        subprocess.run(self.as_postgres(f"{servers.PostgreSQL.binaries()}/initdb", "--no-sync", "--auth=trust", "-D", primary), check=True,
                       capture_output=True, timeout=servers.START_S, cwd="/")
        with open(os.path.join(primary, "pg_hba.conf"), "a", encoding="ascii") as rules:
            rules.write(f"host all,replication all {laboratory.NETWORK}.0/24 trust\n")
        self.start_database(self.alpha, "primary", primary)
        self.ask(self.alpha, "CREATE TABLE cards (number text)")
        self.beta.run(self.as_postgres(f"{servers.PostgreSQL.binaries()}/pg_basebackup", "-h", self.alpha.address, "-c", "fast", "-R", "-D", standby))
        self.start_database(self.beta, "standby", standby)

    def redis(self, host, *command):
        return host.run(["redis-cli", "-h", host.address, "-p", str(REDIS_PORT), *command], check=False).stdout.strip()

    def start_redis(self):
        for host, of in ((self.alpha, []), (self.beta, ["--replicaof", f"{self.alpha.address} {REDIS_PORT}"])):
            folder = self.make_folder("redis_" + host.name)
            self.start(host, "redis_" + host.name, ["redis-server", "--bind", host.address, "--port", str(REDIS_PORT), "--dir", folder, "--save", "",
                                                    "--protected-mode", "no", "--repl-diskless-sync-delay", "0", *of])
        support.wait_for(lambda: "master_link_status:up" in self.redis(self.beta, "INFO", "replication"), "the replica is in step")

    def start_nginx(self, host, folder, web):
        path = os.path.join(folder, "nginx.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write(nginx_settings(folder, web))
        self.start(host, "nginx_" + host.name, ["nginx", "-e", f"{folder}/error.log", "-c", path])

    def start_web(self):
        """Two back ends with a page each, which are not the same, and a proxy that asks them in turn."""
        for host in (self.alpha, self.beta):
            folder = self.make_folder("web_" + host.name)
            with open(os.path.join(folder, "page"), "wb") as page:
                page.write(random.Random(host.name).randbytes(150_000))
            self.start_nginx(host, folder, f"server {{ listen {host.address}:{WEB_PORT}; root {folder}; }}")
        backends = " ".join(f"server {host.address}:{WEB_PORT};" for host in (self.alpha, self.beta))
        self.start_nginx(self.gamma, self.make_folder("proxy"), f"upstream both {{ {backends} }} server {{ listen {self.gamma.address}:{WEB_PORT}; "
                                                                "location / { proxy_pass http://both; } }")

    def start_git(self):
        self.gamma.run(["git", "init", "-q", "--bare", self.make_folder("shared.git")])
        self.start(self.gamma, "git", ["git", "daemon", "--enable=receive-pack", "--export-all", f"--listen={self.gamma.address}",
                                       f"--base-path={self.folder}", self.folder])

    def start_all(self):
        self.start_databases()
        self.start_redis()
        self.start_web()
        self.start_git()

    # What is done while it is recorded.

    def insert_a_row(self):
        self.gamma.run(["psql", "-h", self.alpha.address, "-U", "postgres", "-qc", f"INSERT INTO cards VALUES ('{ROW}')"])
        support.wait_for(lambda: self.ask(self.beta, "SELECT count(*) FROM cards") == "1", "the standby has the row", STREAMING_S)

    def set_a_value(self):
        self.gamma.run(["redis-cli", "-h", self.alpha.address, "-p", str(REDIS_PORT), "set", "key", VALUE])
        support.wait_for(lambda: self.redis(self.beta, "get", "key") == VALUE, "the replica has the value")

    def fetch_pages(self):
        for name in ("first", "second"):
            self.beta.run(["curl", "-sS", "-o", self.path(name), f"http://{self.gamma.address}:{WEB_PORT}/page"])

    def relay_a_file(self):
        """From gamma to alpha, from there to beta, and on to gamma, where a byte goes wrong on its way to the disk."""
        with open(self.path("block"), "wb") as block:
            block.write(random.Random("block").randbytes(200_000))
        relays = []
        for host, following, flip in ((self.gamma, "", str(FLIPPED)), (self.beta, self.gamma.address, ""), (self.alpha, self.beta.address, "")):
            relay = host.start_python(RELAY, host.address, following, self.path("block_of_" + host.name), flip, stdout=subprocess.PIPE)
            relay.stdout.readline()
            relay.stdout.close()
            relays.append(relay)
        self.gamma.python(CLIENT, self.alpha.address, self.path("block"))
        for relay in relays:
            relay.wait(timeout=support.PATIENCE_S)

    def push(self):
        work = self.make_folder("work")
        with open(os.path.join(work, "blob"), "wb") as blob:
            blob.write(random.Random("blob").randbytes(100_000))
        git = ["git", "-C", work, "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for words in (["init", "-q"], ["add", "blob"], ["commit", "-qm", "one"]):
            self.beta.run([*git, *words])
        self.beta.run([*git, "push", "-q", f"git://{self.gamma.address}/shared.git", "HEAD:refs/heads/main"])

    def ask_for_names(self):
        """Two hosts ask the third, some of it again."""
        service = self.gamma.start_python(NAMES, self.gamma.address, stdout=subprocess.PIPE)
        service.stdout.readline()
        service.stdout.close()
        for host in (self.alpha, self.beta):
            host.python(ASKERS, self.gamma.address, host.name)

    def do_all(self):
        self.ask_for_names()
        self.insert_a_row()
        self.set_a_value()
        self.fetch_pages()
        self.relay_a_file()
        self.push()


class LaboratoryTest(FollowTest):
    """One recording, and a question per test."""

    @classmethod
    def setUpClass(cls):
        lacking = laboratory.lacking() + servers.missing_programs() + servers.missing("curl", "git", "redis-cli")
        if lacking:
            raise unittest.SkipTest(f"{', '.join(lacking)} is not installed: tools/install_packages test")
        cls.site_folder = tempfile.mkdtemp(prefix="dyetrace-test-")
        cls.addClassCleanup(shutil.rmtree, cls.site_folder, ignore_errors=True)
        os.chmod(cls.site_folder, 0o755)
        lab = laboratory.Laboratory("alpha", "beta", "gamma")
        cls.addClassCleanup(lab.close)
        cls.site = Site(lab, cls.site_folder)
        cls.site.start_all()
        cls.clocks = clocks()
        fleet = laboratory.Fleet(lab, cls.site_folder, {host: clock.option for host, clock in cls.clocks.items()})
        fleet.record(lab["gamma"], "session", "--content=anchors", "--dye", f"row={ROW}", "--dye", f"value={VALUE}")
        cls.site.do_all()
        cls.said = fleet.stop()
        cls.trace = fleet.trace
        lab.close()

    def site_path(self, name):
        return self.seen(os.path.join(self.site_folder, name))

    def programs_of(self, trail):
        """host:program of every hop, in the order of the trail."""
        return [support.program_of(hop["process"]) for hop in trail["hops"]]

    def test_nothing_is_lost_and_the_accounting_of_each_host_are_closed(self):
        rows = self.trace.rows("SELECT host, sum(generated) AS generated, sum(filtered + aggregated + delivered + lost) AS booked, sum(lost) AS lost "
                               "FROM accounting GROUP BY 1 ORDER BY 1")
        self.assertEqual([row["host"] for row in rows], ["alpha", "beta", "gamma"])
        for row in rows:
            self.assertEqual((row["generated"], int(row["lost"])), (row["booked"], 0), self.said)

    def test_times_are_off_by_no_more_than_they_say(self):
        hosts = {row["host"]: int(row["wall_offset_ns"]) for row in self.trace.rows("SELECT host, wall_offset_ns FROM hosts")}
        events = self.trace.rows("SELECT host, start_ns, epoch_ns(time) AS ns, time_uncertainty_ns AS off FROM events ORDER BY hash(event_id) LIMIT 3000")
        widths = {host: [int(event["off"]) for event in events if event["host"] == host] for host in hosts}
        reference = min(widths, key=lambda host: max(widths[host]))  # whose wall clock cluster time is
        for event in events:
            true_ns = self.clocks[event["host"]].true(int(event["start_ns"]))
            expected_ns = self.clocks[reference].shown(true_ns) + hosts[reference]
            self.assertLessEqual(abs(int(event["ns"]) - expected_ns), int(event["off"]) + ROUNDED_NS, (event, reference))
        for host, width in widths.items():
            self.assertLess(min(width), 5_000_000, f"{host} talked to the others")

    def test_nothing_is_received_before_it_was_sent(self):
        # The receiver's end by its own clock, and from that on the cluster's: a duration is one by the host's clock.
        answer = self.trace.numbers("""SELECT count(*) AS flows, count(*) FILTER (ended < epoch_ns(time)) AS inverted, count(*) FILTER (end_ns < start_ns) AS inverted_before
            FROM (SELECT a.time, a.start_ns, b.start_ns + b.duration_ns AS end_ns, b.host FROM flows f
                JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event WHERE rule = 'tcp' AND a.host <> b.host) f
            ASOF JOIN (SELECT host, from_ns, epoch_ns(from_time) AS from_cluster_ns, rate FROM clock_map) m ON m.host = f.host AND m.from_ns <= f.end_ns,
            LATERAL (SELECT from_cluster_ns + (end_ns - from_ns)::BIGINT + floor((end_ns - from_ns) * rate)::BIGINT AS ended)""")
        self.assertGreater(answer["flows"], 100)
        self.assertGreater(answer["inverted_before"], 50)
        self.assertEqual(answer["inverted"], 0, answer)

    def test_a_row_goes_from_the_client_to_the_primary_and_into_the_standby_s_log(self):
        trail = self.trail(self.trace, "--dye", "row")
        programs = set(self.programs_of(trail))
        self.assertLessEqual({"gamma:psql", "alpha:postgres", "beta:postgres"}, programs)
        logs = {(hop["process"].split(":")[0], os.path.relpath(hop["path"], self.site_path("")).split("/")[0]) for hop in trail["hops"]
                if hop["path"] and "/pg_wal/" in hop["path"] and hop["name"] == "pwrite64"}
        self.assertEqual(logs, {("alpha", "primary"), ("beta", "standby")})

    def test_a_value_goes_from_the_client_to_redis_and_its_replica(self):
        trail = self.trail(self.trace, "--dye", "value")
        self.assertLessEqual({"gamma:redis-cli", "alpha:redis-server", "beta:redis-server"}, set(self.programs_of(trail)))

    def test_pages_behind_a_proxy_come_from_the_back_end_that_had_them(self):
        origins = set()
        for name in ("first", "second"):
            back = self.trail(self.trace, "--path", self.site_path(name), "--back")
            backends = {program for program in self.programs_of(back) if program.endswith(":nginx")} - {"gamma:nginx"}
            self.assertEqual(len(backends), 1, self.programs_of(back))
            self.assertIn("gamma:nginx", self.programs_of(back))
            self.assertIn("beta:curl", self.programs_of(back))
            (backend,) = backends
            host = backend.split(":")[0]
            self.assertTrue(filecmp.cmp(os.path.join(self.site_folder, name), os.path.join(self.site_folder, "web_" + host, "page"), shallow=False))
            self.assertIn(self.site_path(f"web_{host}/page"), {hop["path"] for hop in back["hops"]} | {hop["path2"] for hop in back["hops"]})
            origins.add(host)
        self.assertEqual(origins, {"alpha", "beta"})

    def test_a_chain_of_relays_is_no_broadcast(self):
        trail = self.trail(self.trace, "--path", self.site_path("block"))
        edges = {(trail["hops"][link["from_hop"]]["process"].split(":")[0], trail["hops"][link["to_hop"]]["process"].split(":")[0])
                 for link in trail["links"] if "tcp" in link["rules"]}
        self.assertEqual(edges, {("gamma", "alpha"), ("alpha", "beta"), ("beta", "gamma")})

    def test_the_relays_acts_are_in_causal_order_whatever_their_clocks_say(self):
        first = "SELECT arg_{}(event_id, start_ns) FROM events WHERE path = '{}' AND name = '{}'"
        read, *writes = (first.format("min" if name == "read" else "max", self.site_path(path), name) for path, name in (
            ("block", "read"), ("block_of_alpha", "write"), ("block_of_beta", "write"), ("block_of_gamma", "write")))
        for write in writes:
            (row,) = self.trace.rows(f"SELECT happened_before(({read}), ({write})) AS forth, happened_before(({write}), ({read})) AS back")
            self.assertEqual(row, {"forth": True, "back": False}, write)
        # a relay keeps a piece when the next one has acknowledged it
        for later, earlier in (writes[:2], writes[1:]):
            (row,) = self.trace.rows(f"SELECT happened_before(({earlier}), ({later})) AS forth, happened_before(({later}), ({earlier})) AS back")
            self.assertEqual(row, {"forth": True, "back": False})
        told = self.trace.rows("SELECT c.* FROM contradictions c, events e WHERE e.event_id IN (SELECT unnest(c.events)) AND e.path LIKE '%/block%'")
        self.assertEqual(told, [])

    def test_a_datagram_is_before_what_its_receiver_does(self):
        answer = self.trace.numbers("""SELECT count(*) AS edges, count(*) FILTER (happened_before(from_event, to_event)) AS there,
            count(*) FILTER (happened_before(to_event, from_event)) AS back FROM edges JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event
            WHERE rule = 'datagram' AND a.host <> b.host AND 53 IN (a.remote_port, b.remote_port)""")
        self.assertGreater(answer["edges"], 60, "40 questions and 40 answers, less those of a port that both askers had")
        self.assertEqual((answer["there"], answer["back"]), (answer["edges"], 0))

    def test_no_clock_contradicts_an_edge_and_no_send_is_missed(self):
        self.assertEqual(self.trace.rows("FROM contradictions WHERE kind IN ('clock', 'missing_send')"), [])

    def test_a_copy_that_went_bad_is_named_with_its_host(self):
        done = subprocess.run([support.DYETRACE, "verify-copies", self.trace.path, "--path", self.site_path("block"), "--json"],
                              capture_output=True, text=True, timeout=support.PATIENCE_S, check=False)
        answer = json.loads(done.stdout)
        (change,) = answer["changes"]
        good, bad = (answer["copies"][change[which]] for which in ("good", "bad"))
        self.assertEqual(good["name"], "recvfrom")
        self.assertRegex(good["process"], r"^gamma:python3")
        self.assertEqual((bad["name"], bad["process"], bad["what"]), ("write", good["process"], self.site_path("block_of_gamma")))
        self.assertEqual((change["outcome"], change["place"]), ("changed", "memory"))
        self.assertTrue(change["begin"] <= FLIPPED < change["end"] < change["begin"] + PIECE_MAX, change)
        copies = {(copy["process"].split(":")[0], os.path.basename(copy["what"])) for copy in answer["copies"] if copy["name"] == "write"}
        self.assertEqual(copies, {("alpha", "block_of_alpha"), ("beta", "block_of_beta"), ("gamma", "block_of_gamma")})

    def test_a_push_goes_from_one_host_into_the_other_s_repository(self):
        flows = self.trace.rows("""SELECT a.host AS from_host, b.host AS to_host, sum(f.bytes)::BIGINT AS bytes, bool_and(certainty = 'certain') AS certain
            FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event
            WHERE 9418 IN (a.local_port, a.remote_port) AND rule = 'tcp' GROUP BY ALL ORDER BY ALL""")
        self.assertEqual([(row["from_host"], row["to_host"], row["certain"]) for row in flows], [("beta", "gamma", True), ("gamma", "beta", True)])
        self.assertGreater(int(flows[0]["bytes"]), 100_000)


    def test_datagrams_reach_who_they_were_for(self):
        flows = self.trace.rows("""SELECT a.host AS from_host, b.host AS to_host, certainty, count(*) AS flows, count(DISTINCT from_event) AS sent,
                   count(DISTINCT to_event) AS taken, bool_and(a.fingerprint = b.fingerprint) AS same
            FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event WHERE rule = 'udp' GROUP BY ALL ORDER BY ALL""")
        pairs = (("alpha", "gamma"), ("beta", "gamma"), ("gamma", "alpha"), ("gamma", "beta"))
        self.assertEqual([(row["from_host"], row["to_host"], row["certainty"]) for row in flows], [(*pair, "likely") for pair in pairs])
        for row in flows:
            self.assertEqual((int(row["flows"]), int(row["sent"]), int(row["taken"]), row["same"]), (20, 20, 20, True))


if __name__ == "__main__":
    support.main()
