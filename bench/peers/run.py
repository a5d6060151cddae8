#!/usr/bin/env python3
"""Measures dpcache beside other libraries that search exactly and prints a Markdown page.

Build first: cmake --preset release -DDPCACHE_BENCH_PEERS=ON
             cmake --build --preset release --target bench_peers
"""

import json
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build/release/bench/peers/bench_peers"
DATA = ROOT.parent / "shared/data"
REAL = {"glove_wink_30k": "vectors.i8.npy", "embeddings_use": "open.use128.i8.npy"}
PACKAGES = {"FAISS": "libfaiss-dev", "OpenBLAS": "libopenblas-dev", "Eigen": "libeigen3-dev",
            "hnswlib": "libhnswlib-dev"}
sys.path.insert(0, str(ROOT / "bench"))
from machine import describe  # noqa: E402  pylint: disable=wrong-import-position

OURS = "dpcache"
COLUMNS = [OURS, "FAISS", "OpenBLAS", "Eigen", "hnswlib brute", "USearch", "hnswlib HNSW"]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure(*words: object, cores: int = 1) -> list[dict]:
    """One process a case, on one core and with one thread, but for what needs more."""
    say(" ".join(map(str, words)))
    command = [str(PROGRAM), *map(str, words)]
    if len(os.sched_getaffinity(0)) > cores:
        command = ["taskset", "-c", ",".join(map(str, sorted(os.sched_getaffinity(0))[-cores:]))] + command
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=600,
                         env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    return [json.loads(line) for line in run.stdout.splitlines()]


def versions() -> str:
    out = []
    for name, package in PACKAGES.items():
        asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=False,
                               capture_output=True, text=True)
        out.append(f"{name} {asked.stdout or 'of unknown version'}")
    package = ROOT / "bench/js/node_modules/usearch/package.json"
    if package.exists():
        out.append(f"USearch {json.loads(package.read_text())['version']}")
    return ", ".join(out)


def number(value: float) -> str:
    """With one digit where it matters; nothing where there was no peer to compare with."""
    if math.isnan(value):
        return ""
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


class Case:
    """All contenders under the same conditions."""

    def __init__(self, lines: list[dict]) -> None:
        self.lines = lines
        self.first = lines[0]

    def best(self) -> dict:
        others = [x for x in self.lines if x["exact"] and not x["who"].startswith(OURS)]
        return min(others, key=lambda x: x["us"], default=None)

    def ours(self, name: str = OURS) -> dict:
        return next(x for x in self.lines if x["who"] == name)

    def ratio(self, name: str = OURS) -> float:
        return self.best()["us"] / self.ours(name)["us"] if self.best() else math.nan

    def cells(self) -> list[str]:
        times = {c: x["us"] for c in COLUMNS for x in self.lines if x["who"].startswith(c)}
        return [number(times[c]) if c in times else "" for c in COLUMNS]


def cases(lines: list[dict], section: str) -> list[Case]:
    groups: dict[tuple, list[dict]] = {}
    for line in lines:
        if line["section"] == section:
            key = tuple(line.get(x) for x in ("data", "queries", "d", "n", "k"))
            groups.setdefault(key, []).append(line)
    return [Case(group) for group in groups.values()]


def table(heads: list[str], rows: list[list[str]], left: int) -> None:
    print("| " + " | ".join(heads) + " |")
    print("|" + "".join("---|" if i < left else "---:|" for i in range(len(heads))))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def verdict(what: str, asked: float, measured: float) -> list[str]:
    said = "not measured" if math.isnan(measured) else "met" if measured >= asked else "**missed**"
    return [what, f"{asked:g} times", f"{number(measured)} times" if measured > 0 else "", said]


def main() -> int:
    if not PROGRAM.exists():
        say(f"There is no {PROGRAM.relative_to(ROOT)}. {__doc__.split(chr(10), 2)[2]}")
        return 2
    missing = measure("peers")[0]["missing"].strip()
    lines = []
    for dimension, slots in [(384, 100), (384, 1000), (384, 10000), (384, 100000), (128, 1000),
                             (128, 10000), (128, 100000), (768, 1000), (768, 10000)]:
        lines += measure("single", "clustered", dimension, slots)
    lines += measure("single", "scattered", 384, 10000)
    for data, slots in [("clustered", 10000), ("clustered", 100000), ("scattered", 10000)]:
        lines += measure("batch", data, 384, slots)
    # Every so many-th chunk of 256 is measured: what the slowest can do in half a minute.
    for distinct, every, rounds in [(1000, 1, 3), (10000, 8, 3), (100000, 521, 1)]:
        lines += measure("stream", 384, distinct, every, rounds)
    lines += measure("growth", 384)
    if len(os.sched_getaffinity(0)) > 1:
        for slots in (10000, 100000):
            lines += measure("threads", 384, slots, 2, cores=2)
    else:
        say("SKIPPED: two threads, for there is one core")
    absent = []
    for name, file in REAL.items():
        if (DATA / name / file).exists():
            lines += measure("real", name, DATA / name / file)
        else:
            absent.append(name)
            say(f"SKIPPED: {name} is not in ../shared/data")
    write(lines, missing, absent)
    return 0


