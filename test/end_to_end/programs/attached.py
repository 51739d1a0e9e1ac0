"""A program that has been running: open files of every kind and connections; then it uses all of them, over and over.

    attached.py FOLDER THREADS

Prints "ready" when everything is open, and ends when its standard input does.
"""

import os
import select
import socket
import sys
import threading
import time

folder, threads = sys.argv[1], int(sys.argv[2])
os.chdir(folder)
files = [os.open(f"file{number}", os.O_RDWR | os.O_CREAT) for number in range(8)]
os.rename("file0", "renamed")
os.unlink("file1")
pipe_out, pipe_in = os.pipe()
os.mkfifo("fifo")
fifo = os.open("fifo", os.O_RDWR)
directory = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
memory = os.memfd_create("memory")
event = os.eventfd(1)
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
left, right = socket.socketpair()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
poller = select.epoll()
poller.register(left, select.EPOLLIN)
ended = threading.Event()


def use_everything():
    for file in files:
        os.pwrite(file, b"words", 0)
        os.pread(file, 5, 0)
        os.fstat(file)
    os.write(pipe_in, b"x")
    os.read(pipe_out, 1)
    os.write(fifo, b"x")
    os.read(fifo, 1)
    os.pwrite(memory, b"x", 0)
    os.write(event, (1).to_bytes(8, "little"))
    os.read(event, 8)
    os.fsync(directory)
    client.send(b"question")
    server.recv(8)
    left.send(b"x")
    right.recv(1)
    udp.sendto(b"x", udp.getsockname())
    udp.recv(1)
    poller.poll(0)


def run():
    file = os.open("of_thread", os.O_RDWR | os.O_CREAT)
    while not ended.is_set():
        os.pwrite(file, b"x", 0)
        time.sleep(0.02)


running = [threading.Thread(target=run) for _ in range(threads)]
for thread in running:
    thread.start()
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.02)[0]:
    use_everything()
ended.set()
for thread in running:
    thread.join()
