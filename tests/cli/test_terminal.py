"""What people see on a terminal, and that nothing of it gets into pipes."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from harness import PROGRAM, SANITIZED, SIGINT, SIGPIPE, TIMEOUT, CommandLineTest, environment

LOG = (b"disk sda1 is 71 % full\nuser alice logged in from far away\ndisk sdb7 is 93 % full\n"
       b"escape \x1b[31mred\x07 and a very long line " + b"word " * 100 + b"\n")


class Terminal:
    """A process on a terminal of its own."""

    def __init__(self, arguments, folder, columns=80, stdin=None, both=True, **env):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            [PROGRAM, *arguments], cwd=folder, env={**environment(), **env},
            stdin=subprocess.PIPE if stdin is None else stdin,
            stdout=slave if both else subprocess.PIPE, stderr=slave)
        os.close(slave)
        self.seen = b""

    def read(self, seconds=0.0):
        """What has come, waiting so long for more."""
        while select.select([self.master], [], [], seconds)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:  # the other side has closed it
                break
            if not data:
                break
            self.seen += data
        return self.seen

    def end(self):
        """All that it wrote; it must end by itself."""
        limit = time.monotonic() + TIMEOUT
        while self.process.poll() is None and time.monotonic() < limit:
            self.read(0.05)
        self.read(0.05)
        os.close(self.master)
        code = self.process.wait(timeout=1)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()
        return code, self.seen.replace(b"\r\n", b"\n")


class Listing(CommandLineTest):

    def shown(self, *arguments, columns=80, data=LOG, **env):
        self.write("app.log", data)
        code, seen = Terminal([*arguments], self.folder, columns, **env).end()
        self.assertEqual(code, 0)
        return seen.decode()

    def test_a_table_with_a_heading_and_a_summary(self):
        lines = self.shown("distinct", "app.log").splitlines()
        self.assertEqual(lines[0], "COUNT  LINE  EXAMPLE")
        self.assertEqual(lines[1], "    2     1  disk sda1 is 71 % full")
        self.assertRegex(lines[-1], r"\A4 lines → 3 distinct \(75 %\), \d+ ms\Z")
        self.assertEqual(len(lines), 5)

    def test_control_characters_are_shown_not_sent(self):
        seen = self.shown("distinct", "app.log")
        self.assertNotIn("\x1b[31m", seen)
        self.assertIn(r"escape \x1b[31mred\x07 and", seen)
        self.assertNotIn("\x1b[31m", self.shown("distinct", "--assign", "app.log"))

    def test_control_characters_are_shown_not_sent_while_following(self):
        terminal = Terminal(["distinct", "--follow"], self.folder)
        terminal.process.stdin.write(LOG)
        terminal.process.stdin.close()
        self.assertIn(rb"escape \x1b[31mred\x07 and", terminal.end()[1])

    def test_lines_are_cut_to_the_width(self):
        for columns in (40, 80, 200):
            with self.subTest(columns=columns):
                lines = self.shown("distinct", "app.log", columns=columns).splitlines()[:-1]
                self.assertEqual(max(map(len, lines)), columns)
                self.assertTrue(any(line.endswith("…") for line in lines))

    def test_wide_characters_count_twice(self):
        lines = self.shown("distinct", "app.log", columns=40, data="日志 ".encode() * 40 + b"\n").splitlines()
        width = sum(2 if ord(c) > 0x2fff else 1 for c in lines[1])
        self.assertTrue(38 <= width <= 40, lines[1])

    def test_without_utf8_nothing_else_is_sent(self):
        seen = self.shown("distinct", "app.log", data="größe ".encode() * 40 + b"\n", LC_ALL="C")
        self.assertTrue(seen.isascii(), seen)
        self.assertIn(r"gr\xc3\xb6\xc3\x9fe", seen)
        self.assertIn("1 lines -> 1 distinct", seen)

    def test_assign_on_a_terminal(self):
        lines = self.shown("distinct", "--assign", "app.log").splitlines()
        self.assertEqual(lines[0], "      1  disk sda1 is 71 % full")
        self.assertTrue(all(len(line) <= 80 for line in lines))

    def test_quiet_has_no_summary(self):
        self.assertEqual(self.shown("distinct", "--quiet", "app.log").count("\n"), 4)

    def test_a_memory_is_in_the_summary(self):
        self.shown("distinct", "--memory", "m", "app.log")
        seen = self.shown("distinct", "--memory", "m", "app.log").splitlines()
        self.assertRegex(seen[-1], r"\A4 lines → 0 new, 3 distinct in m \(\S+ KB\), \d+ ms\Z")
        self.assertIn("app.log:1  disk sda1", seen[1])

    def test_query_answers_in_words(self):
        self.ok("distinct", "--memory", "m", stdin=LOG)
        code, seen = Terminal(["query", "--memory", "m", "disk sda1 is 5 % full", "zebras graze"],
                              self.folder).end()
        self.assertEqual(code, 1)
        self.assertIn(b"  known: novelty 0.000 is not above the threshold", seen)
        self.assertIn(b"  unknown: novelty ", seen)
        self.assertNotIn(b"\x1b", seen)

    def test_help_fits_80_columns(self):
        for command in ([], ["distinct"], ["query"], ["inspect"], ["verify"]):
            for line in self.ok(*command, "--help").out.decode().splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_waiting_for_typing_says_so(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        terminal = Terminal(["distinct"], self.folder, stdin=slave)
        os.close(slave)
        terminal.read(1)
        self.assertIn(b"reading from the terminal; Ctrl-D ends the input", terminal.seen)
        os.write(master, b"typed\n\x04")
        code, seen = terminal.end()
        self.assertEqual(code, 0)
        self.assertIn(b"    1     1  typed", seen)


class Progress(CommandLineTest):

    def feed(self, terminal, seconds):
        """Lines for so long, then the end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            terminal.process.stdin.write(LOG * 10)
            terminal.process.stdin.flush()
            terminal.read(0.01)
        terminal.process.stdin.close()

    def test_a_long_run_shows_it_and_takes_it_away(self):
        terminal = Terminal(["distinct"], self.folder)
        self.feed(terminal, 3)
        code, seen = terminal.end()
        self.assertEqual(code, 0)
        drawn = re.findall(rb"\r([0-9,]+ lines  [0-9.]+ [KM]B  [0-9,]+ lines/s  \d+ distinct)\x1b\[K", seen)
        self.assertGreater(len(drawn), 2)
        self.assertLess(len(drawn), 17)  # five a second, from the end of the first second on
        last = seen.rindex(drawn[-1])
        self.assertTrue(seen[last + len(drawn[-1]):].startswith(b"\x1b[K\r\x1b[KCOUNT"), seen[last:last + 200])

    def test_the_share_is_shown_where_the_size_is_known(self):
        count = 100000 if SANITIZED else 1500000
        self.write("big.log", b"".join(b"%d words in line %d of it\n" % (n, n) for n in range(count)))
        terminal = Terminal(["distinct", "big.log"], self.folder)
        terminal.read(0.5)
        code, seen = terminal.end()
        self.assertEqual(code, 0)
        if b"distinct\x1b" in seen or re.search(rb"lines/s", seen):
            self.assertRegex(seen, rb"\d+ distinct  \d+ %, \d[\d.]* (ms|s|min) left")
        else:
            self.skipTest("this machine is done with 1.5 million lines in a second")

    def test_short_runs_quiet_ones_and_dumb_terminals_show_none(self):
        for arguments, seconds, env in ((["distinct"], 0.3, {}), (["distinct", "--quiet"], 1.5, {}),
                                        (["distinct"], 1.5, {"TERM": "dumb"})):
            with self.subTest(arguments=arguments, seconds=seconds, env=env):
                terminal = Terminal(arguments, self.folder, **env)
                self.feed(terminal, seconds)
                code, seen = terminal.end()
                self.assertEqual(code, 0)
                self.assertNotIn(b"\x1b", seen)

    def test_streamed_output_on_the_same_terminal_is_left_alone(self):
        terminal = Terminal(["distinct", "--follow"], self.folder)
        self.feed(terminal, 1.5)
        self.assertNotIn(b"\x1b", terminal.end()[1])

    def test_pipes_get_no_word_of_it(self):
        process = self.start("distinct")
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            process.stdin.write(LOG)
            process.stdin.flush()
            time.sleep(0.01)
        result = self.finish(process)
        self.assertEqual((result.code, result.err), (0, b""))

    def test_an_interrupt_takes_it_away_and_shows_what_there_is(self):
        terminal = Terminal(["distinct"], self.folder)
        end = time.monotonic() + TIMEOUT
        while b"\r" not in terminal.seen.replace(b"\r\n", b"") and time.monotonic() < end:
            terminal.process.stdin.write(LOG)
            terminal.process.stdin.flush()
            terminal.read(0.01)
        terminal.process.send_signal(signal.SIGINT)
        code, seen = terminal.end()
        self.assertEqual(code, SIGINT)
        self.assertIn(b"\r\x1b[KCOUNT", seen)
        self.assertRegex(seen, rb"\nstopped after [\d,]+ lines \xe2\x86\x92 3 distinct")

    def test_a_closed_pipe_leaves_no_progress_line(self):
        self.write("big.log", LOG * 100000)
        terminal = Terminal(["distinct", "--assign", "big.log"], self.folder, both=False)
        for _ in range(50):  # slowly, so that there is progress to be shown
            terminal.process.stdout.read(1000000)
            terminal.read(0.03)
        terminal.process.stdout.close()
        code, seen = terminal.end()
        self.assertEqual(code, SIGPIPE)
        self.assertIn(b"lines/s", seen)
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen[-100:])


if __name__ == "__main__":
    unittest.main()
