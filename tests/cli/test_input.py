"""What goes in: gzip, files that are missing or damaged, very long lines; and output that fails."""

import gzip
import json
import os
import random
import resource
import subprocess
import threading
import unittest

from harness import PROGRAM, SIGPIPE, CommandLineTest, environment, limit_file_size

KINDS = (b"disk sda%d is nearly full", b"user %d logged in", b"backup number %d has finished in time",
         b"fan %d stopped turning", b"a packet of %d bytes was dropped by the firewall")
LINES = b"".join(KINDS[n * n % 5] % n + b"\n" for n in range(3000))


class Gzip(CommandLineTest):

    def setUp(self):
        super().setUp()
        self.plain = self.ok("distinct", "--assign", stdin=LINES).out

    def test_is_recognised_by_content_in_files_and_on_standard_input(self):
        packed = gzip.compress(LINES)
        self.write("no-suffix", packed)
        self.assertEqual(self.ok("distinct", "--assign", "no-suffix").out, self.plain)
        self.assertEqual(self.ok("distinct", "--assign", stdin=packed).out, self.plain)

    def test_a_suffix_does_not_make_gzip(self):
        self.write("plain.gz", LINES)
        self.assertEqual(self.ok("distinct", "--assign", "plain.gz").out, self.plain)

    def test_members_follow_each_other(self):
        cut = [0, 10, 10, 50000, len(LINES)]
        members = b"".join(gzip.compress(LINES[a:b]) for a, b in zip(cut, cut[1:]))
        self.assertEqual(self.ok("distinct", "--assign", stdin=members).out, self.plain)
        padded = members + b"\0" * 1000
        self.assertEqual(self.ok("distinct", "--assign", stdin=padded).out, self.plain)
        self.assertEqual(self.ok("distinct", "--assign", stdin=padded + members).lines[:10],
                         self.ok("distinct", "--assign", stdin=LINES).lines[:10])

    def test_an_empty_member_is_no_line(self):
        self.assertEqual(self.ok("distinct", stdin=gzip.compress(b"")).out, b"")

    def test_comes_in_pieces_of_any_size(self):
        packed = gzip.compress(LINES)
        process = self.start("distinct", "--assign")

        def feed():
            at = 0
            sizes = random.Random(1)
            while at < len(packed):
                size = sizes.choice([1, 2, 3, 1000])
                process.stdin.write(packed[at:at + size])
                process.stdin.flush()
                at += size
            process.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        out = process.stdout.read()
        feeder.join()
        self.assertEqual(process.wait(), 0)
        self.assertEqual(out, self.plain)

    def test_cut_anywhere_is_an_error_and_nothing_is_saved(self):
        packed = gzip.compress(LINES)
        self.ok("distinct", "--memory", "m", stdin=b"before\n")
        before = self.read("m")
        for size in [2, 3, 9, 10, 11, 500, *range(len(packed) - 9, len(packed))]:
            with self.subTest(size=size):
                self.write("cut.gz", packed[:size])
                self.fails(3, "distinct", "--memory", "m", "cut.gz",
                           says=[b"cut.gz: ", b"gzip data ends too early"])
                self.assertEqual(self.read("m"), before)

    def test_a_flipped_bit_is_an_error(self):
        packed = bytearray(gzip.compress(LINES))
        for at in range(20, len(packed), 997):
            with self.subTest(at=at):
                damaged = bytearray(packed)
                damaged[at] ^= 16
                self.write("bad.gz", bytes(damaged))
                self.fails(3, "distinct", "bad.gz", says=b"bad.gz: ")

    def test_other_bytes_behind_it_are_an_error(self):
        self.fails(3, "distinct", stdin=gzip.compress(LINES) + b"garbage",
                   says=b"standard input: there are other bytes behind the gzip data")

    def test_a_lone_first_magic_byte_is_text(self):
        self.assertEqual(self.ok("distinct", stdin=b"\x1f").out, b"1\t1\t\x1f\n")
        self.assertEqual(self.ok("distinct", stdin=b"\x1fx\n").out, b"1\t1\t\x1fx\n")


