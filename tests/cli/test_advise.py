"""advise: what it finds in text and in vectors, what it makes of labels and pairs, and what is wrong with them."""

import json
import math
import os
import random
import signal
import unittest

from harness import SIGINT, CommandLineTest, npy, state, unread

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/data")
WORDS = ("alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november "
         "oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu").split()


def vectors(things, times, noise, dimension=32, seed=1):
    """Rows in a shuffled order, and the thing that each is."""
    chance = random.Random(seed)
    rows = []
    for thing in range(things):
        centre = [chance.gauss(0, 1) for _ in range(dimension)]
        length = math.sqrt(sum(x * x for x in centre))
        for _ in range(times):
            rows.append((thing, [x / length + chance.gauss(0, noise) / math.sqrt(dimension) for x in centre]))
    chance.shuffle(rows)
    return [row for _, row in rows], [thing for thing, _ in rows]


def titles(things, times, seed=2):
    """Sentences of twelve words, each again with one word exchanged."""
    chance = random.Random(seed)
    lines = []
    for _ in range(things):
        words = [chance.choice(WORDS) for _ in range(12)]
        for _ in range(times):
            again = list(words)
            again[chance.randrange(12)] = chance.choice(WORDS)
            lines.append(" ".join(again))
    chance.shuffle(lines)
    return lines


