"""--follow: new items the moment they appear, from pipes and from files that grow and are rotated."""

import json
import os
import queue
import signal
import threading
import time
import unittest

from harness import SIGINT, SIGPIPE, TIMEOUT, CommandLineTest


class Follower:
    """A process whose lines can be waited for."""

    def __init__(self, process):
        self.process = process
        self.lines = queue.Queue()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def next(self):
        return self.lines.get(timeout=TIMEOUT)

    def quiet(self, seconds=0.3):
        time.sleep(seconds)
        return self.lines.empty()


class Follow(CommandLineTest):

    def follow(self, *arguments, **options):
        return Follower(self.start("distinct", "--follow", *arguments, **options))

    def append(self, name, data):
        with open(self.path(name), "ab") as file:
            file.write(data)

    def test_a_pipe_shows_new_items_at_once_and_ends_with_it(self):
        follower = self.follow()
        pipe = follower.process.stdin
        for line, shown in ((b"alpha one\n", b"1\t1\talpha one\n"), (b"alpha two words here\n", None)):
            pipe.write(line)
            pipe.flush()
            if shown:
                self.assertEqual(follower.next(), shown)
        pipe.write(b"completely different text\nalpha one\n")
        pipe.flush()
        while not follower.next().endswith(b"completely different text\n"):
            pass
        pipe.write(b"\xff last without newline")
        pipe.close()
        self.assertEqual(follower.next(), b"1\t5\t\xff last without newline\n")
        self.assertEqual(follower.process.wait(), 0)

    def test_a_growing_file(self):
        self.write("app.log", b"first line here\n")
        follower = self.follow("app.log")
        self.assertEqual(follower.next(), b"1\t1\tfirst line here\n")
        self.append("app.log", b"first line here\nsecond thing ")
        self.assertTrue(follower.quiet())  # half a line is no line yet
        self.append("app.log", b"arrives\n")
        self.assertEqual(follower.next(), b"1\t3\tsecond thing arrives\n")
        self.assertIsNone(follower.process.poll())

    def test_a_file_that_is_empty_at_first(self):
        self.write("app.log", b"")
        follower = self.follow("app.log")
        self.append("app.log", b"now\n")
        self.assertEqual(follower.next(), b"1\t1\tnow\n")

    def test_several_growing_files(self):
        self.write("a.log", b"apple tree\n")
        self.write("b.log", b"blue whale\n")
        follower = self.follow("a.log", "b.log")
        self.assertEqual({follower.next(), follower.next()},
                         {b"1\ta.log:1\tapple tree\n", b"1\tb.log:1\tblue whale\n"})
        self.append("a.log", b"quick fox\n")
        self.assertEqual(follower.next(), b"1\ta.log:2\tquick fox\n")
        self.append("b.log", b"slow snail\n")
        self.assertEqual(follower.next(), b"1\tb.log:2\tslow snail\n")

    def test_a_rotated_file_goes_on_in_the_new_one(self):
        self.write("app.log", b"apple tree\n")
        follower = self.follow("app.log")
        follower.next()
        os.rename(self.path("app.log"), self.path("app.log.1"))
        self.append("app.log.1", b"written after the rename\nand without newline")
        self.write("app.log", b"fresh file begins\n" * 100)  # longer than the old one
        self.assertEqual([follower.next() for _ in range(3)],
                         [b"1\t2\twritten after the rename\n", b"1\t3\tand without newline\n",
                          b"1\t1\tfresh file begins\n"])

    def test_a_file_that_is_cut_short_is_read_from_its_start(self):
        self.write("app.log", b"apple tree in the garden\n" * 3)
        follower = self.follow("app.log")
        follower.next()
        self.write("app.log", b"blue whale\n")
        self.assertEqual(follower.next(), b"1\t1\tblue whale\n")

    def test_assign_follows_too(self):
        self.write("app.log", b"apple tree\n")
        follower = self.follow("--assign", "app.log")
        self.assertEqual(follower.next(), b"1\tapple tree\n")
        self.append("app.log", b"apple tree\n")
        self.assertEqual(follower.next(), b"1\tapple tree\n")

    def test_json(self):
        follower = self.follow("--json")
        follower.process.stdin.write(b"apple tree\n")
        follower.process.stdin.flush()
        row = json.loads(follower.next())
        self.assertEqual((row["slot"], row["text"], row["count"]), (1, "apple tree", 1))

    def test_assign_on_a_slow_pipe_does_not_wait_for_a_full_buffer(self):
        follower = Follower(self.start("distinct", "--assign"))
        waits = []
        for _ in range(5):
            start = time.monotonic()
            follower.process.stdin.write(b"apple tree\n")
            follower.process.stdin.flush()
            self.assertEqual(follower.next(), b"1\tapple tree\n")
            waits.append(time.monotonic() - start)
        self.assertLess(min(waits), 0.5)

    def test_interrupt_saves_what_was_seen(self):
        self.write("app.log", b"apple tree\nblue whale\napple tree\n")
        follower = self.follow("--memory", "m", "app.log")
        self.assertEqual([follower.next() for _ in range(2)],
                         [b"1\tapp.log:1\tapple tree\n", b"1\tapp.log:2\tblue whale\n"])
        self.append("app.log", b"half a li")
        time.sleep(0.3)
        follower.process.send_signal(signal.SIGINT)
        self.assertEqual(follower.process.wait(), SIGINT)
        self.assertEqual(self.inspect("m")["stats"]["items"], 3)
        self.assertEqual(self.ok("distinct", "--memory", "m", "--new-only", stdin=b"apple tree\n").out, b"")

    def test_known_items_are_not_new(self):
        self.ok("distinct", "--memory", "m", stdin=b"apple tree\n")
        follower = self.follow("--memory", "m")
        follower.process.stdin.write(b"apple tree\nblue whale\n")
        follower.process.stdin.close()
        self.assertEqual(follower.next(), b"1\t-:2\tblue whale\n")

    def test_a_reader_that_goes_away_ends_it(self):
        self.write("app.log", b"apple tree\n")
        process = self.start("distinct", "--follow", "--memory", "m", "app.log")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=TIMEOUT), SIGPIPE)
        self.assertEqual(self.inspect("m")["stats"]["items"], 1)

    def test_a_pipe_among_files_is_refused(self):
        self.write("app.log", b"apple tree\n")
        self.fails(2, "distinct", "--follow", "app.log", "-", says=b"--follow takes several files, or one pipe")


