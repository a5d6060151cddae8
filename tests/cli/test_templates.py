"""distinct --templates: kinds of line with named parameters, kept in a file, and nothing lost."""

import json
import signal
import time
import unittest

from harness import SIGINT, CommandLineTest, unread

LOG = (b"user alice logged in from 10.0.0.1 in 42 ms\n"
       b"user bob logged in from 10.0.0.2 in 7 ms\n"
       b"user bob logged out\n"
       b"open ports: 22\n"
       b"open ports: 22 80 443\n"
       b"user carol logged in from 10.0.0.3 in 8 ms\n")
MORE = b"user dave logged in from 10.0.0.4 in 9 ms\ndisk sda is full\n"


class Templates(CommandLineTest):

    def templates(self, *arguments, **options):
        return self.ok("distinct", "--templates", *arguments, **options)

    def objects(self, *arguments, **options):
        return [json.loads(line) for line in self.templates("--json", *arguments, **options).out.splitlines()]

    def test_prints_count_line_template_and_example(self):
        self.assertEqual(self.templates(stdin=LOG).out,
                         b"3\t1\tuser <user> logged in from <ip> in <number> ms\t"
                         b"user alice logged in from 10.0.0.1 in 42 ms\n"
                         b"2\t4\topen ports: <number>\topen ports: 22\n"
                         b"1\t3\tuser bob logged out\tuser bob logged out\n")

    def test_json_has_parameters_with_values_and_examples(self):
        first = self.objects(stdin=LOG)[0]
        self.assertEqual(first["text"], "user <user> logged in from <ip> in <number> ms")
        self.assertEqual((first["template"], first["count"], first["seen"], first["new"], first["line"]),
                         (1, 3, 3, True, 1))
        self.assertEqual(first["parameters"][0],
                         {"name": "user", "kind": "text", "others": 0,
                          "values": [{"text": name, "count": 1} for name in ("alice", "bob", "carol")]})
        self.assertEqual([one["name"] for one in first["parameters"]], ["user", "ip", "number"])
        self.assertEqual(len(first["examples"]), 3)

    def test_assign_prints_each_line_behind_its_template(self):
        self.assertEqual(self.templates("--assign", stdin=LOG).out,
                         b"".join(b"%d\t%s\n" % pair for pair in zip((1, 1, 2, 3, 3, 1), LOG.splitlines())))

    def test_assign_in_json_gives_the_values_of_each_line(self):
        lines = self.objects("--assign", stdin=LOG)
        self.assertEqual([line["action"] for line in lines], ["open", "join", "open", "open", "join", "join"])
        self.assertEqual(lines[5]["values"], [{"name": "user", "text": "carol"}, {"name": "ip", "text": "10.0.0.3"},
                                              {"name": "number", "text": "8"}])

    def test_order_and_top(self):
        rows = self.templates("--order", "first", "--top", "2", stdin=LOG).lines
        self.assertEqual([row[1] for row in rows], [b"1", b"3"])

    def test_codes_and_plain(self):
        lines = b"failed with code 200\nfailed with code 500\nname=alice\nname=bob\n"
        self.assertEqual(len(self.templates(stdin=lines).lines), 2)
        self.assertEqual(len(self.templates("--codes", stdin=lines).lines), 3)
        self.assertEqual(len(self.templates("--plain", stdin=lines).lines), 3)

    def test_own_masks_may_contain_blanks(self):
        lines = b"rule <A B> fired\nrule <C> fired\n"
        row = self.objects("--pattern", "event=<[A-Z ]+>", stdin=lines)[0]
        self.assertEqual(row["text"], "rule <event> fired")
        self.assertEqual([value["text"] for value in row["parameters"][0]["values"]], ["<A B>", "<C>"])

    def test_any_bytes_are_lines(self):
        lines = b"\n   \n\xff\xfe \x00 x\n" + b"y " * 500000 + b"\n" + b"z" * 1000000
        self.assertEqual(sum(int(row[0]) for row in self.templates("-q", stdin=lines).lines), 5)

    def test_what_does_not_go_together_is_refused(self):
        for option, *value in (("--ttl", "5s"), ("--time", "5"), ("--gate", "1,.4"), ("--seed", "1"),
                               ("--dimension", "64"), ("--budget", "fixed"), ("--m0", "5"), ("--text", "x"),
                               ("--scale", "2"), ("--encoder", "e"), ("--key-update", "frozen"),
                               ("--order", "last"), ("--usage-decay", ".5"), ("--shrink", "merge")):
            with self.subTest(option=option):
                self.fails(2, "distinct", "--templates", option, *value,
                           says=option.encode() + b" " if option != "--order" else b"--order last")
        self.fails(2, "distinct", "--codes", says=b"need --templates")
        self.fails(2, "distinct", "--plain", says=b"need --templates")
        self.fails(2, "distinct", "--templates", "--tau", "0.6", says=b"--tau: ")
        self.fails(2, "distinct", "--templates", "--max-slots", "0", says=b"--max-slots: ")
        self.fails(2, "distinct", "--templates", "--mask", "x", says=b"--mask: ")


