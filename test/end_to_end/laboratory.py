"""Hosts on one kernel: each has its own network, mounts and name, and is reached by the others over a switch.

    lab = Laboratory("alpha", "beta")         with addCleanup(lab.close)
    server = lab["alpha"].start(["redis-server", "--bind", lab["alpha"].address])
    lab["beta"].run(["redis-cli", "-h", lab["alpha"].address, "ping"])
    lab["beta"].cut(); lab["beta"].mend()     its cable
    lab["beta"].lose(5)                       so many per cent of the packets on it, either way

        switch (a network namespace with a bridge)
        ├─ eth0 of alpha 10.77.0.1
        └─ eth0 of beta  10.77.0.2

What a host runs shares files with the others, as the tests' folders are outside. Nothing may be mounted inside: it could be seen outside, as a
mount namespace keeps what it shares (to change that the root has to be a mount, which that of a chroot need not be).
"""

import glob
import os
import re
import shutil
import signal
import subprocess

import support

NETWORK = "10.77.0"
PROGRAMS = ("ip", "unshare", "nsenter")
COLLECTOR_PORT = 7117

# Where packets come in: a packet that is dropped where it goes out is not lost, its sender is told. ARP stays: who asks in vain three times
# is told that there is no route, at once.
LOSS = """table netdev loss {{
    counter lost {{ }}
    chain arriving {{
        type filter hook ingress device "{device}" priority 0; policy accept;
        meta protocol ip numgen random mod 1000 < {per_mille} counter name lost drop
    }}
}}
"""


def lacking():
    """Programs that a laboratory needs and that are not there."""
    return [program for program in PROGRAMS if not shutil.which(program)]


class Clock:
    """What a host shows instead of the kernel's time."""

    def __init__(self, offset_s, drift_ppm, zero_ns):
        self.offset_ns, self.drift_ppb, self.zero_ns = offset_s * 10**9, drift_ppm * 1000, zero_ns
        self.option = f"offset={offset_s}s,drift={drift_ppm}ppm,zero={zero_ns}"

    def shown(self, true_ns):
        return true_ns + self.offset_ns + (true_ns - self.zero_ns) * self.drift_ppb // 10**9

    def true(self, shown_ns):
        return self.zero_ns + (shown_ns - self.zero_ns - self.offset_ns) * 10**9 // (10**9 + self.drift_ppb)


class Namespaces:
    """Namespaces as long as the process lives that made them."""

    def __init__(self, *kinds):
        self.flags = [f"--{kind}" for kind in kinds]
        self.process = subprocess.Popen(["unshare", *self.flags, "--propagation", "unchanged", "sleep", "infinity"], cwd="/")
        self.network = self._namespace_of_its_own("net")

    def _namespace_of_its_own(self, kind):
        ours, theirs = (f"/proc/{process}/ns/{kind}" for process in ("self", self.process.pid))
        support.wait_for(lambda: os.stat(theirs).st_ino != os.stat(ours).st_ino, f"unshare --{kind} makes a namespace")
        return os.stat(theirs).st_ino

    def inside(self, command):
        # its root is ours, which another mount namespace alone does not know where it is in a chroot
        return ["nsenter", "--target", str(self.process.pid), *self.flags, "--root", "--wd", "--", *command]

    def run(self, command, **options):
        options = {"check": True, "capture_output": True, "text": True, "timeout": 4 * support.PATIENCE_S} | options
        return subprocess.run(self.inside(command), **options)

    def close(self):
        self.process.kill()
        self.process.wait()


