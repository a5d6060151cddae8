"""Memory: constant in the number of lines, and enough for very long ones."""

import os
import subprocess
import unittest

from harness import PROGRAM, SANITIZED, CommandLineTest, environment, peak_kilobytes

KINDS = [f"{verb} {noun} %d of {place} took %d ms" for verb in ("reading", "writing", "checking")
         for noun in ("block", "record", "index") for place in ("disk", "cache", "peer")]


@unittest.skipIf(SANITIZED, "the sanitizers' own memory grows")
class Memory(CommandLineTest):

    def lines(self, count):
        name = self.path(f"{count}.log")
        with open(name, "w", encoding="ascii") as file:
            for n in range(count):
                file.write(KINDS[n % len(KINDS)] % (n, n * 7919 % 100003) + "\n")
        return name

    def test_does_not_grow_with_the_number_of_lines(self):
        small, large = self.lines(10000), self.lines(300000)
        for arguments in (["distinct"], ["distinct", "--assign"], ["distinct", "--json", "--memory", "m"],
                          # All lines new, but few kept.
                          ["distinct", "--mask", "none", "--tau", "0", "--max-slots", "50", "-q"]):
            with self.subTest(arguments=arguments):
                arguments = [os.path.join(self.folder, a) if a == "m" else a for a in arguments]
                before = peak_kilobytes(arguments, small)
                after = peak_kilobytes(arguments, large)
                self.assertLess(after, before + 1000)

    def test_is_small(self):
        self.assertLess(peak_kilobytes(["distinct"], self.lines(10000)), 20000)

    def test_a_line_of_100_megabytes(self):
        name = self.path("long.log")
        with open(name, "wb") as file:
            file.write(b"short\n")
            for n in range(100):
                file.write(b"%07d\xff\0 " % n * 100000)
            file.write(b"\nshort\n")
        size = os.path.getsize(name) - 13
        self.assertGreaterEqual(size, 100_000_000)
        result = self.ok("distinct", "--order", "first", name)
        self.assertEqual([line[:2] for line in result.lines], [[b"2", b"1"], [b"1", b"2"]])
        self.assertTrue(result.out.endswith(b"... (%d bytes)\n" % size))
        self.assertLess(peak_kilobytes(["distinct"], name), 700_000)

    def test_a_line_of_100_megabytes_comes_out_of_assign_as_it_went_in(self):
        script = '''
            exec 3< <(head -c 100000000 /dev/zero | tr '\\0' x)
            cmp <("$0" distinct --assign <&3) <(printf '1\\t'; head -c 100000000 /dev/zero | tr '\\0' x; echo)
        '''
        subprocess.run(["bash", "-c", script, PROGRAM], env=environment(), check=True)


if __name__ == "__main__":
    unittest.main()
