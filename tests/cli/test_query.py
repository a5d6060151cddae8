"""query, inspect and verify."""

import json
import os
import unittest

from harness import CommandLineTest, npy

LOG = b"disk sda1 is 71 % full\nuser alice logged in\ndisk sdb1 is 93 % full\n"


class Query(CommandLineTest):

    def setUp(self):
        super().setUp()
        self.ok("distinct", "--memory", "m", "--time", "1000", stdin=LOG)

    def test_a_known_text(self):
        lines = self.ok("query", "--memory", "m", "user alice logged in").lines
        self.assertEqual(lines[0], [b"known", b"0", b"0.17"])
        self.assertEqual(lines[1][0], b"1")
        self.assertEqual(lines[1][2:], [b"1", b"2", b"user alice logged in"])
        self.assertEqual(len(lines), 3)
        self.assertAlmostEqual(sum(float(line[1]) for line in lines[1:]), 1, places=5)

    def test_an_unknown_text_is_exit_code_1(self):
        result = self.run_dpcache("query", "--memory", "m", "zebras graze quietly")
        self.assertEqual((result.code, result.err), (1, b""))
        self.assertEqual(result.lines[0][0], b"unknown")
        self.assertGreater(float(result.lines[0][1]), 0.17)

    def test_one_unknown_among_several_is_exit_code_1(self):
        result = self.run_dpcache("query", "--memory", "m", "-k", "0", "user alice logged in", "zebras graze",
                                 "user alice logged in")
        self.assertEqual(result.code, 1)
        self.assertEqual([line[0] for line in result.lines], [b"known", b"unknown", b"known"])

    def test_lines_of_standard_input(self):
        result = self.ok("query", "--memory", "m", "--json", stdin=b"user alice logged in\r\ndisk sda7 is 1 % full")
        rows = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual([row["query"] for row in rows], ["user alice logged in", "disk sda7 is 1 % full"])
        self.assertEqual([row["top"][0]["slot"] for row in rows], [2, 1])

    def test_k_and_json(self):
        row = json.loads(self.ok("query", "--memory", "m", "--k", "1", "--json", "user alice logged in").out)
        self.assertEqual(row, {
            "query": "user alice logged in", "known": True, "novelty": 0, "threshold": 0.17,
            "top": [{"slot": 2, "similarity": 1, "weight": row["top"][0]["weight"], "count": 1,
                     "file": "-", "line": 2, "text": "user alice logged in"}]})

    def test_texts_that_look_like_lists_or_options(self):
        for text in ("[a,b]", "[]", ""):
            row = json.loads(self.run_dpcache("query", "--memory", "m", "--json", text).out)
            self.assertEqual(row["query"], text)
        row = json.loads(self.run_dpcache("query", "--memory", "m", "--json", "--", "--memory").out)
        self.assertEqual(row["query"], "--memory")

    def test_does_not_change_the_memory(self):
        before = self.written("m")
        self.run_dpcache("query", "--memory", "m", "anything at all")
        self.assertEqual(self.written("m"), before)

    def test_an_empty_memory_knows_nothing(self):
        self.ok("distinct", "--memory", "empty")
        result = self.run_dpcache("query", "--memory", "empty", "anything")
        self.assertEqual((result.code, result.out), (1, b"unknown\t1\t0.17\n"))

    def test_what_has_expired_is_unknown(self):
        self.ok("distinct", "--memory", "t", "--time", "1000", "--ttl", "10s", stdin=LOG)
        text = "user alice logged in"
        self.assertEqual(self.run_dpcache("query", "--memory", "t", "--time", "10999", text).code, 0)
        self.assertEqual(self.run_dpcache("query", "--memory", "t", "--time", "11000", text).code, 1)
        self.assertEqual(self.run_dpcache("query", "--memory", "t", text).code, 1)

    def test_vectors(self):
        self.write("x.npy", npy([[1, 0, 0], [0, 1, 0]]))
        self.write("q.npy", npy([[0.1, 3, 0], [0, 0, 1]]))
        self.ok("distinct", "--memory", "v", "x.npy")
        result = self.run_dpcache("query", "--memory", "v", "--json", "--vector", "q.npy")
        self.assertEqual(result.code, 1)
        rows = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual([(row["query"], row["known"]) for row in rows], [("1", True), ("2", False)])
        self.write("one.npy", npy([[1, 0, 0]], shape=(3,)))
        self.assertEqual(self.ok("query", "--memory", "v", "--vector", "one.npy").lines[0][0], b"known")

    def test_errors(self):
        self.write("q.npy", npy([[1, 0, 0], [0, 0, 0]]))
        self.ok("distinct", "--memory", "v", "--encoder", "e", stdin=npy([[1, 0, 0]]))
        self.fails(2, "query", "text", says=b"--memory")
        self.fails(4, "query", "--memory", "gone", "text", says=b"gone: cannot be opened")
        self.fails(4, "query", "--memory", "v", "text", says=b"v: ")
        os.mkfifo(self.path("fifo"))
        for arguments in (["query", "--memory", "fifo", "text"], ["inspect", "fifo"], ["verify", "fifo"]):
            self.fails(4, *arguments, says=b"fifo: is not a regular file")
        self.fails(3, "query", "--memory", "m", "--vector", "q.npy", says=b"q.npy: has vectors of length 3")
        self.fails(4, "query", "--memory", "v", "--vector", "q.npy", says=b"v: holds vectors made by 'e'")
        self.fails(3, "query", "--memory", "v", "--encoder", "e", "--vector", "q.npy", says=b"q.npy: row 2: ")
        self.fails(2, "query", "--memory", "m", "--vector", "q.npy", "text", says=b"not both")


