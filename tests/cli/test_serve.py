"""dpcache serve as a process: how it starts, what stops its start, how it ends, and what a kill loses."""
import http.client
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from array import array

from harness import PROGRAM, environment

ROUNDS = 100 if os.environ.get("DPCACHE_LONG") else 10
DIMENSION = 16


class Server:
    """A process that serves a folder. Its log is read all the time, so that it never waits for us."""

    def __init__(self, folder, *options, env=None):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", folder, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**environment(), **(env or {})}, text=True)
        self.log = []
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.rsplit(":", 1)[1].strip("/")) if self.address else 0

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line)

    def ask(self, method, path, body=None, headers=None, connection=None):
        own = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"content-type": "application/json", **(headers or {})}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        own.request(method, path, body, headers)
        response = own.getresponse()
        text = response.read()
        if connection is None:
            own.close()
        if response.getheader("content-type", "").endswith("json"):
            text = json.loads(text)
        return response.status, text

    def stats(self, name):
        return self.ask("GET", f"/v1/caches/{name}")[1]["stats"]

    def kill(self):
        self.process.kill()
        self.finish()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.finish()
        return self.process.returncode

    def finish(self):
        self.process.wait(60)
        self.reader.join(60)
        self.process.stdout.close()
        self.process.stderr.close()


