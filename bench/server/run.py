#!/usr/bin/env python3
"""Measures `dpcache serve` beside bare Beast servers and prints a Markdown page.

Each contender has one thread on the first core, the load the second; they take turns, round after round.
Durable observing and recovery have the whole machine, as users do.
"""

import argparse
import array
import json
import math
import os
import pathlib
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/release"
sys.path.insert(0, str(ROOT / "bench"))
from machine import describe  # noqa: E402  pylint: disable=wrong-import-position


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# --- Servers


class Dpcache:
    def __init__(self, data: str, threads: int | None = None, core: int | None = None) -> None:
        command = ["taskset", "-c", str(core)] if core is not None else []
        command += [str(BUILD / "dpcache"), "serve", "--listen", "127.0.0.1:0", "--data", data,
                    "--log-level", "error"]
        if threads:
            command += ["--threads", str(threads)]
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.seconds_to_start = time.perf_counter() - self.begun
        self.port = int(line.rstrip().rstrip("/").rsplit(":", 1)[1])

    def call(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> bytes:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body or None,
                                         {"Content-Type": kind}, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def stop(self) -> None:
        self.process.terminate()
        if self.process.wait(600) != 0:
            raise RuntimeError("the server did not end well")


class Peer:
    def __init__(self, kind: str, core: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(["taskset", "-c", str(core), str(BUILD / "bench/peers"), kind, str(self.port)])
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(.01)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


# --- Requests


def unit(numbers: list[float]) -> list[float]:
    length = math.sqrt(sum(x * x for x in numbers))
    return [x / length for x in numbers]


def floats(rows: list[list[float]]) -> bytes:
    return array.array("f", [x for row in rows for x in row]).tobytes()


def request(path: str, body: bytes, kind: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def write_requests(file: pathlib.Path, requests: list[bytes]) -> str:
    file.write_bytes(b"".join(struct.pack("<I", len(one)) + one for one in requests))
    return str(file)


BINARY = "application/octet-stream"
JSON = "application/json"


def load_command(port: int, requests: str, connections: int, seconds: float, rate: float = 0,
                 core: int | None = None) -> list[str]:
    command = ["taskset", "-c", str(core)] if core is not None else []
    command += [str(BUILD / "bench/load"), str(port), requests, str(connections), str(seconds)]
    return command + ([str(rate)] if rate else ["spin"] if core is not None else [])


def load(*args, **kwargs) -> dict:
    run = subprocess.run(load_command(*args, **kwargs), stdout=subprocess.PIPE, check=True)
    result = json.loads(run.stdout)
    if result["errors"]:
        raise RuntimeError(f"{result['errors']} requests failed")
    return result


class Data:
    """Slots that lie far apart, and items and queries near them."""

    def __init__(self, slots: int, dimension: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.slots = [unit([self.random.gauss(0, 1) for _ in range(dimension)]) for _ in range(slots)]

    def near(self) -> list[float]:
        slot = self.random.choice(self.slots)
        noise = .3 / math.sqrt(len(slot))
        return unit([x + self.random.gauss(0, noise) for x in slot])

    def fill(self, server: Dpcache, name: str) -> None:
        for begin in range(0, len(self.slots), 500):
            server.call("POST", f"/v1/caches/{name}/observe", floats(self.slots[begin:begin + 500]), BINARY)
        made = json.loads(server.call("GET", f"/v1/caches/{name}"))["stats"]["slots"]
        if made != len(self.slots):
            raise RuntimeError(f"{made} slots instead of {len(self.slots)}")


# --- What is measured


def requests_a_second(folder: pathlib.Path, rounds: int, seconds: float) -> None:
    dimension, slots = 384, 1000
    data = Data(slots, dimension, 1)
    queries = [data.near() for _ in range(64)]
    path = "/v1/caches/c/score?k=1"
    binary = write_requests(folder / "binary", [request(path, floats([q]), BINARY) for q in queries])
    # Nine digits, as a float32 needs; encoders of a double send up to 17.
    text = [json.dumps({"queries": [{"key": [float(f"{x:.9g}") for x in array.array("f", q)]}]}).encode() for q in queries]
    texts = write_requests(folder / "json", [request(path, body, JSON) for body in text])
    servers = {"echo": Peer("echo", 0), "nlohmann": Peer("nlohmann", 0),
               "dpcache": Dpcache(str(folder / "data"), threads=1, core=0)}
    dpcache = servers["dpcache"]
    dpcache.call("PUT", "/v1/caches/c", json.dumps({"dimension": dimension}).encode())
    data.fill(dpcache, "c")
    contenders = [
        ("echo", "bare Beast echo", "1,536 bytes", binary),
        ("dpcache", "dpcache nearest", "1,536 bytes", binary),
        ("nlohmann", "bare Beast, nlohmann/json parses", f"JSON, {len(text[0]):,} bytes", texts),
        ("dpcache", "dpcache nearest", f"JSON, {len(text[0]):,} bytes", texts),
    ]
    runs: list[list[dict]] = [[] for _ in contenders]
    for turn in range(rounds):
        for i, (server, name, _, requests) in enumerate(contenders):
            runs[i].append(load(servers[server].port, requests, 8, seconds, core=1))
            say(f"round {turn + 1}: {name}: {runs[i][-1]['requests'] / runs[i][-1]['seconds']:,.0f} a second")
    for server in servers.values():
        server.stop()
    rates = [statistics.median(r["requests"] / r["seconds"] for r in one) for one in runs]
    print(f"## Nearest: {slots} slots, d = {dimension}, one thread\n")
    print("| server | body | requests/s | p50, ms | p99, ms | to its peer |\n|---|---|---:|---:|---:|---:|")
    for i, (_, name, body, _) in enumerate(contenders):
        p50, p99 = (statistics.median(r[key] for r in runs[i]) for key in ("p50", "p99"))
        ratio = f"{rates[i] / rates[i - 1]:.2f}" if i % 2 else ""
        print(f"| {name} | {body} | {rates[i]:,.0f} | {p50:.2f} | {p99:.2f} | {ratio} |")
    print(f"\n8 connections from the other core, which never sleeps; median of {rounds} rounds of {seconds:g} s. The echo sends the body back; "
          "dpcache finds\nthe nearest of all slots, each query a repeat of one (cosine .96), and answers in JSON. The bare JSON handler parses into floats and does nothing with them.\n")


def durable(folder: pathlib.Path, rounds: int, seconds: float) -> None:
    dimension, slots, batch = 128, 1000, 32
    data = Data(slots, dimension, 2)
    writes = write_requests(folder / "writes", [
        request("/v1/caches/c/observe", floats([data.near() for _ in range(batch)]), BINARY) for _ in range(64)])
    reads = write_requests(folder / "reads", [
        request("/v1/caches/c/score?k=1", floats([data.near()]), BINARY) for _ in range(64)])
    full, alone = [], []
    beside: dict[str, list[dict]] = {"20,000 items a second": [], "half of what goes": []}
    writing_beside: dict[str, list[dict]] = {name: [] for name in beside}
    for turn in range(rounds):
        server = Dpcache(str(folder / f"durable{turn}"))
        server.call("PUT", "/v1/caches/c", json.dumps({"dimension": dimension, "durability": "sync"}).encode())
        data.fill(server, "c")
        full.append(load(server.port, writes, 8, seconds))
        rate = full[-1]["requests"] / full[-1]["seconds"]
        say(f"round {turn + 1}: {rate * batch:,.0f} items a second, p99 {full[-1]['p99']:.1f} ms")
        # Reads come at a steady pace, alone and beside writes that do.
        alone.append(load(server.port, reads, 2, seconds, rate=500))
        say(f"round {turn + 1}: reads alone p99 {alone[-1]['p99']:.2f} ms")
        for (name, runs), pace in zip(beside.items(), (20_000 / batch, rate / 2)):
            writing = subprocess.Popen(load_command(server.port, writes, 8, seconds + 2, rate=pace),
                                       stdout=subprocess.PIPE)
            time.sleep(1)
            runs.append(load(server.port, reads, 2, seconds, rate=500))
            writing_beside[name].append(json.loads(writing.communicate()[0]))
            say(f"round {turn + 1}: reads beside {name} p99 {runs[-1]['p99']:.2f} ms")
        server.stop()

    def row(name: str, runs: list[dict], count: int) -> str:
        rate = statistics.median(r["requests"] * count / r["seconds"] for r in runs)
        p50, p99, most = (statistics.median(r[key] for r in runs) for key in ("p50", "p99", "most"))
        return f"| {name} | {rate:,.0f} | {p50:.2f} | {p99:.2f} | {most:.1f} |"

    print(f"## Observe, durable: batches of {batch} from 8 connections, {slots} slots, d = {dimension}, one cache\n")
    print("| load | items/s | p50, ms | p99, ms | longest, ms |\n|---|---:|---:|---:|---:|")
    print(row("writes, as fast as they go", full, batch))
    print(row("reads alone, 500 a second", alone, 1))
    for name, runs in beside.items():
        print(row(f"reads beside writes, {name}", runs, 1))
        print(row(f"these writes, {name}", writing_beside[name], batch))
    p99 = statistics.median(a["p99"] for a in alone)
    ratios = [f"{statistics.median(r['p99'] for r in runs) / p99:.1f} beside {name}" for name, runs in beside.items()]
    print(f"\nEvery batch is on the disk (fsync) before it is answered. Server and loads share the machine's cores. Median of "
          f"{rounds}\nrounds of {seconds:g} s. p99 of reads beside writes, to p99 alone: {', '.join(ratios)}.\n")


def read_in_pieces(file: pathlib.Path) -> float:
    begun = time.perf_counter()
    room = bytearray(1 << 20)
    with open(file, "rb", buffering=0) as data:
        while data.readinto(room):
            pass
    return time.perf_counter() - begun


def read_into_memory(file: pathlib.Path) -> float:
    begun = time.perf_counter()
    with open(file, "rb", buffering=0) as data:
        data.readall()
    return time.perf_counter() - begun


def drop(file: pathlib.Path) -> None:
    with open(file, "rb") as data:
        os.fsync(data.fileno())
        os.posix_fadvise(data.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def recovery(folder: pathlib.Path, rounds: int, slots: int) -> None:
    dimension = 384
    memory = folder / "memory.dpc"
    say(f"making a memory of {slots:,} slots")
    subprocess.run([str(BUILD / "bench/make_memory"), str(slots), str(dimension), str(memory)], check=True)
    data = folder / "recovery"
    server = Dpcache(str(data))
    subprocess.run(["curl", "-sSf", "-o", "/dev/null", "-T", str(memory), "-H", f"Content-Type: {BINARY}",
                    f"http://127.0.0.1:{server.port}/v1/caches/big/snapshot"], check=True)
    server.stop()
    memory.unlink()
    file = max(data.rglob("*"), key=lambda path: path.stat().st_size if path.is_file() else 0)
    results: dict[str, list[tuple[float, float, float]]] = {"dropped": [], "kept": []}
    for turn in range(rounds):
        for kind, runs in results.items():
            times = []
            for read in (read_in_pieces, read_into_memory):
                if kind == "dropped":
                    drop(file)
                times.append(read(file))
            if kind == "dropped":
                drop(file)
            server = Dpcache(str(data))
            made = json.loads(server.call("GET", "/v1/caches/big"))["stats"]["slots"]
            if made != slots:
                raise RuntimeError(f"{made} slots came back")
            server.stop()
            runs.append((*times, server.seconds_to_start))
            say(f"round {turn + 1}, file cache {kind}: read {times[0]:.2f} and {times[1]:.2f} s, ready "
                f"{server.seconds_to_start:.2f} s")
    print(f"## Recovery: {slots:,} slots, d = {dimension}, a snapshot of {file.stat().st_size / 1e9:.2f} GB\n")
    print("| file cache | read in pieces, s | read into memory, s | server ready, s | to the second |\n|---|---:|---:|---:|---:|")
    for kind, runs in results.items():
        pieces, whole, ready = (statistics.median(r[i] for r in runs) for i in range(3))
        print(f"| {kind} | {pieces:.2f} | {whole:.2f} | {ready:.2f} | {ready / whole:.2f} |")
    print(f"\nMedian of {rounds} rounds. In pieces: of 1 MiB, into the same memory. Ready: from the start of the process to its "
          "first line,\nwith every slot checked and in its place.\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4, help="of each run")
    parser.add_argument("--slots", type=int, default=1_000_000, help="of the memory that is recovered")
    parser.add_argument("--only", choices=["nearest", "observe", "recovery"])
    options = parser.parse_args()
    command = f"bench/server/run.py --rounds {options.rounds} --seconds {options.seconds:g}"
    print("# The server, timed\n")
    print(describe(command) + "\n")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.only in (None, "nearest"):
            requests_a_second(folder, options.rounds, options.seconds)
        if options.only in (None, "observe"):
            durable(folder, options.rounds, options.seconds)
        if options.only in (None, "recovery"):
            recovery(folder, options.rounds, options.slots)
    return 0


if __name__ == "__main__":
    sys.exit(main())
