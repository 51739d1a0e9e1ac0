#!/usr/bin/env python3
"""Programs that cut, frame and join what they pass on: only the content shows that it is the same, by anchors."""

import os
import sys

import following
import support
from following import FollowTest

MEGABYTE = 1 << 20

# Four processes over loopback. Each takes pieces of one size and hands on pieces of another, out of what it has gathered; the third
# puts its length in front of each piece and writes a copy of what it got. Two more talk beside them, about something else.
RELAY = following.RELAY_PARTS + r"""
takes, gives = [4096, 65536, 99991, 1 << 20], [70001, 4096, 65537, 1 << 20]

def hop(index):
    for i, (near, far) in enumerate(links):
        if i != index:
            near.close()
        if i != index - 1:
            far.close()
    take = (lambda file: lambda: os.read(file, takes[0]))(os.open(source, os.O_RDONLY)) if index == 0 else lambda: links[index - 1][1].recv(takes[index])
    kept = open(copy, "wb", buffering=0) if index == 2 else None
    last = open(target, "wb", buffering=0) if index == 3 else None
    give = last.write if last else links[index][0].sendall
    gathered = b""
    def hand_on(piece):
        give(struct.pack("<I", len(piece)) + piece if index == 2 else piece)
    while got := take():
        if kept:
            kept.write(got)
        gathered += got
        while len(gathered) >= gives[index]:
            hand_on(gathered[:gives[index]])
            gathered = gathered[gives[index]:]
    if gathered:
        hand_on(gathered)

child(lambda: noise(300, *connection()))
links = [connection() for _ in range(3)]
for index in range(4):
    child(lambda: hop(index))
for near, far in links:
    near.close()
    far.close()
for _ in range(5):
    status = os.wait()[1]
    assert status == 0, status
"""


class RelayTest(FollowTest):
    SIZE = 5 * MEGABYTE + 12345

    def relay(self):
        source = self.random_file("source", self.SIZE)
        return self.record("--content=anchors", "--", sys.executable, "-c", RELAY, source, self.path("target"), self.path("copy"))

    def test_of_other_pieces_at_each_hop_and_a_frame_names_all_hops_and_copies_and_no_others(self):
        trace = self.relay()
        trail = self.trail(trace, "--path", self.seen(self.path("source")))
        self.assertEqual(self.files(trail), {"source", "copy", "target"})
        self.assertEqual(len({hop["process"] for hop in trail["hops"]}), 4)
        for name in ("copy", "target"):
            back = self.trail(trace, "--path", self.seen(self.path(name)), "--back")
            self.assertEqual(self.files(back), {"source", name})
        # Nearly all of it: what stands before the first anchor and after the last one may lack. The last process passes on the lengths, too.
        moved = trace.number("SELECT sum(f.bytes) FROM flows f JOIN objects o ON o.object_id = f.to_object_id "
                             f"WHERE rule = 'anchor' AND ends_with(o.path, '{self.path('target')}')")
        self.assertGreater(moved, 0.98 * self.SIZE)
        self.assertLessEqual(moved, os.path.getsize(self.path("target")))

    def test_ranges_are_right_to_the_byte(self):
        """What comes out lies where it lay in the file, but for four bytes in front of each piece that the third process hands on."""
        trace = self.relay()
        rows = trace.rows("SELECT from_offset, to_offset, f.bytes, e.process_id FROM flows f JOIN events e ON e.event_id = f.to_event WHERE rule = 'anchor'")
        framer = trace.number(f"SELECT any_value(process_id) FROM events WHERE ends_with(path, '{self.path('copy')}') AND name = 'write'")
        framed = 0
        for row in rows:
            begin, end = int(row["from_offset"]), int(row["from_offset"]) + int(row["bytes"])
            frames = 4 * (1 + begin // 65537) if int(row["process_id"]) == framer else 0
            self.assertEqual(int(row["to_offset"]), begin + frames, row)
            if frames:
                framed += 1
                self.assertLessEqual(end, (1 + begin // 65537) * 65537, row)
        self.assertGreater(framed, 70)
        self.assertGreater(len(rows) - framed, 70)

    def test_what_stands_beside_it_has_no_part(self):
        trace = self.relay()
        noise = self.trail(trace, "--path", self.seen(self.path("target.noise")), "--back")
        self.assertEqual(self.files(noise), {"target.noise"})
        relay = self.trail(trace, "--path", self.seen(self.path("source")))
        talkers, hops = ({hop["process_id"] for hop in trail["hops"]} for trail in (noise, relay))
        self.assertEqual((len(talkers), len(hops), talkers & hops), (2, 4, set()))
        self.assertEqual(trace.number(f"""
            SELECT count(*) FROM flows f JOIN events a ON a.event_id = from_event JOIN events b ON b.event_id = to_event
            WHERE (a.process_id IN ({",".join(talkers)}) AND b.process_id IN ({",".join(hops)}))
               OR (a.process_id IN ({",".join(hops)}) AND b.process_id IN ({",".join(talkers)}))"""), 0)


if __name__ == "__main__":
    support.main()
