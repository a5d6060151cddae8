"""Vectors from .npy files: what is read, and what is refused with which words."""

import gzip
import json
import os
import struct
import unittest

from harness import CommandLineTest, npy, npy_header

ROWS = [[1, 0, 0, 0], [0, 1, 0, 0], [2, 0.1, 0, 0], [-1, 0, 0, 0]]
LISTED = [[b"2", b"1", b"1"], [b"1", b"2", b"2"], [b"1", b"4", b"4"]]


class Reading(CommandLineTest):

    def test_float32_and_float16_in_all_versions(self):
        for descr in ("<f4", "<f2"):
            for version in (1, 2, 3):
                with self.subTest(descr=descr, version=version):
                    self.write("x.npy", npy(ROWS, descr, version))
                    self.assertEqual(self.ok("distinct", "x.npy").lines, LISTED)

    def test_int8(self):
        self.write("x.npy", npy([[100, 0, 0, 0], [0, 100, 0, 0], [127, 7, 0, 0], [-128, 0, 0, 0]], "|i1"))
        self.write("s.npy", npy([[0.5, 1, 2, 3]], shape=(4,)))
        for arguments in ([], ["--scale", "0.01"], ["--scale", "s.npy"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.ok("distinct", *arguments, "x.npy").lines, LISTED)

    def test_a_scale_reaches_the_components(self):
        self.write("x.npy", npy([[100, 0], [100, 0]], "|i1"))
        self.write("s.npy", npy([[1, -1]], shape=(2,)))
        self.assertEqual(len(self.ok("distinct", "--scale", "s.npy", "x.npy").lines), 2)
        self.fails(3, "distinct", "--scale", "0", "x.npy", says=b"x.npy: row 1: ")

    def test_every_half_float_is_read_exactly(self):
        # Against a float32 file of the same values: each row's decisions must be the same to the bit.
        halves = [bits for bits in range(0, 65536, 7) if bits & 0x7c00 != 0x7c00 and bits & 0x7fff]
        values = struct.unpack(f"<{len(halves)}e", struct.pack(f"<{len(halves)}H", *halves))
        for name, descr in (("h.npy", "<f2"), ("f.npy", "<f4")):
            self.write(name, npy([[value, 1, 0] for value in values], descr))
        outs = []
        for name in ("h.npy", "f.npy"):
            rows = self.ok("distinct", "--json", "--assign", "--tau", "0.3", name).out.splitlines()
            outs.append([{**json.loads(row), "file": ""} for row in rows])
        self.assertEqual(outs[0], outs[1])

    def test_from_standard_input_and_gzip(self):
        for data in (npy(ROWS), gzip.compress(npy(ROWS))):
            self.assertEqual(self.ok("distinct", stdin=data).lines, LISTED)
            self.write("x.npy", data)
            self.assertEqual(self.ok("distinct", "x.npy").lines, LISTED)

    def test_labels_stand_for_the_rows(self):
        self.write("x.npy", npy(ROWS))
        self.write("x.txt", b"east\nnorth\r\nalmost east\nwest")
        self.assertEqual(self.ok("distinct", "--text", "x.txt", "x.npy").out,
                         b"2\t1\teast\n1\t2\tnorth\r\n1\t4\twest\n".replace(b"\r", b""))
        self.assertEqual(self.ok("distinct", "--assign", "--text", "x.txt", "x.npy").out,
                         b"1\teast\n2\tnorth\r\n1\talmost east\n3\twest\n")

    def test_several_files(self):
        self.write("x.npy", npy(ROWS))
        self.write("y.npy", npy([[0, 0, 1, 0]]))
        self.write("x.txt", b"a\nb\nc\nd\n")
        self.write("y.txt", b"up\n")
        self.assertEqual(self.ok("distinct", "--text", "x.txt", "--text", "y.txt", "x.npy", "y.npy")
                         .lines[-1], [b"1", b"y.npy:1", b"up"])

    def test_three_singletons_are_count_1(self):
        self.write("x.npy", npy([[1, 0], [0, 1], [-1, 0]]))
        self.assertEqual([line[0] for line in self.ok("distinct", "x.npy").lines], [b"1"] * 3)

    def test_eight_directions_of_a_square_are_exact(self):
        square = [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]]
        self.write("x.npy", npy(square))
        rows = [json.loads(row) for row in
                self.ok("distinct", "--json", "--assign", "--tau", "0", "x.npy").out.splitlines()]
        self.assertEqual([row["slot"] for row in rows], list(range(1, 9)))
        self.assertEqual(rows[2]["nearest"]["slot"], 2)

    def test_a_memory_of_vectors(self):
        self.write("x.npy", npy(ROWS))
        self.ok("distinct", "--memory", "m", "--encoder", "model-1", "x.npy")
        self.assertEqual(self.ok("distinct", "--memory", "m", "--encoder", "model-1", "--new-only", "x.npy")
                         .out, b"")
        self.fails(4, "distinct", "--memory", "m", "--encoder", "model-2", "x.npy",
                   says=[b"m: holds vectors made by 'model-1'", b"model-2"])
        self.fails(4, "distinct", "--memory", "m", "x.npy", says=b"of no named encoder")
        self.write("y.npy", npy([[1, 0]]))
        self.fails(4, "distinct", "--memory", "m", "--encoder", "model-1", "y.npy",
                   says=[b"m: holds vectors of length 4", b"length 2"])
        self.fails(4, "distinct", "--memory", "m", stdin=b"text\n", says=b"m: ")

    def test_a_memory_of_text_takes_no_vectors(self):
        self.ok("distinct", "--memory", "m", "--dimension", "16", stdin=b"text\n")
        self.write("x.npy", npy([[1] * 16]))
        self.fails(4, "distinct", "--memory", "m", "x.npy", says=b"m: holds vectors made by '")

    def test_no_rows_are_no_items(self):
        self.write("x.npy", npy([], shape=(0, 4)))
        self.assertEqual(self.ok("distinct", "x.npy").out, b"")


