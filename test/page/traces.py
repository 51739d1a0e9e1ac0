#!/usr/bin/env python3
"""Records a trace for the tests of the page: traces.py NAME FOLDER, as root. FOLDER/NAME is made once for a build: what another one recorded is replaced.

ctest does so before the tests that need it (CMakeLists.txt); page.mjs does for a file that is run by hand. Who comes meanwhile waits.
"""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "end_to_end"))

import laboratory  # noqa: E402
import relay_test  # noqa: E402
import retransmission_test  # noqa: E402
import servers  # noqa: E402
import support  # noqa: E402
import wrong_clock_test  # noqa: E402
from support import DYETRACE  # noqa: E402

# Markup, a script, an escape, right-to-left, quotes, bytes that are no text, what is not seen; and names of 250 characters one below the other: 4,000 in all.
HOSTILE_NAMES = [
    b"<img src=x onerror=alert(1)>", b"<script>document.title='owned'<", b"\x1b[31mred\x1b[0m", "\u202egnp.exe".encode(), b"it's \"quoted\" `so`", b"\xff\xfe\x80raw", b"new\nline",
    b"${7*7}{{7*7}}", b"';DROP TABLE events;--", "unseen\u200b\u2028\u009b\U000e0041\n".encode() + b"\x9b.txt",
]
HOSTILE = """
import os, sys
folder = os.fsencode(sys.argv[1])
for name in %r:
    with open(folder + b"/" + name, "wb") as file:
        file.write(b"x" * 100)
deep = folder
for level in range(15):
    deep += b"/" + b"<b>" + bytes([97 + level]) * 247
    os.mkdir(deep, dir_fd=None) if len(deep) < 4000 else None
with open("/proc/self/comm", "wb") as file:
    file.write(b"<b>\\x1b[1m\\xe2\\x80\\xae")
os.write(os.open(folder + b"/last", os.O_CREAT | os.O_WRONLY), b"<i>y</i>")
import shutil
for name in %r:
    program = folder + b"/run " + name[:100]
    shutil.copy("/usr/bin/true", program)
    if os.fork() == 0:
        os.execv(program, [name, b"--word=" + name, b"\\xe2\\x80\\xae<img src=x onerror=alert(2)>"])
    os.wait()
""" % (HOSTILE_NAMES, HOSTILE_NAMES)


def record(trace, *words):
    subprocess.run([DYETRACE, "record", "-o", trace, *words], check=True, stdout=subprocess.DEVNULL, timeout=300)


