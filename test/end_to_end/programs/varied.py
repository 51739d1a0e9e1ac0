"""Calls of many kinds in a folder, when told to: varied.py FOLDER PORT-FILE. One line on stdin per round; ends with stdin."""

import contextlib
import os
import signal
import socket
import sys
import threading
import time


def files(folder):
    old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
    os.mkdir(old)
    with open(os.path.join(old, "a.txt"), "wb", buffering=0) as file:
        for size in (1, 10, 100, 1000, 5000):
            file.write(b"x" * size)
        os.rename(old, new)  # the open file has another path now
        for size in (7, 70, 700):
            file.write(b"y" * size)
        os.rename(os.path.join(new, "a.txt"), os.path.join(new, "b.log"))
        file.write(b"z" * 17)
    with open(os.path.join(new, "b.log"), "rb", buffering=0) as file:
        while file.read(512):
            pass
    os.link(os.path.join(new, "b.log"), os.path.join(new, "c\u00e4.log"))
    os.unlink(os.path.join(new, "b.log"))
    os.unlink(os.path.join(new, "c\u00e4.log"))
    os.rmdir(new)


def errors(folder):
    for name in ("nowhere", "not/there.txt"):
        with contextlib.suppress(OSError):
            os.open(os.path.join(folder, name), os.O_RDONLY)
    for descriptor in (999, -1):
        with contextlib.suppress(OSError):
            os.read(descriptor, 1)


def talk(port):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for size in (1, 20, 300):
            connection.sendall(b"q" * size)
            connection.recv(4096)
    left, right = socket.socketpair()
    with left, right:
        left.send(b"pair")
        right.recv(10)
        left.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            left.recv(10)


def relay(port):
    """As a proxy sends on what came: out of a pipe, into a socket."""
    out, into = os.pipe()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        os.write(into, b"r" * 40)
        os.splice(out, connection.fileno(), 40)
        connection.recv(4096)
        connection.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            os.splice(connection.fileno(), into, 1)
        os.close(into)
        os.close(out)


def answer(listener):
    while True:
        connection, _ = listener.accept()
        with connection:
            while data := connection.recv(4096):
                connection.sendall(data)


def rename_thread(name):
    with open("/proc/thread-self/comm", "w", encoding="ascii") as file:
        file.write(name)


def round_of_calls(folder, port):
    files(folder)
    errors(folder)
    talk(port)
    relay(port)
    rename_thread("other name")
    signal.raise_signal(signal.SIGUSR1)
    files(folder)
    rename_thread("varied")
    os.kill(os.getpid(), signal.SIGUSR2)
    time.sleep(0.06)
    if (child := os.fork()) == 0:
        files(folder)
        os._exit(0)
    os.waitpid(child, 0)


def main():
    folder = sys.argv[1]
    rename_thread("varied")
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda *_: None)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    threading.Thread(target=answer, args=(listener,), daemon=True).start()
    print(port, flush=True)
    for _ in sys.stdin:
        round_of_calls(folder, port)
        print("done", flush=True)


main()