class BadFiles(CommandLineTest):

    def test_a_missing_file_stops_the_run_before_it_begins(self):
        self.write("here.log", LINES)
        self.fails(3, "distinct", "--memory", "m", "here.log", "gone.log",
                   says=b"gone.log: cannot be opened: No such file or directory")
        self.assertEqual(self.names(), ["here.log"])

    def test_a_folder(self):
        os.mkdir(self.path("logs"))
        self.fails(3, "distinct", "logs", says=b"logs: is a folder")

    def test_an_unreadable_file(self):
        self.write("secret.log", LINES)
        os.chmod(self.path("secret.log"), 0)
        self.fails(3, "distinct", "secret.log", says=b"secret.log: cannot be opened: Permission denied",
                   **self.as_nobody())

    def test_a_name_cannot_command_the_terminal_or_break_the_line(self):
        result = self.fails(3, "distinct", "no\x1b[31m\nsuch")
        self.assertIn(rb"no\x1b[31m\x0asuch", result.err)

    def test_an_empty_file_is_no_line(self):
        self.write("empty.log", b"")
        self.assertEqual(self.ok("distinct", "empty.log").out, b"")

    def test_standard_input_twice(self):
        self.fails(2, "distinct", "-", "-", says=b"only once")

    def test_closed_standard_input(self):
        self.fails(3, "distinct", stdin=None, preexec_fn=lambda: os.close(0), says=b"standard input")

    def test_many_more_files_than_descriptors(self):
        for n in range(300):
            self.write(f"{n}.log", KINDS[n % 2] % n + b"\n")
        result = self.ok("distinct", *[f"{n}.log" for n in range(300)],
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
        self.assertEqual([line[:2] for line in result.lines], [[b"150", b"0.log:1"], [b"150", b"1.log:1"]])

    def test_a_fifo_is_read(self):
        os.mkfifo(self.path("pipe"))
        process = self.start("distinct", "pipe")
        with open(self.path("pipe"), "wb") as pipe:
            pipe.write(b"through a pipe\n")
        self.assertEqual(self.finish(process).out, b"1\t1\tthrough a pipe\n")

    def test_names_that_look_like_lists_or_options(self):
        self.write("[a,b]", b"one\n")
        self.write("-x", b"two\n")
        self.assertEqual(self.ok("distinct", "[a,b]").out, b"1\t1\tone\n")
        self.assertEqual(self.ok("distinct", "--", "-x").out, b"1\t1\ttwo\n")


class LongLines(CommandLineTest):

    def test_a_line_of_one_megabyte_among_others(self):
        data = b"short\n" + b"x" * (1 << 20) + b"\nshort\n"
        self.assertEqual([line[0] for line in self.ok("distinct", "--assign", stdin=data).lines],
                         [b"1", b"2", b"1"])

    def test_lines_around_the_sizes_of_buffers(self):
        for size in [64 << 10, 256 << 10, 512 << 10]:
            for around in (-2, -1, 0, 1, 2):
                with self.subTest(size=size, around=around):
                    line = b"y" * (size + around)
                    self.assertEqual(self.ok("distinct", "--assign", stdin=b"a\n" + line + b"\nb").out,
                                     b"1\ta\n2\t" + line + b"\n3\tb\n")


class Output(CommandLineTest):

    def big(self):
        return self.write("big.log", LINES * 10)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk_is_told_and_the_memory_stays_as_it_was(self):
        self.big()
        self.ok("distinct", "--memory", "m", stdin=b"before\n")
        before = self.read("m")
        for arguments in ([], ["--assign"], ["--json"], ["--json", "--assign"]):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                self.fails(5, "distinct", "--memory", "m", *arguments, "big.log", stdout=full,
                           says=b"standard output cannot be written: No space left on device")
                self.assertEqual(self.read("m"), before)
        for arguments in (["inspect", "m"], ["verify", "m"], ["query", "--memory", "m", "x"], ["--help"]):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                self.fails(5, *arguments, stdout=full)

    def test_a_file_size_limit_is_told(self):
        self.big()
        with open(self.path("out"), "wb") as out:
            self.fails(5, "distinct", "--assign", "big.log", stdout=out,
                       preexec_fn=limit_file_size(100000), says=b"File too large")

    def test_closed_standard_output_is_told(self):
        self.fails(5, "distinct", stdin=b"x\n", stdout=None, preexec_fn=lambda: os.close(1),
                   says=b"standard output cannot be written")

    def test_a_reader_that_goes_away_ends_the_run_quietly_and_what_was_read_is_saved(self):
        self.big()
        for arguments in (["--assign"], ["--assign", "--json"]):
            with self.subTest(arguments=arguments):
                process = self.start("distinct", "--memory", "m", *arguments, "big.log")
                process.stdout.readline()
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")
                self.assertEqual(process.wait(), SIGPIPE)
                items = json.loads(self.ok("inspect", "--json", "m").out)["stats"]["items"]
                self.assertTrue(0 < items < 30000, items)
                os.remove(self.path("m"))

    def test_a_listing_nobody_reads_is_saved_too(self):
        self.write("many.log", "".join(f"{w} " * 9 + "\n" for w in map(chr, range(0x4e00, 0x7e00))))
        process = self.start("distinct", "--tau", "0", "--memory", "m", "many.log")
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(process.wait(), SIGPIPE)
        self.assertEqual(json.loads(self.ok("inspect", "--json", "m").out)["stats"]["slots"], 0x3000)

    def test_a_shell_pipeline_with_head_works(self):
        self.big()
        done = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" distinct --assign big.log | head -n 1; '
                               'echo "${PIPESTATUS[0]}"', PROGRAM], cwd=self.folder, env=environment(),
                              capture_output=True, check=True)
        self.assertEqual(done.stdout.splitlines()[1:], [b"141"])
        self.assertEqual(done.stderr, b"")


if __name__ == "__main__":
    unittest.main()