class FollowTemplates(CommandLineTest):

    def follow(self, *arguments):
        return Follower(self.start("distinct", "--templates", "--follow", *arguments))

    def append(self, name, data):
        with open(self.path(name), "ab") as file:
            file.write(data)

    def test_each_new_template_the_moment_it_appears(self):
        self.write("app.log", b"disk sda is 71 % full\n")
        follower = self.follow("app.log")
        self.assertEqual(follower.next(), b"1\t1\tdisk sda is <number> % full\tdisk sda is 71 % full\n")
        self.append("app.log", b"disk sda is 80 % full\nservice started ")
        self.assertTrue(follower.quiet())  # no new template, and half a line
        self.append("app.log", b"by root\n")
        self.assertEqual(follower.next().split(b"\t")[:2], [b"1", b"3"])
        self.assertIsNone(follower.process.poll())

    def test_a_pipe_ends_and_assign_streams(self):
        follower = self.follow("--assign", "-")
        pipe = follower.process.stdin
        pipe.write(b"disk sda is 71 % full\n")
        pipe.flush()
        self.assertEqual(follower.next(), b"1\tdisk sda is 71 % full\n")
        pipe.write(b"disk sda is 80 % full\n")
        pipe.close()
        self.assertEqual(follower.next(), b"1\tdisk sda is 80 % full\n")
        self.assertEqual(follower.process.wait(), 0)

    def test_a_rotated_log_and_an_interrupt_lose_nothing(self):
        self.write("app.log", b"disk sda is 71 % full\n")
        follower = self.follow("--memory", "m", "app.log")
        follower.next()
        os.rename(self.path("app.log"), self.path("app.log.1"))
        self.write("app.log", b"service started by root\n")
        self.assertEqual(follower.next().split(b"\t")[:2], [b"1", b"app.log:1"])
        follower.process.send_signal(signal.SIGINT)
        self.assertEqual(follower.process.wait(), SIGINT)
        again = self.ok("distinct", "--templates", "--memory", "m", "--json",
                        stdin=b"disk sda is 5 % full\nservice started by root\n")
        rows = [json.loads(line) for line in again.out.splitlines()]
        self.assertEqual(sorted((row["count"], row["new"]) for row in rows), [(2, False), (2, False)])

    def test_known_templates_are_not_new(self):
        self.ok("distinct", "--templates", "--memory", "m", stdin=b"disk sda is 71 % full\n")
        follower = self.follow("--json", "--memory", "m")
        follower.process.stdin.write(b"disk sda is 2 % full\nservice started by root\n")
        follower.process.stdin.close()
        row = json.loads(follower.next())
        self.assertEqual((row["template"], row["new"], row["line"]), (2, True, 2))
        self.assertEqual(follower.process.wait(), 0)
        self.assertTrue(follower.lines.empty())

    def test_a_pipe_among_files_is_refused(self):
        self.write("app.log", b"apple tree\n")
        self.fails(2, "distinct", "--templates", "--follow", "app.log", "-",
                   says=b"--follow takes several files, or one pipe")


if __name__ == "__main__":
    unittest.main()
