#!/usr/bin/env python3
"""What the column `node` says with --node-by, and what tells containers apart."""

import os

import support

CONTAINER = "5e" * 32


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