class Refusing(CommandLineTest):

    def refused(self, data, *says):
        self.write("x.npy", data)
        self.fails(3, "distinct", "--memory", "m", "x.npy", says=[b"x.npy: ", *says])
        self.assertEqual(self.names(), ["x.npy"])

    def test_rows_without_direction_or_not_finite_by_their_number(self):
        self.refused(npy([[1, 0], [0, 0], [0, 1]]), b"row 2: ")
        self.refused(npy([[1, 0], [0, 1], [float("nan"), 1]]), b"row 3: ")
        self.refused(npy([[float("inf"), 0]]), b"row 1: ")
        self.refused(npy([[1, 0], [float("-inf"), 0]], "<f2"), b"row 2: ")

    def test_a_bad_row_leaves_the_memory_as_it_was(self):
        self.write("good.npy", npy([[1, 0]]))
        self.write("bad.npy", npy([[0, 1], [0, 0]]))
        self.ok("distinct", "--memory", "m", "good.npy")
        before = self.read("m")
        self.fails(3, "distinct", "--memory", "m", "good.npy", "bad.npy", says=b"bad.npy: row 2: ")
        self.assertEqual(self.read("m"), before)

    def test_other_types_orders_and_shapes(self):
        self.refused(npy(ROWS, "<f8"), b"type <f8", b"float32, float16 or int8")
        self.refused(npy(ROWS, ">f4"), b"type >f4", b"float32")
        self.refused(npy(ROWS, fortran=True), b"Fortran order", b"expected C order")
        self.refused(npy([[1, 0]], shape=(1, 1, 2)), b"3 axes", b"expected 2")
        self.refused(npy([[1]], shape=()), b"0 axes")
        self.refused(npy([], shape=(3, 0)), b"length 0")
        self.refused(npy([], shape=(1, 65537)), b"length 65537")

    def test_files_that_were_cut_or_have_more(self):
        whole = npy(ROWS)
        self.refused(whole[:-1], b"bytes; its header promises", b"it was cut")
        self.refused(whole + b"\0", b"its header promises")
        self.refused(whole[:50], b"ends inside its header")
        self.refused(whole[:9], b"ends inside its header")
        self.refused(gzip.compress(whole[:-1]), b"ends in row 4 of 4")
        self.refused(gzip.compress(whole + b"\0"), b"bytes behind its last row")

    def test_headers_that_are_not_numpys(self):
        for text in ("", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)",
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), 'more': 1}",
                     "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}",
                     "{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 2)}",
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2)}",
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 2)}",
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
                     "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2)}",
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)} + 1"):
            with self.subTest(text=text):
                self.refused(npy_header(text) + b"\0" * 8, b"a header that is not numpy's")

    def test_claims_that_no_file_can_keep(self):
        big = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 4), }"
        self.refused(npy_header(big % (1 << 62)), b"claims more rows")
        self.refused(npy_header(big % (1 << 50)), b"its header promises")
        self.refused(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f", b"header of more than 64 KiB")
        self.refused(b"\x93NUMPY\x09\x00\x10\x00", b"version 9")

    def test_labels_that_do_not_match(self):
        self.write("x.npy", npy(ROWS))
        self.write("x.txt", b"a\nb\nc\n")
        self.fails(3, "distinct", "--text", "x.txt", "x.npy",
                   says=b"x.txt: has 3 lines, x.npy has 4 rows")
        self.write("x.txt", b"a\nb\nc\nd\ne\n")
        self.fails(3, "distinct", "--text", "x.txt", "x.npy",
                   says=b"x.txt: has more lines than x.npy has rows, 4")
        self.fails(2, "distinct", "--text", "x.txt", "--text", "x.txt", "x.npy", says=b"--text")
        self.fails(3, "distinct", "--text", "gone.txt", "x.npy", says=b"gone.txt: cannot be opened")

    def test_a_scale_that_does_not_match(self):
        self.write("f.npy", npy(ROWS))
        self.write("x.npy", npy([[1, 0], [0, 1]], "|i1"))
        self.write("s.npy", npy([[1, 2, 3]], shape=(3,)))
        self.fails(2, "distinct", "--scale", "2", "f.npy", says=b"--scale is for int8")
        self.fails(3, "distinct", "--scale", "s.npy", "x.npy", says=b"s.npy: has 3 x 1 numbers")
        self.fails(2, "distinct", "--scale", "abc", "x.npy", says=b"--scale: 'abc'")

    def test_mixtures(self):
        self.write("x.npy", npy(ROWS))
        self.write("y.npy", npy([[1, 0]]))
        self.write("t.log", b"text\n")
        self.fails(3, "distinct", "x.npy", "t.log", says=b"t.log: is text")
        self.fails(3, "distinct", "t.log", "x.npy", says=b"x.npy: is vectors")
        self.fails(3, "distinct", "x.npy", "y.npy", says=[b"y.npy: has vectors of length 2", b"4"])
        self.fails(2, "distinct", "--mask", "none", "x.npy", says=b"--mask")
        self.fails(2, "distinct", "--encoder", "e", "t.log", says=b"--encoder")
        self.fails(2, "distinct", "--follow", "x.npy", says=b"--follow")


if __name__ == "__main__":
    unittest.main()
