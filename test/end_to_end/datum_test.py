#!/usr/bin/env python3
"""Where did this datum go, and where did it come from? Through servers that people run."""

import filecmp
import os
import random
import shutil
import subprocess
import time

import servers
import support
from following import FollowTest

CARD = f"card {os.getpid()}-{time.time_ns()}"  # nothing else on the machine has it

# Of tests beside these: what they record of the whole machine, and then read, has the command lines of these in it.
OTHERS = {"dyetrace", "dyetrace-store", "dyetrace-fleet", "python3"}


class DatumTest(FollowTest):
    def setUp(self):
        super().setUp()
        self.skip_without(servers.missing_programs())

    def server_folder(self):
        os.mkdir(self.path("server"))
        os.chmod(self.path("server"), 0o755)
        return self.path("server")

    def assert_said_nothing(self, stderr):
        """But of files that others on this machine write."""
        self.assertEqual([line for line in stderr.splitlines() if "writers were left out" not in line], [])

    def trail(self, trace, *arguments):
        trail = super().trail(trace, *arguments)
        self.assertIsNone(trail["gaps"], "the way has a hole")
        return trail

    def dye(self):
        """In a file: who looks at processes while this one records, as another test may, reads the command lines of all."""
        with open(self.path("card"), "w", encoding="ascii") as file:
            file.write(CARD)
        return f"card=@{self.path('card')}"

    def hops_of(self, trail, program):
        return [hop for hop in trail["hops"] if support.program_of(hop["process"]) == program]

    def own_hops(self, trail):
        return [hop for hop in trail["hops"] if support.program_of(hop["process"]) not in OTHERS]

    def hop_on(self, trail, path):
        """The only one on this file."""
        hops = [hop for hop in trail["hops"] if self.seen(path) in (hop["path"], hop["path2"])]
        self.assertEqual(len(hops), 1, [(hop["process"], hop["name"], hop["what"]) for hop in trail["hops"]])
        return hops[0]

    def way(self, trail, hop):
        """How the trail came to a hop: (certainty, rules, process) of each link, from the start on."""
        into = {link["to_hop"]: link for link in trail["links"]}
        way = []
        while (number := hop["hop"]) in into:
            link = into[number]
            way.append((link["certainty"], link["rules"], support.program_of(hop["process"])))
            hop = trail["hops"][link["from_hop"]]
        return support.program_of(hop["process"]), way[::-1]


class RedisTest(DatumTest):
    def test_a_value_goes_from_the_client_into_the_appendonly_file_and_back(self):
        for fsync in ("always", "everysec"):
            with self.subTest(appendfsync=fsync):
                self.assert_value_is_followed(fsync)
                shutil.rmtree(self.path("server"))

    def assert_value_is_followed(self, fsync):
        with servers.Redis(self.server_folder(), {"appendonly": "yes", "appendfsync": fsync}) as server:
            trace, recorder = self.start_recording("-a", "--content=hash", "--dye", self.dye(), name=fsync)
            for value in (CARD, "another"):
                subprocess.run(["redis-cli", "-p", str(server.port), "set", value, f"of {value}"], check=True, capture_output=True)
            self.stop(recorder)
        (file,) = [name for name in os.listdir(self.path("server/appendonlydir")) if name.endswith(".incr.aof")]
        file = self.path(f"server/appendonlydir/{file}")
        with open(file, "rb") as content:
            at = content.read().index(CARD.encode())

        trail = self.trail(trace, "--dye", "card")
        written = self.hop_on(trail, file)
        self.assertEqual(self.way(trail, written),
                         ("redis-cli", [("certain", ["tcp"], "redis-server"), ("likely", ["dye"], "redis-server")]))
        self.assertEqual((written["offset"], written["name"]), (at, "write"))
        back = self.trail(trace, "--path", f"{self.seen(file)}:{at}-{at + len(CARD)}", "--back")
        self.assertEqual([(support.program_of(hop["process"]), hop["name"], hop["bytes"]) for hop in back["hops"]],
                         [("redis-cli", "sendto", len(CARD)), ("redis-server", "read", len(CARD)), ("redis-server", "write", len(CARD))])
        self.assertEqual([(link["certainty"], link["rules"]) for link in back["links"]], [("certain", ["tcp"]), ("likely", ["dye"])])


