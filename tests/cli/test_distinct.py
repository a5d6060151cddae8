"""dpcache distinct: what is listed, in which order, and what counts as the same."""

import json
import os
import unittest

from harness import CommandLineTest

LOG = b"""\
disk sda1 is 71 % full
user alice logged in from 10.0.0.1
disk sda1 is 93 % full
backup finished
user alice logged in from 10.0.0.77
disk sda1 is 99 % full
"""


class Listing(CommandLineTest):

    def test_prints_count_first_line_and_example(self):
        self.assertEqual(self.ok("distinct", stdin=LOG).out,
                         b"3\t1\tdisk sda1 is 71 % full\n"
                         b"2\t2\tuser alice logged in from 10.0.0.1\n"
                         b"1\t4\tbackup finished\n")

    def test_a_file_and_standard_input_give_the_same(self):
        self.write("app.log", LOG)
        for arguments in ([], ["-"], ["app.log"], ["--", "app.log"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.ok("distinct", *arguments, stdin=LOG).out,
                                 self.ok("distinct", stdin=LOG).out)

    def test_equal_counts_stand_in_order_of_appearance(self):
        out = self.ok("distinct", stdin=b"apple tree\nblue whale song\nquick fox\n")
        self.assertEqual([line[1] for line in out.lines], [b"1", b"2", b"3"])

    def test_top_and_orders(self):
        def shown(*arguments):
            return [int(line[1]) for line in self.ok("distinct", *arguments, stdin=LOG).lines]
        self.assertEqual(shown("--top", "1"), [1])
        self.assertEqual(shown("--top", "0"), [])
        self.assertEqual(shown("--top", "99"), [1, 2, 4])
        self.assertEqual(shown("--order", "first"), [1, 2, 4])
        self.assertEqual(shown("--order", "last"), [1, 2, 4])  # lines 6, 5, 4
        rows = [json.loads(line) for line in
                self.ok("distinct", "--json", "--order", "novelty", stdin=LOG).out.splitlines()]
        self.assertEqual(rows[0]["slot"], 1)  # the first item of all has novelty 1
        novelties = [row["novelty"] for row in rows]
        self.assertEqual(novelties, sorted(novelties, reverse=True))

    def test_several_files_name_their_file(self):
        self.write("a.log", b"one\ntwo two two\n")
        self.write("b.log", b"three cats\none\n")
        out = self.ok("distinct", "--order", "first", "a.log", "b.log").out
        self.assertEqual(out, b"2\ta.log:1\tone\n1\ta.log:2\ttwo two two\n1\tb.log:1\tthree cats\n")

    def test_json_lines_hold_everything(self):
        self.write("app.log", LOG)
        rows = [json.loads(line) for line in
                self.ok("distinct", "--json", "--time", "1234", "app.log").out.splitlines()]
        self.assertEqual(len(rows), 3)
        self.assertEqual({k: v for k, v in rows[0].items() if k != "novelty"}, {
            "slot": 1, "count": 3, "seen": 3, "new": True, "file": "app.log", "line": 1,
            "first_time": 1234, "last_time": 1234, "text": "disk sda1 is 71 % full"})
        self.assertEqual(rows[0]["novelty"], 1)

    def test_no_input_is_no_output(self):
        self.assertEqual(self.ok("distinct").out, b"")
        self.assertEqual(self.ok("distinct", "--json").out, b"")
        self.assertEqual(self.ok("distinct", "--assign").out, b"")

    def test_the_same_input_gives_the_same_bytes(self):
        first = self.ok("distinct", "--json", "--memory", "a", "--time", "1", stdin=LOG)
        second = self.ok("distinct", "--json", "--memory", "b", "--time", "1", stdin=LOG)
        self.assertEqual(first.out, second.out)
        self.assertEqual(self.read("a"), self.read("b"))


class AnyBytes(CommandLineTest):

    def test_a_last_line_without_newline_counts(self):
        self.assertEqual(self.ok("distinct", stdin=b"a b c\na b c").out, b"2\t1\ta b c\n")

    def test_carriage_returns_at_line_ends_are_not_text(self):
        out = self.ok("distinct", stdin=b"a b c\r\na b c\nx y z\r\n")
        self.assertEqual(out.out, b"2\t1\ta b c\n1\t3\tx y z\n")
        self.assertEqual(self.ok("distinct", "--tau", "0", stdin=b"a\r\n\r\na\n\n").out,
                         b"2\t1\ta\n2\t2\t\n")

    def test_a_carriage_return_inside_a_line_stays(self):
        self.assertEqual(self.ok("distinct", stdin=b"a\rb\r\r\n").out, b"1\t1\ta\rb\r\n")

    def test_nul_and_invalid_utf8_come_out_as_they_went_in(self):
        for line in (b"nul \0 inside", b"bad \xff\xfe bytes", b"cut \xe2\x82", b"\x80", b"\0",
                     b"tab\there", "NFC é, NFD e\u0301".encode()):
            with self.subTest(line=line):
                self.assertEqual(self.ok("distinct", stdin=line + b"\n").out, b"1\t1\t" + line + b"\n")
                self.assertEqual(self.ok("distinct", "--assign", stdin=line).out, b"1\t" + line + b"\n")
                # And out of a memory, where they went through JSON.
                self.ok("distinct", "--memory", "m", stdin=line)
                self.assertEqual(self.ok("distinct", "--memory", "m").lines[0][2:],
                                 line.split(b"\t"))
                os.remove(self.path("m"))

    def test_json_shows_invalid_utf8_as_replacement_characters(self):
        row = json.loads(self.ok("distinct", "--json", stdin=b"bad \xff byte\0\n").out)
        self.assertEqual(row["text"], "bad \ufffd byte\0")
        row = json.loads(self.ok("distinct", "--json", "--assign", stdin=b"bad \xff byte\n").out)
        self.assertEqual(row["text"], "bad \ufffd byte")

    def test_empty_and_blank_lines_are_items(self):
        out = self.ok("distinct", stdin=b"\n   \nword\n\n")
        self.assertEqual(sum(int(line[0]) for line in out.lines), 4)
        self.assertIn([b"1", b"3", b"word"], out.lines)

    def test_a_long_line_is_kept_by_its_start(self):
        line = b"word " * 20000
        row = json.loads(self.ok("distinct", "--json", stdin=line).out)
        self.assertEqual(row["text"].encode(), line[:4096])
        self.assertEqual(row["bytes"], len(line))
        self.assertEqual(self.ok("distinct", stdin=line).out,
                         b"1\t1\t" + line[:4096] + b"... (100000 bytes)\n")

    def test_a_long_line_is_not_cut_inside_a_character(self):
        for shift in range(4):
            row = json.loads(self.ok("distinct", "--json", stdin=b"x" * shift + "😀".encode() * 2000).out)
            self.assertNotIn("\ufffd", row["text"])
            self.assertGreater(len(row["text"].encode()), 4092)


class Assign(CommandLineTest):

    def test_every_line_stands_behind_its_slot(self):
        out = self.ok("distinct", "--assign", stdin=LOG)
        self.assertEqual([line[0] for line in out.lines], [b"1", b"2", b"1", b"3", b"2", b"1"])
        self.assertEqual(b"".join(line.split(b"\t", 1)[1] for line in out.out.splitlines(True)), LOG)

    def test_bytes_are_kept_but_for_a_missing_newline(self):
        data = b"a\r\n\r\n\0\xff\ttab\nlast"
        out = self.ok("distinct", "--assign", stdin=data).out
        self.assertEqual(b"".join(line.split(b"\t", 1)[1] for line in out.splitlines(True)), data + b"\n")

    def test_json_explains_each_decision(self):
        rows = [json.loads(line) for line in
                self.ok("distinct", "--assign", "--json", stdin=LOG).out.splitlines()]
        self.assertEqual([row["action"] for row in rows],
                         ["allocate", "allocate", "merge", "allocate", "merge", "merge"])
        self.assertEqual([row["line"] for row in rows], [1, 2, 3, 4, 5, 6])
        for row in rows:
            self.assertEqual(row["threshold"], 0.17)
            self.assertEqual(row["action"] == "allocate", row["novelty"] > 0.17)
        self.assertEqual(rows[1]["nearest"]["slot"], 1)
        self.assertNotIn("nearest", rows[0])
        self.assertEqual(rows[2]["novelty"], 0)  # the same text once masked


class Sameness(CommandLineTest):

    SNAPSHOTS = b"".join(b"There are %d snapshots available\n" % n for n in (37, 15, 11, 4, 9, 128, 2, 77))

    def count(self, *arguments, stdin):
        # Quiet, as a tau of 1 or 2 is warned about.
        return len(self.ok("distinct", "--quiet", *arguments, stdin=stdin).lines)

    def test_numbers_are_one_slot_when_masked_and_as_many_as_there_are_when_not(self):
        self.assertEqual(self.count(stdin=self.SNAPSHOTS), 1)
        self.assertEqual(self.count("--mask", "number", "--tau", "0", stdin=self.SNAPSHOTS), 1)
        self.assertEqual(self.count("--mask", "none", "--tau", "0", stdin=self.SNAPSHOTS), 8)

    def test_headings_that_differ_by_number_stay_apart_without_masks(self):
        headings = "Tarea 5\nTarea 6\n§4 Formato\n§5 Formato\n".encode()
        self.assertEqual(self.count("--mask", "none", "--tau", "0.05", stdin=headings), 4)

    def test_tau_0_merges_exact_repeats_only(self):
        lines = b"the quick brown fox jumps over the lazy dog\n" * 3 + \
            b"the quick brown fox jumps over the lazy dogs\n"
        self.assertEqual(self.count("--tau", "0", stdin=lines), 2)
        self.assertEqual(self.count("--tau", "2", stdin=lines), 1)

    def test_identical_items_stay_and_are_counted(self):
        self.assertEqual(self.ok("distinct", stdin=b"Adhesion\n" * 10).out, b"10\t1\tAdhesion\n")

    def test_a_strict_tau_splits_what_a_loose_one_joins(self):
        lines = b"".join(b"worker %s has finished its part of the job\n" % w
                         for w in (b"alpha", b"beta", b"gamma", b"delta"))
        counts = [self.count("--tau", tau, stdin=lines) for tau in ("0", "0.2", "0.5", "1")]
        self.assertEqual(counts, sorted(counts, reverse=True))
        self.assertEqual((counts[0], counts[-1]), (4, 1))

    def test_own_patterns_mask_too(self):
        lines = b"job <a-17> of u_bob is done\njob <a-17> of u_eve is done\n"
        self.assertEqual(self.count("--mask", "none", "--tau", "0", stdin=lines), 2)
        self.assertEqual(self.count("--mask", "none", "--tau", "0", "--pattern", "user=u_[a-z]+",
                                    stdin=lines), 1)

    def test_own_patterns_with_brackets_commas_and_word_borders(self):
        lines = b"at [1,2] now\nat [3,4] now\n"
        self.assertEqual(self.count("--mask", "none", "--tau", "0", "--pattern", r"pair=\[\d,\d\]",
                                    stdin=lines), 1)
        self.assertEqual(self.count("--mask", "none", "--tau", "0", "--pattern", "digit=[1-4]",
                                    "--pattern", r"nothing=\b", stdin=lines), 1)

    def test_an_own_pattern_that_can_match_nothing_at_a_place_still_matches_elsewhere(self):
        self.assertEqual(self.count("--mask", "none", "--tau", "0", "--pattern", r"n=[0-9]*\b",
                                    stdin=b"job 12 is done\njob 345 is done\n"), 1)

    def test_another_seed_or_dimension_changes_vectors_not_exact_repeats(self):
        lines = LOG + LOG
        for arguments in (["--seed", "7"], ["--dimension", "64"], ["--dimension", "4096"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.count("--tau", "0", *arguments, stdin=lines),
                                 self.count("--tau", "0", stdin=lines))

    def test_a_gate_decides_by_its_b(self):
        for b in ("0", "0.4", "1"):
            with self.subTest(b=b):
                self.assertEqual(self.ok("distinct", "-q", "--gate", f"8,{b}", stdin=LOG).out,
                                 self.ok("distinct", "-q", "--tau", b, stdin=LOG).out)

    def test_a_tau_that_looks_like_a_similarity_is_warned_about(self):
        result = self.run_dpcache("distinct", "--tau", "0.95", stdin=LOG)
        self.assertEqual(result.code, 0)
        self.assertRegex(result.err, rb"\Adpcache: warning: tau = 0\.95 [^\n]+\n\Z")
        quiet = self.run_dpcache("distinct", "--tau", "0.95", "--quiet", stdin=LOG)
        self.assertEqual((quiet.code, quiet.err), (0, b""))
        self.assertEqual(result.out, quiet.out)


class Budget(CommandLineTest):

    MANY = b"".join(b"%s %s %s\n" % (a, b, c) for a in (b"red", b"green", b"blue", b"black")
                    for b in (b"horse", b"cow", b"sheep", b"goat") for c in (b"runs", b"eats", b"sleeps"))

    def rows(self, *arguments):
        return self.ok("distinct", "--mask", "none", "--tau", "0.01", *arguments, stdin=self.MANY).lines

    def test_a_budget_bounds_the_slots(self):
        self.assertEqual(len(self.rows()), 48)
        self.assertEqual(len(self.rows("--budget", "fixed", "--m0", "10")), 10)
        self.assertEqual(len(self.rows("--max-slots", "5")), 5)
        self.assertLessEqual(len(self.rows("--budget", "adaptive", "--m0", "4", "--beta", "20",
                                           "--eta", "0.1")), 24)
        self.assertLessEqual(len(self.rows("--budget", "ghost", "--m0", "4", "--max-slots", "12")), 12)

    def test_folding_keeps_the_counts_and_evicting_drops_them(self):
        total = lambda rows: sum(int(row[0]) for row in rows)
        self.assertEqual(total(self.rows("--max-slots", "5", "--shrink", "merge")), 48)
        self.assertEqual(total(self.rows("--max-slots", "5", "--shrink", "evict")), 5)

    def test_what_a_run_saw_of_a_folded_slot_goes_with_it(self):
        rows = [json.loads(line) for line in
                self.ok("distinct", "--mask", "none", "--tau", "0.01", "--max-slots", "5", "--shrink",
                        "merge", "--json", stdin=self.MANY).out.splitlines()]
        self.assertEqual([row["seen"] for row in rows], [row["count"] for row in rows])


if __name__ == "__main__":
    unittest.main()