class Advise(CommandLineTest):

    def advice(self, *arguments, code=0, **options):
        result = self.run_dpcache("advise", "--json", *arguments, **options)
        self.assertEqual((result.code, result.err), (code, b""))
        return json.loads(result.out)

    def tried(self, advice, tau):
        return next(one for one in advice["tried"] if one["tau"] == tau)

    def test_the_tau_in_the_valley_gives_a_slot_for_each_thing(self):
        rows, _ = vectors(120, 12, 0.3)
        self.write("v.npy", npy(rows))
        advice = self.advice("v.npy")
        self.assertEqual(advice["evidence"], "valley")
        self.assertEqual(advice["wrong_share_is"], "estimate")
        self.assertEqual(self.tried(advice, advice["tau"])["slots"], 120)
        self.assertEqual(len(self.ok("distinct", "--tau", str(advice["tau"]), "v.npy").lines), 120)
        self.assertEqual(sum(advice["histogram"]["counts"]), len(rows) - 1)
        self.assertEqual(advice["dimension"], 32)

    def test_vectors_without_structure_have_no_valley_and_that_is_1(self):
        rows, _ = vectors(1000, 1, 0.0)
        self.write("v.npy", npy(rows))
        advice = self.advice("v.npy", code=1)
        self.assertEqual((advice["tau"], advice["evidence"], advice["valleys"]), (None, "none", []))
        self.assertIn("no valley", advice["reason"])
        out = self.run_dpcache("advise", "v.npy").out
        self.assertIn(b"none to suggest: ", out)
        result = self.run_dpcache("advise", "--out", "t.json", "v.npy")
        self.assertEqual(result.code, 1)
        self.assertIn(b"nothing was written", result.err)
        self.assertEqual(self.names(), ["v.npy"])

    def test_text_is_encoded_as_distinct_does_and_the_tau_can_be_handed_over(self):
        self.write("t.txt", "\n".join(titles(150, 10)) + "\n")
        advice = self.advice("--out", "tau.json", "t.txt")
        self.assertIn("dpcache-text/1", advice["encoder"])
        slots = self.ok("distinct", "--gate", "tau.json", "t.txt").lines
        self.assertEqual(len(slots), self.tried(advice, advice["tau"])["slots"])
        self.assertAlmostEqual(len(slots), 150, delta=15)
        self.assertEqual(self.advice("-", stdin="\n".join(titles(150, 10)))["tau"], advice["tau"])

    def test_the_picture_has_tau_in_it_and_every_item(self):
        self.write("t.txt", "\n".join(titles(150, 10)) + "\n")
        tau = self.advice("t.txt")["tau"]
        out = self.ok("advise", "t.txt").out.decode()
        self.assertIn(f"tau           {tau}: ", out)
        self.assertRegex(out, rf"\n-+ tau {tau}: above, items merge; below, they are new -+\n")
        picture = out[out.index("NOVELTY"):out.index("    TAU")].splitlines()[1:-1]
        counts = [int(line.split()[2].replace(",", "")) for line in picture if not line.startswith("---")]
        self.assertEqual(sum(counts), 1499)
        above = picture[:next(n for n, line in enumerate(picture) if line.startswith("---"))]
        self.assertTrue(all(line.split()[0] == "repeat" or float(line.split()[0]) < tau for line in above))
        self.assertRegex(out, rf"\n\* +{tau} ")

    def test_labels_bound_the_share_of_wrong_merges(self):
        rows, things = vectors(80, 20, 0.5, dimension=12)
        self.write("v.npy", npy(rows))
        self.write("l.txt", "".join(f"thing {thing}\n" for thing in things))
        advice = self.advice("--labels", "l.txt", "--max-false-merge", "0.02", "--tau", "0.12", "v.npy")
        self.assertEqual((advice["evidence"], advice["wrong_share_is"]), ("items", "bound"))
        self.assertEqual(advice["labelled"], 1600)
        self.assertLessEqual(advice["wrong_share"], 0.02)
        assigned = self.ok("distinct", "--assign", "--tau", str(advice["tau"]), "--text", "l.txt", "v.npy").lines
        first = {}
        wrong = sum(first.setdefault(slot, label) != label for slot, label in assigned)
        self.assertEqual(self.tried(advice, advice["tau"])["wrong"], wrong)
        self.assertIn("wrong", self.tried(advice, 0.12))
        self.assertIn(b"at most ", self.ok("advise", "--labels", "l.txt", "v.npy").out)

    def test_an_empty_label_is_not_known(self):
        rows, things = vectors(30, 20, 0.3)
        self.write("v.npy", npy(rows))
        self.write("l.txt", "".join(f"{thing}\n" if n % 2 else "\n" for n, thing in enumerate(things)))
        self.assertEqual(self.advice("--labels", "l.txt", "v.npy", code=1)["labelled"], 300)
        self.write("l.txt", b"\n" * 600)
        advice = self.advice("--labels", "l.txt", "v.npy")
        self.assertEqual((advice["labelled"], advice["evidence"]), (0, "valley"))

    def test_pairs_that_are_different_and_would_merge_are_named(self):
        self.write("t.txt", "\n".join(titles(100, 8)) + "\n")
        self.write("p.tsv", "label\ttext_a\ttext_b\n"
                            "0\tthe light in the hall is on\tthe light in the hall is off\n"
                            "0\talpha bravo\tyankee zulu\n"
                            "1\tthe light is on\tthe light is on now\n")
        advice = self.advice("--pairs", "p.tsv", "t.txt", code=1)  # too few for a bound
        self.assertEqual(advice["pairs"], {"same": 1, "different": 2})
        self.assertIn("needs at least 230 pairs", advice["reason"])
        self.assertEqual([pair["a"] for pair in advice["opposites"]], ["the light in the hall is on"])
        self.assertEqual(advice["opposites"][0]["guards"], ["antonym"])
        loose = self.tried(advice, 0.8)
        self.assertEqual((loose["different_merged"], loose["different_guarded"]), (1, 1))
        self.assertEqual((loose["same_apart"], loose["same_guarded"]), (0, 0))
        self.assertIn("merges 1 of 2 pairs that are known to be different", advice["warnings"][0])
        out = self.run_dpcache("advise", "--pairs", "p.tsv", "t.txt").out.decode()
        self.assertIn("\n         the light in the hall is off\n         guards: antonym\n", out)
        self.assertIn("\nWarning: tau 0.4 merges 1 of 2 pairs", out)

    def test_merges_that_guards_would_stop_are_counted_but_for_what_is_masked(self):
        lines = [f"job {n % 9} on host {n % 7} has {'started' if n % 3 else 'not started'}\n" for n in range(300)]
        self.write("t.txt", "".join(lines))
        masked = self.tried(json.loads(self.run_dpcache("advise", "--json", "t.txt").out), 0.8)
        self.assertEqual((masked["slots"], masked["merged"], masked["guarded"]), (1, 299, 200))
        plain = self.tried(json.loads(self.run_dpcache("advise", "--json", "--mask", "none", "t.txt").out), 0.8)
        self.assertGreater(plain["guarded"], 270)

    def test_pairs_of_vectors_are_numbers_of_rows(self):
        rows, things = vectors(60, 20, 0.3)
        self.write("v.npy", npy(rows))
        chance = random.Random(3)
        lines = ["label\trow_a\trow_b"]
        while len(lines) < 900:
            a, b = chance.randrange(len(rows)), chance.randrange(len(rows))
            lines.append(f"{int(things[a] == things[b])}\t{a + 1}\t{b + 1}")
        self.write("p.tsv", "\n".join(lines))
        advice = self.advice("--pairs", "p.tsv", "--encoder", "mine", "v.npy")
        self.assertEqual((advice["evidence"], advice["encoder"]), ("pairs", "mine"))
        self.assertLess(advice["tau"], 0.8)
        self.write("p.tsv", f"label\trow_a\trow_b\n1\t1\t{len(rows) + 1}\n")
        self.fails(3, "advise", "--pairs", "p.tsv", "v.npy", says=b"p.tsv: names row 1201; there are 1200")
        self.write("p.tsv", "label\trow_a\trow_b\n1\t0\t1\n")
        self.fails(3, "advise", "--pairs", "p.tsv", "v.npy", says=b"p.tsv: line 2: '0' is not the number of a row")

    def test_a_sample_is_told(self):
        rows, _ = vectors(100, 20, 0.3, dimension=8)
        self.write("v.npy", npy(rows))
        advice = json.loads(self.run_dpcache("advise", "--json", "--sample", "700", "v.npy").out)
        self.assertEqual((advice["items"], advice["sampled"]), (2000, 700))
        self.assertIn(b"700 of 2,000, drawn", self.run_dpcache("advise", "--sample", "700", "v.npy").out)

    def test_what_is_wrong_is_named_with_its_place(self):
        self.write("t.txt", "one\ntwo\n")
        self.write("l.txt", "a\n")
        self.fails(3, "advise", "--labels", "l.txt", "t.txt", says=b"l.txt: has 1 lines, and there are more items")
        self.write("l.txt", "a\nb\nc\n")
        self.fails(3, "advise", "--labels", "l.txt", "t.txt", says=b"l.txt: has more lines than there are items, 2")
        self.write("p.tsv", "label\ttext_a\ttext_b\n2\ta\tb\n")
        self.fails(3, "advise", "--pairs", "p.tsv", "t.txt", says=b"p.tsv: line 2: label '2' is neither")
        self.fails(3, "advise", "gone.txt", says=b"gone.txt")
        self.write("v.npy", npy([[1, 0], [0, 0]]))
        self.fails(3, "advise", "v.npy", says=b"v.npy: row 2: ")
        self.fails(2, "advise", "--mask", "none", "v.npy", says=b"are for text")
        self.fails(5, "advise", "--out", "no/such/file", "t.txt", says=b"no/such/file")

    def test_nothing_and_one_line_are_answered(self):
        for text in ("", "one line\n"):
            advice = self.advice(code=1, stdin=text)
            self.assertEqual(advice["reason"], "there are fewer than two items")
            self.assertEqual(self.run_dpcache("advise", stdin=text).code, 1)

    def test_ctrl_c_ends_it_with_nothing_written(self):
        process = self.start("advise", "--out", "t.json")
        process.stdin.write(b"some line\n" * 10)
        process.stdin.flush()
        self.wait_until(lambda: unread(process.stdin) == 0 and state(process.pid) == "S", "the wait for more")
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual((result.code, result.out), (SIGINT, b""))
        self.assertIn(b"nothing was found or written", result.err)
        self.assertEqual(self.names(), [])

    @unittest.skipUnless(os.path.exists(DATA), "needs ../shared/data: SKIPPED, real vectors were not looked at")
    def test_real_intents_are_bounded_by_their_labels(self):
        path = os.path.join(DATA, "intents_banking77/banking77.tsv")
        with open(path, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file][1:]
        random.Random(1).shuffle(rows)
        rows = rows[:3000]
        self.write("t.txt", "".join(row[2] + "\n" for row in rows))
        self.write("l.txt", "".join(row[1] + "\n" for row in rows))
        advice = self.advice("--labels", "l.txt", "t.txt")
        self.assertEqual(advice["evidence"], "items")
        self.assertLess(advice["tau"], 0.35)
        self.assertGreater(self.tried(advice, 0.8)["wrong"], 1000)


if __name__ == "__main__":
    unittest.main()
