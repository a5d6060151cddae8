"""dpcache serve on disks that fill up, cannot be written, or hold damage; its exports while it is
written; and its memory over time."""
import ctypes
import http.client
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from array import array

from harness import PROGRAM, SANITIZED, CommandLineTest, environment
from test_serve import Server

LONG = bool(os.environ.get("DPCACHE_LONG"))
DIMENSION = 16
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_REC_PRIVATE = 0x4000 | 1 << 18
mounts = None  # why none can be made; empty: they can


def setUpModule():
    """Mounts of these tests are seen by them and their children alone, and end with them."""
    global mounts
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if user != 0 else 0)) != 0:
        mounts = "this system gives no mounts of one's own: " + os.strerror(ctypes.get_errno())
        return
    try:
        if user != 0:
            for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                    file.write(text)
    except OSError as error:
        mounts = f"this system gives no mounts of one's own: {error}"
        return
    if libc.mount(None, b"/", None, MS_REC_PRIVATE, None) != 0:
        mounts = "mounts cannot be made private: " + os.strerror(ctypes.get_errno())
        return
    mounts = ""


def floats(seed, count=DIMENSION * 8):
    chance = random.Random(seed)
    return array("f", [chance.uniform(-1, 1) for _ in range(count)]).tobytes()


OCTETS = {"content-type": "application/octet-stream"}


