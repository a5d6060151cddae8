"""--memory: yesterday's items are known today, and nothing that goes wrong loses them."""

import json
import os
import shutil
import stat
import subprocess
import time
import unittest

from harness import CommandLineTest, limit_file_size

DAY1 = b"disk sda1 is full\nbackup finished in time\ndisk sdb2 is full\n"
DAY2 = b"backup finished in time\nfan 3 has stopped\ndisk sdc1 is full\n"


class AcrossRuns(CommandLineTest):

    def test_new_only_prints_what_no_earlier_run_has_seen(self):
        def new(data):
            return [line[2] for line in self.ok("distinct", "--memory", "m", "--new-only", stdin=data).lines]
        self.assertEqual(new(DAY1), [b"disk sda1 is full", b"backup finished in time"])
        self.assertEqual(new(DAY2), [b"fan 3 has stopped"])
        self.assertEqual(new(DAY1 + DAY2), [])

    def test_new_only_with_assign_prints_the_lines_that_open_slots(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        self.assertEqual(self.ok("distinct", "--memory", "m", "--new-only", "--assign", stdin=DAY2).out,
                         b"3\tfan 3 has stopped\n")

    def test_seen_only_prints_what_this_run_has_met(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1 + b"only on day one\n")
        rows = self.ok("distinct", "--memory", "m", "--seen-only", stdin=DAY2).lines
        self.assertEqual([row[0] for row in rows], [b"3", b"2", b"1"])
        self.assertNotIn(b"only on day one", [row[2] for row in rows])

    def test_two_runs_are_one_run_over_both(self):
        self.write("1.log", DAY1)
        self.write("2.log", DAY2)
        self.ok("distinct", "--memory", "two", "--time", "5", "1.log")
        second = self.ok("distinct", "--memory", "two", "--time", "5", "2.log")
        both = self.ok("distinct", "--memory", "one", "--time", "5", "1.log", "2.log")
        self.assertEqual(second.out, both.out)
        one, two = self.inspect("one"), self.inspect("two")
        self.assertEqual((one.pop("generation"), two.pop("generation")), (1, 2))
        for summary in (one, two):
            for key in ("file", "bytes", "metadata"):
                del summary[key]
        self.assertEqual(one, two)

    def test_examples_keep_the_file_and_line_where_they_stood_first(self):
        self.write("1.log", DAY1)
        self.ok("distinct", "--memory", "m", "1.log")
        rows = self.ok("distinct", "--memory", "m", stdin=DAY2).lines
        self.assertEqual([row[1] for row in rows], [b"1.log:1", b"1.log:2", b"-:2"])
        row = json.loads(self.ok("distinct", "--memory", "m", "--json", "--top", "1").out)
        self.assertEqual((row["new"], row["seen"], row["count"]), (False, 0, 3))
        self.assertNotIn("novelty", row)

    def test_a_run_without_items_does_not_write(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        before = self.written("m")
        self.ok("distinct", "--memory", "m")
        self.assertEqual(self.written("m"), before)

    def test_a_first_run_without_items_makes_a_memory(self):
        self.ok("distinct", "--memory", "m")
        self.assertEqual(self.inspect("m")["stats"]["slots"], 0)

    def test_items_are_forgotten_when_their_time_is_up(self):
        def new(at, *arguments):
            return len(self.ok("distinct", "--memory", "m", "--new-only", "--time", str(at), *arguments,
                               stdin=b"the same old line\n").lines)
        self.assertEqual(new(0, "--ttl", "10s"), 1)
        self.assertEqual(new(9999), 0)
        self.assertEqual(new(10000), 1)

    def test_what_has_expired_is_not_listed(self):
        self.ok("distinct", "--memory", "m", "--time", "0", "--ttl", "10s", stdin=DAY1)
        self.assertEqual(self.ok("distinct", "--memory", "m", "--time", "10000").out, b"")


class Settings(CommandLineTest):

    def test_the_encoder_is_the_memorys_own(self):
        self.ok("distinct", "--memory", "m", "--mask", "number", "--dimension", "64", "--seed", "3",
                stdin=DAY1)
        self.ok("distinct", "--memory", "m", stdin=DAY2)
        self.ok("distinct", "--memory", "m", "--mask", "number", stdin=DAY2)
        self.assertEqual(self.inspect("m")["config"]["dimension"], 64)

    def test_another_encoder_is_refused_with_both_named(self):
        self.ok("distinct", "--memory", "m", "--mask", "number", stdin=DAY1)
        before = self.read("m")
        for arguments in (["--mask", "none"], ["--dimension", "64"], ["--seed", "5"],
                          ["--pattern", "user=u_[a-z]+"]):
            with self.subTest(arguments=arguments):
                self.fails(4, "distinct", "--memory", "m", *arguments, stdin=DAY2,
                           says=[b"m: was made by '", b"this run asks for '"])
        self.assertEqual(self.read("m"), before)

    def test_own_patterns_travel_with_the_memory(self):
        pattern = "user=u_[a-z]+"
        self.ok("distinct", "--memory", "m", "--pattern", pattern, stdin=b"u_bob is here\n")
        self.assertEqual(self.ok("distinct", "--memory", "m", "--new-only", stdin=b"u_eve is here\n").out,
                         b"")
        self.ok("distinct", "--memory", "m", "--pattern", pattern, stdin=b"u_kim is here\n")
        self.fails(4, "distinct", "--memory", "m", "--pattern", "user=u_.", stdin=DAY1,
                   says=b"was made by")
        self.assertIn(b"known", self.ok("query", "--memory", "m", "u_zoe is here").out)

    def test_the_threshold_and_the_budget_can_change(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        self.ok("distinct", "--memory", "m", "--tau", "0.2", "--budget", "fixed", "--m0", "7", stdin=DAY2)
        config = self.inspect("m")["config"]
        self.assertEqual((config["tau"], config["budget"], config["m0"]), (0.2, "fixed", 7))
        self.ok("distinct", "--memory", "m", "--gate", "9,0.3", stdin=DAY2)
        config = self.inspect("m")["config"]
        self.assertNotIn("tau", config)
        self.assertEqual(config["gate"], {"a": 9, "b": 0.3})
        self.ok("distinct", "--memory", "m", "--m0", "8", stdin=DAY2)  # its budget is still fixed
        self.ok("distinct", "--memory", "m", "--tau", "0.3", stdin=DAY2)
        self.assertNotIn("gate", self.inspect("m")["config"])

    def test_what_cannot_change_is_refused(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        before = self.read("m")
        self.fails(4, "distinct", "--memory", "m", "--key-update", "centroid", stdin=DAY2,
                   says=b"m: --key-update: ")
        self.fails(4, "distinct", "--memory", "m", "--tau", "3", stdin=DAY2, says=b"m: --tau: ")
        self.assertEqual(self.read("m"), before)


class Files(CommandLineTest):

    def test_mode_and_symbolic_links_are_kept(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        os.chmod(self.path("m"), 0o640)
        os.mkdir(self.path("links"))
        os.symlink("../m", self.path("links/second"))
        os.symlink(self.path("links/second"), self.path("first"))
        self.ok("distinct", "--memory", "first", stdin=DAY2)
        self.assertTrue(os.path.islink(self.path("first")))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("m")).st_mode), 0o640)
        self.assertEqual(self.inspect("m")["stats"]["items"], 6)
        self.assertEqual(self.names(), ["first", "links", "m"])

    def test_a_symbolic_link_to_nothing_yet(self):
        os.symlink("m", self.path("link"))
        self.ok("distinct", "--memory", "link", stdin=DAY1)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(self.inspect("m")["stats"]["items"], 3)

    def test_a_loop_of_symbolic_links(self):
        os.symlink("a", self.path("b"))
        os.symlink("b", self.path("a"))
        self.fails(4, "distinct", "--memory", "a", stdin=DAY1, says=b"Too many levels of symbolic links")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_the_owner_is_kept(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        os.chown(self.path("m"), 65534, 65534)
        self.ok("distinct", "--memory", "m", stdin=DAY2)
        self.assertEqual(os.stat(self.path("m")).st_uid, 65534)

    def test_places_where_no_memory_can_be(self):
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("fifo"))
        self.write("empty", b"")
        self.write("text", b"not a memory\n" * 100)
        for name, says in (("folder", b"folder: is a folder"), ("folder/", b"is a folder"),
                           ("fifo", b"fifo: is not a regular file"), ("empty", b"empty: is empty"),
                           ("text", b"text: is damaged, or not a memory"),
                           ("gone/m", b"gone/m: its folder does not exist"),
                           ("/dev/null", b"/dev/null: is not a regular file"),
                           ("text/m", b"text/m: ")):
            with self.subTest(name=name):
                # It must not wait for input before it says so.
                process = self.start("distinct", "--memory", name)
                self.assertEqual(process.wait(timeout=60), 4)
                err = process.stderr.read()
                self.assertIn(says, err)
                self.assertEqual(err.count(b"\n"), 1)
        self.assertEqual(self.names(), ["empty", "fifo", "folder", "text"])
        self.assertEqual(self.read("text"), b"not a memory\n" * 100)

    def test_without_the_right_to_write(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        os.chmod(self.path("m"), 0o444)
        self.fails(4, "distinct", "--memory", "m", stdin=DAY2, says=b"Permission denied", **self.as_nobody())
        os.chmod(self.path("m"), 0o666)
        os.chmod(self.folder, 0o755)
        self.fails(4, "distinct", "--memory", "m", stdin=DAY2,
                   says=b"m: cannot be saved in its folder: Permission denied", **self.as_nobody())
        os.chmod(self.path("m"), 0)
        self.fails(4, "query", "--memory", "m", "x", says=b"m: cannot be opened: Permission denied",
                   **self.as_nobody())

    def test_reading_needs_no_right_to_write(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        os.chmod(self.path("m"), 0o444)
        os.chmod(self.folder, 0o555)
        self.assertEqual(self.run_dpcache("query", "--memory", "m", "disk sda1 is full",
                                          **self.as_nobody()).code, 0)
        self.assertEqual(self.run_dpcache("verify", "m", **self.as_nobody()).code, 0)

    def test_a_full_disk_leaves_the_old_memory(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        before = self.read("m")
        for limit in (0, 1, len(before) // 2, len(before)):
            with self.subTest(limit=limit):
                result = self.run_dpcache("distinct", "--memory", "m", stdin=DAY2,
                                          preexec_fn=limit_file_size(limit))
                self.assertEqual(result.code, 4)
                self.assertRegex(result.err, rb"\Adpcache: m: cannot be saved: File too large [^\n]+\n\Z")
                self.assertEqual(self.read("m"), before)
                self.assertEqual(self.names(), ["m"])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "only root can mount")
    def test_a_really_full_disk(self):
        os.mkdir(self.path("small"))
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", self.path("small")],
                                 check=False, capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", self.path("small")], check=True)
        self.ok("distinct", "--memory", "small/m", stdin=DAY1)
        before = self.read("small/m")
        many = "".join(f"{chr(n)} " * 5 + "\n" for n in range(0x4e00, 0x4f00)).encode()
        result = self.run_dpcache("distinct", "--memory", "small/m", "--tau", "0.01", stdin=many)
        self.assertEqual(result.code, 4)
        self.assertIn(b"small/m: cannot be saved: No space left on device", result.err)
        self.assertEqual(self.read("small/m"), before)
        self.assertEqual(os.listdir(self.path("small")), ["m"])


class Damage(CommandLineTest):

    def setUp(self):
        super().setUp()
        self.ok("distinct", "--memory", "m", "--dimension", "16", stdin=DAY1)
        self.whole = self.read("m")

    def refused(self, data):
        self.write("bad", data)
        self.fails(4, "distinct", "--memory", "bad", stdin=DAY2, says=b"bad: is ")
        self.assertEqual(self.read("bad"), data)
        self.fails(1, "verify", "bad", says=b"bad: is ")
        self.assertEqual(sorted(self.names()), ["bad", "m"])

    def test_a_flipped_bit_anywhere_is_refused(self):
        for at in range(0, len(self.whole), 97):
            with self.subTest(at=at):
                data = bytearray(self.whole)
                data[at] ^= 1 << at % 8
                self.refused(bytes(data))

    def test_a_memory_that_was_cut_is_refused(self):
        for size in [*range(0, len(self.whole), 97), len(self.whole) - 1]:
            with self.subTest(size=size):
                self.refused(self.whole[:size])

    def test_bytes_behind_it_are_refused(self):
        for tail in (b"\0", b"\n", b"x" * 64, self.whole):
            with self.subTest(tail=tail[:10]):
                self.refused(self.whole + tail)

    def test_every_reading_command_says_so(self):
        self.write("bad", self.whole[:-1])
        for arguments in (["query", "--memory", "bad", "x"], ["inspect", "bad"]):
            self.fails(4, *arguments, says=b"bad: is damaged, or not a memory")


class TwoProcesses(CommandLineTest):

    def test_a_memory_in_use_is_refused_at_once(self):
        first = self.start("distinct", "--memory", "m")
        self.wait_for_lock("m")
        self.fails(4, "distinct", "--memory", "m", stdin=DAY2, says=b"m: is in use by another process")
        os.symlink("m", self.path("link"))
        self.fails(4, "distinct", "--memory", "link", stdin=DAY2, says=b"link: is in use")
        first.stdin.write(DAY1)
        self.assertEqual(self.finish(first).code, 0)
        self.ok("distinct", "--memory", "m", stdin=DAY2)
        self.assertEqual(self.inspect("m")["stats"]["items"], 6)

    def test_reading_commands_do_not_wait_for_a_writer(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        self.start("distinct", "--memory", "m")
        self.wait_for_lock("m")
        self.ok("verify", "m")
        self.ok("query", "--memory", "m", "disk sda1 is full")
        self.assertEqual(self.inspect("m")["stats"]["items"], 3)

    def test_a_killed_process_leaves_no_obstacle_and_no_half_memory(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        before = self.read("m")
        process = self.start("distinct", "--memory", "m")
        self.wait_for_lock("m")
        process.stdin.write(DAY2)
        process.stdin.flush()
        process.kill()
        process.wait()
        self.assertEqual(self.read("m"), before)
        self.write(".m.dpcache-tmp", b"what a process killed while saving leaves")
        self.ok("distinct", "--memory", "m", stdin=DAY2)
        self.assertEqual(self.inspect("m")["stats"]["items"], 6)
        self.assertEqual(self.names(), ["m"])

    def test_a_memory_replaced_behind_the_lock_survives(self):
        # B ignores the lock, as a copy or another machine would: it works on a copy and moves it here.
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        rows = "".join(f"{chr(n)} " * 5 + "\n" for n in range(0x4e00, 0x4e00 + 1000)).encode()
        a = self.start("distinct", "--memory", "m")
        self.wait_for_lock("m")
        time.sleep(0.2)  # A has read the memory, too
        shutil.copy(self.path("m"), self.path("b"))
        self.ok("distinct", "--memory", "b", "--tau", "0", "--quiet", stdin=rows)
        os.rename(self.path("b"), self.path("m"))
        theirs = self.read("m")
        a.stdin.write(DAY2)
        result = self.finish(a)
        self.assertEqual(result.code, 4)
        self.assertRegex(result.err, rb"\Adpcache: m: was changed by another program [^\n]+\n\Z")
        self.assertEqual(self.read("m"), theirs)
        self.assertGreaterEqual(self.inspect("m")["stats"]["items"], 1003)
        self.assertEqual(self.names(), ["m"])

    def test_a_memory_that_appears_meanwhile_survives(self):
        a = self.start("distinct", "--memory", "m")
        self.wait_for_lock("m")
        self.ok("distinct", "--memory", "b", stdin=DAY2)
        os.rename(self.path("b"), self.path("m"))
        theirs = self.read("m")
        a.stdin.write(DAY1)
        self.assertEqual(self.finish(a).code, 4)
        self.assertEqual(self.read("m"), theirs)

    def test_a_memory_that_was_only_touched_or_copied_is_no_conflict(self):
        self.ok("distinct", "--memory", "m", stdin=DAY1)
        a = self.start("distinct", "--memory", "m")
        self.wait_for_lock("m")
        time.sleep(0.2)
        shutil.copy(self.path("m"), self.path("b"))
        os.rename(self.path("b"), self.path("m"))
        a.stdin.write(DAY2)
        self.assertEqual(self.finish(a).code, 0)
        self.assertEqual(self.inspect("m")["stats"]["items"], 6)

    def test_ten_processes_in_turn_lose_nothing(self):
        def run_until_free():
            while True:
                process = self.start("distinct", "--memory", "m")
                process.stdin.write(DAY1)
                result = self.finish(process)
                if result.code == 0:
                    return
                self.assertIn(b"is in use by another process", result.err)
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(10) as pool:
            for future in [pool.submit(run_until_free) for _ in range(10)]:
                future.result()
        self.assertEqual(self.inspect("m")["stats"]["items"], 30)
        self.assertEqual(self.names(), ["m"])


if __name__ == "__main__":
    unittest.main()