class Host(Namespaces):
    def __init__(self, name, number, switch):
        super().__init__("net", "uts", "mount")
        self.name = name
        self.address = f"{NETWORK}.{number}"
        self._switch = switch
        self._port = f"port{number}"
        self._processes = []
        self.run(["hostname", name])
        switch.run(["ip", "link", "add", self._port, "type", "veth", "peer", "name", "eth0", "netns", str(self.process.pid)])
        switch.run(["ip", "link", "set", self._port, "master", "bridge", "up"])
        self.run(["ip", "address", "add", f"{self.address}/24", "dev", "eth0"])
        for device in ("lo", "eth0"):
            self.run(["ip", "link", "set", device, "up"])
        self._lossy = ((self, "eth0"), (switch, self._port))

    def start(self, command, **options):
        """A process of this host; it is killed with the laboratory if it still runs."""
        process = subprocess.Popen(self.inside(command), **options)
        self._processes.append(process)
        return process

    def python(self, code, *arguments, **options):
        return self.run(["python3", "-c", code, *arguments], **options)

    def start_python(self, code, *arguments, **options):
        return self.start(["python3", "-c", code, *arguments], **options)

    def cut(self):
        self._switch.run(["ip", "link", "set", self._port, "down"])

    def mend(self):
        self._switch.run(["ip", "link", "set", self._port, "up"])

    def lose(self, percent):
        """Once: from now on its cable loses packets, by chance. They are as large as on a wire, so that one that is lost costs what it does there."""
        for place, device in self._lossy:
            place.run(["ip", "link", "set", device, "gso_max_segs", "1"])
            place.run(["nft", "-f", "-"], input=LOSS.format(device=device, per_mille=round(10 * percent)))

    def lost(self):
        """Packets, on the way in and on the way out."""
        told = (place.run(["nft", "list", "counter", "netdev", "loss", "lost"]).stdout for place, _ in self._lossy)
        return [int(re.search(r"packets (\d+)", text)[1]) for text in told]

    def close(self):
        for process in self._processes:
            support.end(process)
        super().close()


class Laboratory:
    def __init__(self, *names):
        self.switch = Namespaces("net")
        self.hosts = []
        try:
            self.switch.run(["ip", "link", "add", "bridge", "type", "bridge"])
            self.switch.run(["ip", "link", "set", "bridge", "up"])
            for number, name in enumerate(names, 1):
                self.hosts.append(Host(name, number, self.switch))
        except BaseException:
            self.close()
            raise

    def __getitem__(self, name):
        return next(host for host in self.hosts if host.name == name)

    def close(self):
        for host in self.hosts:
            host.close()
        self.switch.close()


class Fleet:
    """An agent on each host, which sees what its own network namespace does, with a clock of its own; a collector on the last one."""

    def __init__(self, lab, folder, clocks=None):
        self.folder, self.collector = folder, lab.hosts[-1]
        self._pki("init")
        self._pki("issue", "--collector", "main")
        self._pki("issue", "--operator", "ada", "--may", "record,read")
        self._collecting = self._start("collector", self.collector, ["collector", "--listen", f"{self.collector.address}:{COLLECTOR_PORT}", "--store",
                                                                     self._path("store"), *self._security("collector-main")], "listening on")
        for host in lab.hosts:
            self._pki("issue", "--host", host.name)
            clock = (clocks or {}).get(host.name)
            words = [f"--always=--where=network_namespace = {host.network}", *([f"--always=--test-clock={clock}"] if clock else [])]
            self._start("agent-" + host.name, host, ["agent", *self._where(), "--host", host.name, "--spool", self._path("spool-" + host.name), *words,
                                                     *self._security("host-" + host.name)], "connected to")

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _pki(self, verb, *words):
        subprocess.run([support.DYETRACE, "pki", verb, self._path("pki"), *words], check=True, capture_output=True, timeout=support.PATIENCE_S)

    def _security(self, name):
        return ["--certificates", self._path("pki/" + name)]

    def _where(self):
        return ["--collector", f"{self.collector.address}:{COLLECTOR_PORT}"]

    def said(self, name):
        with open(self._path(name + ".said"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def _start(self, name, host, words, until):
        with open(self._path(name + ".said"), "wb") as said:
            process = host.start([support.DYETRACE, *words], stdin=subprocess.DEVNULL, stderr=said)
        support.wait_for(lambda: until in self.said(name) or process.poll() is not None, f"{name} says '{until}'")
        if process.poll() is not None:
            raise AssertionError(f"{name} ended: {self.said(name)}")
        return process

    def record(self, host, name, *words):
        """`dyetrace record --on all` of an operator on this host; all record when this returns."""
        self.trace = support.Trace(self._path("store/" + name))
        command = ["record", "--on", "all", *self._where(), *self._security("operator-ada"), "-o", name, "-a", *words]
        self._operator = self._start("operator", host, command, "recording ")

    def stop(self):
        self._operator.send_signal(signal.SIGINT)
        self._operator.wait(timeout=4 * support.PATIENCE_S)
        return self.said("operator")

    def wait_until_sealed(self):
        """What is being sealed is not there to copy."""
        def is_sealed():
            support.hurry_sealers_of(self._collecting.pid)
            return not glob.glob(f"{self.trace.path}/host-*/sealing-*") + glob.glob(f"{self.trace.path}/host-*/*.seg")

        support.wait_for(is_sealed, "the collector has sealed all")
