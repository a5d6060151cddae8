#!/usr/bin/env python3
"""Runs the grouping benchmark and prints its page: one setting, its neighbours, and what it costs."""

import pathlib
import subprocess
import sys

from machine import describe

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/release/bench/grouping"
DATA = ROOT.parent / "shared/data"
SEEDS = range(6)
TAUS = [0.10, 0.12, 0.14, 0.15, 0.16, 0.17, 0.18, 0.19, 0.20, 0.22, 0.25, 0.30]
DIMENSIONS = [64, 128, 192, 256, 384, 512]


def run(*options) -> str:
    command = [str(PROGRAM), *map(str, options)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def means(*options) -> tuple[float, float]:
    fields = run(*options, DATA / "loghub2k").splitlines()[-1].split("|")
    return float(fields[5]), float(fields[7])


def over_seeds(*options) -> str:
    results = [means(*options, "--seed", seed) for seed in SEEDS]
    message = [result[0] for result in results]
    raw = [result[1] for result in results]
    count = len(results)
    return (f"{sum(message) / count:.3f} | {min(message):.3f} – {max(message):.3f} | "
            f"{sum(raw) / count:.3f}")


def main() -> int:
    if not (DATA / "loghub2k").exists():
        print("grouping.py: SKIPPED: ../shared/data is not here", file=sys.stderr)
        return 1
    print("# Grouping log lines without a model\n")
    print(describe("bench/grouping.py"))
    print("""- Data: twelve system logs of 2,000 lines from Loghub (Zhu et al., ISSRE 2023) with the
  labels corrected by Khan et al. (ICSE 2022), in `../shared/data/loghub2k`.

A line is masked (all built-in masks), encoded, and joins the nearest slot or opens one (frozen keys).
Accuracy is the share of lines whose group is exactly equal, as a set of lines, to a labelled group;
one line too many or too few makes the whole group wrong. One setting serves all logs: the weights in
`core/src/text/features.h`, the dimension and tau were chosen on these twelve together, none for one
log. On raw lines the header's words are compared too, and the labels do not know them: programs with
other names that log one message are two groups there.
""")
    print(run(DATA / "loghub2k"))
    print("""Masks alone, with equal masked texts as one group (`--tau 0`), and no masks at all:

| | messages | raw lines |
|---|---:|---:|""")
    for name, options in (("masks, tau 0", ("--tau", 0)),
                          ("no masks, tau 0.17", ("--mask", "none"))):
        message, raw = means(*options)
        print(f"| {name} | {message:.3f} | {raw:.3f} |")
    print(f"""
## Around the setting

Means over the twelve logs and over {len(SEEDS)} seeds of the hash, with the seeds' range: how much of
a figure is chance.

| tau | messages | range | raw lines |
|---:|---:|---:|---:|""")
    for tau in TAUS:
        print(f"| {tau:.2f} | {over_seeds('--tau', tau)} |")
    print("\n| dimension | messages | range | raw lines |\n|---:|---:|---:|---:|")
    for dimension in DIMENSIONS:
        print(f"| {dimension} | {over_seeds('--dimension', dimension)} |")
    print("""
## What a line costs

Microseconds a line on one core, raw lines: the masks alone, masks and encoder, and both with the
memory's search over its slots. `dpcache distinct` also reads, counts and prints.

| log, dimension | lines | bytes a line | masks | encode | encode and observe | slots |
|---|---:|---:|---:|---:|---:|---:|""")
    for name in ("Apache", "Linux", "Proxifier"):
        for dimension in (128, 256):
            row = run("--dimension", dimension, "--time", DATA / f"logs_full/{name}.log.gz")
            print(row.replace(".log.gz |", f", {dimension} |", 1), end="")
    print("""
## What it cannot do

Hand-written pairs of questions (`../shared/data/probes_selfmade`, 240 pairs, masks off): their cosine,
and how many would merge at tau 0.17. The encoder compares wording. It takes a typing error or a word
of courtesy for the same text, it does not know a paraphrase, and it does not stop at a word that turns
the meaning or names something else. Use it for texts that a program writes. For what people write,
bring vectors from a model, and guards for numbers and negation.

| meaning | pair | pairs | least | median | most | merged |
|---|---|---:|---:|---:|---:|---:|""")
    print(run("--mask", "none", "--pairs", DATA / "probes_selfmade/probes.tsv"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