# Its own processes speak with each other by memory that they share; with the client, by sockets.
def postgres(trace, folder):
    with servers.PostgreSQL(folder) as server:
        server.run("pgbench", "-i", "-q", "-s", "1")
        client = subprocess.Popen(["sh", "-c", "read -r start && exec pgbench -n -c 4 -t 200"], env=server.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        recorder = subprocess.Popen([DYETRACE, "record", "-o", trace, "--content=anchors", "-p", f"{server.pid},{client.pid}"])
        try:
            # backends are followed from when they are made
            support.wait_for(lambda: support.EndToEndTest.listens(support.Trace(trace)), "the recorder listens")
            client.communicate("start\n", timeout=120)
            if client.returncode != 0:
                raise RuntimeError(f"pgbench ended with {client.returncode}")
        finally:
            client.kill()
            recorder.send_signal(signal.SIGINT)
            recorder.wait(timeout=120)


def git(trace, folder):
    source = os.path.join(folder, "source")
    subprocess.run(["git", "init", "-q", source], check=True)
    for number in range(50):
        with open(os.path.join(source, f"file{number}"), "w", encoding="utf-8") as file:
            file.write(f"{number}\n" * 2000)
    subprocess.run(["git", "-C", source, "add", "."], check=True)
    subprocess.run(["git", "-C", source, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "all"], check=True)
    record(trace, "--content=anchors", "--", "git", "clone", "-q", "--no-local", source, os.path.join(folder, "clone"))


def git_again(trace, folder):
    git(trace, folder)


def relay(trace, folder):
    source = os.path.join(folder, "source")
    with open(source, "wb") as file:
        file.write(os.urandom(relay_test.RelayTest.SIZE))
    record(trace, "--content=anchors", "--", sys.executable, "-c", relay_test.RELAY, source, os.path.join(folder, "target"), os.path.join(folder, "copy"))


# The same in small, with a text of which it is known where it goes.
DYED_BYTES = 300_000
DYE = b"4929123456781234"


def dyed(trace, folder):
    source, content = os.path.join(folder, "source"), os.urandom(DYED_BYTES)
    with open(source, "wb") as file:
        file.write(content[:1000] + DYE + content[1000:])
    record(trace, "--content=anchors", "--dye", f"card={DYE.decode()}", "--", sys.executable, "-c", relay_test.RELAY, source, os.path.join(folder, "target"), os.path.join(folder, "copy"))


# More lanes and messages than a picture shows: 60 pairs of processes, 160 messages each.
CROWD = """
import os
for pair in range(60):
    taken, put = os.pipe()
    if os.fork() == 0:
        for number in range(160):
            os.write(put, b"%d %d" % (pair, number))
        os._exit(0)
    os.close(put)
    if os.fork() == 0:
        while os.read(taken, 8):
            pass
        os._exit(0)
    os.close(taken)
for child in range(120):
    os.wait()
"""


def crowd(trace, _):
    record(trace, "--content=hash", "--", sys.executable, "-c", CROWD)


# A cable that loses packets.
def lossy(trace, folder):
    lab = laboratory.Laboratory("near", "far")
    try:
        receiver = lab["far"].start_python(retransmission_test.RECEIVE, str(retransmission_test.PORT), stdout=subprocess.PIPE)
        receiver.stdout.readline()
        lab["near"].lose(retransmission_test.LOSS_PERCENT)
        words = [lab["far"].address, str(retransmission_test.PORT), str(retransmission_test.MEGABYTES), os.path.join(folder, "counts")]
        record(trace, "--", *lab["near"].inside([sys.executable, "-c", retransmission_test.SEND, *words]))
    finally:
        lab.close()


# More peers and files than a table shows.
PEERS = r"""
import os, socket, sys
talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for port in range(1, 321):
    talk.sendto(b"x" * port, ("127.0.0.1", 20000 + port))
for number in range(230):
    with open(f"{sys.argv[1]}/file{number}", "w") as file:
        file.write("y")
"""


def peers(trace, folder):
    record(trace, "--", sys.executable, "-c", PEERS, folder)


# Waits that name no object.
def waits(trace, _):
    record(trace, "--", support.program("waits"))


def hostile(trace, folder):
    record(trace, "--", sys.executable, "-c", HOSTILE, folder)


def empty(trace, _):
    record(trace, "--where", "comm = 'nobody'", "--", "true")


def one(trace, _):
    record(trace, "--where", "name = 'chdir'", "--", "sh", "-c", "cd /")


# Questions and answers between two hosts; what one host believes of the time is 1.6 ms off at the end of four seconds, and an answer takes some 0.1 ms.
DRIFT_PPM = 400


def hosts(trace, folder):
    lab = laboratory.Laboratory("alpha", "beta")
    try:
        fleet = laboratory.Fleet(lab, folder, {"beta": laboratory.Clock(0, DRIFT_PPM, support.boot_ns()).option})
        said = os.path.join(folder, "answers")
        with open(said, "wb") as file:
            lab["beta"].start_python(wrong_clock_test.ANSWER, lab["beta"].address, str(wrong_clock_test.PORT), stdout=file)
        support.wait_for(lambda: os.path.getsize(said) > 0, "it listens")
        fleet.record(lab["alpha"], "session", "--content=hash", "--comm", "python3")
        lab["alpha"].python(wrong_clock_test.ASK, lab["beta"].address, str(wrong_clock_test.PORT), str(wrong_clock_test.ROUNDS))
        fleet.stop()
        fleet.wait_until_sealed()
        shutil.copytree(fleet.trace.path, trace)
    finally:
        lab.close()


# Three nodes of one host, each with a network of its own: questions go from one over another to the third, and answers back. What comes too early is told so (EAGAIN).
SERVE = r"""
import select, socket, sys
listening = socket.create_server((sys.argv[1], 9000))
print("listens", flush=True)
connection, _ = listening.accept()
connection.setblocking(False)
further = socket.create_connection((sys.argv[2], 9000)) if len(sys.argv) > 2 else None
while True:
    try:
        data = connection.recv(1000)
    except BlockingIOError:
        select.select([connection], [], [])
        continue
    if not data:
        break
    if further:
        further.sendall(data)
        data = further.recv(10000)
    else:
        data = open("/proc/self/comm", "rb").read() * 10 + data
    connection.sendall(data)
"""
ASK = r"""
import socket, sys
connection = socket.create_connection((sys.argv[1], 9000))
with open(sys.argv[2], "wb") as answers:
    for number in range(200):
        connection.sendall(b"%09d" % number)
        answers.write(connection.recv(10000))
        answers.flush()
try:
    open(sys.argv[2] + "/none")
except OSError:
    pass
"""
START = r"""
import json, subprocess, sys
*servers, asker = json.load(open(sys.argv[1]))
for server in servers:
    subprocess.Popen(server, stdout=subprocess.PIPE).stdout.readline()
subprocess.run(asker, check=True)
"""


def namespaces(trace, folder):
    lab = laboratory.Laboratory("alpha", "beta", "gamma")
    try:
        def python(name, code, *words):
            return lab[name].inside([sys.executable, "-c", code, *words])

        addresses = [lab[name].address for name in ("alpha", "beta", "gamma")]
        words = [python("alpha", SERVE, addresses[0]), python("beta", SERVE, addresses[1], addresses[0]), python("gamma", ASK, addresses[1], os.path.join(folder, "answers"))]
        commands = os.path.join(folder, "commands")
        with open(commands, "w", encoding="utf-8") as file:
            json.dump(words, file)
        record(trace, "--node-by=netns", "--content=hash", "--", sys.executable, "-c", START, commands)
    finally:
        lab.close()


TRACES = {function.__name__: function for function in (postgres, git, git_again, relay, dyed, crowd, lossy, peers, waits, hosts, namespaces, hostile, empty, one)}


def origin():
    """What a trace depends on: the recorder, and how it is recorded."""
    status = os.stat(DYETRACE)
    with open(os.path.abspath(__file__), "rb") as file:
        return f"{status.st_size} {status.st_mtime_ns} {hashlib.sha256(file.read()).hexdigest()}"


def recorded(name, folder):
    """Made beside its place, where a trace is whole or not at all."""
    trace, begun, origin_file = (os.path.join(folder, name + end) for end in ("", ".begun", ".origin"))
    if os.path.exists(trace) and os.path.exists(origin_file):
        with open(origin_file, encoding="ascii") as file:
            if file.read() == origin():
                return
    for old in (begun, trace):
        shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        TRACES[name](begun, work)
    os.rename(begun, trace)
    with open(origin_file, "w", encoding="ascii") as file:
        file.write(origin())


def main():
    name, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until this process ends
        recorded(name, folder)


if __name__ == "__main__":
    main()
