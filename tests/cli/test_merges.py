"""explain, undo and reviews: a wrong merge is found, explained, undone and not repeated."""

import json
import unittest

from harness import CommandLineTest

LINES = b"turn on dark mode\nturn off dark mode\nturn on dark mode\n"
SETTINGS = ("--mask", "none", "--tau", "0.5")


class Merges(CommandLineTest):

    def make(self, *options, lines=LINES):
        self.write("in", lines)
        return self.ok("distinct", "--memory", "m", *SETTINGS, *options, "in")

    def explain(self, slot):
        return json.loads(self.ok("explain", "--json", "m", str(slot)).out)

    def test_a_merge_is_explained_undone_and_not_repeated(self):
        self.make("--audit", "full")
        rows = [row.split("\t") for row in self.ok("explain", "m", "1").out.decode().splitlines()]
        self.assertEqual(rows[0][:4], ["slot", "1", "3", "0.5"])
        self.assertEqual([row[0] for row in rows[1:]], ["opened", "merged", "merged"])
        self.assertEqual(rows[2][5:], ["in:2", "turn off dark mode"])
        self.assertEqual(self.ok("undo", "m", "1", "in:2").out,
                         b"slot\t1\t2\tturn on dark mode\nopened\t2\t1\tturn off dark mode\n")
        self.assertEqual([one["slot"] for one in self.explain(1)["must_not_merge"]], [2])
        # The same lines again: each finds its own slot, also where a budget folds.
        self.ok("distinct", "--memory", "m", "--budget", "fixed", "--m0", "1", "--shrink", "merge", "in")
        self.assertEqual(self.inspect("m")["stats"]["slots"], 1)
        self.assertEqual(self.ok("verify", "m").code, 0)

    def test_each_line_finds_its_own_slot_after_an_undo(self):
        self.make("--audit", "full")
        self.ok("undo", "m", "1", "2")
        self.make()
        self.assertEqual([self.explain(slot)["count"] for slot in (1, 2)], [4, 2])

    def test_guards_do_not_merge_them_in_the_first_place(self):
        self.make("--audit", "full", "--guard", "all")
        self.assertEqual([self.explain(slot)["count"] for slot in (1, 2)], [2, 1])
        self.assertEqual(self.explain(2)["members"][0]["guarded"], ["antonym"])

    def test_reviews_are_listed_and_answered(self):
        self.make("--tau-merge", "0")
        row = self.ok("reviews", "m").out.decode().rstrip("\n").split("\t")
        self.assertEqual([row[0], row[1], *row[3:]], ["2", "1", "turn off dark mode", "turn on dark mode"])
        pair = json.loads(self.ok("reviews", "--json", "m").out)
        self.assertEqual((pair["slot"]["slot"], pair["other"]["slot"]), (2, 1))
        self.assertEqual(self.ok("reviews", "--different", "2,1", "m").out, b"")
        self.fails(4, "reviews", "--same", "1,2", "m", says=b"not listed for review")
        self.make()
        self.assertEqual(self.inspect("m")["stats"]["slots"], 2)

    def test_a_review_can_merge(self):
        self.make("--tau-merge", "0", "--audit", "full")
        self.ok("reviews", "--same", "2,1", "m")
        self.assertEqual(self.explain(1)["count"], 3)

    def test_what_cannot_be_undone_is_said_and_nothing_changes(self):
        self.make()
        before = self.read("m")
        self.fails(4, "explain", "m", "1", says=b"--audit full")
        self.fails(4, "undo", "m", "1", "1", says=b"--audit full")
        self.fails(4, "explain", "m", "7", says=b"no slot 7")
        self.fails(4, "undo", "nothing", "1", "1", says=b"nothing: ")
        self.assertEqual(self.read("m"), before)
        self.assertEqual(self.names(), ["in", "m"])

    def test_an_undo_moves_a_gate_that_learns(self):
        self.write("in", LINES)
        self.ok("distinct", "--memory", "m", "--mask", "none", "--audit", "full", "--gate", "10,0.5",
                "--correction-rate", "0.1", "in")
        self.assertEqual(self.explain(1)["threshold"], 0.5)
        self.ok("undo", "m", "1", "in:2")
        learned = self.explain(1)["threshold"]
        self.assertLess(learned, 0.5)
        self.assertGreater(learned, 0.4)
        # The same command once more goes on from there; to set the gate, leave the rate out.
        self.ok("distinct", "--memory", "m", "--gate", "10,0.5", "--correction-rate", "0.1", "in")
        self.assertEqual(self.explain(1)["threshold"], learned)
        self.ok("distinct", "--memory", "m", "--gate", "10,0.5", "in")
        self.assertEqual(self.explain(1)["threshold"], 0.5)

    def test_members_go_by_number_or_id(self):
        self.make("--audit", "full")
        before = self.read("m")
        self.fails(4, "undo", "m", "1", "in:9", says=b"no member 'in:9'")
        self.assertEqual(self.read("m"), before)
        undone = json.loads(self.ok("undo", "--json", "--time", "5", "m", "1", "2").out)
        self.assertEqual((undone["slot"]["count"], undone["opened"]["slot"]), (2, 2))

    def test_ids_alone_explain_and_do_not_undo(self):
        self.make("--audit", "ids")
        self.assertEqual([one["id"] for one in self.explain(1)["members"]], ["in:1", "in:2", "in:3"])
        self.fails(4, "undo", "m", "1", "in:2", says=b"--line TEXT")
        before = self.read("m")
        self.fails(4, "undo", "--line", "turn on dark mode", "m", "1", "in:2", says=b"another")
        self.fails(4, "undo", "--line", "turn on dark mode", "m", "1", "in:1", says=b"first member")
        self.assertEqual(self.read("m"), before)

    def test_ids_and_the_line_once_more_undo(self):
        self.make("--audit", "ids")
        self.assertEqual(self.ok("undo", "--line", "turn off dark mode", "m", "1", "in:2").out,
                         b"slot\t1\t2\tturn on dark mode\nopened\t2\t1\tturn off dark mode\n")
        self.assertEqual(json.loads(self.ok("query", "--json", "--memory", "m", "turn off dark mode").out)
                         ["top"][0]["line"], 2)
        self.make()
        self.assertEqual([self.explain(slot)["count"] for slot in (1, 2)], [4, 2])

    def test_a_line_that_the_memory_has_is_not_taken_once_more(self):
        self.make("--audit", "full")
        self.fails(4, "undo", "--line", "turn off dark mode", "m", "1", "in:2", says=b"has the item")


if __name__ == "__main__":
    unittest.main()
