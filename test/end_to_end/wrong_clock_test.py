#!/usr/bin/env python3
"""A host whose clock goes wrong beyond what may be assumed of clocks: the order stands, and what its times say against it is told with both intervals."""

import os

import laboratory
import support

PORT = 9000
ROUNDS = 400
FAST_PPM = 20_000  # 500 are assumed at the most

ANSWER = r"""
import socket, sys
listening = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("listens", flush=True)
connection, _ = listening.accept()
while data := connection.recv(100):
    connection.sendall(data)
"""

ASK = r"""
import socket, sys, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
for number in range(int(sys.argv[3])):
    connection.sendall(b"%09d" % number)
    connection.recv(100)
    time.sleep(0.01)
"""


class WrongClockTest(support.EndToEndTest):
    def test_a_clock_that_runs_far_too_fast_is_a_contradiction_and_not_another_order(self):
        self.skip_without(laboratory.lacking())
        lab = laboratory.Laboratory("right", "fast")
        self.addCleanup(lab.close)
        clock = laboratory.Clock(0, FAST_PPM, support.boot_ns())
        fleet = laboratory.Fleet(lab, self.folder, {"fast": clock.option})
        with open(self.path("answers"), "wb") as said:
            lab["fast"].start_python(ANSWER, lab["fast"].address, str(PORT), stdout=said)
        self.wait_for(lambda: os.path.getsize(self.path("answers")) > 0, "it listens")
        fleet.record(lab["right"], "session", "--comm", "python3")
        lab["right"].python(ASK, lab["fast"].address, str(PORT), str(ROUNDS))
        fleet.stop()
        trace = fleet.trace

        self.assertEqual(trace.number("SELECT count(*) FROM edges WHERE rule = 'tcp'"), 2 * ROUNDS, "each message, whatever its times say")
        answer = trace.numbers("""SELECT count(*) AS told, count(*) FILTER (likely_cause = 'clock') AS by_a_clock, count(*) FILTER (rule IS NOT NULL) AS left_out,
            count(*) FILTER (from_earliest > to_latest) AS apart, count(*) FILTER (happened_before(from_event, to_event)) AS in_order
            FROM contradictions WHERE kind = 'clock'""")
        self.assertGreater(answer["told"], 0)
        self.assertEqual(answer, {"told": answer["told"], "by_a_clock": answer["told"], "left_out": 0, "apart": answer["told"], "in_order": answer["told"]})
        self.assertEqual(trace.number("SELECT count(*) FROM contradictions WHERE kind <> 'clock'"), 0)


if __name__ == "__main__":
    support.main()
