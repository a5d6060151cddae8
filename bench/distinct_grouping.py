#!/usr/bin/env python3
"""Grouping accuracy of the real command on twelve system logs with known templates.

Runs `dpcache distinct --assign` on the messages of each log (column `content`), with the same settings for
all, and compares its slots with the templates (column `event_corrected`). A line is grouped right if the
lines of its slot are exactly the lines of its template; the accuracy is the share of such lines. Prints a
Markdown table.

  bench/distinct_grouping.py build/release/dpcache [OPTION of distinct]...

The logs are read from ../shared/data/loghub2k, or the folder that DPCACHE_SHARED_DATA names. Without them it
says so and ends with exit code 77. With --at-least X it ends with 1 if the mean is below X.
"""

import argparse
import collections
import csv
import gzip
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import machine  # noqa: E402  beside this file

SKIPPED = 77


def data_folder():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data")
    return os.environ.get("DPCACHE_SHARED_DATA", beside)


def read_logs(path):
    """{name: [(template, message)]}; the messages' escapes undone."""
    logs = collections.defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        for row in rows:
            message = row["content"].replace("\\t", "\t").replace("\\\\", "\\")
            logs[row["dataset"]].append((row["event_corrected"], message))
    return logs


def assign(program, options, messages):
    """The slot of each message."""
    done = subprocess.run([program, "distinct", "--quiet", "--assign", *options],
                          input="".join(message + "\n" for message in messages).encode(),
                          stdout=subprocess.PIPE, check=True)
    slots = [int(line.split(b"\t", 1)[0]) for line in done.stdout.split(b"\n")[:-1]]
    if len(slots) != len(messages):
        raise SystemExit(f"{len(messages)} messages went in, {len(slots)} lines came out")
    return slots


def accuracy(templates, slots):
    by_template, by_slot = collections.defaultdict(set), collections.defaultdict(set)
    for line, (template, slot) in enumerate(zip(templates, slots)):
        by_template[template].add(line)
        by_slot[slot].add(line)
    right = sum(len(lines) for slot, lines in by_slot.items()
                if lines == by_template[templates[next(iter(lines))]])
    return right / len(slots)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--at-least", type=float, default=0.0)
    arguments, options = parser.parse_known_args()
    path = os.path.join(data_folder(), "loghub2k", "loghub2k.tsv.gz")
    if not os.path.exists(path):
        print("SKIPPED: the labelled logs (loghub2k) are not here, so nothing was measured", file=sys.stderr)
        return SKIPPED
    print("# Grouping accuracy of `dpcache distinct`\n")
    print("The messages of twelve system logs (column `content`, labels `event_corrected`) through the whole command, "
          "with one\nsetting for all. The share of lines whose slot holds exactly the lines of their template.\n")
    shown = " ".join(["bench/distinct_grouping.py", "build/release/dpcache", *options])
    print(machine.describe(shown))
    print("- Data: 2,000 lines each from Loghub (Zhu et al., ISSRE 2023), labels corrected by Khan et al. (ICSE 2022)\n")
    print("| log | lines | templates | slots | grouping accuracy |")
    print("|---|--:|--:|--:|--:|")
    accuracies = []
    for name, rows in sorted(read_logs(path).items()):
        templates = [template for template, _ in rows]
        slots = assign(arguments.program, options, [message for _, message in rows])
        accuracies.append(accuracy(templates, slots))
        print(f"| {name} | {len(rows):,} | {len(set(templates))} | {len(set(slots))} | {accuracies[-1]:.4f} |")
    mean = sum(accuracies) / len(accuracies)
    print(f"| **mean** | | | | **{mean:.4f}** |")
    if mean < arguments.at_least:
        print(f"the mean is below {arguments.at_least}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
