"""Real servers for tests and benchmarks: in a folder of their own, on sockets of their own, gone when the block ends.

    with PostgreSQL(folder) as server:
        server.run("pgbench", "-i", "-s", "1")
        server.ask("SELECT wal_bytes FROM pg_stat_wal")

A server is started as the user that its package made, since PostgreSQL refuses root.
"""

import glob
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time

import support

START_S = 60  # an initdb on a busy machine
STOP_S = 30


def missing(*programs):
    """Which of them this machine lacks; tools/install_packages test brings them."""
    return [name for name in programs if shutil.which(name) is None]


def missing_programs():
    """What Redis, PostgreSQL and nginx need and this machine lacks."""
    lacking = missing("redis-server", "redis-benchmark", "pgbench", "psql", "nginx")
    return lacking + ([] if PostgreSQL.binaries() else ["postgres"])


class Server:
    """Started and stopped; what it says goes to `log` in its folder."""

    def __init__(self, folder):
        self.folder = folder
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def start(self, command, ready, **options):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)
        deadline = time.monotonic() + START_S
        while not ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
                    raise RuntimeError(f"{command[0]} did not start:\n{log.read()}")
            time.sleep(0.05)

    def stop(self, number=signal.SIGINT):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(number)
        try:
            self.process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __exit__(self, *_):
        self.stop()


class PostgreSQL(Server):
    """Reached through a unix socket in its folder; the database is `postgres`."""

    USER = "postgres"

    def __init__(self, folder, settings=None, initdb=()):
        super().__init__(folder)
        self.settings, self.initdb = settings or {}, initdb
        self.data = os.path.join(folder, "data")
        self.environment = os.environ | {"PGHOST": folder, "PGUSER": self.USER, "PGDATABASE": "postgres", "LC_ALL": "C"}

    @staticmethod
    def binaries():
        """The folder of initdb and postgres, which Debian keeps off PATH; None if there is none."""
        folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(re.search(r"/(\d+)/", path)[1]))
        return folders[-1] if folders else None

    @classmethod
    def parallel_setting(cls):
        """What makes it use workers for any query: its name until 15, and since."""
        version = int(re.search(r"/(\d+)/", cls.binaries())[1])
        return "debug_parallel_query" if version >= 16 else "force_parallel_mode"

    def as_user(self):
        user = pwd.getpwnam(self.USER)
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "env": self.environment, "cwd": self.folder}

    def __enter__(self):
        shutil.chown(self.folder, self.USER)
        binaries = self.binaries()
        subprocess.run([f"{binaries}/initdb", "--no-sync", "--auth=trust", *self.initdb, "-D", self.data], check=True, capture_output=True,
                       timeout=START_S, **self.as_user())
        self.launch()
        return self

    def launch(self):
        settings = {"listen_addresses": "", "unix_socket_directories": self.folder} | self.settings
        arguments = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.start([f"{self.binaries()}/postgres", "-D", self.data, *arguments], self.answers, **self.as_user())

    def restart(self):
        """Nothing of the tables is in its memory any more."""
        self.stop()
        self.launch()

    def answers(self):
        return subprocess.run(["psql", "-qAtc", "SELECT 1"], env=self.environment, capture_output=True, check=False).returncode == 0

    def ask(self, statement):
        """Columns of the first row, as text."""
        done = subprocess.run(["psql", "-qAtc", statement], env=self.environment, capture_output=True, text=True, check=True,
                              timeout=START_S)
        return done.stdout.splitlines()[0].split("|") if done.stdout else []

    def pids(self):
        """The server's and those of its helpers, which live as long; not those that serve a client."""
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="ascii") as children:
            return [self.pid, *(int(pid) for pid in children.read().split() if self.is_helper(pid))]

    @staticmethod
    def is_helper(pid):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as title:
                return re.match(r"postgres: [a-z ]+$", title.read().rstrip("\0 ")) is not None
        except OSError:
            return False

    def run(self, *command, timeout=300):
        """A client's output: `run("pgbench", "-T", "5")`."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True, timeout=timeout)
        return done.stdout


class Redis(Server):
    """Reached through loopback on a port that was free; keeps nothing on disk."""

    def __init__(self, folder, settings=None):
        super().__init__(folder)
        self.settings = settings or {}
        self.port = support.free_port()

    def __enter__(self):
        settings = {"port": self.port, "bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": self.folder} | self.settings
        arguments = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
        self.start(["redis-server", *arguments], self.answers)
        return self

    def answers(self):
        try:
            return self.command("PING") == "+PONG"
        except OSError:
            return False

    def command(self, *words):
        """The reply as it came: `+OK`, or a bulk string without its length."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=START_S) as connection:
            connection.sendall((" ".join(words) + "\r\n").encode())
            with connection.makefile("rb") as reply:
                first = reply.readline().decode().strip()
                return reply.read(int(first[1:])).decode() if first.startswith("$") else first

    def stats(self):
        """INFO's numbers of its section `stats`, and the bytes of the reply that brought them."""
        text = self.command("INFO", "stats")
        numbers = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        return numbers, len(f"${len(text)}\r\n{text}\r\n")

    def run(self, *arguments, timeout=300):
        command = ["redis-benchmark", "-h", "127.0.0.1", "-p", str(self.port), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=timeout).stdout


