#!/usr/bin/env python3
"""Runs the micro benchmark and prints its medians as a Markdown page."""

import argparse
import json
import pathlib
import subprocess
import sys

from machine import describe

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ["nearest", "score_top_10", "observe_merge", "read_mix", "save", "load"]


def microseconds(row: dict) -> float:
    return row["cpu_time"] * {"ns": 1e-3, "us": 1.0, "ms": 1e3}[row["time_unit"]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--filter", default=".", help="a regular expression, as Google Benchmark has it")
    options = parser.parse_args()
    command = [
        str(ROOT / "build/release/bench/micro"),
        f"--benchmark_repetitions={options.repetitions}",
        "--benchmark_report_aggregates_only=true",
        "--benchmark_min_time=0.2",
        f"--benchmark_filter={options.filter}",
        "--benchmark_format=json",
    ]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    medians = {
        row["run_name"]: row
        for row in json.loads(run.stdout)["benchmarks"]
        if row["aggregate_name"] == "median"
    }

    print("# The memory's own work, timed\n")
    print(describe(f"bench/micro.py --repetitions {options.repetitions}"))
    print(f"- One thread; CPU time, median of {options.repetitions} runs. `nearest` is one search, "
          "`observe_merge` a search and a merge,")
    print("  `read_mix` a scan, a softmax and a mix of 16-dimensional values. Searches go by codes from 65,536 floats on. Ratio: to the time that "
          "reading the keys")
    print("  once takes at the bandwidth measured in the same run. GB/s: of keys; for save and load of "
          "the file.\n")

    print("| d | normalise, ns |\n|---:|---:|")
    for name, row in medians.items():
        if name.startswith("normalise/"):
            print(f"| {name.split('/')[1]} | {microseconds(row) * 1e3:.0f} |")
    print("\n| d | slots | what | µs | GB/s | ratio to reading the keys |\n|---:|---:|---|---:|---:|---:|")
    for name, row in medians.items():
        if not name.startswith("read_bandwidth/"):
            continue
        size = name.split("/", 1)[1]
        d, slots = (part.split(":")[1] for part in size.split("/"))
        floor = microseconds(row)
        rate = row["bytes_per_second"] / 1e9
        print(f"| {d} | {slots} | reading the keys | {floor:.1f} | {rate:.1f} | 1.00 |")
        for what in ROWS:
            other = medians.get(f"{what}/{size}")
            if other is None:
                continue
            ratio = "" if what in ("save", "load") else f"{microseconds(other) / floor:.2f}"
            print(f"| | | {what} | {microseconds(other):.1f} | "
                  f"{other['bytes_per_second'] / 1e9:.1f} | {ratio} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