class PostgreSQLTest(DatumTest):
    def test_a_row_goes_from_the_client_into_the_log_the_table_s_file_and_a_dump(self):
        with servers.PostgreSQL(self.server_folder()) as postgres:
            trace, recorder = self.start_recording("-a", "--content=hash", "--dye", self.dye())
            postgres.ask("CREATE TABLE cards (number text)")
            postgres.ask(f"INSERT INTO cards VALUES ('{CARD}')")
            postgres.ask("CHECKPOINT")
            file = postgres.ask("SELECT pg_relation_filepath('cards')")[0]
            postgres.run("pg_dump", "--table=cards", "--file=" + self.path("dump"))
            postgres.restart()
            postgres.run("pg_dump", "--table=cards", "--file=" + self.path("later"))
            self.stop(recorder)
        trail = self.trail(trace, "--dye", "card")
        log, table = ([hop for hop in trail["hops"] if hop["name"] == "pwrite64" and part in hop["path"]] for part in ("/pg_wal/", "/" + file))
        took = ("certain", ["unix"], "postgres")
        found = ("likely", ["dye"], "postgres")
        for hop in log + table:
            self.assertEqual(self.way(trail, hop), ("psql", [took, found]))
        (backend,) = {hop["process"] for hop in trail["hops"] if hop["name"] == "recvfrom" and hop["process"].startswith("postgres")}
        self.assertIn(backend, {hop["process"] for hop in log})
        self.assertNotIn(backend, {hop["process"] for hop in table})  # the checkpointer has only met it in memory that they share

        dumped = [("certain", ["unix"], "pg_dump"), ("likely", ["dye"], "pg_dump")]
        self.assertEqual(self.way(trail, self.hop_on(trail, self.path("dump"))), ("psql", [took, found, *dumped]))
        self.assertEqual(self.way(trail, self.hop_on(trail, self.path("later"))),
                         ("psql", [took, found, ("certain", ["file"], "postgres"), found, *dumped]))
        self.assertEqual({support.program_of(hop["process"]) for hop in self.own_hops(trail)}, {"psql", "postgres", "pg_dump"})
        back = self.trail(trace, "--path", self.seen(self.path("later")), "--back")
        self.assertEqual([(support.program_of(hop["process"]), hop["name"]) for hop in back["hops"]],
                         [("psql", "sendto"), ("postgres", "recvfrom"), ("postgres", "pwrite64"), ("postgres", "pread64"),
                          ("postgres", "sendto"), ("pg_dump", "recvfrom"), ("pg_dump", "write")])

    def test_what_went_through_mapped_memory_is_never_certain(self):
        """A parallel worker hands its rows over in a file that both map, the buffers are anonymous memory that all map: no call moves a byte there."""
        settings = {"shared_memory_type": "mmap", "dynamic_shared_memory_type": "mmap", servers.PostgreSQL.parallel_setting(): "on"}
        with servers.PostgreSQL(self.server_folder(), settings) as postgres:
            postgres.ask("CREATE TABLE cards (number text)")
            postgres.ask(f"INSERT INTO cards VALUES ('{CARD}')")
            postgres.ask("CHECKPOINT")
            postgres.restart()
            trace, recorder = self.start_recording("-a", "--content=anchors", "--dye", self.dye())
            postgres.run("psql", "-qAt", "-c", "SELECT number FROM cards", "-o", self.path("found"))
            self.stop(recorder)
        trail = self.trail(trace, "--dye", "card")
        hops = self.own_hops(trail)
        self.assertEqual([hop["name"] for hop in hops], ["pread64", "sendto", "recvfrom", "write"])
        worker, leader = (hop["process"] for hop in hops[:2])
        self.assertNotEqual(worker, leader, "no parallel worker: nothing went through the file")
        self.assertEqual(self.way(trail, self.hop_on(trail, self.path("found"))),
                         ("postgres", [("likely", ["dye"], "postgres"), ("certain", ["unix"], "psql"), ("likely", ["dye"], "psql")]))
        # the file is seen to be mapped by both, filled with zeros by one of them, and read by nobody
        shared = trace.rows("SELECT path, count(DISTINCT pid) FILTER (name = 'mmap') AS mapped_by, count(*) FILTER (name LIKE '%read%') AS reads FROM events "
                            "WHERE path LIKE '%/pg_dynshmem/%' GROUP BY 1 HAVING mapped_by > 1")
        self.assertGreater(len(shared), 0)
        self.assertEqual({int(row["reads"]) for row in shared}, {0})
        self.assertEqual(trace.number("SELECT count(*) FROM flows f JOIN events e ON e.event_id = f.from_event WHERE e.path LIKE '%/pg_dynshmem/%'"), 0)
        coverage, = trace.rows("SELECT state, reason FROM coverage WHERE source = 'page faults'")
        self.assertEqual(coverage, {"state": "off", "reason": "reads and writes through a memory mapping are not seen; mmap itself is"})
        done = subprocess.run([support.DYETRACE, "verify-copies", trace.path, "--dye", "card"], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("no change in what could be compared, which is not all", done.stdout)


class NginxTest(DatumTest):
    def test_a_dyed_file_that_nginx_sends_without_reading_it_is_found_in_what_curl_writes(self):
        self.skip_without(servers.missing("curl"))
        with servers.Nginx(self.server_folder()) as nginx:
            at = 1000
            content = bytearray(random.Random(1).randbytes(500_000))
            content[at : at + len(CARD)] = CARD.encode()
            page = self.file("server/page", content)
            trace, recorder = self.start_recording("-a", "--content=hash", "--dye", self.dye())
            subprocess.run(["curl", "-s", "-o", self.path("fetched"), f"http://127.0.0.1:{nginx.port}/page"], check=True)
            self.stop(recorder)
        trail = self.trail(trace, "--dye", "card")
        self.assertEqual([(support.program_of(hop["process"]), hop["name"]) for hop in self.own_hops(trail)],
                         [("nginx", "sendfile"), ("curl", "recvfrom"), ("curl", "write")])
        self.assertEqual(self.way(trail, self.hop_on(trail, self.path("fetched"))),
                         ("nginx", [("certain", ["tcp"], "curl"), ("likely", ["dye"], "curl")]))
        for path in (page, self.path("fetched")):
            hop = self.hop_on(trail, path)
            self.assertEqual((hop["offset"], hop["offset_end"]), (at, at + len(CARD)))


class SshTest(DatumTest):
    def text_file(self, name):
        words = random.Random(name)
        lines = [b"%d bottles of %x\n" % (words.randrange(10 ** 6), words.randrange(10 ** 9)) for _ in range(10_000)]
        return self.file(name, b"".join(lines[:5000]) + CARD.encode() + b"".join(lines[5000:]))

    def test_what_ssh_carries_is_encrypted_and_who_talked_to_whom_is_certain(self):
        self.skip_without(servers.missing(*servers.Sshd.PROGRAMS))
        source, target = self.text_file("source"), self.path("target")
        with servers.Sshd(self.server_folder()) as server, open(source, "rb") as content:
            trace, recorder = self.start_recording("-a", "--content=anchors", "--dye", self.dye())
            subprocess.run(server.client(f"exec cat > {target}"), stdin=content, check=True, timeout=support.PATIENCE_S)
            self.stop(recorder)
        self.assertTrue(filecmp.cmp(source, target, shallow=False))
        self.assert_sight_is_lost(trace, source)
        self.assert_connection_is_certain(trace, server.port)
        self.assert_content_is_known_again(trace, source, target)

    @staticmethod
    def part(program):
        """OpenSSH's server is several programs from 9.8 on: sshd-session, sshd-auth."""
        return program.split("-")[0]

    def assert_sight_is_lost(self, trace, source):
        (hop,) = self.trail(trace, "--path", self.seen(source))["hops"]
        self.assertEqual((support.program_of(hop["process"]), hop["lost_sight_because"]), ("ssh", "its output looks compressed or encrypted"))
        self.assertIn("sight lost", self.follow(trace, "--path", self.seen(source)))

    def assert_connection_is_certain(self, trace, port):
        """Each byte between the two programs, with its place in the stream."""
        flows = trace.rows(f"""
            SELECT split_part(a.comm, '-', 1) || '>' || split_part(b.comm, '-', 1) AS pair, rule, certainty, sum(f.bytes)::BIGINT AS bytes, bool_and(from_offset = to_offset) AS same_place
            FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event
            WHERE {port} IN (a.local_port, a.remote_port) AND {port} IN (b.local_port, b.remote_port) GROUP BY ALL ORDER BY ALL""")
        sent = trace.numbers(f"""
            SELECT sum(bytes) FILTER (remote_port = {port}) AS ssh, sum(bytes) FILTER (local_port = {port}) AS sshd FROM events
            WHERE class = 'network' AND name = 'write' AND {port} IN (local_port, remote_port)""")
        self.assertEqual([(row["pair"], row["rule"], row["certainty"], int(row["bytes"]), row["same_place"]) for row in flows],
                         [("ssh>sshd", "tcp", "certain", sent["ssh"], True), ("sshd>ssh", "tcp", "certain", sent["sshd"], True)])

    def assert_content_is_known_again(self, trace, source, target):
        self.assertEqual(self.files(self.trail(trace, "--path", self.seen(target), "--back")), {"target"})
        beyond = self.trail(trace, "--path", self.seen(source), "--min-certainty", "possible")
        start, way = self.way(beyond, self.hop_on(beyond, target))
        self.assertEqual((start, [(certainty, self.part(process)) for certainty, _, process in way]),
                         ("ssh", [("possible", "ssh"), ("certain", "sshd"), ("likely", "sshd"), ("certain", "cat"), ("likely", "cat")]))
        # of all that ssh and sshd read, libraries and keys too, the one file that has this content
        back = self.trail(trace, "--path", self.seen(target), "--back", "--min-certainty", "possible")
        likely = {link["from_hop"] for link in back["links"] if link["certainty"] == "likely"}
        read = [hop for hop in back["hops"] if hop["process"].startswith("ssh") and hop["path"] and hop["path"].startswith("/")]
        self.assertGreater(len(read), 10)
        self.assertEqual([hop["path"] for hop in read if hop["hop"] in likely], [self.seen(source)])
        dyed = self.trail(trace, "--dye", "card")
        self.assertEqual([self.part(support.program_of(hop["process"])) for hop in self.own_hops(dyed) if hop["is_start"]], ["ssh", "sshd"])
        self.hop_on(dyed, target)


if __name__ == "__main__":
    support.main()