class Inspect(CommandLineTest):

    def test_tells_what_is_in_a_memory(self):
        self.ok("distinct", "--memory", "m", "--time", "86400000", stdin=LOG)
        out = self.ok("inspect", "m").out.decode()
        for words in ("saved 1 time", "tau 0.17", "2, 1 of count 1, next id 3", "3 = 2 allocations + 1 merge",
                      "1970-01-02 00:00:00Z", "disk sda1 is 71 % full"):
            self.assertIn(words, out)

    def test_json_has_config_counters_and_top_slots(self):
        self.ok("distinct", "--memory", "m", "--time", "7", "--budget", "adaptive", "--m0", "9", stdin=LOG)
        summary = json.loads(self.ok("inspect", "--json", "--top", "1", "m").out)
        self.assertEqual(summary["generation"], 1)
        self.assertEqual(summary["config"]["budget"], "adaptive")
        self.assertEqual(summary["config"]["value_update"], "first")
        self.assertEqual(summary["stats"]["merges"], 1)
        self.assertEqual([slot["count"] for slot in summary["top"]], [2])
        self.assertEqual(summary["bytes"], os.stat(self.path("m")).st_size)
        self.assertRegex(summary["stats"]["state_hash"], "^[0-9a-f]{16}$")

    def test_usage(self):
        self.fails(2, "inspect", says=b"inspect needs one memory FILE")
        self.fails(2, "inspect", "a", "b")


class Verify(CommandLineTest):

    def test_one_line_a_memory(self):
        self.ok("distinct", "--memory", "a", stdin=LOG)
        self.ok("distinct", "--memory", "b", "--key-update", "centroid", "--max-slots", "1", stdin=LOG)
        self.assertRegex(self.ok("verify", "a", "b").out,
                         rb"\Aa: ok, 2 slots, 3 items, saved 1 time, [^\n]+\nb: ok, 1 slot, 3 items, [^\n]+\n\Z")

    def test_damage_is_1_and_a_missing_file_is_4(self):
        self.ok("distinct", "--memory", "a", stdin=LOG)
        self.write("bad", self.read("a")[:-3])
        result = self.run_dpcache("verify", "bad", "a")
        self.assertEqual(result.code, 1)
        self.assertTrue(result.out.startswith(b"a: ok"))
        self.fails(4, "verify", "gone", says=b"gone: cannot be opened")
        self.assertEqual(self.run_dpcache("verify", "gone", "bad").code, 4)
        self.fails(2, "verify", says=b"verify needs")


if __name__ == "__main__":
    unittest.main()
