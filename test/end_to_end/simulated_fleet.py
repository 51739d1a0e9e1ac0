"""Many hosts in one program: bench/fleet_load.cpp, and what it says of itself."""

import json
import os
import subprocess
import threading
import time


class SimulatedFleet:
    """Agents that replay a recorded trace from when the block begins until it ends."""

    def __init__(self, build, port, hosts, trace, spools, *options):
        program = os.path.join(build, "bench", "programs", "bench_fleet")
        self.command = [program, "--collector", f"127.0.0.1:{port}", "--hosts", str(hosts), "--trace", trace, "--spools", spools, *options]
        self.hosts = hosts
        self.now = {"connected": 0, "caught_up": 0, "recovered": 0, "running": 0, "events": 0, "bytes": 0}
        self.process = None
        self._reader = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        self.process.stdout.close()

    def _read(self):
        for line in self.process.stdout:
            self.now = json.loads(line)

    def are_connected(self):
        return self.now["connected"] == self.hosts

    def have_caught_up(self):
        return self.now["caught_up"] == self.hosts

    def have_recovered(self):
        """Each has caught up, though perhaps not all at the same moment."""
        return self.now["recovered"] == self.hosts

    def have_shipped(self):
        """All that is to be replayed has been written, and acknowledged."""
        now = self.now
        return now["events"] > 0 and now["running"] == 0 and now["caught_up"] == self.hosts

    def wait_for(self, condition, seconds):
        """Seconds that it took, to a tenth."""
        begin = time.monotonic()
        while not condition():
            if self.process.poll() is not None:
                raise AssertionError(f"the fleet ended with {self.process.returncode}")
            if time.monotonic() - begin > seconds:
                raise AssertionError(f"not within {seconds} s: {condition.__name__}; {self.now}")
            time.sleep(0.01)
        return time.monotonic() - begin
