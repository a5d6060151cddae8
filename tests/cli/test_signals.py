"""Being stopped: nothing lost the first time, nothing half written the second time."""

import os
import select
import signal
import subprocess
import time
import unittest

from harness import PROGRAM, SIGINT, SIGTERM, CommandLineTest, environment, unread


class Signals(CommandLineTest):

    def begin(self, *arguments, **options):
        """A run that has taken three lines and waits for more."""
        process = self.start("distinct", "--memory", "m", *arguments, **options)
        process.stdin.write(b"apple tree\nblue whale\napple tree\nhalf a li")
        process.stdin.flush()
        self.wait_for_lock("m")
        # Its own progress cannot be seen from here; what it has read is no longer in the pipe.
        self.wait_until(lambda: unread(process.stdin) == 0, "reading")
        time.sleep(0.2)
        return process

    def test_the_first_signal_prints_and_saves_what_there_is(self):
        for number, code in ((signal.SIGINT, SIGINT), (signal.SIGTERM, SIGTERM),
                             (signal.SIGHUP, -signal.SIGHUP)):
            with self.subTest(signal=number):
                process = self.begin()
                process.send_signal(number)
                result = self.finish_without_eof(process)
                self.assertEqual(result, (code, b"2\t-:1\tapple tree\n1\t-:2\tblue whale\n", b""))
                self.assertEqual(self.inspect("m")["stats"]["items"], 3)
                self.assertEqual(self.names(), ["m"])
                os.remove(self.path("m"))

    def finish_without_eof(self, process):
        code = process.wait(timeout=60)  # its input is still open
        return code, process.stdout.read(), process.stderr.read()

    def test_a_shell_sees_128_and_the_signal(self):
        for name, code in (("INT", 130), ("TERM", 143)):
            reader, writer = os.pipe()
            with open(reader, "rb") as never_ends, open(writer, "wb"):
                done = subprocess.run(["timeout", "--foreground", "--preserve-status", "-s", name, "0.5",
                                       PROGRAM, "distinct"], stdin=never_ends, env=environment(),
                                      check=False, timeout=60)
            self.assertEqual(done.returncode, code)

    def stuck(self):
        """A run that cannot finish, as nobody reads its output."""
        self.write("big.log", b"a line that fills the pipe to the brim\n" * 20000)
        process = self.start("distinct", "--assign", "--memory", "m", "big.log")
        self.wait_for_lock("m")
        select.select([process.stdout], [], [], 60)
        time.sleep(0.3)
        return process

    def test_the_second_signal_ends_it_at_once_and_the_memory_is_as_before(self):
        self.ok("distinct", "--memory", "m", stdin=b"before\n")
        before = self.read("m")
        process = self.stuck()
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), SIGINT)
        self.assertEqual(self.read("m"), before)
        self.assertEqual(self.names(), ["big.log", "m"])

    def test_a_second_hangup_does_not_end_it(self):
        process = self.stuck()
        for _ in range(2):
            process.send_signal(signal.SIGHUP)
            time.sleep(0.3)
            self.assertIsNone(process.poll())
        lines = process.stdout.read().count(b"\n")
        self.assertEqual(process.wait(timeout=60), -signal.SIGHUP)
        self.assertEqual(self.inspect("m")["stats"]["items"], lines)

    def test_signals_that_were_ignored_stay_ignored(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        process = self.begin(preexec_fn=ignore)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        result = self.finish(process)
        self.assertEqual(result.code, 0)
        self.assertEqual(self.inspect("m")["stats"]["items"], 4)

    def test_a_signal_while_waiting_for_the_first_byte(self):
        process = self.start("distinct", "--memory", "m")
        self.wait_for_lock("m")
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), SIGTERM)
        self.assertIn(self.names(), ([], ["m"]))


if __name__ == "__main__":
    unittest.main()
