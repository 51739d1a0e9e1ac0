#!/usr/bin/env python3
"""Flows through sockets that are not as usual: connected twice, or with messages that were left out."""

import sys

import support

CONNECTED_TWICE = """
import ctypes, socket
listener = socket.create_server(('127.0.0.1', 0))
near = socket.create_connection(listener.getsockname())
far, _ = listener.accept()
near.sendall(b'x' * 7)
assert len(far.recv(99)) == 7
assert ctypes.CDLL(None).connect(near.fileno(), bytes(16), 16) == 0  # AF_UNSPEC: disconnects it
near.connect(listener.getsockname())
again, _ = listener.accept()
near.sendall(b'y' * 9)
assert len(again.recv(99)) == 9
"""
MESSAGES = "import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.send(b'x' * 30); a.send(b'y' * 10); b.recv(99); b.recv(99)"


class SocketTest(support.EndToEndTest):
    def test_one_that_is_connected_again_has_the_flows_of_both_connections(self):
        trace = self.record("--", sys.executable, "-c", CONNECTED_TWICE)
        rows = trace.rows("SELECT bytes, certainty FROM flows WHERE rule = 'tcp' ORDER BY bytes")
        self.assertEqual([(int(row["bytes"]), row["certainty"]) for row in rows], [(7, "certain"), (9, "certain")])

    def test_messages_of_which_some_were_left_out_are_guesses(self):
        trace = self.record("--where", "name <> 'sendto' or bytes < 20", "--", sys.executable, "-c", MESSAGES)
        self.assertEqual(trace.rows("SELECT DISTINCT certainty FROM flows WHERE rule = 'unix'"), [{"certainty": "likely"}])


if __name__ == "__main__":
    support.main()