def searches(line: dict) -> str:
    return "one query at a time" if line["batch"] == 1 else f"{line['batch']:,} queries, k = {line['k']}"


def write(lines: list[dict], missing: str, absent: list[str]) -> None:
    singles, batches = cases(lines, "single"), cases(lines, "batch")
    streams = cases(lines, "stream")
    growth = [line for line in lines if line["section"] == "growth"]
    threads = [line for line in lines if line["section"] == "threads"]

    print("# Beside other libraries that search exactly\n")
    print(describe("bench/peers/run.py"))
    print(f"- {versions()}")
    if missing:
        print(f"- **Missing from this run, as the build did not find them:** {missing}")
    for name in absent:
        print(f"- **Skipped:** {name}, which is not in `../shared/data`")
    print("""- One thread; a thread's CPU time; medians of 7 rounds (batches 5), contenders in turns.
- Debian builds FAISS for the oldest x86-64: its searches for one query are slow; its batches go through OpenBLAS, as
  everywhere. USearch sums in double. HNSW is a graph and may miss the nearest (M 16, ef 64, no settings sought); it is
  in no ratio. It is left out where building it takes minutes.
- Made keys: about √N clusters of cosine .5 within. Repeats: keys with noise of cosine .96. Novel: others of the same
  clusters. Scattered: random directions.
- dpcache is filled as by a stream, outside the clock: how far a slot is from the others is found when it opens. Of a
  memory that comes from a file it is learnt when a slot is asked for the second time, which costs a second search.
- Ratio: the time of the fastest exact peer to that of dpcache.
""")
    print("## What was asked for, and what came out\n")
    rows = []
    made = {(c.first["d"], c.first["n"], c.first["queries"]): c for c in singles
            if c.first["data"] == "clustered"}
    for slots, asked, asked_repeats in [(1000, 3, None), (10000, 8, 30), (100000, 10, 100)]:
        ratio = made[384, slots, "repeats"].ratio()
        rows.append(verdict(f"one query of {slots:,} × 384, repeats", asked, ratio))
        if asked_repeats:
            rows.append(verdict("the same, by the half-angle certificate", asked_repeats, ratio))
        ratio = made[384, slots, "novel"].ratio()
        rows.append(verdict(f"one query of {slots:,} × 384, novel", asked, ratio))
    for case in batches:
        if case.first["data"] == "clustered":
            rows.append(verdict(f"1,024 queries of {case.first['n']:,} × 384, k = {case.first['k']}", 3,
                                case.ratio()))
    for case in streams:
        asked = 3 if case.first["n"] > 10000 else 4
        alone = Case([x for x in case.lines if x["who"].endswith("one by one") or x["who"] == "dpcache observe"])
        rows.append(verdict(f"stream of {case.first['n']:,} distinct, observe, to the best exact peer one by one",
                            asked, alone.ratio("dpcache observe")))
        rows.append(verdict("the same, observe_batch of 256, to the best peer by 256", asked,
                            case.ratio("dpcache observe_batch of 256")))
    wrong = sum(x["wrong"] for c in streams for x in c.lines[:2])
    rows.append(["wrong decisions of dpcache in streams", "0",
                 f"{wrong} of {sum(x['checked'] for c in streams for x in c.lines[:2]):,}",
                 "met" if wrong == 0 else "**missed**"])
    grows = {x["n"]: x for x in growth}
    power = math.log10(grows[100000]["us"] / grows[10000]["us"])
    rows.append(["an item of a stream of repeats, 10,000 to 100,000 slots", "slower than N^.5",
                 f"N^{power:.2f}", "met" if power < .5 else "**missed**"])
    for one, two in zip(threads[::2], threads[1::2]):
        if one["n"] == 100000:
            rows.append(verdict(f"two threads to one, {searches(one)} of {one['n']:,} × 384", 1.6, one["us"] / two["us"]))
    table(["what", "asked", "measured", ""], rows, 1)

    print("## One query, µs\n")
    heads = ["keys", "queries", "d", "slots", *COLUMNS, "reading the keys once", "ratio"]
    table(heads, [[c.first["data"], c.first["queries"], str(c.first["d"]), f"{c.first['n']:,}", *c.cells(),
                   number(c.first["reading_us"]), number(c.ratio())] for c in singles], 2)
    print("## 1,024 queries at once, half of them repeats, µs a query\n")
    columns = COLUMNS[:4]
    table(["keys", "d", "slots", "k", *columns, "ratio"],
          [[c.first["data"], str(c.first["d"]), f"{c.first['n']:,}", str(c.first["k"]), *c.cells()[:4],
            number(c.ratio())] for c in batches], 1)

    print("## Streams: insert if novel, µs an item\n")
    print("d = 384; each distinct item comes 4 times, in random order, each time with noise of cosine .96; tau = .15. "
          "A peer searches and\nadds; \"by 256\" it searches 256 items at once, then compares each with those that "
          "were added among them. Wrong: decisions that\ndiffer from those of a plain loop in double precision. "
          "Of 10,000 distinct items every 8th chunk of 256 is measured, of\n100,000 every 521st, one round; the "
          "slots that the others open are only brought.\n")
    rows = []
    for case in streams:
        for x in case.lines:
            ratio = "" if x["who"].startswith(OURS) else f"{x['us'] / case.ours('dpcache observe')['us']:.1f}"
            batch = x["us"] / case.ours("dpcache observe_batch of 256")["us"]
            rows.append([x["who"], f"{x['n']:,}", number(x["us"]), f"{1e6 / x['us']:,.0f}", ratio,
                         "" if not ratio else f"{batch:.1f}", f"{x['wrong']} of {x['checked']:,}"])
    table(["who", "distinct", "µs", "items/s", "to `observe`", "to `observe_batch`", "wrong"], rows, 1)

    print("## A stream of repeats over memories of many sizes\n")
    print("d = 384, clustered. Power p: time grows as N^p from the row before.\n")
    rows = []
    for before, x in zip([None, *growth], growth):
        powers = ["" if before is None else
                  f"{math.log(x[key] / before[key]) / math.log(x['n'] / before['n']):.2f}"
                  for key in ("us", "batch_us")]
        rows.append([f"{x['n']:,}", number(x["us"]), powers[0], number(x["batch_us"]), powers[1],
                     f"{x['wrong']} of {x['checked']:,}"])
    table(["slots", "`observe`, µs", "p", "`observe_batch` of 256, µs", "p", "wrong"], rows, 0)

    print("## Two threads\n")
    print("d = 384, scattered keys and queries, µs a query on the wall clock, medians of 9 rounds in turns; "
          "`use_threads(2)`. Answers are the\nsame by bits.\n")
    table(["searches", "slots", "one thread", "two threads", "ratio", "other answers"],
          [[searches(one), f"{one['n']:,}", number(one["us"]), number(two["us"]), f"{one['us'] / two['us']:.2f}",
            str(one["wrong"])] for one, two in zip(threads[::2], threads[1::2])], 1)

    print("## Answers\n")
    searched = [line for case in singles + batches for line in case.lines]
    rows = []
    for column in COLUMNS:
        those = [x for x in searched if x["who"].startswith(column)]
        if those:
            rows.append([those[0]["who"], f"{sum(x['wrong'] for x in those)} of "
                                          f"{sum(x['checked'] for x in those):,}"])
    print("Answers in which a slot is less similar than what a scan in double precision finds, by more than 2e-6:\n")
    table(["who", "wrong"], rows, 1)

    print("## Where it loses\n")
    lost = []
    for case in singles + batches:
        for x in case.lines:
            if x["us"] < case.ours()["us"]:
                kind = f"1,024 queries, k = {x['k']}" if x["section"] == "batch" else f"one query, {x['queries']}"
                lost.append(f"- {x['data']}, {x['d']}-d, {x['n']:,} slots, {kind}: {x['who']} takes "
                            f"{number(x['us'])} µs, dpcache {number(case.ours()['us'])}.")
    print("\n".join(lost) if lost else "In no row of this run.")


if __name__ == "__main__":
    sys.exit(main())
