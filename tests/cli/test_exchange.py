"""import and export: round trips, formats, bad rows, interrupted imports, and files that lie."""

import base64
import gzip
import json
import os
import random
import resource
import signal
import struct
import time
import unittest

from harness import SANITIZED, SIGINT, SIGPIPE, CommandLineTest, limit_file_size, npy, peak_kilobytes


def rows(count, dimension=16, seed=1):
    chance = random.Random(seed)
    return [[struct.unpack("f", struct.pack("f", chance.gauss(0, 1)))[0] for _ in range(dimension)]
            for _ in range(count)]


def lines(items):
    return "".join(json.dumps(item) + "\n" for item in items)


def safetensors(tensors, metadata=None):
    """tensors: name -> (dtype, shape, bytes)."""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    if metadata:
        header["__metadata__"] = metadata
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values())


class Exchange(CommandLineTest):

    def imported(self, *arguments, **options):
        return json.loads(self.ok("import", "--json", *arguments, **options).out)

    def exported(self, name, *arguments):
        return [json.loads(line) for line in self.ok("export", *arguments, name).out.splitlines()]

    def kept(self, name):
        """What a round trip must keep of each slot."""
        return [{key: slot.get(key) for key in ("key", "value", "payload", "payload_base64", "exact_keys",
                                                "exact_keys_base64", "first_time", "expires", "encoder")}
                for slot in self.exported(name)]

    def import_items(self, memory="m", count=300, *arguments, **more):
        items = [{"key": row, "payload": {"n": n}, "time": 1000 + n, **more} for n, row in enumerate(rows(count))]
        self.write("i.jsonl", lines(items))
        return self.imported("--memory", memory, *arguments, "i.jsonl")

    # --- Round trips

    def test_export_then_import_gives_the_same_slots(self):
        report = self.import_items("m", 300, "--tau", "0.3", encoder="mine")
        self.assertEqual(report["imported"], 300)
        self.assertEqual(report["opened"] + report["merged"], 300)
        self.assertGreater(report["merged"], 3)
        with open(self.path("s.jsonl"), "wb") as out:
            self.ok("export", "m", stdout=out)
        again = self.imported("--memory", "n", "--tau", "0.3", "s.jsonl")
        self.assertEqual((again["opened"], again["merged"]), (report["slots"], 0))
        self.assertEqual(self.kept("n"), self.kept("m"))
        self.assertEqual(self.inspect("n")["config"]["encoder"], "mine")
        self.ok("verify", "m", "n")

    def test_text_stays_text_and_is_known_again(self):
        self.ok("distinct", "--memory", "m", stdin="disk sda1 is 71 % full\nuser bob logged in\n\xe9\xff\n".encode("latin1"))
        self.ok("export", "--out", "s.jsonl", "m")
        self.ok("import", "--memory", "n", "s.jsonl")
        self.assertEqual(self.kept("n"), self.kept("m"))
        self.assertEqual(self.inspect("n")["config"]["tau"], self.inspect("m")["config"]["tau"])
        self.ok("query", "--memory", "n", "disk sdb2 is 3 % full")
        self.write("t.jsonl", lines([{"text": "disk sdc9 is 1 % full"}, {"text": "kernel panic", "payload": "mine"}]))
        report = self.imported("--memory", "n", "t.jsonl")
        self.assertEqual((report["opened"], report["merged"]), (1, 1))
        self.assertEqual(self.exported("n")[-1]["payload"], "mine")

    def test_payloads_and_exact_keys_keep_their_bytes(self):
        odd = b'{"a":  1,\n "b": [ ] }'
        items = [{"key": [1, 0], "payload": None, "exact_key": "one"},
                 {"key": [0, 1], "payload_base64": base64.b64encode(b"\x00\xff\n").decode()},
                 {"key": [-1, 0], "payload_base64": base64.b64encode(odd).decode(), "exact_keys": ["a", "b\u2028\t"]},
                 {"key": [0, -1], "exact_keys_base64": [base64.b64encode(b"\xff\x00").decode()]}]
        text = lines(items) + '{"key": [1, 1], "payload":  {"z": 1.0,  "a": 1e2}}\n'
        self.write("i.jsonl", text)
        self.ok("import", "--memory", "m", "--tau", "0.1", "i.jsonl")
        slots = self.exported("m")
        self.assertEqual(slots[0].get("payload"), None)
        self.assertEqual(base64.b64decode(slots[1]["payload_base64"]), b"\x00\xff\n")
        self.assertEqual(base64.b64decode(slots[2]["payload_base64"]), odd)
        self.assertEqual(slots[2]["exact_keys"], ["a", "b\u2028\t"])
        self.assertEqual(base64.b64decode(slots[3]["exact_keys_base64"][0]), b"\xff\x00")
        self.assertIn(b'"payload":{"z": 1.0,  "a": 1e2}', self.ok("export", "m").out)
        self.ok("export", "--base64", "--out", "s.jsonl", "m")
        self.ok("import", "--memory", "n", "--tau", "0.1", "s.jsonl")
        self.assertEqual(self.kept("n"), self.kept("m"))

    def test_values_times_and_ends_are_kept(self):
        self.write("c.json", '{"dimension": 2, "value_dimension": 3, "tau": 0.2, "value_update": "mean"}')
        self.write("i.jsonl", lines([{"key": [1, 0], "value": [0.1, 2, -3], "time": 5, "ttl_ms": 100},
                                     {"key": [0, 1], "value": [1, 1, 1], "time": 7}]))
        self.ok("import", "--memory", "m", "--config", "c.json", "i.jsonl")
        self.assertEqual(self.inspect("m")["config"]["value_update"], "mean")
        slots = self.exported("m")
        self.assertEqual((slots[0]["value"], slots[0]["expires"]), ([0.1, 2, -3], 105))
        self.ok("export", "--out", "s.jsonl", "m")
        self.ok("import", "--memory", "n", "--config", "c.json", "s.jsonl")
        self.assertEqual(self.kept("n"), self.kept("m"))
        self.assertEqual([slot["id"] for slot in self.exported("m", "--time", "105")], [2])

    def test_slots_nearer_than_tau_stay_apart_if_asked_to(self):
        self.import_items("m", 200, "--tau", "0.01")
        self.ok("export", "--out", "s.jsonl", "m")
        self.assertLess(self.imported("--memory", "n", "--tau", "0.6", "s.jsonl")["slots"], 150)
        self.ok("import", "--memory", "other", "--tau", "0.6", "i.jsonl")
        config = self.inspect("other")["config"]
        before = self.inspect("other")["stats"]["slots"]
        report = self.imported("--memory", "other", "--apart", "s.jsonl")
        self.assertEqual(report["slots"], 200)
        self.assertEqual(report["opened"], 200 - before)
        self.assertEqual(self.inspect("other")["config"], config)

    def test_a_memory_goes_into_another(self):
        self.import_items("m", 50, "--tau", "0.01")
        self.write("j.jsonl", lines([{"key": row} for row in rows(30, seed=2)]))
        self.ok("import", "--memory", "n", "--tau", "0.01", "j.jsonl")
        report = self.imported("--memory", "n", "m")
        self.assertEqual((report["imported"], report["slots"]), (50, 80))
        self.assertEqual([slot["key"] for slot in self.exported("n")][30:], [slot["key"] for slot in self.exported("m")])

    # --- Formats

    def test_npy_with_text_goes_in_and_comes_out(self):
        self.write("v.npy", npy(rows(40)))
        self.write("t.txt", "".join(f"title {n}\n" for n in range(40)))
        self.ok("import", "--memory", "m", "--tau", "0", "--text", "t.txt", "--encoder", "e", "v.npy")
        self.assertEqual(self.exported("m")[7]["payload"], {"text": "title 7", "file": "v.npy", "line": 8})
        self.ok("export", "--npy", "k.npy", "--out", "x.txt", "m")
        self.assertEqual(self.read("x.txt"), self.read("t.txt"))
        data = self.read("k.npy")
        self.assertEqual(len(data), 128 + 40 * 16 * 4)
        keys = struct.unpack(f"{40 * 16}f", data[128:])
        self.assertEqual(list(keys[:16]), [struct.unpack("f", struct.pack("f", x))[0] for x in self.exported("m")[0]["key"]])
        report = self.imported("--memory", "n", "--tau", "0", "--text", "x.txt", "--encoder", "e", "k.npy")
        self.assertEqual(report["slots"], 40)
        self.assertEqual([s["key"] for s in self.exported("n")], [s["key"] for s in self.exported("m")])

    def test_the_same_vectors_come_from_every_format(self):
        values = [[1, 2, -3, 0.5], [0.25, 0, 0, 8], [-1, -1, -1, -1]]
        flat = [x for row in values for x in row]
        halves = b"".join(struct.pack("<e", x) for x in flat)
        brain = b"".join(struct.pack("<f", x)[2:] for x in flat)
        floats = struct.pack("<12f", *flat)
        self.write("j.jsonl", lines([{"key": row} for row in values]))
        self.write("b.jsonl", lines([{"key": base64.b64encode(struct.pack("<4f", *row)).decode()} for row in values]))
        self.write("v.npy", npy(values))
        other = ("I64", [2], bytes(16))
        for name, dtype, data in (("f32", "F32", floats), ("f16", "F16", halves), ("bf16", "BF16", brain)):
            self.write(name + ".safetensors", safetensors(
                {"first": other, "keys": (dtype, [3, 4], data), "last": other}))
        self.write("named.safetensors", safetensors({"emb": ("F32", [3, 4], floats)}, {"made": "elsewhere"}))
        self.write("z.jsonl.gz", gzip.compress(self.read("j.jsonl")))
        self.write("z.npy.gz", gzip.compress(self.read("v.npy")))
        expected = None
        for name, *options in (("j.jsonl",), ("b.jsonl",), ("v.npy",), ("f32.safetensors",), ("f16.safetensors",),
                               ("bf16.safetensors",), ("named.safetensors", "--tensor", "emb"), ("z.jsonl.gz",),
                               ("z.npy.gz",)):
            with self.subTest(name=name):
                memory = "m" + name.split(".", 1)[0] + name[-3:]
                self.ok("import", "--memory", memory, "--tau", "0", *options, name)
                keys = [slot["key"] for slot in self.exported(memory)]
                expected = expected or keys
                self.assertEqual(keys, expected)

    def test_a_servers_list_of_slots_is_understood(self):
        self.write("s.jsonl", '{"id":3,"key":[1,0],"payload":null,"exact_keys":[],"usage":2.5,"count":7,'
                              '"first_time":10,"last_time":20,"expires":null}\n\n'
                              '{"id":4,"key":[0,1],"payload":{"a":1},"exact_keys":["k"],"usage":1,"count":1,'
                              '"first_time":11,"last_time":11,"expires":111}\n')
        self.ok("import", "--memory", "m", "s.jsonl")
        slots = self.exported("m")
        self.assertEqual([slot["first_time"] for slot in slots], [10, 11])
        self.assertEqual((slots[1]["expires"], slots[1]["exact_keys"]), (111, ["k"]))

    # --- Bad rows

    BAD = (("not json", "line 2: is not a JSON object"),
           ('{"key": [1, 0], "x": 1}', "line 3: /x: rows have no such field"),
           ('{"key": [1, "a"]}', "line 4: /key/1: must be a number"),
           ('{"key": [1, NaN]}', "line 5: /key/1: must be a number"),
           ('{"key": [1, 1e60]}', "line 6: /key/1: must be a number"),
           ('{"key": [1, 2, 3]}', "line 7: /key: "),
           ('{"key": [0, 0]}', "line 8: /key: "),
           ('{"key": [1, 0], "key": [1, 0]}', "line 9: /key: is there twice"),
           ('{"key": [1, 0], "time": 1.5}', "line 10: /time: must be an integer"),
           ('{"payload": 1}', "line 11: /key: a key or a text is needed"),
           ('{"key": [1, 0], "payload": {a: 1}}', "line 12: /payload: is not JSON"),
           ('{"key": [1, 0], "payload_base64": "?"}', "line 13: /payload_base64: is not base64"),
           ('{"key": [1, 0], "exact_keys": [1]}', "line 14: /exact_keys/0: must be a string"),
           ('{"key": [1, 0], "ttl_ms": -1}', "line 15: /ttl_ms: "),
           ('{"key": [1, 0]', "line 16: is a JSON object that does not end"),
           ('{"key": [1, 0]} x', "line 17: has something behind"),
           ('{"key": [1, 0], "value": [1]}', "line 18: /value: "),
           ('{"key": [1, 0], "encoder": "other"}', "line 19: "),
           ('{"key": [01, 0]}', "line 20: /key/0: must be a number"),
           ('["key"]', "line 21: is not a JSON object"))

    def bad_file(self):
        good = '{"key": [1, 0]}'
        self.write("b.jsonl", "\n".join([good, *(text for text, _ in self.BAD), '{"key": [0, 1]}']) + "\n")

    def test_all_bad_rows_are_named_and_nothing_is_imported(self):
        self.bad_file()
        for arguments, options in ((["b.jsonl"], {}), (["-"], {"stdin": self.read("b.jsonl")})):
            result = self.run_dpcache("import", "--memory", "m", *arguments, **options)
            self.assertEqual((result.code, result.out), (3, b""))
            told = result.err.decode().splitlines()
            self.assertEqual(len(told), len(self.BAD) + 1)
            for line, (_, fault) in zip(told, self.BAD):
                self.assertIn(f"dpcache: {arguments[0]}: {fault}", line)
            self.assertIn("has 20 bad rows, and nothing was imported", told[-1])
            self.assertEqual(self.names(), ["b.jsonl"])

    def test_bad_rows_are_left_out_if_asked_to(self):
        self.bad_file()
        result = self.run_dpcache("import", "--json", "--memory", "m", "--skip-bad", "b.jsonl")
        self.assertEqual(result.code, 0)
        report = json.loads(result.out)
        self.assertEqual((report["rows"], report["imported"], report["bad"], report["slots"]), (22, 2, 20, 2))
        self.assertEqual(result.err.count(b"\n"), 20)

    def test_not_more_than_twenty_are_named(self):
        self.write("b.jsonl", '{"key": [1]}\n' + "x\n" * 1000)
        result = self.run_dpcache("import", "--memory", "m", "b.jsonl")
        self.assertEqual((result.code, result.err.count(b"\n")), (3, 22))
        self.assertIn(b"counted, not named", result.err)
        self.assertIn(b"has 1,000 bad rows" if b"1,000" in result.err else b"has 1000 bad rows", result.err)

    def test_what_is_not_utf8_is_named(self):
        self.write("b.jsonl", b'{"key": [1], "exact_key": "\xff"}\n{"k\xe9y": [1]}\n')
        result = self.run_dpcache("import", "--memory", "m", "b.jsonl")
        self.assertEqual(result.code, 3)
        self.assertIn(b"line 1: /exact_key: is not a string of UTF-8", result.err)
        self.assertIn(b"line 2: has a field whose name is no string", result.err)

    def test_a_pipe_with_a_name_is_read_once(self):
        os.mkfifo(self.path("p"))
        process = self.start("import", "--json", "--memory", "m", "p")
        with open(self.path("p"), "w", encoding="ascii") as pipe:
            pipe.write(lines([{"key": row} for row in rows(700)]))
        result = self.finish(process)
        self.assertEqual((result.code, result.err), (0, b""))
        self.assertEqual(json.loads(result.out)["imported"], 700)

    def test_a_bad_row_of_vectors_has_a_number(self):
        self.write("v.npy", npy([[1, 0], [0, 0], [0, 1]]))
        result = self.run_dpcache("import", "--memory", "m", "v.npy")
        self.assertEqual(result.code, 3)
        self.assertIn(b"v.npy: row 2: /key: ", result.err)
        self.assertEqual(self.imported_with_skips("v.npy")["slots"], 2)

    def imported_with_skips(self, name):
        return json.loads(self.run_dpcache("import", "--json", "--memory", "m", "--skip-bad", name).out)

    def test_a_memory_that_was_there_stays_as_it_was(self):
        self.import_items("m", 20)
        before = self.read("m")
        self.write("b.jsonl", lines([{"key": row} for row in rows(5, seed=3)]) + "x\n")
        self.assertEqual(self.run_dpcache("import", "--memory", "m", "b.jsonl").code, 3)
        self.assertEqual(self.run_dpcache("import", "--memory", "m", "-", stdin=self.read("b.jsonl")).code, 3)
        self.assertEqual(self.read("m"), before)
        self.fails(4, "import", "--memory", "m", "-", stdin='{"key": [1, 2]}\n', says=b"vectors of length 16")
        self.fails(4, "import", "--memory", "m", "-", stdin='{"text": "a"}\n', says=b"holds vectors, not text")
        self.assertEqual(self.read("m"), before)

    # --- Interrupted

    def write_large(self, count):
        chance = random.Random(9)
        with open(self.path("l.jsonl"), "w", encoding="ascii") as file:
            for n in range(count):
                file.write(json.dumps({"key": [round(chance.gauss(0, 1), 3) for _ in range(8)],
                                       "exact_key": f"k{n}", "time": n}) + "\n")

    def test_ctrl_c_saves_and_the_same_command_goes_on(self):
        count = 4000 if SANITIZED else 30000
        self.write_large(count)
        arguments = ["import", "--memory", "m", "--tau", "0.05", "--max-slots", "3000", "l.jsonl"]
        interrupted = 0
        for n in range(50):
            process = self.start(*arguments)
            self.wait_for_lock("m")
            time.sleep(0.05 * (n + 1))
            process.send_signal(signal.SIGINT)
            result = self.finish(process)
            if result.code == 0:
                break
            self.assertEqual(result.code, SIGINT)
            self.assertIn(b"stopped behind line", result.err)
            if os.path.exists(self.path("m")):
                interrupted += 1
                position = json.loads(next(v for k, v in self.inspect("m")["metadata"].items() if k.startswith("import.")))
                # A slot for each item, so the last one to come was the last one before the position.
                self.assertEqual(self.inspect("m")["stats"]["items"], position["imported"])
        self.assertEqual(self.inspect("m")["stats"]["items"], count)
        self.assertFalse([key for key in self.inspect("m")["metadata"] if key.startswith("import.")])
        self.ok("import", "--memory", "whole", *arguments[3:])
        self.assertEqual(self.kept("m"), self.kept("whole"))
        self.assertGreater(interrupted, 0)

    def test_a_killed_import_goes_on_where_it_was_saved(self):
        count = 2000 if SANITIZED else 20000
        self.write_large(count)
        arguments = ["import", "--memory", "m", "--apart", "--save-every", "20ms", "l.jsonl"]
        process = self.start(*arguments)
        self.wait_until(lambda: os.path.exists(self.path("m")) or process.poll() is not None, "the first save")
        process.kill()
        process.wait()
        self.ok("verify", "m")
        saved = self.inspect("m")
        self.assertNotEqual(saved["config"].get("tau"), 0)  # the memory's own, not that of the run
        result = self.run_dpcache(*arguments)
        self.assertEqual(result.code, 0, result.err)
        if saved["stats"]["items"] < count:
            self.assertIn(b"going on behind line", result.err)
        self.assertEqual(self.inspect("m")["stats"]["items"], count)
        self.assertEqual(len({slot["exact_keys"][0] for slot in self.exported("m", "--no-keys")}),
                         self.inspect("m")["stats"]["slots"])

    def test_from_start_begins_anew(self):
        self.import_items("m", 30, "--tau", "0.01")
        report = self.imported("--memory", "m", "--from-start", "i.jsonl")
        self.assertEqual((report["opened"], report["merged"], report["before"]), (0, 30, 0))

    def test_a_reader_that_goes_away_is_no_fault(self):
        self.import_items("m", 2000, "--tau", "0")
        process = self.start("export", "m")
        process.stdout.read(10)
        process.stdout.close()
        process.stdout = None
        self.assertEqual(self.finish(process).code, SIGPIPE)

    def test_a_full_disk_leaves_what_was_there(self):
        self.import_items("m", 20)
        before = self.read("m")
        self.write("more.jsonl", lines([{"key": row} for row in rows(500, seed=4)]))
        self.fails(4, "import", "--memory", "m", "more.jsonl", preexec_fn=limit_file_size(20000))
        self.assertEqual(self.read("m"), before)
        self.write("out.jsonl", "old")
        self.fails(5, "export", "--out", "out.jsonl", "m", preexec_fn=limit_file_size(1000))
        self.assertEqual(self.read("out.jsonl"), b"old")
        self.assertEqual([name for name in self.names() if name.startswith(".")], [])

    # --- Files that lie, and odd ones

    def test_files_that_lie_are_refused_before_anything_is_allocated(self):
        floats = bytes(48)
        whole = safetensors({"keys": ("F32", [3, 4], floats)})
        header = json.dumps({"keys": {"dtype": "F32", "shape": [2 ** 40, 4], "data_offsets": [0, 2 ** 44]}}).encode()
        huge = struct.pack("<Q", len(header)) + header
        for name, data, says in (
                ("cut.safetensors", whole[:-1], b"it was cut"),
                ("long.safetensors", whole + b"x", b"its header promises"),
                ("shape.safetensors", safetensors({"keys": ("F32", [3, 5], floats)}), b"do not fit its shape"),
                ("huge.safetensors", huge, b"its header promises"),
                ("wide.safetensors", safetensors({"keys": ("F32", [1, 70000], bytes(280000))}), b"length 70000"),
                ("flat.safetensors", safetensors({"keys": ("F32", [12], floats)}), b"is no matrix"),
                ("type.safetensors", safetensors({"keys": ("I64", [3, 2], floats)}), b"expected F32, F16, BF16 or I8"),
                ("name.safetensors", safetensors({"emb": ("F32", [3, 4], floats)}), b"has no tensor 'keys'; there are: emb"),
                ("json.safetensors", struct.pack("<Q", 20) + b"{" + b"x" * 40, b"no JSON object")):
            with self.subTest(name=name):
                self.write(name, data)
                self.fails(3, "import", "--memory", "m", name, says=says, preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_AS, (2 ** 31, 2 ** 31)) if not SANITIZED else None)
        self.assertNotIn("m", self.names())

    def test_nothing_to_take_is_told(self):
        self.write("e.jsonl", "\n\n")
        self.fails(3, "import", "--memory", "m", "e.jsonl", says=b"has no rows to take")
        self.import_items("m", 3)
        self.assertEqual(self.imported("--memory", "m", "e.jsonl")["imported"], 0)
        self.fails(3, "import", "--memory", "m", "gone.jsonl", says=b"gone.jsonl")
        self.fails(4, "export", "gone", says=b"gone")

    @unittest.skipIf(SANITIZED, "the sanitizers keep memory of their own")
    def test_memory_stays_flat_on_a_large_file(self):
        line = json.dumps({"key": [0.5] * 64, "payload": "x" * 200}) + "\n"
        peaks = []
        for count in (1000, 60000):
            self.write("l.jsonl", line * count)
            peaks.append(peak_kilobytes(["import", "--memory", self.path(f"m{count}"), "-"], self.path("l.jsonl")))
            self.assertEqual(self.inspect(f"m{count}")["stats"]["items"], count)
        self.assertLess(peaks[1] - peaks[0], 4000)


if __name__ == "__main__":
    unittest.main()
