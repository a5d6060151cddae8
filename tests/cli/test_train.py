"""train: gates from tables and vectors, bounds, corrections, and everything that can be wrong with them."""

import gzip
import json
import os
import random
import signal
import unittest

from harness import SIGINT, CommandLineTest, limit_file_size, npy

WORDS = ("alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november "
         "oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu").split()


def sentence(chance, length=8):
    return [chance.choice(WORDS) for _ in range(length)]


def table(count, seed=1, edits=1):
    """Pairs of sentences: the same with a word changed, or two that share nothing but by chance."""
    chance = random.Random(seed)
    rows = ["label\ttext_a\ttext_b"]
    for n in range(count):
        one = sentence(chance)
        other = sentence(chance)
        if n % 2 == 0:
            other = list(one)
            for _ in range(edits):
                other[chance.randrange(len(other))] = chance.choice(WORDS)
        rows.append(f"{(n + 1) % 2}\t{' '.join(one)}\t{' '.join(other)}")
    return "\n".join(rows) + "\n"


class Train(CommandLineTest):

    def trained(self, *arguments, **options):
        return json.loads(self.ok("train", "--json", *arguments, **options).out)

    def test_learns_a_gate_that_distinct_takes(self):
        self.write("p.tsv", table(400))
        report = self.trained("--pairs", "p.tsv", "--out", "gate.json")
        self.assertEqual((report["pairs"], report["same"], report["different"]), (400, 200, 200))
        self.assertGreater(report["separation"], 0.99)
        gate = json.loads(self.read("gate.json"))
        self.assertEqual(gate["gate"], report["gate"])
        self.assertEqual(gate["encoder"], report["encoder"])
        a, b = gate["gate"]["a"], gate["gate"]["b"]
        text = b"alpha bravo charlie delta echo\nalpha bravo charlie delta echo foxtrot\nkilo lima\n"
        named = self.ok("distinct", "--gate", "gate.json", stdin=text)
        self.assertEqual(named.out, self.ok("distinct", "--gate", f"{a},{b}", stdin=text).out)
        self.assertEqual([line[0] for line in named.lines], [b"2", b"1"])
        self.ok("distinct", "--gate", "gate.json", "--memory", "m", stdin=text)
        config = self.inspect("m")["config"]
        self.assertEqual(config["gate"], gate["gate"])
        self.assertNotIn("tau", config)

    def test_text_and_json_tell_the_same(self):
        self.write("p.tsv", table(400))
        report = self.trained("--pairs", "p.tsv")
        out = self.ok("train", "--pairs", "p.tsv").out.decode()
        self.assertIn("pairs         400 = 200 the same + 200 different\n", out)
        self.assertIn(f"gate          {report['gate']['a']},{report['gate']['b']} ", out)
        rows = [line for line in out.splitlines() if line.endswith("%") or "<=" in line]
        self.assertGreater(len(rows), 10)
        marked = [line for line in rows if line.startswith("*")]
        self.assertEqual(len(marked), 1)
        self.assertIn(f"{int(report['gate']['b'] * 200) / 200:.3f}", marked[0])

    def test_the_curve_has_every_point_and_is_monotone(self):
        self.write("p.tsv", table(300, edits=4))
        report = self.trained("--pairs", "p.tsv")
        curve = report["curve"]
        self.assertEqual([point["tau"] for point in curve], [n / 200 for n in range(401)])
        for before, after in zip(curve, curve[1:]):
            self.assertLessEqual(before["false_merges"], after["false_merges"])
            self.assertGreaterEqual(before["missed_merges"], after["missed_merges"])
            self.assertLessEqual(before["false_merge_bound"], after["false_merge_bound"])
        self.assertEqual(curve[-1]["false_merges"], report["at_risk"])
        self.assertEqual(curve[-1]["missed_merges"], 0)

    def test_order_gzip_standard_input_and_several_files_make_no_difference(self):
        text = table(300)
        head, *rows = text.splitlines(keepends=True)
        self.write("p.tsv", text)
        self.write("p.tsv.gz", gzip.compress(text.encode()))
        self.write("crlf.tsv", text.replace("\n", "\r\n"))
        self.write("bom.tsv", b"\xef\xbb\xbf" + text.encode())
        self.write("a.tsv", head + "".join(rows[:100]))
        self.write("b.tsv", head + "".join(reversed(rows[100:])))
        self.write("columns.tsv", "".join(
            "\t".join([b, "x", label, a]) + "\n" for label, a, b in
            (line.rstrip("\n").split("\t") for line in [head, *rows])))
        expected = self.ok("train", "--pairs", "p.tsv").out
        for arguments in (["p.tsv.gz"], ["crlf.tsv"], ["bom.tsv"], ["columns.tsv"], ["a.tsv", "--pairs", "b.tsv"]):
            self.assertEqual(self.ok("train", "--pairs", *arguments).out, expected, arguments)
        self.assertEqual(self.ok("train", "--pairs", "-", stdin=text).out, expected)

    def test_a_bound_is_met_or_refused_with_the_number_that_it_takes(self):
        self.write("p.tsv", table(1000))
        report = self.trained("--pairs", "p.tsv", "--max-false-merge", "0.01", "--out", "gate.json")
        chosen = report["bound"]["chosen"]
        self.assertLessEqual(chosen["false_merge_bound"], 0.01)
        self.assertAlmostEqual(report["gate"]["b"], chosen["tau"])
        after = report["curve"][round(chosen["tau"] * 200) + 1]
        self.assertGreater(after["false_merge_bound"], 0.01)
        out = self.ok("train", "--pairs", "p.tsv", "--max-false-merge", "0.01", "--confidence", "0.95").out
        self.assertIn(b"at most 1 % merge wrongly, with confidence 95 %", out)

        before = self.read("gate.json")
        self.write("few.tsv", table(100))
        refused = self.fails(1, "train", "--json", "--pairs", "few.tsv", "--max-false-merge", "0.01", "--out",
                             "gate.json", says=[b"at least 230", b"there are 50", b"nothing was written"])
        report = json.loads(refused.out)
        self.assertEqual(report["bound"]["needed"], 230)
        self.assertIsNone(report["bound"]["chosen"])
        self.assertIn("at least 230", report["refusal"])
        self.assertEqual(self.read("gate.json"), before)

    def test_a_bound_on_the_next_ones_counts_them(self):
        self.write("p.tsv", table(1000))
        rate = ["--pairs", "p.tsv", "--max-false-merge", "0.05"]
        report = self.trained(*rate, "--upcoming", "100")
        self.assertEqual(report["bound"]["upcoming"], 100)
        for point in [report["bound"]["chosen"], *report["curve"]]:
            self.assertEqual(point["false_merge_bound"], round(point["false_merge_bound"] * 100) / 100)
        self.assertLessEqual(report["bound"]["chosen"]["false_merge_bound"], 0.05)
        self.assertLess(report["bound"]["chosen"]["tau"], self.trained(*rate)["bound"]["chosen"]["tau"])
        self.assertEqual(self.trained(*rate, "--upcoming", "0"), self.trained(*rate))
        out = self.ok("train", *rate, "--upcoming", "5000").out
        self.assertIn(b": of the next 5,000 pairs that are different at most 5 % merge wrongly, with confidence 90 %\n", out)
        self.fails(1, "train", *rate[:-1], "0.001", "--upcoming", "100", "--out", "gate.json",
                   says=[b"a limit of 0 false merges among the next 100 pairs", b"at least 900", b"nothing was written"])

    def test_pairs_that_novelty_misleads_give_no_gate_but_may_give_a_tau(self):
        text = table(600).replace("\n1\t", "\nx\t").replace("\n0\t", "\n1\t").replace("\nx\t", "\n0\t")
        self.write("p.tsv", text)
        self.fails(1, "train", "--pairs", "p.tsv", "--out", "gate.json", says=b"no more novel")
        self.assertEqual(self.names(), ["p.tsv"])
        report = self.trained("--pairs", "p.tsv", "--max-false-merge", "0.05", "--out", "gate.json")
        self.assertIsNone(report["gate"])
        self.assertEqual(json.loads(self.read("gate.json"))["tau"], report["tau"])
        self.ok("distinct", "--gate", "gate.json", "--memory", "m", stdin=b"x\n")
        self.assertEqual(self.inspect("m")["config"]["tau"], report["tau"])

    def test_corrections_move_a_gate_step_by_step(self):
        wrong_merge = "label\ttext_a\ttext_b\n0\talpha bravo charlie delta\talpha bravo charlie echo\n"
        self.write("c.tsv", wrong_merge)
        self.write("gate.json", '{"dimension": 256, "gate": {"a": 10, "b": 0.9}}')
        report = self.trained("--pairs", "c.tsv", "--start", "gate.json", "--out", "gate.json")
        self.assertEqual(report["steps"], 1)
        self.assertLess(report["gate"]["b"], 0.9)
        self.assertGreater(report["gate"]["b"], 0.87)
        again = self.trained("--pairs", "c.tsv", "--start", "gate.json", "--rate", "0.5")
        self.assertLess(again["gate"]["b"], report["gate"]["b"] - 0.1)
        self.write("tau.json", '{"dimension": 256, "tau": 0.4}')
        self.fails(2, "train", "--pairs", "c.tsv", "--start", "tau.json", says=b"that is a tau")

    def test_a_gate_of_other_vectors_is_refused(self):
        self.write("p.tsv", table(200))
        self.ok("train", "--pairs", "p.tsv", "--mask", "none", "--out", "gate.json")
        self.fails(2, "distinct", "--gate", "gate.json", stdin=b"x\n",
                   says=[b"--gate: was learned on vectors made by", b"masks=none", b"masks=number"])
        self.fails(2, "train", "--pairs", "p.tsv", "--start", "gate.json", says=b"--start: that gate is for")
        self.ok("distinct", "--mask", "none", "--gate", "gate.json", stdin=b"x\n")
        self.fails(2, "distinct", "--gate", "gate.json", self.write("v.npy", npy([[1, 2]])),
                   says=b"of no named encoder")

    def test_items_are_run_against_a_reference(self):
        chance = random.Random(3)
        things = {f"thing{n}": sentence(chance) for n in range(30)}

        def rows(count, names):
            lines = ["label\ttext"]
            for _ in range(count):
                name = chance.choice(names)
                words = list(things[name])
                words[chance.randrange(len(words))] = chance.choice(WORDS)
                lines.append(f"{name}\t{' '.join(words)}")
            return "\n".join(lines) + "\n"

        names = sorted(things)
        self.write("known.tsv", "label\ttext\n" + "".join(f"{n}\t{' '.join(things[n])}\n" for n in names[:20]))
        self.write("new.tsv", rows(600, names))
        report = self.trained("--items", "new.tsv", "--reference", "known.tsv", "--max-false-merge", "0.02",
                              "--out", "gate.json")
        self.assertEqual((report["per"], report["items"], report["reference"]), ("item", 600, 20))
        self.assertEqual(report["at_risk"], 600)
        self.assertLessEqual(report["bound"]["chosen"]["false_merge_bound"], 0.02)
        self.assertIn(b"600 against 20 slots", self.ok("train", "--items", "new.tsv", "--reference", "known.tsv").out)
        self.write("none.tsv", "label\ttext\n")
        self.fails(3, "train", "--items", "new.tsv", "--reference", "none.tsv", says=b"no rows")
        self.write("bad.tsv", "label\ttext\n\tx\n")
        self.fails(3, "train", "--items", "bad.tsv", "--reference", "known.tsv", says=b"bad.tsv: line 2: label is empty")

    def test_vectors_instead_of_text(self):
        chance = random.Random(4)
        a = [[chance.gauss(0, 1) for _ in range(16)] for _ in range(400)]
        b = [[x + chance.gauss(0, 0.3) for x in row] if n % 2 == 0 else
             [chance.gauss(0, 1) for _ in row] for n, row in enumerate(a)]
        self.write("a.npy", npy(a))
        self.write("b.npy", npy(b))
        self.write("l.tsv", "label\n" + "".join(f"{(n + 1) % 2}\n" for n in range(400)))
        files = ["--vectors-a", "a.npy", "--vectors-b", "b.npy", "--labels", "l.tsv"]
        report = self.trained(*files, "--encoder", "model-1", "--out", "gate.json")
        self.assertGreater(report["separation"], 0.99)
        self.assertEqual(json.loads(self.read("gate.json"))["dimension"], 16)
        self.ok("distinct", "--gate", "gate.json", "--encoder", "model-1", "a.npy")
        self.fails(2, "distinct", "--gate", "gate.json", "--encoder", "model-2", "a.npy", says=b"model-1")

        self.write("short.npy", npy(b[:-1]))
        self.fails(3, "train", *files[:3], "short.npy", *files[4:], says=[b"short.npy: is 399 x 16", b"400 x 16"])
        self.write("few.tsv", "label\n1\n0\n")
        self.fails(3, "train", *files[:5], "few.tsv", says=[b"few.tsv: has 2 labels", b"400 rows"])
        self.write("many.tsv", "label\n" + "1\n0\n" * 201)
        self.fails(3, "train", *files[:5], "many.tsv", says=b"many.tsv: line 402: is one more")
        b[6] = [0] * 16
        self.write("zero.npy", npy(b))
        self.fails(3, "train", *files[:3], "zero.npy", *files[4:], says=b"l.tsv: line 8: b: all components are 0")

    def test_bad_tables_are_named_by_line_and_field(self):
        for text, says in (
                (b"", b"p.tsv: is empty"),
                (b"1\ta\tb\n", b"line 1: has no column 'label'; expected a header line with label, text_a and text_b"),
                (b"label\ttext_a\n", b"line 1: has no column 'text_b'"),
                (b"label\ttext_a\ttext_b\tlabel\n", b"two columns 'label'"),
                (b"label\ttext_a\ttext_b\n1\ta\tb\n1\ta\n", b"line 3: has 2 fields, the header has 3"),
                (b"label\ttext_a\ttext_b\n\n1\ta\tb\tc\n", b"line 3: has 4 fields, the header has 3"),
                (b"label\ttext_a\ttext_b\nyes\ta\tb\n", b"line 2: label 'yes' is neither 1"),
                (b"label\ttext_a\ttext_b\n1 \ta\tb\n", b"line 2: label '1 ' is neither 1"),
                (gzip.compress(table(50).encode())[:-30], b"gzip")):
            with self.subTest(text=text[:40]):
                self.write("p.tsv", text)
                self.fails(3, "train", "--pairs", "p.tsv", "--out", "gate.json", says=says)
        self.assertEqual(self.names(), ["p.tsv"])
        self.fails(3, "train", "--pairs", "missing.tsv", says=b"missing.tsv: cannot be opened")
        self.write("p.tsv", "label\ttext_a\ttext_b\n")
        self.fails(1, "train", "--pairs", "p.tsv", says=b"pairs of both kinds")

    def test_odd_bytes_are_text(self):
        rows = b"label\ttext_a\ttext_b\n1\t\xff\xfe\0\t\xff\xfe\0\n0\t\tx\n1\t\t\n0\ta b c\td e f\n"
        self.write("p.tsv", rows)
        report = self.trained("--pairs", "p.tsv")
        self.assertEqual((report["same"], report["different"]), (2, 2))

    def test_bad_gate_files_are_named(self):
        for text, says in ((b"", b"g.json"), (b"{", b"not a gate's file"), (b"[]", b"not a gate's file"),
                           (b'{"dimension": 256}', b"neither a gate nor a tau"),
                           (b'{"dimension": 256, "gate": {"a": -1, "b": 0.4}}', b"gate.a must be above 0"),
                           (b'{"dimension": 256, "gates": 1}', b"not a gate's file"),
                           (b" " * (2 << 20), b"more than 1 MiB")):
            with self.subTest(text=text[:40]):
                self.write("g.json", text)
                self.fails(3, "distinct", "--gate", "g.json", stdin=b"x\n", says=says)
        self.fails(2, "distinct", "--gate", "missing.json", stdin=b"x\n", says=b"nor a file")

    def test_a_gate_that_cannot_be_written_leaves_the_old_one(self):
        self.write("p.tsv", table(100))
        self.fails(5, "train", "--pairs", "p.tsv", "--out", "no/gate.json", says=b"its folder does not exist")
        self.fails(5, "train", "--pairs", "p.tsv", "--out", ".", says=b"is not a regular file")
        self.write("gate.json", "old")
        os.chmod(self.path("gate.json"), 0o640)
        self.fails(5, "train", "--pairs", "p.tsv", "--out", "gate.json", says=b"the file is as it was before",
                   preexec_fn=limit_file_size(10))
        self.assertEqual(self.read("gate.json"), b"old")
        self.assertEqual(self.names(), ["gate.json", "p.tsv"])
        os.symlink("gate.json", self.path("link.json"))
        self.ok("train", "--pairs", "p.tsv", "--out", "link.json")
        self.assertTrue(os.path.islink(self.path("link.json")))
        self.assertIn(b"dimension", self.read("gate.json"))
        self.assertEqual(os.stat(self.path("gate.json")).st_mode & 0o777, 0o640)

    def test_a_full_output_writes_no_gate(self):
        self.write("p.tsv", table(100))
        with open("/dev/full", "wb") as full:
            self.fails(5, "train", "--pairs", "p.tsv", "--out", "gate.json", stdout=full)
        self.assertEqual(self.names(), ["p.tsv"])

    def test_an_interrupt_writes_nothing_and_ends_by_the_signal(self):
        self.write("gate.json", "old")
        process = self.start("train", "--pairs", "-", "--out", "gate.json")
        process.stdin.write(table(3000).encode())
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual(result.code, SIGINT)
        self.assertIn(b"nothing was learned or written", result.err)
        self.assertEqual(self.read("gate.json"), b"old")
        self.assertEqual(self.names(), ["gate.json"])


if __name__ == "__main__":
    unittest.main()