class Serve(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.temporary.name, "data")
        self.servers = []

    def tearDown(self):
        for server in self.servers:
            if server.process.poll() is None:
                server.kill()
        self.temporary.cleanup()

    def start(self, *options, env=None):
        server = Server(self.folder, *options, env=env)
        self.servers.append(server)
        self.assertTrue(server.address, "".join(server.log))
        return server

    def refused(self, *options, env=None):
        done = subprocess.run([PROGRAM, "serve", "--data", self.folder, *options], capture_output=True,
                              env={**environment(), **(env or {})}, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_serves_and_ends_in_order(self):
        server = self.start()
        self.assertEqual(server.ask("PUT", "/v1/caches/a", {"text": True})[0], 201)
        items = {"items": [{"text": "disk 1 is full"}, {"text": "disk 2 is full"}]}
        status, answer = server.ask("POST", "/v1/caches/a/observe", items)
        self.assertEqual((status, answer["decisions"][1]["action"]), (200, "merge"))
        before = server.stats("a")
        self.assertEqual(server.stop(), 0)
        self.assertIn('"stopped"', server.log[-1])
        self.assertTrue(os.listdir(os.path.join(self.folder, "snapshots")))
        server = self.start()
        self.assertEqual(server.stats("a"), before)
        self.assertEqual(server.stop(), 0)

    def test_options_are_variables_too(self):
        server = self.start(env={"DPCACHE_SERVE_MAX_BODY": "1K", "DPCACHE_SERVE_MAX_CACHES": "1"})
        self.assertEqual(server.ask("PUT", "/v1/caches/a", {"dimension": 2})[0], 201)
        self.assertEqual(server.ask("PUT", "/v1/caches/b", {"dimension": 2})[0], 507)
        status, answer = server.ask("POST", "/v1/caches/a/observe", "x" * 2000)
        self.assertEqual((status, answer["code"]), (413, "too_large"))

    def test_says_who_scores(self):
        server = self.start("--scorer", "cuda")
        metrics = server.ask("GET", "/metrics")[1].decode()
        server.stop()
        said = [json.loads(line) for line in server.log if " scores: " in line]
        self.assertEqual(len(said), 1)
        has_gpu = said[0]["message"].startswith("a GPU")
        self.assertEqual(said[0]["level"], "info" if has_gpu else "error")
        self.assertIn(f"\ndpcache_scorer_gpu {int(has_gpu)}\n", metrics)
        server = self.start("--scorer", "cpu")
        self.assertIn("\ndpcache_scorer_gpu 0\n", server.ask("GET", "/metrics")[1].decode())
        server.stop()
        self.assertFalse([line for line in server.log if " scores: " in line])

    def test_says_what_stops_the_start(self):
        server = self.start()
        self.assertIn(f"in use by process {server.process.pid}", self.refused("--listen", "127.0.0.1:0"))
        server.stop()
        cases = [
            (["--listen", "127.0.0.1"], "ADDRESS:PORT"),
            (["--listen", "0.0.0.0:0"], "--token-file"),
            (["--listen", "127.0.0.1:0", "--token-file", "/nothing"], "/nothing"),
            (["--listen", "127.0.0.1:0", "--tls-cert", "/nothing"], "go together"),
            (["--listen", "127.0.0.1:0", "--page", "/nothing"], "/nothing"),
            (["--max-body", "lots"], "--max-body"),
            (["--max-body", "1G"], "at most 256M"),
            (["--max-dimension", "4294967297"], "--max-dimension: at most"),
            (["--log-level", "loud"], "--log-level"),
            (["--scorer", "gpu"], "auto|cpu|cuda"),
            (["--scan-threads", "0"], "--scan-threads: threads must be from 1 to 256"),
            (["--scan-threads", "257"], "--scan-threads: threads must be from 1 to 256"),
            (["--nothing"], "unknown option --nothing"),
            (["file"], "options only"),
        ]
        for options, words in cases:
            with self.subTest(options=options):
                self.assertIn(words, self.refused(*options))
        self.assertIn("DPCACHE_SERVE_MAX_BDOY", self.refused(env={"DPCACHE_SERVE_MAX_BDOY": "1"}))

    def test_port_in_use(self):
        server = self.start()
        other = tempfile.mkdtemp(dir=self.temporary.name)
        done = subprocess.run([PROGRAM, "serve", "--data", other, "--listen", f"127.0.0.1:{server.port}"],
                              capture_output=True, env=environment(), text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(server.port), done.stderr)

    def test_a_kill_loses_nothing_that_was_acknowledged(self):
        """Writers number their batches and send each with a key until it is acknowledged. After kills at
        random moments every batch is there once, as one uninterrupted state that a replay of the events
        confirms."""
        writers = 4
        batch = 8
        chance = random.Random(7)
        server = self.start("--snapshot-interval", "1s")
        config = {"dimension": DIMENSION, "tau": 0.05, "budget": "fixed", "m0": 200}
        self.assertEqual(server.ask("PUT", "/v1/caches/c", config)[0], 201)
        acknowledged = [0] * writers
        total = 0
        for _ in range(ROUNDS):
            stopping = threading.Event()

            def write(which, port):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                while not stopping.is_set():
                    number = acknowledged[which]
                    seeded = random.Random(which * 1_000_003 + number)
                    floats = array("f", [seeded.uniform(-1, 1) for _ in range(batch * DIMENSION)])
                    headers = {"content-type": "application/octet-stream",
                               "idempotency-key": f"{which}-{number}"}
                    try:
                        status, _ = server.ask("POST", "/v1/caches/c/observe", floats.tobytes(), headers,
                                               connection)
                    except (OSError, http.client.HTTPException):
                        break
                    if status == 200:
                        acknowledged[which] = number + 1
                connection.close()

            threads = [threading.Thread(target=write, args=(i, server.port)) for i in range(writers)]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.05, 0.5))
            server.kill()
            stopping.set()
            for thread in threads:
                thread.join(60)
            server = self.start("--snapshot-interval", "1s")
            self.assertNotIn("halted", "".join(server.log))
            stats = server.stats("c")
            # What was written but not acknowledged is sent again under its key, and counts once.
            self.assertGreaterEqual(stats["items"], batch * sum(acknowledged))
            self.assertLessEqual(stats["items"], batch * (sum(acknowledged) + writers))
            self.assertEqual(stats["items"] % batch, 0)
            self.assertGreaterEqual(stats["items"], total)
            total = stats["items"]
        self.assertGreater(sum(acknowledged), ROUNDS)
        for which in range(writers):  # the last of each, again: it must be known, or be done now
            number = acknowledged[which]
            seeded = random.Random(which * 1_000_003 + number)
            floats = array("f", [seeded.uniform(-1, 1) for _ in range(batch * DIMENSION)])
            headers = {"content-type": "application/octet-stream", "idempotency-key": f"{which}-{number}"}
            self.assertEqual(server.ask("POST", "/v1/caches/c/observe", floats.tobytes(), headers)[0], 200)
        stats = server.stats("c")
        self.assertEqual(stats["items"], batch * (sum(acknowledged) + writers), "nothing lost, nothing twice")
        server.kill()
        server = self.start()
        self.assertEqual(server.stats("c"), stats)

    def test_a_damaged_snapshot_halts_its_part_and_not_the_others(self):
        server = self.start()
        for name in ("a", "b"):
            server.ask("PUT", f"/v1/caches/{name}", {"dimension": 2})
            server.ask("POST", f"/v1/caches/{name}/observe", {"items": [{"key": [1, 0]}]})
        self.assertEqual(server.stop(), 0)
        folder = os.path.join(self.folder, "snapshots")
        path = os.path.join(folder, sorted(os.listdir(folder))[0])
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))
        server = self.start()
        answers = sorted(server.ask("GET", f"/v1/caches/{name}")[0] for name in ("a", "b"))
        self.assertEqual(answers, [200, 503])
        self.assertIn("halted", "".join(server.log))
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