class Kept(CommandLineTest):

    def run_on(self, memory, *arguments, **options):
        return self.ok("distinct", "--templates", "--memory", memory, *arguments, **options)

    def test_two_runs_are_one_run_over_both(self):
        self.write("1.log", LOG)
        self.write("2.log", MORE + LOG)
        self.run_on("two", "1.log")
        second = self.run_on("two", "2.log")
        both = self.run_on("one", "1.log", "2.log")
        self.assertEqual(second.out, both.out)
        self.assertEqual(self.read("one"), self.read("two"))
        self.assertEqual(self.names(), ["1.log", "2.log", "one", "two"])

    def test_new_only_and_seen_only(self):
        self.run_on("m", stdin=LOG)
        self.assertEqual([row[2] for row in self.run_on("m", "--new-only", stdin=MORE).lines], [b"disk sda is full"])
        rows = self.run_on("m", "--seen-only", stdin=b"open ports: 1\n").lines
        self.assertEqual([(row[0], row[1]) for row in rows], [(b"3", b"-:4")])
        self.assertEqual(self.run_on("m", "--new-only", stdin=LOG).out, b"")
        self.assertEqual(self.run_on("m", "--new-only", "--assign", stdin=b"fan is gone\n").out, b"5\tfan is gone\n")

    def test_a_run_without_lines_does_not_write(self):
        self.run_on("m", stdin=LOG)
        before = self.written("m")
        self.run_on("m")
        self.assertEqual(self.written("m"), before)

    def test_other_settings_are_refused(self):
        self.run_on("m", "--mask", "number", "--pattern", "name=u_[a-z]+", stdin=LOG)
        self.run_on("m", stdin=LOG)
        self.run_on("m", "--mask", "number", "--pattern", "name=u_[a-z]+", stdin=LOG)
        before = self.read("m")
        for option in (("--mask", "all"), ("--tau", "0"), ("--codes",), ("--plain",), ("--max-slots", "5"),
                       ("--pattern", "name=u_.")):
            with self.subTest(option=option):
                self.fails(4, "distinct", "--templates", "--memory", "m", *option, stdin=LOG,
                           says=b"m: was made with other settings")
        self.assertEqual(self.read("m"), before)

    def test_damage_is_refused_and_left_alone(self):
        self.run_on("m", stdin=LOG)
        whole = self.read("m")
        for damaged in (whole[:-1], whole + b"x", whole[:100], whole[:50] + bytes([whole[50] ^ 1]) + whole[51:]):
            self.write("m", damaged)
            self.fails(4, "distinct", "--templates", "--memory", "m", stdin=LOG, says=b"m: is damaged")
            self.fails(1, "verify", "m", says=b"m: is damaged")
            self.assertEqual(self.read("m"), damaged)

    def test_memories_of_slots_and_of_templates_are_told_apart(self):
        self.run_on("t", stdin=LOG)
        self.ok("distinct", "--memory", "s", stdin=LOG)
        self.fails(4, "distinct", "--templates", "--memory", "s", stdin=LOG, says=b"holds no templates")
        for command in (("distinct", "--memory", "t"), ("query", "--memory", "t", "x"), ("inspect", "t")):
            self.fails(4, *command, says=b"t: holds templates")
        self.assertRegex(self.ok("verify", "t", "s").out, rb"\At: ok, 3 templates, 6 lines, .*\ns: ok, ")

    def test_a_second_writer_is_refused(self):
        process = self.start("distinct", "--templates", "--memory", "m")
        self.wait_for_lock("m")
        self.fails(4, "distinct", "--templates", "--memory", "m", stdin=LOG, says=b"in use by another process")
        process.stdin.write(LOG)
        process.stdin.close()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_a_signal_prints_and_saves_what_there_is(self):
        process = self.start("distinct", "--templates", "--memory", "m")
        process.stdin.write(b"apple tree\nblue whale\napple tree\nhalf a li")
        process.stdin.flush()
        self.wait_for_lock("m")
        self.wait_until(lambda: unread(process.stdin) == 0, "reading")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), SIGINT)
        self.assertEqual(process.stdout.read(), b"2\t-:1\tapple tree\tapple tree\n1\t-:2\tblue whale\tblue whale\n")
        self.assertIn(b"2 templates, 3 lines", self.ok("verify", "m").out)
        self.assertEqual(self.names(), ["m"])


if __name__ == "__main__":
    unittest.main()