class ServeOnDisk(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.data = self.path("disk/data")
        os.mkdir(self.path("disk"))

    def mount(self, options, remount=False):
        if mounts:
            self.skipTest(mounts)
        disk = self.path("disk")
        if not remount:
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                self.skipTest("no small disk can be mounted here: " + done.stderr.strip())
            # Lazy: a server that still runs goes when the test ends, and the disk with it.
            self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=True)
        else:
            subprocess.run(["mount", "-o", f"remount,{options}", disk], check=True)

    def serve(self, *options):
        server = Server(self.data, "--threads", "2", *(options or ("--snapshot-interval", "1h")))

        def end():
            if not server.process.stdout.closed:
                server.kill()

        self.addCleanup(end)
        self.assertTrue(server.address, "".join(server.log))
        return server

    def refused(self, *options, **more):
        done = subprocess.run([PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", self.data, *options],
                              capture_output=True, env=environment(), text=True, timeout=60, check=False, **more)
        self.assertEqual(done.stdout, "")
        self.assertGreater(done.returncode, 0, "a signal, or a success")
        return done.stderr

    def stats(self, server, name):
        """What does not depend on how the memory was allocated."""
        stats = server.stats(name)
        del stats["bytes"]
        return stats

    def said(self, server, words):
        self.wait_until(lambda: words in "".join(server.log), f"'{words}' in the log")

    def make(self, server, name, **config):
        config = {"dimension": DIMENSION, "tau": 0.05, **config}
        self.assertEqual(server.ask("PUT", f"/v1/caches/{name}", config)[0], 201)

    def write(self, server, name, number):
        """One batch of eight under a key of its own."""
        return server.ask("POST", f"/v1/caches/{name}/observe", floats(number),
                          {**OCTETS, "idempotency-key": f"{name}-{number}"})

    # --- A disk that is full

    def goes_on_when_full(self, server, free, says):
        """Writes until nothing more fits; then what was acknowledged is there and can be read, and when
        `free` has made room, every batch gets in, once. `says`: what one of the refusals says."""
        self.make(server, "a")
        self.make(server, "b")
        done = in_a_row = 0
        refusals = []
        while in_a_row < 5:  # what fails first is not what fails next
            status, answer = self.write(server, "a", done)
            if status == 200:
                done += 1
                in_a_row = 0
                continue
            in_a_row += 1
            self.assertIn((status, answer["code"]), [(507, "full"), (503, "unavailable")])
            refusals.append(answer["detail"])
        self.assertTrue(any(says in one for one in refusals), refusals)
        full = self.write(server, "b", 0)
        self.assertIn(full[0], (200, 503, 507))
        written = 1 if full[0] == 200 else 0
        # What is asked is answered, from what was acknowledged.
        self.wait_until(lambda: server.stats("a")["items"] == 8 * done, "the state that the log has")
        status, answer = server.ask("POST", "/v1/caches/a/read?k=1", floats(0), OCTETS)
        self.assertEqual((status, answer["results"][0]["action"]), (200, "merge"))
        self.assertEqual(server.ask("GET", "/v1/caches/b")[0], 200)
        self.assertEqual(server.ask("GET", "/readyz")[0], 200)

        free()
        for name, number in (("a", done), ("b", written)):
            self.wait_until(lambda: self.write(server, name, number)[0] == 200, "room")
            self.assertEqual(self.write(server, name, number)[0], 200)  # again: known, not done twice
        self.assertEqual(server.stats("a")["items"], 8 * (done + 1))
        before = [self.stats(server, name) for name in ("a", "b")]
        self.assertEqual(server.stop(), 0)
        self.assertNotIn("halted", "".join(server.log))
        server = self.serve()
        self.assertEqual([self.stats(server, name) for name in ("a", "b")], before)
        self.assertEqual(self.write(server, "a", done + 1)[0], 200)
        self.assertEqual(server.stop(), 0)

    def test_a_full_disk_refuses_changes_and_nothing_else(self):
        self.mount("size=4m")
        ballast = self.write_ballast(2 << 20)
        self.goes_on_when_full(self.serve(), lambda: os.remove(ballast), "the disk is full; nothing was changed")

    def write_ballast(self, size):
        path = self.path("disk/ballast")
        with open(path, "wb") as file:
            file.write(bytes(size))
        return path

    def test_a_limit_on_files_is_a_full_disk(self):
        server = self.serve()
        limit = 1 << 20
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        self.goes_on_when_full(server, lambda: resource.prlimit(
            server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)), "log.db")

    def test_ends_in_order_on_a_full_disk_and_starts_on_it(self):
        self.mount("size=4m")
        server = self.serve()
        self.make(server, "a")
        done = 0
        while self.write(server, "a", done)[0] == 200:
            done += 1
        self.wait_until(lambda: server.stats("a")["items"] == 8 * done, "the state that the log has")
        before = self.stats(server, "a")
        self.assertEqual(server.stop(), 0)  # without a snapshot, for which there is no room
        self.assertIn("no snapshot of 'a'", "".join(server.log))
        server = self.serve()
        self.assertEqual(self.stats(server, "a"), before)
        self.assertIn(self.write(server, "a", done)[0], (503, 507))
        status, answer = server.ask("PUT", "/v1/caches/b", {"dimension": DIMENSION})
        self.assertIn((status, answer["code"]), [(507, "full"), (503, "unavailable")])
        # While the cache holds what the log has lost, an export is refused too.
        self.wait_until(lambda: server.ask("GET", "/v1/caches/a/snapshot")[0] == 200, "an export")
        file = server.ask("GET", "/v1/caches/a/snapshot")[1]
        status, answer = server.ask("PUT", "/v1/caches/c/snapshot", file, OCTETS)
        self.assertEqual((status, answer["code"]), (507, "full"))
        self.assertEqual(server.ask("GET", "/v1/caches/c")[0], 404)
        self.mount("size=64m", remount=True)
        self.wait_until(lambda: self.write(server, "a", done)[0] == 200, "room")
        self.assertEqual(server.ask("PUT", "/v1/caches/c/snapshot", file, OCTETS)[0], 204)
        self.assertEqual(self.stats(server, "c"), before)
        self.assertEqual(server.stop(), 0)

    # --- A folder that cannot be written

    def test_a_read_only_disk_refuses_changes_until_it_can_be_written(self):
        self.mount("size=16m")
        server = self.serve()
        self.make(server, "a")
        self.assertEqual(self.write(server, "a", 0)[0], 200)
        self.assertEqual(server.stop(), 0)
        self.mount("ro", remount=True)
        words = self.refused()
        self.assertIn(self.data, words)
        self.assertRegex(words, "(?i)read-only|cannot be written")
        self.mount("rw", remount=True)
        server = self.serve()
        self.assertEqual(server.stats("a")["items"], 8)
        self.assertEqual(server.stop(), 0)

    def test_a_folder_of_somebody_else_is_named(self):
        server = self.serve()
        self.assertEqual(server.stop(), 0)
        user = self.as_nobody()
        for path, _, files in os.walk(self.data):
            os.chmod(path, 0o555)
            for name in files:
                os.chmod(os.path.join(path, name), 0o444)
        words = self.refused(**user)
        self.assertIn(self.data, words)
        self.assertRegex(words, "(?i)permission denied|cannot be written|read-only")
        if not user:
            for path, _, _ in os.walk(self.data):
                os.chmod(path, 0o755)

    # --- Damage

    def test_a_damaged_log_is_named_or_harmless_but_never_believed(self):
        """Of a log with a byte changed the server refuses to start, or halts what is touched, and says
        so; or it serves what was acknowledged. Nothing in between."""
        server = self.serve()
        names = [f"c{i}" for i in range(4)]
        for name in names:
            self.make(server, name)
            for number in range(20):
                self.assertEqual(self.write(server, name, number)[0], 200)
        before = {name: self.stats(server, name) for name in names}
        server.kill()
        # All of the log into one file: what is damaged in the other is taken for never written.
        self.assertEqual(self.checkpoint(), 0)
        kept = self.path("kept")
        shutil.copytree(self.data, kept)
        size = os.path.getsize(os.path.join(kept, "log.db"))
        chance = random.Random(11)
        outcomes = {"refused": 0, "halted": 0, "served": 0}
        for _ in range(60 if LONG else 12):
            shutil.rmtree(self.data)
            shutil.copytree(kept, self.data)
            with open(os.path.join(self.data, "log.db"), "r+b") as file:
                at = chance.randrange(size)
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ (1 << chance.randrange(8))]))
            server = Server(self.data, "--snapshot-interval", "1h", "--threads", "2")
            try:
                if not server.address:
                    outcomes["refused"] += 1
                    self.assertGreater(server.process.wait(60), 0, at)
                    server.reader.join(60)
                    self.assertIn("log.db", "".join(server.log), at)
                    continue
                whole = True
                for name in names:
                    status, answer = server.ask("GET", f"/v1/caches/{name}")
                    if status == 200:
                        self.assertEqual(self.stats(server, name), before[name], at)
                        continue
                    whole = False
                    self.assertEqual((status, answer["code"]), (503, "unavailable"), at)
                    self.assertIn("halted", answer["detail"])
                    status, answer = self.write(server, name, 99)
                    self.assertEqual((status, answer["code"]), (503, "unavailable"), at)
                    self.said(server, "halted")
                outcomes["served" if whole else "halted"] += 1
                self.assertEqual(server.stop(), 0)
            finally:
                if not server.process.stdout.closed:
                    server.kill()
        self.assertGreater(outcomes["refused"] + outcomes["halted"], 0, outcomes)

    def checkpoint(self):
        """Starts and ends the server without a snapshot, so that all of the log is in log.db."""
        import sqlite3
        connection = sqlite3.connect(os.path.join(self.data, "log.db"))
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        connection.close()
        return busy

    def test_a_damaged_snapshot_is_named_and_the_rest_goes_on(self):
        server = self.serve()
        for name in ("a", "b"):
            self.make(server, name)
            self.assertEqual(self.write(server, name, 0)[0], 200)
        before = self.stats(server, "b")
        exported = server.ask("GET", "/v1/caches/a/snapshot")[1]
        self.assertEqual(server.stop(), 0)
        folder = os.path.join(self.data, "snapshots")
        inspected = {name: json.loads(self.ok("inspect", "--json", os.path.join(folder, name)).out)
                     for name in os.listdir(folder)}
        bad = next(name for name, about in inspected.items() if '"a"' in json.dumps(about["metadata"]))
        for how in ("flip", "cut", "empty"):
            path = os.path.join(folder, bad)
            with open(path, "rb") as file:
                good = file.read()
            data = {"flip": good[:99] + bytes([good[99] ^ 4]) + good[100:], "cut": good[:-8], "empty": b""}[how]
            with open(path, "wb") as file:
                file.write(data)
            server = self.serve()
            status, answer = server.ask("GET", "/v1/caches/a")
            self.assertEqual((status, answer["code"]), (503, "unavailable"), how)
            self.assertIn("halted", answer["detail"])
            words = "is empty" if how == "empty" else "checksum does not match"
            self.assertIn(words, answer["detail"])
            self.said(server, words)
            # Nothing can be put in its place unseen, and the other does not mind.
            status, answer = server.ask("PUT", "/v1/caches/a/snapshot", exported, OCTETS)
            self.assertEqual((status, answer["code"]), (503, "unavailable"))
            self.assertEqual(self.stats(server, "b"), before)
            self.assertEqual(server.stop(), 0)
            with open(path, "wb") as file:
                file.write(good)
        server = self.serve()  # with the good one it is as it was
        self.assertEqual(server.stats("a")["items"], 8)
        self.assertEqual(self.write(server, "a", 1)[0], 200)
        self.assertEqual(server.stop(), 0)

    # --- Exports while it is written

    def test_an_export_while_items_come_is_one_moment(self):
        server = self.serve("--snapshot-interval", "1s")
        self.make(server, "a", budget="fixed", m0=300)
        stopping = threading.Event()
        failures = []

        def write(which):
            number = which * 1_000_000
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            while not stopping.is_set():
                status, answer = server.ask("POST", "/v1/caches/a/observe", floats(number), OCTETS, connection)
                if status != 200:
                    failures.append((status, answer))
                    break
                number += 1
            connection.close()

        threads = [threading.Thread(target=write, args=(which,)) for which in range(3)]
        for thread in threads:
            thread.start()
        moments = 0
        try:
            last = 0
            for _ in range(20):
                first = server.stats("a")["seq"]
                status, file = server.ask("GET", "/v1/caches/a/snapshot")
                latest = server.stats("a")["seq"]
                self.assertEqual(status, 200)
                self.write_file("export.dpcache", file)
                self.ok_verify("export.dpcache")
                seq = self.inspect("export.dpcache")["stats"]["seq"]
                self.assertTrue(first <= seq <= latest, (first, seq, latest))
                moments += seq > last
                last = seq
        finally:
            stopping.set()
            for thread in threads:
                thread.join(60)
        self.assertEqual(failures, [])
        self.assertGreater(moments, 5, "nothing was written meanwhile")
        # The last export is a cache like the one it is from.
        file = server.ask("GET", "/v1/caches/a/snapshot")[1]
        self.assertEqual(server.ask("PUT", "/v1/caches/copy/snapshot", file, OCTETS)[0], 204)
        self.assertEqual(self.stats(server, "copy"), self.stats(server, "a"))
        self.assertEqual(server.stop(), 0)

    def write_file(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def ok_verify(self, name):
        result = self.run_dpcache("verify", name)
        self.assertEqual(result.code, 0, result.err)

    # --- Over time

    def test_memory_does_not_grow_with_time(self):
        """Mixed requests over caches with budgets and short lives; the second half of the time takes no
        more memory than the first."""
        seconds = 60 if LONG else 6
        server = self.serve("--snapshot-interval", "1s")
        names = [f"s{i}" for i in range(6)]
        for i, name in enumerate(names):
            config = [{"budget": "fixed", "m0": 150}, {"ttl_ms": 200, "max_slots": 500},
                      {"budget": "adaptive", "m0": 50, "max_slots": 400}][i % 3]
            self.make(server, name, **config, durability="relaxed" if i % 2 else "sync")
        stopping = threading.Event()
        problems = []
        counts = [0] * 4

        def load(which):
            chance = random.Random(which)
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            while not stopping.is_set():
                name = chance.choice(names)
                ask = chance.random()
                path = f"/v1/caches/{name}"
                if ask < 0.5:
                    # Answers to keys are kept, to 16 MiB a cache: here they are few.
                    number = chance.randrange(100) if ask < 0.1 else chance.random()
                    keyed = {"idempotency-key": str(number)} if ask < 0.1 else {}
                    sent = ("POST", f"{path}/observe", floats(number), {**OCTETS, **keyed})
                elif ask < 0.75:
                    sent = ("POST", f"{path}/read", floats(chance.random(), DIMENSION), OCTETS)
                elif ask < 0.9:
                    sent = ("GET", chance.choice([path, f"{path}/slots?limit=5", "/metrics", "/v1/caches"]))
                elif ask < 0.95:
                    sent = ("POST", f"{path}/observe", '{"items": [{"key": [1]}]}')  # refused
                elif ask < 0.98:
                    sent = ("GET", f"{path}/snapshot")
                else:
                    sent = ("PUT", f"/v1/caches/tmp{which}", {"dimension": 4})
                    server.ask("DELETE", f"/v1/caches/tmp{which}", connection=connection)
                status, answer = server.ask(*sent, connection=connection)
                if ask < 0.1 and status == 409:
                    continue  # another sends the same at this moment
                if status >= 500 or (status >= 400 and ask < 0.9) or status == 429:
                    problems.append((sent[:2], status, answer))
                counts[which] += 1
            connection.close()

        threads = [threading.Thread(target=load, args=(which,)) for which in range(len(counts))]
        for thread in threads:
            thread.start()
        resident = []
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            time.sleep(0.1)
            with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
                resident.append(next(int(line.split()[1]) for line in file if line.startswith("VmRSS")))
        stopping.set()
        for thread in threads:
            thread.join(60)
        self.assertEqual(problems[:3], [])
        self.assertGreater(min(counts), 20)
        half = len(resident) // 2
        first, second = resident[:half], resident[half:]
        print(f"soak: {sum(counts)} requests in {seconds} s, VmRSS {first[-1]} kB, then {second[-1]} kB")
        if not SANITIZED:  # their memory waits before it is used again
            # A short run is still filling its budgets and the allocator's arenas.
            allowed = max(first) * (1.1 if LONG else 1.5)
            self.assertLess(max(second), allowed, resident[::10])
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
