#!/usr/bin/env python3
"""How fast `dpcache distinct` is on real logs, and how much memory it takes.

Runs the whole command, from start to end, on one core (taskset), each log --runs times after one run to
warm the file cache; prints the median, the fastest and the slowest run, lines per second of the median, the
processor's time and the peak memory, as Markdown.

  bench/streams.py [--runs N] [--core C] build/release/dpcache [OPTION of distinct]...  > bench/streams.md

The logs are read from ../shared/data (loghub2k/raw and logs_full, unpacked first), or the folder that
DPCACHE_SHARED_DATA names. Without them it says so and ends with exit code 77.
"""

import argparse
import glob
import gzip
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import machine  # noqa: E402  beside this file

SKIPPED = 77


def data_folder():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data")
    return os.environ.get("DPCACHE_SHARED_DATA", beside)


def run(program, options, log, core):
    """Seconds by the clock, seconds of the processor, and number of distinct items of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        subprocess.run(["taskset", "-c", str(core), program, "distinct", "--quiet", *options, log],
                       stdout=out, check=True)
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        out.seek(0)
        distinct = sum(chunk.count(b"\n") for chunk in iter(lambda: out.read(1 << 20), b""))
    return seconds, processor, distinct


def peak_mebibytes(program, options, data):
    """The largest resident set, as the kernel tells it while the run, which has read everything, waits at the
    end of its standard input. (What wait4 tells is no less than the size of this interpreter.)"""
    process = subprocess.Popen([program, "distinct", "--quiet", *options], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL)
    process.stdin.write(data)
    process.stdin.flush()
    peak, calm = 0, 0
    while calm < 10:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            now = int(re.search(r"VmHWM:\s*(\d+) kB", status.read()).group(1))
        peak, calm = now, calm + 1 if now == peak else 0
        time.sleep(0.02)
    process.stdin.close()
    if process.wait() != 0:
        raise SystemExit(f"ended with {process.returncode}")
    return peak / 1024


def measure(program, options, log, core, runs):
    with open(log, "rb") as file:
        data = file.read()
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    run(program, options, log, core)
    results = [run(program, options, log, core) for _ in range(runs)]
    times = [seconds for seconds, _, _ in results]
    median = statistics.median(times)
    processor = statistics.median(seconds for _, seconds, _ in results)
    name = os.path.basename(log).removesuffix(".log")
    print(f"| {name} | {lines:,} | {len(data) / 1e6:.1f} | {results[0][2]} | {median * 1e3:.0f} "
          f"({min(times) * 1e3:.0f}–{max(times) * 1e3:.0f}) | {lines / median:,.0f} | {processor * 1e3:.0f} | "
          f"{peak_mebibytes(program, options, data):.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--core", type=int, default=os.cpu_count() - 1)
    arguments, options = parser.parse_known_args()
    complete = sorted(glob.glob(os.path.join(data_folder(), "logs_full", "*.log.gz")))
    raw = sorted(glob.glob(os.path.join(data_folder(), "loghub2k", "raw", "*.log")))
    if not complete or not raw:
        print("SKIPPED: the logs (loghub2k, logs_full) are not here, so nothing was measured", file=sys.stderr)
        return SKIPPED
    shown = " ".join(["bench/streams.py", f"--runs {arguments.runs}", "build/release/dpcache", *options])
    print("# Streams: `dpcache distinct` on real logs\n")
    print("The whole command from start to end, on one core; the log is in the file cache. Starting the process "
          "is part\nof it and is most of it for the small logs. Where others use the machine too, the processor's time\n"
          "(user and system, median) tells more than the clock's.\n")
    print(machine.describe(shown))
    print("- Data: three complete logs and twelve of 2,000 lines, with their headers, from Loghub (Zhu et al., "
          "ISSRE 2023)")
    print("\n| log | lines | MB | distinct | median ms (fastest–slowest) | lines/s | processor ms | peak MiB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for path in complete:
            log = os.path.join(folder, os.path.basename(path).removesuffix(".gz"))
            with gzip.open(path, "rb") as packed, open(log, "wb") as file:
                shutil.copyfileobj(packed, file)
            measure(arguments.program, options, log, arguments.core, arguments.runs)
    for log in raw:
        measure(arguments.program, options, log, arguments.core, arguments.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
