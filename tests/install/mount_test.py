"""The program of server/examples/mount: dpcache's routes beside its own, and an end without loss.

usage: mount_test.py PROGRAM"""
import http.client
import json
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)


class Mounted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dpcache-mount-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name + "/data"

    def start(self):
        process = subprocess.Popen([PROGRAM, self.folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()

        self.addCleanup(end)
        address = process.stdout.readline().strip()
        self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/$")
        self.port = int(address.rsplit(":", 1)[1].strip("/"))
        return process

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)

    def ask(self, method, path, body=None, connection=None, **headers):
        own = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body)
        own.request(method, path, body, headers)
        response = own.getresponse()
        text = response.read()
        if connection is None:
            own.close()
        is_json = response.getheader("content-type", "").endswith("json")
        return response.status, json.loads(text) if is_json and text else text

    def test_serves_both(self):
        process = self.start()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)  # one for all
        self.assertEqual(self.ask("GET", "/hello", connection=connection), (200, b"Hello from a program of its own.\n"))
        self.assertEqual(self.ask("GET", "/nothing", connection=connection)[0], 404)
        self.assertEqual(self.ask("PUT", "/v1/caches/faq", {"text": True}, connection)[0], 201)
        items = {"items": [{"text": "disk 1 is full"}, {"text": "disk 2 is full"}]}
        status, answer = self.ask("POST", "/v1/caches/faq/observe", items, connection)
        self.assertEqual((status, [one["action"] for one in answer["decisions"]]), (200, ["allocate", "merge"]))
        query = {"queries": [{"text": "disk 3 is full"}]}
        status, answer = self.ask("POST", "/v1/caches/faq/read?k=1", query, connection)
        self.assertEqual((status, answer["results"][0]["top"][0]["slot"]), (200, 1))
        self.assertEqual(self.ask("HEAD", "/v1/caches/faq", connection=connection), (200, b""))
        self.assertEqual(self.ask("GET", "/readyz", connection=connection)[0], 200)
        self.assertIn("/v1/caches/{name}/observe", self.ask("GET", "/openapi.json", connection=connection)[1]["paths"])
        self.assertIn(b"dpcache_log_appends_total", self.ask("GET", "/metrics", connection=connection)[1])
        connection.close()
        self.stop(process)

    def test_refuses_as_the_server_does(self):
        process = self.start()
        cases = [
            ("GET", "/v1/caches/none", None, {}, 404, "not_found"),
            ("PATCH", "/v1/caches", None, {}, 405, "method_not_allowed"),
            ("PUT", "/v1/caches/a", {"dimension": 0}, {}, 422, "bad_config"),
            ("PUT", "/v1/caches/a", b"{", {}, 400, "bad_request"),
            ("GET", "/v1/caches", None, {"Origin": "http://other.example"}, 403, "forbidden"),
            ("POST", "/v1/caches", b"x", {"Content-Length": str(1 << 40)}, 405, "method_not_allowed"),
            ("PUT", "/v1/caches/a", b"x", {"Content-Length": str(1 << 40)}, 413, "too_large"),
        ]
        for method, path, body, headers, status, code in cases:
            with self.subTest(path=path, code=code):
                got, answer = self.ask(method, path, body, **headers)
                self.assertEqual((got, answer["code"]), (status, code))
        self.stop(process)

    def test_keeps_what_it_acknowledged(self):
        process = self.start()
        self.ask("PUT", "/v1/caches/v", {"dimension": 2})
        self.assertEqual(self.ask("POST", "/v1/caches/v/observe", {"items": [{"key": [1, 0]}]})[0], 200)
        process.kill()
        process.wait()
        process = self.start()
        self.assertEqual(self.ask("GET", "/v1/caches/v")[1]["stats"]["items"], 1)
        other = subprocess.run([PROGRAM, self.folder], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(other.returncode, 1)
        self.assertIn(f"in use by process {process.pid}", other.stderr)
        self.stop(process)

    def test_streams_events_and_ends_them(self):
        process = self.start()
        self.ask("PUT", "/v1/caches/v", {"dimension": 2})
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as stream:
            stream.sendall(b"GET /v1/caches/v/events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
            got = b""
            while b"\r\n\r\n" not in got:
                got += stream.recv(4096)
            self.assertIn(b"text/event-stream", got)
            self.assertEqual(self.ask("POST", "/v1/caches/v/observe", {"items": [{"key": [1, 0]}]})[0], 200)
            while b"data: " not in got:
                got += stream.recv(4096)
            self.assertIn(b"id: 1\n", got)
            self.stop(process)  # also while somebody listens


if __name__ == "__main__":
    unittest.main()
