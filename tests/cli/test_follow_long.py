"""--follow with a memory: what was seen is safe long before the end."""

import signal
import time
import unittest

from harness import CommandLineTest


class Checkpoint(CommandLineTest):

    def test_a_run_that_follows_saves_while_it_waits(self):
        self.write("app.log", b"apple tree\nblue whale\n")
        process = self.start("distinct", "--follow", "--memory", "m", "app.log")
        end = time.monotonic() + 120
        while self.names() != [".m.dpcache-lock", "app.log", "m"] and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(self.inspect("m")["stats"]["items"], 2)
        with open(self.path("app.log"), "ab") as log:
            log.write(b"quick fox\n")
        while self.inspect("m")["generation"] < 2 and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(self.inspect("m")["stats"]["items"], 3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(self.ok("distinct", "--memory", "m", "--new-only", stdin=b"quick fox\n").out, b"")

    def test_a_pipe_that_is_followed_is_saved_too(self):
        process = self.start("distinct", "--follow", "--memory", "m")
        process.stdin.write(b"apple tree\n")
        process.stdin.flush()
        end = time.monotonic() + 120
        while "m" not in self.names() and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(self.inspect("m")["stats"]["items"], 1)


if __name__ == "__main__":
    unittest.main()
