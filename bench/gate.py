#!/usr/bin/env python3
"""Learns gates and chooses tau on real pairs by `dpcache train`, and prints the page of results.

Half of each set teaches, the other half judges. usage: bench/gate.py [PROGRAM] > bench/gate.md"""

import gzip
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict

from machine import describe

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared/data"
PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/dpcache")
ALPHA = 0.01
CONFIDENCE = 0.9
MOST = 4000  # pairs drawn of each kind, where all would be millions


def rows(name):
    path = DATA / name
    opened = gzip.open(path, "rt", encoding="utf-8") if name.endswith(".gz") else path.open(encoding="utf-8")
    with opened as file:
        header = file.readline().rstrip("\n").split("\t")
        for line in file:
            yield dict(zip(header, line.rstrip("\n").split("\t")))


def labelled(name, *parts):
    """(label, text) of the rows whose split is one of `parts`."""
    return [(row["intent"], row["text"]) for row in rows(name) if row["split"] in parts]


def drawn_pairs(items, seed=1):
    """As many pairs of one label as of two, at random."""
    chance = random.Random(seed)
    groups = defaultdict(list)
    for label, text in items:
        groups[label].append(text)
    names = sorted(label for label in groups if len(groups[label]) > 1)
    pairs = []
    for _ in range(MOST):
        label = chance.choice(names)
        pairs.append((1, *chance.sample(groups[label], 2)))
        one, other = chance.sample(names, 2)
        pairs.append((0, chance.choice(groups[one]), chance.choice(groups[other])))
    return pairs


def paraphrases(name):
    """Each sentence with its paraphrase, and with that of another."""
    chance = random.Random(1)
    found = list(rows(name))
    pairs = [(1, row["origin"], row["similar"]) for row in found]
    for row in found:
        other = chance.choice(found)
        if other["origin"] != row["origin"]:
            pairs.append((0, row["origin"], other["similar"]))
    return pairs


def judged(name):
    return [(int(row["label"]), row["text_a"], row["text_b"]) for row in rows(name)]


def logs():
    return [(row["dataset"] + row["event_corrected"], row["content"])
            for row in rows("loghub2k/loghub2k.tsv.gz")]


class Embeddings:
    """The ready vectors, as rows of int8."""

    def __init__(self):
        bytes_ = (DATA / "embeddings_use/open.use128.i8.npy").read_bytes()
        start = 10 + struct.unpack("<H", bytes_[8:10])[0]
        self.rows = bytes_[start:]
        self.places = {row["text"]: int(row["row"]) for row in rows("embeddings_use/open.texts.tsv")}

    def has(self, text):
        return text in self.places

    def write(self, path, texts):
        header = f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({len(texts)}, 128), }}"
        header += " " * (-(10 + len(header) + 1) % 64) + "\n"
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            for text in texts:
                place = 128 * self.places[text]
                file.write(self.rows[place:place + 128])


class Bench:

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.embeddings = Embeddings()

    def train(self, *arguments):
        done = subprocess.run([PROGRAM, "train", "--json", *map(str, arguments)], capture_output=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr.decode())
        return json.loads(done.stdout)

    def by_text(self, pairs, *options):
        path = self.folder / "pairs.tsv"
        with path.open("w", encoding="utf-8") as file:
            file.write("label\ttext_a\ttext_b\n")
            file.writelines(f"{label}\t{a}\t{b}\n" for label, a, b in pairs)
        return ["--pairs", path, *options]

    def by_vectors(self, pairs):
        files = [self.folder / name for name in ("a.npy", "b.npy", "labels.tsv")]
        self.embeddings.write(files[0], [a for _, a, _ in pairs])
        self.embeddings.write(files[1], [b for _, _, b in pairs])
        with files[2].open("w", encoding="utf-8") as file:
            file.write("label\n")
            file.writelines(f"{label}\n" for label, _, _ in pairs)
        return ["--vectors-a", files[0], "--vectors-b", files[1], "--labels", files[2]]

    def row(self, name, kind, pairs):
        """One line of the table. `kind` makes the examples of the command line of pairs."""
        pairs = list(pairs)
        random.Random(7).shuffle(pairs)
        half = len(pairs) // 2
        learned = self.train(*kind(pairs[:half]))
        bound = self.train(*kind(pairs[:half]), "--max-false-merge", ALPHA, "--confidence", CONFIDENCE)
        other = self.train(*kind(pairs[half:]))

        def at(tau):
            point = other["curve"][min(int(tau * 200 + 1e-4), 400)]
            wrong = point["false_merges"] / max(1, other["at_risk"])
            missed = point["missed_merges"] / max(1, other["mergeable"])
            return f"{100 * wrong:.2f} % | {100 * missed:.1f} %"

        cells = [name, f"{learned['same'] + other['same']} + {learned['different'] + other['different']}",
                 f"{learned['separation']:.3f}"]
        gate = learned["gate"]
        cells += [f"{gate['b']:.3f} | {at(gate['b'])}" if gate else "none | | "]
        chosen = bound["bound"]["chosen"]
        cells += [f"{chosen['tau']:.3f} | {at(chosen['tau'])}" if chosen else "refused | | "]
        print("| " + " | ".join(cells) + " |", flush=True)

    def items(self, name, reference, items, *options):
        """Per pair and per item, of the same texts."""
        items = list(items)
        random.Random(7).shuffle(items)
        half = len(items) // 2

        def write(path, list_):
            with path.open("w", encoding="utf-8") as file:
                file.write("label\ttext\n")
                file.writelines(f"{label}\t{text}\n" for label, text in list_)
            return path

        known = write(self.folder / "known.tsv", reference)
        first = write(self.folder / "first.tsv", items[:half])
        second = write(self.folder / "second.tsv", items[half:])
        ask = ["--max-false-merge", ALPHA, "--confidence", CONFIDENCE]
        pairs = self.train(*self.by_text(drawn_pairs(reference), *options), *ask)
        found = self.train("--items", first, "--reference", known, *options, *ask)
        other = self.train("--items", second, "--reference", known, *options)

        def at(tau):
            point = other["curve"][int(tau * 200 + 1e-4)]
            return (f"{tau:.3f} | {100 * point['false_merges'] / other['at_risk']:.2f} % | "
                    f"{100 * point['missed_merges'] / other['mergeable']:.1f} %")

        cells = [name, f"{len(reference)}", f"{len(items)}"]
        for one in (pairs, found):
            chosen = one["bound"]["chosen"]
            cells.append(at(chosen["tau"]) if chosen else "refused | | ")
        print("| " + " | ".join(cells) + " |", flush=True)


