#!/usr/bin/env python3
"""What the column `node` says with --node-by, and what tells containers apart."""

import os
import secrets
import subprocess
import sys

import support

CONTAINER = secrets.token_hex(32)  # its cgroup is there for the whole machine


def cgroup_folders():
    """Where cgroups can be made that dyetrace looks at: of version 2, and of the pids controller."""
    found = {}
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, folder, file_system, options, *_ = line.split()
            if os.access(folder, os.W_OK) and (file_system == "cgroup2" or (file_system == "cgroup" and "pids" in options.split(","))):
                found.setdefault(file_system, folder)
    return list(found.values())


class NodeTest(support.EndToEndTest):
    def test_host_is_the_default(self):
        trace = self.record("--", "true")
        self.assertEqual(trace.numbers("SELECT count(*) FILTER (node <> host) AS other, count(*) > 0 AS some FROM events"),
                         {"other": 0, "some": True})

    def test_a_network_namespace_of_its_own_is_another_node(self):
        trace = self.record("--node-by=netns", "--", "sh", "-c", "cat /dev/null; unshare --net sh -c 'readlink /proc/self/ns/net'")
        nodes = {row["node"] for row in trace.rows("SELECT DISTINCT node FROM events WHERE comm = 'readlink'")}
        self.assertEqual(len(nodes), 1)
        inner = nodes.pop()
        self.assertRegex(inner, r"^net:\[\d+\]$")
        outer = {row["node"] for row in trace.rows("SELECT DISTINCT node FROM events WHERE comm = 'cat'")}
        self.assertNotIn(inner, outer)

    def test_each_network_namespace_has_a_loopback_of_its_own(self):
        """In one nobody takes what is sent, in another one the same is sent between the same ports, and taken."""
        script = ("import socket, sys\n"
                  "into, out = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in '12')\n"
                  "into.bind(('127.0.0.1', 5000)); out.bind(('127.0.0.1', 6000))\n"
                  "for number in range(10):\n"
                  "    out.sendto(b'datagram %020d' % number, ('127.0.0.1', 5000))\n"
                  "    if sys.argv[1] == 'taken': into.recvfrom(100)\n")
        self.file("talk.py", script.encode())
        trace = self.record("--content=hash", "--", "sh", "-c", f"for how in left taken; do unshare --net sh -c \"ip link set lo up && {sys.executable} talk.py $how\" || exit 1; done",
                            cwd=self.folder)
        rows = trace.rows("SELECT a.process_id = b.process_id AS own, count(*) AS n FROM flows f JOIN events a ON a.event_id = from_event "
                          "JOIN events b ON b.event_id = to_event WHERE rule = 'udp' GROUP BY 1")
        self.assertEqual(rows, [{"own": True, "n": 10}])

    def names_of(self, trace, comm):
        return sorted({row["node"] for row in trace.rows(f"SELECT DISTINCT node FROM events WHERE comm = '{comm}'")})

    def test_a_network_namespace_is_called_what_ip_netns_calls_it(self):
        name = f"dyetrace-test-{os.getpid()}"
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", name], check=False, capture_output=True)
        # made, used and deleted while it is recorded; `ip netns exec` wants a root that is a mount point
        go = self.path("go")
        waiting = f"until [ -e {go} ]; do sleep 0.05; done; tac /dev/null"
        script = f"ip netns add {name} && nsenter --net=/run/netns/{name} sh -c '{waiting}' && ip netns delete {name} && exec rev /dev/null"
        trace, recorder = self.start_recording("--node-by=netns", "--", "sh", "-c", script, name="made")
        self.wait_for(lambda: self.names_of(trace, "sleep") == [name], "the namespace has its name")
        open(go, "wb").close()
        self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)
        self.assertEqual(self.names_of(trace, "tac"), [name])
        self.assertEqual(self.names_of(trace, "rev"), [trace.info()["hosts"][0]["name"]] if self.in_first_namespace() else
                         [f"net:[{os.stat('/proc/self/ns/net').st_ino}]"])
        # there before
        subprocess.run(["ip", "netns", "add", name], check=True)
        trace = self.record("--node-by=netns", "--", "nsenter", f"--net=/run/netns/{name}", "tac", "/dev/null", name="there")
        self.assertEqual(self.names_of(trace, "tac"), [name])
        self.assertEqual(trace.number("SELECT count(*) FROM events WHERE comm = 'tac' AND network_namespace IS NULL"), 0)
        # not asked for
        trace = self.record("--", "nsenter", f"--net=/run/netns/{name}", "tac", "/dev/null", name="host")
        self.assertEqual(self.names_of(trace, "tac"), [trace.info()["hosts"][0]["name"]])

    @staticmethod
    def in_first_namespace():
        """As the recorder sees it: a machine may not let even root look at its first process."""
        try:
            return os.stat("/proc/self/ns/net").st_ino == os.stat("/proc/1/ns/net").st_ino
        except PermissionError:
            return False

    def test_a_container_is_told_by_its_cgroup(self):
        folders = cgroup_folders()
        if not folders:
            self.skipTest("no tree of cgroups is mounted in which one can be made")
        for number, folder in enumerate(folders):
            cgroup = os.path.join(folder, f"docker-{CONTAINER}.scope")
            os.mkdir(cgroup)
            self.addCleanup(os.rmdir, cgroup)
            trace = self.record("--node-by=container", "--", "sh", "-c", f"cat /dev/null; echo $$ > {cgroup}/cgroup.procs; exec tac /dev/null",
                                name=f"container{number}")
            inside = trace.rows("SELECT DISTINCT container, node FROM events WHERE comm = 'tac'")
            self.assertEqual([(row["container"], row["node"]) for row in inside], [(CONTAINER, CONTAINER[:12])])
            self.assertEqual(trace.number("SELECT count(*) FROM events WHERE comm = 'cat' AND container IS NOT NULL"), 0)


if __name__ == "__main__":
    support.main()