class Sshd(Server):
    """Lets root in from loopback with a key of its own. The system's sshd, its keys and its settings have no part in it."""

    PROGRAMS = ("ssh", "ssh-keygen", "/usr/sbin/sshd")
    PRIVILEGES = "/run/sshd"  # sshd wants this folder, which the system's service makes when it starts
    SETTINGS = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
PidFile {folder}/pid
AuthorizedKeysFile {folder}/user.pub
AuthenticationMethods publickey
PermitRootLogin yes
StrictModes no
UsePAM no
"""

    def __init__(self, folder):
        super().__init__(folder)
        self.port = support.free_port()
        self.made_privileges = False

    def __enter__(self):
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(self.folder, key)], check=True, timeout=START_S)
        with open(os.path.join(self.folder, "host.pub"), encoding="ascii") as key:
            known = f"[127.0.0.1]:{self.port} {key.read()}"
        for name, content in (("known", known), ("settings", self.SETTINGS.format(folder=self.folder, port=self.port))):
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
                file.write(content)
        if not os.path.exists(self.PRIVILEGES):
            os.mkdir(self.PRIVILEGES, 0o755)
            self.made_privileges = True
        self.start(["/usr/sbin/sshd", "-D", "-e", "-f", os.path.join(self.folder, "settings")],
                   lambda: os.path.exists(os.path.join(self.folder, "pid")))
        return self

    def __exit__(self, *_):
        self.stop()
        if self.made_privileges:
            os.rmdir(self.PRIVILEGES)

    def client(self, command):
        """The words that run this command over there."""
        options = [f"UserKnownHostsFile={self.folder}/known", "IdentitiesOnly=yes", "BatchMode=yes"]
        words = [word for option in options for word in ("-o", option)]
        return ["ssh", "-F", "none", "-p", str(self.port), "-i", f"{self.folder}/user", *words, "root@127.0.0.1", command]


class Nginx(Server):
    """Serves its folder on a port of loopback that was free, with one worker."""

    SETTINGS = """daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{ access_log off; sendfile on; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder};
       scgi_temp_path {folder}; server {{ listen 127.0.0.1:{port}; root {folder}; keepalive_requests 1000000; }} }}
"""

    def __init__(self, folder):
        super().__init__(folder)
        self.port = support.free_port()

    def __enter__(self):
        path = os.path.join(self.folder, "nginx.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write(self.SETTINGS.format(folder=self.folder, port=self.port))
        self.start(["nginx", "-e", f"{self.folder}/error.log", "-c", path], self.answers)
        return self

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=START_S).close()
        except OSError:
            return False
        return True

    @property
    def worker(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="ascii") as children:
            return int(children.read())