def main() -> int:
    if not DATA.exists():
        print("gate.py: SKIPPED: ../shared/data is not here", file=sys.stderr)
        return 1
    print(f"""# Gates and thresholds from real pairs

{describe('bench/gate.py')}
- Data: `../shared/data`; sources and licences stand there

Half of the pairs teach, the rates are those of the other half. *b*: where a pair becomes more likely different than
the same; false merges out of the different pairs, missed merges out of the same ones. *tau*: at most {ALPHA:.0%} of
different pairs merge, with confidence {CONFIDENCE:.0%}.

| pairs | same + different | separation | b | false | missed | tau | false | missed |
|---|---|---:|---:|---:|---:|---:|---:|---:|""")
    clinc = "intents_clinc150/clinc150.tsv.gz"
    banking = "intents_banking77/banking77.tsv"
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)

        def plain(pairs):
            return bench.by_text(pairs, "--mask", "none")

        sets = [
            ("GPTCache's paraphrases", paraphrases("pairs_gptcache_mock/mock_999.tsv"), plain),
            ("Banking77, one intent", drawn_pairs(labelled(banking, "test")), plain),
            ("CLINC150, one intent", drawn_pairs(labelled(clinc, "test")), plain),
            ("PAWS-Wiki", judged("pairs_paws/paws_wiki_test.tsv"), plain),
            ("SemAntoNeg", judged("pairs_negation/semantoneg.tsv"), plain),
            ("probes", judged("probes_selfmade/probes.tsv"), plain),
            ("log lines, one template", drawn_pairs(logs()), bench.by_text),
        ]
        for name, pairs, kind in sets:
            masks = "masks" if kind == bench.by_text else "no masks"
            bench.row(f"{name}: text, {masks}", kind, pairs)
            known = [pair for pair in pairs if all(map(bench.embeddings.has, pair[1:]))]
            if len(known) > 100 and kind is plain:
                bench.row(f"{name}: USE, 128 floats", bench.by_vectors, known)
        print(f"""
An item meets the nearest of all slots, not a random partner. Below, the tau that pairs choose and the one that items
against a reference choose (both {ALPHA:.0%}, {CONFIDENCE:.0%}), and what each does with the other half of the items: false merges
out of all items, missed merges out of those whose label has a slot. Text encoder.

| items | slots | items | tau of pairs | false | missed | tau of items | false | missed |
|---|---:|---:|---:|---:|---:|---:|---:|---:|""")
        lines = logs()
        random.Random(3).shuffle(lines)
        bench.items("CLINC150, no masks", labelled(clinc, "train"), labelled(clinc, "test", "oos_test"),
                    "--mask", "none")
        bench.items("Banking77, no masks", labelled(banking, "train"), labelled(banking, "test"), "--mask", "none")
        bench.items("log lines, masks", lines[:4000], lines[4000:12000])
    return 0


if __name__ == "__main__":
    sys.exit(main())
