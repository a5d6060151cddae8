"""The command line itself: what is refused, and that help and manual tell the same."""

import os
import re
import shutil
import subprocess
import unittest

from harness import CommandLineTest, environment

MANUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../server/cli/dpcache.1")
COMMANDS = ("distinct", "query", "train", "advise", "import", "export", "inspect", "explain", "undo", "reviews",
            "verify", "serve")


class Usage(CommandLineTest):

    def test_what_makes_no_sense_is_2_and_one_line(self):
        for says, *arguments in (
                (b"a command is missing",),
                (b"unknown command 'foo'", "foo"),
                (b"unknown option --foo", "distinct", "--foo"),
                (b"unknown option --foo", "query", "--memory", "m", "--foo"),
                (b"unknown option -x", "verify", "-x", "m"),
                (b"--tau: a value is missing", "distinct", "--tau"),
                (b"--tau: can be given only once", "distinct", "--tau", "1", "--tau", "1"),
                (b"--tau: 'x' is not a number", "distinct", "--tau", "x"),
                (b"--tau: '0.4x' is not a number", "distinct", "--tau", "0.4x"),
                (b"--tau: 'nan' is not a number", "distinct", "--tau", "nan"),
                (b"--tau: ", "distinct", "--tau", "2.5"),
                (b"--tau: ", "distinct", "--tau=-0.1"),
                (b"--gate: '1' is neither two numbers A,B nor a file", "distinct", "--gate", "1"),
                (b"--gate: ", "distinct", "--gate", "0,0.4"),
                (b"--tau and --gate", "distinct", "--tau", "0.4", "--gate", "1,0.4"),
                (b"--mask: ", "distinct", "--mask", "numbers"),
                (b"--pattern: 'x' is not NAME=REGEX", "distinct", "--pattern", "x"),
                (b"--pattern x: ", "distinct", "--pattern", "x=("),
                (b"--pattern x: matches the empty text", "distinct", "--pattern", "x=a*"),
                (b"name", "distinct", "--pattern", "X=a"),
                (b"dimension", "distinct", "--dimension", "8"),
                (b"seed", "distinct", "--seed", "9007199254740992"),
                (b"--top: '-1' is not a whole number", "distinct", "--top=-1"),
                (b"--top: '99999999999999999999' is not a whole number from 0 up that fits",
                 "distinct", "--top", "99999999999999999999"),
                (b"--top needs the whole input", "distinct", "--assign", "--top", "3"),
                (b"--order needs the whole input", "distinct", "--follow", "--order", "last"),
                (b"--order: 'size' is none of count|first|last|novelty", "distinct", "--order", "size"),
                (b"--new-only needs --memory", "distinct", "--new-only"),
                (b"--seen-only needs --memory", "distinct", "--seen-only"),
                (b"--ttl: '5' is not a duration", "distinct", "--ttl", "5"),
                (b"--ttl: ", "distinct", "--ttl", "99999999999999w"),
                (b"--time: ", "distinct", "--time", "9007199254740992"),
                (b"--time: 'now' is not a whole number", "query", "--memory", "m", "--time", "now", "x"),
                (b"--m0 has no effect", "distinct", "--m0", "5"),
                (b"--beta and --eta have no effect", "distinct", "--budget", "fixed", "--beta", "5"),
                (b"--shrink has no effect", "distinct", "--shrink", "merge"),
                (b"--usage-decay has no effect", "distinct", "--usage-decay", "0.9"),
                (b"--max-slots: ", "distinct", "--max-slots", "0"),
                (b"--m0: ", "distinct", "--budget", "fixed", "--m0", "0"),
                (b"--eta: ", "distinct", "--budget", "adaptive", "--eta", "0"),
                (b"--usage-decay: ", "distinct", "--max-slots", "5", "--usage-decay", "1.5"),
                (b"train needs examples", "train"),
                (b"train takes options only, not 'p.tsv'", "train", "p.tsv"),
                (b"three kinds of example", "train", "--pairs", "p", "--items", "i", "--reference", "r"),
                (b"--items and --reference go together", "train", "--items", "i"),
                (b"--items and --reference are one file", "train", "--items", "i", "--reference", "i"),
                (b"--vectors-a, --vectors-b and --labels go together", "train", "--vectors-a", "a"),
                (b"it needs --vectors-a", "train", "--pairs", "p", "--encoder", "m"),
                (b"are for text", "train", "--vectors-a", "a", "--vectors-b", "b", "--labels", "l",
                 "--mask", "none"),
                (b"--confidence needs --max-false-merge", "train", "--pairs", "p", "--confidence", "0.9"),
                (b"--upcoming needs --max-false-merge", "train", "--pairs", "p", "--upcoming", "100"),
                (b"--upcoming: '-1' is not a whole number from 0 up", "train", "--pairs", "p",
                 "--max-false-merge", "0.1", "--upcoming", "-1"),
                (b"--upcoming: upcoming must be an integer from 0 to 2^53 - 1", "train", "--pairs", "p",
                 "--max-false-merge", "0.1", "--upcoming", "9007199254740992"),
                (b"--max-false-merge: ", "train", "--pairs", "p", "--max-false-merge", "0"),
                (b"--max-false-merge: 'x' is not a number", "train", "--pairs", "p",
                 "--max-false-merge", "x"),
                (b"--confidence: ", "train", "--pairs", "p", "--max-false-merge", "0.1",
                 "--confidence", "1"),
                (b"--false-merge-cost: ", "train", "--pairs", "p", "--false-merge-cost", "0"),
                (b"--start: ", "train", "--pairs", "p", "--start", "10"),
                (b"--start: a must be from 1", "train", "--pairs", "p", "--start", "0.5,0.4"),
                (b"give one of them", "train", "--pairs", "p", "--start", "10,0.4",
                 "--max-false-merge", "0.1"),
                (b"not with --start", "train", "--pairs", "p", "--start", "10,0.4",
                 "--false-merge-cost", "2"),
                (b"--rate needs --start", "train", "--pairs", "p", "--rate", "0.1"),
                (b"--rate: ", "train", "--pairs", "p", "--start", "10,0.4", "--rate", "2"),
                (b"--max-false-merge needs --pairs or --labels", "advise", "--max-false-merge", "0.1"),
                (b"--confidence needs", "advise", "--confidence", "0.8"),
                (b"--labels goes with one FILE", "advise", "--labels", "l", "a", "b"),
                (b"--tau: 'x' is not a number", "advise", "--tau", "x"),
                (b"--tau: taus must be numbers from 0 to 2", "advise", "--tau", "3"),
                (b"--sample: ", "advise", "--sample", "1"),
                (b"--confidence: ", "advise", "--pairs", "p", "--confidence", "1"),
                (b"are for vectors", "advise", "--scale", "2"),
                (b"import needs --memory FILE", "import", "i.jsonl"),
                (b"import needs one FILE to read", "import", "--memory", "m"),
                (b"import needs one FILE to read", "import", "--memory", "m", "a", "b"),
                (b"--tau and --gate", "import", "--memory", "m", "--tau", "1", "--gate", "1,1", "a"),
                (b"--apart asks no tau or gate", "import", "--memory", "m", "--tau", "1", "--apart", "a"),
                (b"--save-every is for files", "import", "--memory", "m", "--save-every", "1s", "-"),
                (b"--save-every: '5' is not a duration", "import", "--memory", "m", "--save-every", "5", "a"),
                (b"export needs one memory FILE", "export"),
                (b"are for JSON", "export", "--npy", "k", "--base64", "m"),
                (b"--npy and --out are one file", "export", "--npy", "k", "--out", "k", "m"),
                (b"--memory: a value is missing", "distinct", "--memory", ""),
                (b"explain needs a memory FILE and a SLOT", "explain", "m"),
                (b"SLOT: 'x' is not a whole number", "explain", "m", "x"),
                (b"undo needs a memory FILE, a SLOT and a MEMBER", "undo", "m", "1"),
                (b"reviews needs one memory FILE", "reviews"),
                (b"--same: '' is not a whole number", "reviews", "--same", "1", "m"),
                (b"--tau-merge: ", "distinct", "--tau", "0.1", "--tau-merge", "0.2"),
                (b"--correction-rate: ", "distinct", "--gate", "10,0.4", "--correction-rate", "2"),
                (b"--correction-rate: correction_rate needs a gate", "distinct", "--correction-rate", "0.1"),
                (b"--guard: ", "distinct", "--guard", "numbers"),
                (b"--audit: 'some' is none of none|ids|full", "distinct", "--audit", "some"),
                (b"--audit does not go with --templates", "distinct", "--templates", "--audit", "ids"),
                (b"--scale is for vectors", "query", "--memory", "m", "--scale", "2", "x")):
            with self.subTest(arguments=arguments):
                self.fails(2, *arguments, says=says)
        self.assertEqual(self.names(), [])

    def test_version(self):
        self.assertRegex(self.ok("--version").out, rb"\Adpcache \d+\.\d+\.\d+\n\Z")

    def test_help_shows_examples_for_every_command(self):
        for command in ([], *([name] for name in COMMANDS)):
            for flag in ("--help", "-h"):
                out = self.ok(*command, flag).out.decode()
                self.assertIn("Usage: dpcache", out)
                self.assertIn("Examples:\n  dpcache ", out)


