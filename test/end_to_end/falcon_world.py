"""Small worlds whose threads send, lock, wait and make each other; as logs of Falcon, and as what Falcon's rules say of them."""

import json
import random


class World:
    """Runs for some steps. `events` in the order in which they really happened, each {"thread", "type", …}; `before`: pairs of positions that a rule orders."""

    def __init__(self, seed, steps=70, waits=True):
        self.random = random.Random(seed)
        self.events, self.before, self.sections, self.waits_and_notifies = [], [], {}, {}
        self.hosts = ["h0", "h1", "h2"]
        self.offsets = {host: self.random.randrange(10 ** 12, 10 ** 15) for host in self.hosts}  # what each clock says at 0
        self.threads = [f"T{i}@h{i % 3}" for i in range(5)]
        self.parents, self.streams, self.datagrams, self.connections, self.held, self.notified = {}, {}, [], [], {}, {}
        kinds = [self.send, self.receive, self.receive, self.lock, self.make, self.end, self.connect, self.datagram, self.talk]
        for _ in range(steps):
            self.random.choice(kinds + ([self.notify, self.wait] if waits else []))(self.random.choice(self.threads))
        for variable, (thread, _) in list(self.held.items()):
            self.lock(thread, variable)

    def host(self, thread):
        return thread.split("@")[1]

    def add(self, thread, kind, **words):
        at = len(self.events)
        self.events.append({"thread": thread, "type": kind, "timestamp": self.offsets[self.host(thread)] + 1000 * at} | words)
        return at

    @staticmethod
    def ends(sender, receiver):
        port = lambda thread: 1000 + int(thread.split("@")[0].replace("T", "").replace("c", "9"))
        return {"src": "10.0.0.1", "src_port": port(sender), "dst": "10.0.0.2", "dst_port": port(receiver), "socket": "-".join(sorted([sender, receiver])),
                "socket_type": "TCP"}

    def send(self, thread):
        other = self.random.choice(self.threads)
        size = self.random.randrange(1, 10)
        at = self.add(thread, "SND", size=size, **self.ends(thread, other))
        self.streams.setdefault((thread, other), []).extend([at] * size)

    def receive(self, thread):
        for (sender, receiver), bytes_of in self.streams.items():
            if receiver == thread and bytes_of:
                size = self.random.randrange(1, len(bytes_of) + 1)
                at = self.add(thread, "RCV", size=size, **self.ends(sender, thread))
                self.before += [(giver, at) for giver in set(bytes_of[:size])]
                del bytes_of[:size]
                return

    def datagram(self, thread):
        arrived = [each for each in self.datagrams if each[1] == thread]
        if arrived:
            sender, _, number, giver = arrived[0]
            self.datagrams.remove(arrived[0])
            at = self.add(thread, "RCV", size=7, message=number, **(self.ends(sender, thread) | {"socket_type": "UDP"}))
            self.before.append((giver, at))
        else:
            other = self.random.choice(self.threads)
            number = f"message {len(self.events)}"
            at = self.add(thread, "SND", size=7, message=number, **(self.ends(thread, other) | {"socket_type": "UDP"}))
            self.datagrams.append((thread, other, number, at))

    def lock(self, thread, variable=None):
        variable = variable or f"lock of {self.host(thread)}"
        if variable not in self.held:
            self.held[variable] = thread, self.add(thread, "LOCK", variable=variable, loc="a.b.1")
        elif self.held[variable][0] == thread:
            _, locked = self.held.pop(variable)
            self.sections.setdefault(variable, []).append((thread, locked, self.add(thread, "UNLOCK", variable=variable, loc="a.b.2")))

    def notify(self, thread):
        variable = f"condition of {self.host(thread)}"
        self.notified[variable] = self.notified.get(variable, 0) + 1
        self.waits_and_notifies.setdefault(variable, ([], []))[1].append(self.add(thread, "NOTIFY", variable=variable))

    def wait(self, thread):
        variable = f"condition of {self.host(thread)}"
        if self.notified.get(variable, 0) > 0:
            self.notified[variable] -= 1
            self.waits_and_notifies[variable][0].append(self.add(thread, "WAIT", variable=variable))

    def make(self, thread):
        child = f"Tc{len(self.events)}@{self.host(thread)}"
        made = self.add(thread, "CREATE", child=child)
        self.before.append((made, self.add(child, "START")))
        self.parents[child] = thread
        self.threads.append(child)

    def end(self, thread):
        if thread not in self.parents or any(thread == holder for holder, _ in self.held.values()):
            return
        self.threads.remove(thread)
        ended = self.add(thread, "END")
        parent = self.parents.pop(thread)
        if parent in self.threads:
            self.before.append((ended, self.add(parent, "JOIN", child=thread)))

    def connect(self, thread):
        if self.connections and self.random.random() < 0.7:
            client, server, step, giver, ends = self.connections.pop(0)
            if step == "accept" and server in self.threads:
                self.before.append((giver, self.add(server, "ACCEPT", **ends)))
                self.connections.append((client, server, "close", None, ends))
            elif step == "close" and client in self.threads and server in self.threads and client != server:
                closed = self.add(client, "CLOSE", **ends)
                self.before.append((closed, self.add(server, "SHUTDOWN", **ends)))
            return
        server = self.random.choice(self.threads)
        ends = {"src": "10.0.0.1", "src_port": 5000 + len(self.events), "dst": "10.0.0.2", "dst_port": 80, "socket": f"connection {len(self.events)}",
                "socket_type": "TCP"}
        self.connections.append((thread, server, "accept", self.add(thread, "CONNECT", **ends), ends))

    def talk(self, thread):
        kind = self.random.choice(["LOG", "R", "W", "HANDLERBEGIN", "HANDLEREND", 21, 22, 23])
        words = {"LOG": {"message": "hello", "data": {"level": "WARN"}}, "R": {"variable": "x", "loc": "a.b.3"}, "W": {"variable": "x", "loc": "a.b.4"},
                 21: {"filename": "/tmp/x", "fd": 3, "offset": 0, "size": 9, "returned_value": 9}, 22: {"filename": "/tmp/x", "fd": 3, "size": 9, "returned_value": 4},
                 23: {"filename": "/tmp/x", "fd": 3}}
        self.add(thread, kind, **words.get(kind, {}))

    def write(self, path):
        """A log of each host, its lines in any order."""
        paths = []
        for host in self.hosts:
            lines = [json.dumps(event) for event in self.events if self.host(event["thread"]) == host]
            self.random.shuffle(lines)
            paths.append(f"{path}.{host}.json")
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
        return paths

    def thread_orders(self):
        """Positions of each thread's events."""
        orders = {}
        for at, event in enumerate(self.events):
            orders.setdefault(event["thread"], []).append(at)
        return orders
