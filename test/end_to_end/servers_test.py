#!/usr/bin/env python3
"""Real servers under load: what the trace says that they did equals what they count themselves."""

import os
import time

import servers
import support

WAL_PAGE_BYTES = 8192
WAL_SEGMENT_MB = 64  # one segment for the whole test: making another is I/O that pg_stat_wal does not count
WAL_QUIET_S = 2.5  # a process that has something to report does so within a second, or two when it sleeps
TRANSACTIONS = 1000  # of each client
CLIENTS = 4
REDIS_REQUESTS = 20_000


class ServersTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        if missing := servers.missing_programs():
            self.fail(f"tools/install_packages test brings what is missing: {missing}")
        self.home = self.path("server")
        os.mkdir(self.home)
        os.chmod(self.home, 0o755)

    def wal(self, server):
        """
        pg_stat_wal once nobody adds to it, and the positions at which the next record begins and up to which all are on disk: what PostgreSQL
        says of itself every 15 seconds waits for a commit.
        """
        def ask():
            return [int(number) for number in server.ask(
                "SELECT wal_write, wal_sync, wal_bytes, pg_current_wal_insert_lsn() - '0/0'::pg_lsn, "
                "pg_current_wal_flush_lsn() - '0/0'::pg_lsn FROM pg_stat_wal")]

        before = ask()
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < WAL_QUIET_S:
            time.sleep(0.1)
            if (now := ask()) != before:
                before, quiet_since = now, time.monotonic()
        return before

    def test_postgresql_wrote_and_synced_its_log_as_pg_stat_wal_counts(self):
        settings = {"autovacuum": "off", "full_page_writes": "off", "checkpoint_timeout": "1h", "max_wal_size": "10GB",
                    "wal_sync_method": "fdatasync", "bgwriter_lru_maxpages": "0"}
        with servers.PostgreSQL(self.home, settings, [f"--wal-segsize={WAL_SEGMENT_MB}"]) as server:
            server.run("pgbench", "-i", "-q", "-s", "1")
            server.ask("CHECKPOINT")
            writes, syncs, record_bytes, position, on_disk = self.wal(server)
            trace, recorder = self.start_recording("-p", str(server.pid))  # its children run already
            server.run("pgbench", "-n", "-c", str(CLIENTS), "-t", str(TRANSACTIONS))
            writes_after, syncs_after, record_bytes_after, position_after, on_disk_after = self.wal(server)
            self.assertEqual(self.stop(recorder), 0)

        self.assertEqual(trace.number("SELECT count(*) FROM gaps"), 0)
        log = trace.numbers("""
            SELECT count(*) FILTER (name = 'pwrite64') AS writes, count(*) FILTER (name = 'fdatasync') AS syncs,
                   count(DISTINCT object_id) AS files, sum(bytes) AS bytes, max(file_offset + bytes) AS end_offset,
                   count(*) FILTER (error IS NOT NULL OR bytes <> requested) AS failed,
                   count(*) FILTER (file_offset % 8192 <> 0 OR bytes % 8192 <> 0) AS not_pages
            FROM events WHERE path LIKE '%/pg_wal/%' AND name IN ('pwrite64', 'pwritev', 'write', 'fsync', 'fdatasync')""")
        self.assertEqual(log["writes"], writes_after - writes)
        self.assertEqual(log["syncs"], syncs_after - syncs)
        self.assertGreaterEqual(log["syncs"], TRANSACTIONS)  # the clients commit in groups
        self.assertEqual((log["files"], log["failed"], log["not_pages"]), (1, 0, 0))
        # the log is written up to the page of its last record, and each page at least once
        last_page_end = -(-on_disk_after // WAL_PAGE_BYTES) * WAL_PAGE_BYTES
        self.assertEqual(log["end_offset"], last_page_end % (WAL_SEGMENT_MB << 20))
        written = trace.number("""
            SELECT count(DISTINCT page) * 8192 FROM (SELECT unnest(range(file_offset // 8192, (file_offset + bytes) // 8192)) AS page
            FROM events WHERE path LIKE '%/pg_wal/%' AND name = 'pwrite64')""")
        self.assertEqual(written, last_page_end - on_disk // WAL_PAGE_BYTES * WAL_PAGE_BYTES)
        self.assertGreaterEqual(position_after - position, record_bytes_after - record_bytes)
        self.assertGreaterEqual(log["bytes"], written)

        with self.subTest("each transaction's commands came over the socket"):
            begins = trace.number("SELECT count(*) FROM events WHERE name = 'recvfrom' AND object_type = 'socket' AND bytes > 0")
            self.assertGreaterEqual(begins, CLIENTS * TRANSACTIONS * 7)  # BEGIN, five statements, END

    def test_redis_moved_the_bytes_that_it_counts(self):
        with servers.Redis(self.home) as server:
            trace, recorder = self.start_recording("-p", str(server.pid))
            before, reply_before = server.stats()
            server.run("-n", str(REDIS_REQUESTS), "-c", "20", "-t", "set,get,lrange_100", "-d", "100", "-q")
            server.run("-n", str(REDIS_REQUESTS), "-c", "5", "-t", "set,get", "-P", "16", "-d", "5000", "-q")
            after, reply_after = server.stats()
            self.assertEqual(self.stop(recorder), 0)

        self.assertEqual(trace.number("SELECT count(*) FROM gaps"), 0)
        moved = trace.numbers("""
            SELECT sum(bytes) FILTER (name LIKE 'read%' OR name LIKE 'recv%') AS received,
                   sum(bytes) FILTER (name LIKE 'write%' OR name LIKE 'send%') AS sent,
                   count(*) FILTER (object_id IS NULL) AS unknown
            FROM events WHERE class = 'network' AND bytes > 0""")
        # INFO counts its own request but not its reply, which the next one counts
        request = len("INFO stats\r\n")
        self.assertEqual(moved["received"] - request, int(after["total_net_input_bytes"]) - int(before["total_net_input_bytes"]))
        self.assertEqual(moved["sent"] - reply_after, int(after["total_net_output_bytes"]) - int(before["total_net_output_bytes"]))
        self.assertEqual(moved["unknown"], 0)
        connections = trace.number("SELECT count(*) FROM events WHERE name LIKE 'accept%' AND error IS NULL")
        self.assertEqual(connections, int(after["total_connections_received"]) - int(before["total_connections_received"]) + 1)


if __name__ == "__main__":
    support.main()
