"""What a call costs on Debian's kernels, in guests of qemu (test/kernels/boot). Without KVM the processor is emulated, which distorts: ratios are what counts."""

import importlib.machinery
import importlib.util
import os

from measurements import CALLS, print_table
from tracers import BUILD, ROOT

KERNELS = ["6.1", "6.12"]
COUNT = 20_000  # calls; a tenth of a second of an emulated processor, so that the recorder hardly runs meanwhile
WAYS = {"alone": "", "empty programs": "bench_floor", "recorded": "dyetrace record --no-seal --ring 64M -o /tmp/trace --"}
SECONDS_MAX = 3000


def booter():
    path = os.path.join(ROOT, "test", "kernels", "boot")
    loader = importlib.machinery.SourceFileLoader("boot", path)
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("boot", loader))
    loader.exec_module(made)
    return made


def script(rounds):
    """The first round is to warm the emulation."""
    lines = []
    for call in CALLS:
        for number, way in enumerate(WAYS.values()):
            lines.append(f"echo took {number} {call} $({way} bench_load {call} {COUNT} 2>/tmp/said || cat /tmp/said); rm -rf /tmp/trace")
    return f"for round in $(seq {rounds + 1}); do\n" + "\n".join(lines) + "\ndone\n"


def guests(folder, rounds, median):
    """The calls of `loop`, alone, beside empty programs and recorded."""
    boot = booter()
    machine = boot.MACHINES[boot.OWN]
    kernels = machine.folder
    machine.build, machine.folder = BUILD, folder
    boot.EMULATION = "tcg,thread=multi"  # the recorder's processor is another one; now and then a guest locks up by that
    boot.PROGRAMS = ["dyetrace", "dyetrace-store", "bench/programs/bench_load", "bench/programs/bench_floor"]
    rows = []
    for kernel in KERNELS:
        os.makedirs(os.path.join(kernels, kernel), exist_ok=True)
        os.symlink(os.path.join(kernels, kernel), os.path.join(folder, kernel))  # downloaded once
        _, written, _ = boot.boot(machine, kernel, script(rounds), SECONDS_MAX)
        taken = {}
        for words in (line.split() for line in written.splitlines() if line.startswith("took ")):
            if len(words) != 4:
                raise RuntimeError(f"{kernel}: {' '.join(words)}")
            taken.setdefault((int(words[1]), words[2]), []).append(float(words[3]))
        middle = {key: median(values[1:]) for key, values in taken.items()}
        for number, way in enumerate(WAYS):
            rows.append([f"{kernel} {way}", *(f"{middle[number, call]:,.0f}" for call in CALLS)])
        rows.append([f"{kernel} recorded/empty", *(f"{middle[2, call] / middle[1, call]:.1f}" for call in CALLS)])
    print_table(f"nanoseconds per call in guests, emulated unless there is KVM, median of {rounds}", ["", *CALLS], rows)