class Manual(CommandLineTest):

    def test_names_every_option_of_the_help(self):
        with open(MANUAL, encoding="utf-8") as file:
            manual = file.read().replace("\\-", "-")
        for command in COMMANDS:
            section = manual[manual.index(f".SH {command.upper()}"):]
            section = section[:section.index(".SH", 3)] + manual[manual.index(".SH OTHER OPTIONS"):]
            for option in re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", self.ok(command, "--help").out.decode(), re.M):
                with self.subTest(command=command, option=option):
                    self.assertRegex(section, re.escape(option) + r'(["\s]|$)')

    def test_names_no_option_that_is_not_there(self):
        with open(MANUAL, encoding="utf-8") as file:
            manual = file.read().replace("\\-", "-")
        known = "".join(self.ok(command, "--help").out.decode() for command in COMMANDS) + "--version"
        for option in set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", manual)):
            self.assertIn(option, known)

    def test_defaults_are_those_of_the_program(self):
        with open(MANUAL, encoding="utf-8") as file:
            manual = file.read()
        self.ok("distinct", "--memory", "m", stdin=b"x\n")
        tau = self.inspect("m")["config"]["tau"]
        self.assertIn(f"The default is {tau} for text", manual)
        self.assertIn(f"default {tau} for text", self.ok("distinct", "--help").out.decode())
        version = self.ok("--version").out.decode().split()[1]
        self.assertIn(f'"dpcache {version}"', manual)

    @unittest.skipUnless(shutil.which("man"), "needs man")
    def test_is_well_formed(self):
        done = subprocess.run(["man", "--warnings", "-l", MANUAL], env={**environment(), "MANWIDTH": "80"},
                              capture_output=True, check=True)
        self.assertEqual(done.stderr, b"")
        self.assertIn(b"EXIT STATUS", done.stdout)


if __name__ == "__main__":
    unittest.main()
