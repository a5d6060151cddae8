#!/usr/bin/env python3
"""The page of scripts/paper holds no sentence that its figures contradict."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "paper"))

from figures import Figures, points_of, signed, wrapped  # noqa: E402


class Page(unittest.TestCase):

    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.tsv").write_text("study\tdpcache\t64\trecall\t0.999\t0.002\t5\n"
                                                     "study\tdpcache\t64\tslots\t64\t0\t5\n"
                                                     "study\tdpcache\t0.6\trecall\t0.5\t0\t1\n", encoding="utf-8")
            self.figures = Figures(folder)

    def test_a_sentence_that_holds_stays(self):
        found = self.figures.mean("study", "dpcache", 64, "recall")
        self.assertEqual(self.figures.claim(found > .99, f"It recalls {found}."), "It recalls 0.999.")
        self.assertEqual(self.figures.broken, [])

    def test_a_sentence_that_does_not_hold_goes_and_is_told(self):
        self.assertEqual(self.figures.claim(False, "It never\n   fails."), "")
        self.assertEqual(self.figures.broken, ["It never fails."])

    def test_what_is_left_of_a_list_has_no_empty_point(self):
        self.assertEqual(points_of("One.", self.figures.claim(False, "Two."), "Three."), "- One.\n- Three.\n")

    def test_a_figure_that_is_missing_is_an_error_and_no_blank(self):
        with self.assertRaises(KeyError):
            self.figures.mean("study", "dpcache", 64, "floats")

    def test_spread_shows_where_there_are_seeds_and_it_can_be_seen(self):
        self.assertEqual(self.figures.show("study", "dpcache", 64, "recall"), "0.999 ± 0.002")
        self.assertEqual(self.figures.show("study", "dpcache", 64, "slots", 1), "64.0")
        self.assertEqual(self.figures.show("study", "dpcache", .6, "recall"), "0.500")

    def test_points_are_in_order_of_their_x(self):
        self.assertEqual([x for x, _, _ in self.figures.points("study", "dpcache", "recall")], [.6, 64])

    def test_lines_are_wrapped_and_minus_is_a_minus(self):
        self.assertEqual(wrapped("a  b\n c", width=3), "a b\nc")
        self.assertEqual(signed(-.0314), "−0.031")


if __name__ == "__main__":
    unittest.main()
