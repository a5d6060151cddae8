"""Runs the built command line as a process. DPCACHE names the program."""

import array
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

PROGRAM = os.environ["DPCACHE"]
# The sanitizers need memory of their own, and time.
SANITIZED = os.environ.get("DPCACHE_SANITIZED") == "1"
TIMEOUT = 300 if SANITIZED else 120
NOBODY = 65534


class Result:
    """How a run ended, and what it printed."""

    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    @property
    def lines(self):
        """Standard output as lines of tab-separated fields, in bytes."""
        return [line.split(b"\t") for line in self.out.split(b"\n")[:-1]]


def environment():
    env = dict(os.environ)
    # What a user has set up must not change what is tested.
    for name in ("LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR"):
        env.pop(name, None)
    env["LC_ALL"] = "C.UTF-8"
    env["TERM"] = "xterm"
    return env


class CommandLineTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dpcache-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o777)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        if isinstance(data, str):
            data = data.encode()
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def written(self, name):
        """What changes whenever the file is written or replaced, and only then: reading a file moves its atime."""
        found = os.stat(self.path(name))
        return self.read(name), found.st_ino, found.st_mode, found.st_mtime_ns, found.st_ctime_ns

    def names(self):
        return sorted(os.listdir(self.folder))

    def run_dpcache(self, *arguments, stdin=b"", **options):
        """Runs to the end, in the test's folder."""
        if isinstance(stdin, str):
            stdin = stdin.encode()
        if isinstance(stdin, bytes):
            options["input"] = stdin
        else:
            options["stdin"] = stdin
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("cwd", self.folder)
        done = subprocess.run([PROGRAM, *map(os.fspath, arguments)], stderr=subprocess.PIPE,
                              env=environment(), timeout=TIMEOUT, check=False, **options)
        return Result(done.returncode, done.stdout, done.stderr)

    def ok(self, *arguments, **options):
        """Runs, and expects success and silence."""
        result = self.run_dpcache(*arguments, **options)
        self.assertEqual((result.code, result.err), (0, b""))
        return result

    def fails(self, code, *arguments, says=b"", **options):
        """Runs, and expects this exit code and one line that says why."""
        result = self.run_dpcache(*arguments, **options)
        self.assertEqual(result.code, code, result.err)
        self.assertRegex(result.err, rb"\Adpcache: [^\n]+\n\Z")
        for words in [says] if isinstance(says, bytes) else says:
            self.assertIn(words, result.err)
        return result

    def start(self, *arguments, **options):
        """Starts, and ends it when the test ends."""
        options.setdefault("stdin", subprocess.PIPE)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([PROGRAM, *map(os.fspath, arguments)], cwd=self.folder,
                                   env=environment(), **options)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    try:
                        stream.close()
                    except BrokenPipeError:
                        pass

        self.addCleanup(end)
        return process

    def wait_until(self, condition, what="the expected"):
        end = time.monotonic() + TIMEOUT
        while not condition():
            if time.monotonic() > end:
                self.fail(f"{what} did not happen in {TIMEOUT} s")
            time.sleep(0.01)

    def wait_for_lock(self, name):
        """Until a process that was started holds the memory and has read it."""
        self.wait_until(lambda: os.path.exists(self.path(f".{name}.dpcache-lock")), "the lock")

    def finish(self, process):
        """The end of a started process. Its input must have been closed if it waits for that."""
        out, err = process.communicate(timeout=TIMEOUT)
        return Result(process.returncode, out, err)

    def as_nobody(self):
        """Options for run_dpcache that take root's rights away, under which no file is unreadable."""
        if os.geteuid() != 0:
            return {}
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            subprocess.run([PROGRAM, "--version"], stdout=subprocess.DEVNULL, check=True, **options)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("the program is in a folder that only root may enter")
        return options

    def inspect(self, name):
        return json.loads(self.ok("inspect", "--json", "--top", "1000000", name).out)


def peak_kilobytes(arguments, path):
    """The largest resident set of a run that has read all of `path` on standard input, as the kernel tells
    it while the run waits for more. (What wait4 tells is no less than the size of this interpreter.)"""
    with open(os.devnull, "wb") as null, open(path, "rb") as file:
        process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=null,
                                   env=environment())
        shutil.copyfileobj(file, process.stdin)
        process.stdin.flush()
        calm = 0
        while calm < 5:
            calm = calm + 1 if unread(process.stdin) == 0 and state(process.pid) == "S" else 0
            time.sleep(0.02)
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            peak = int(re.search(r"VmHWM:\s*(\d+) kB", status.read()).group(1))
        process.stdin.close()
    if process.wait(timeout=TIMEOUT) != 0:
        raise AssertionError(f"{arguments} ended with {process.returncode}")
    return peak


def unread(pipe):
    """Bytes in a pipe that its reader has not taken yet."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, count)
    return count[0]


def state(pid):
    """What a process does: R runs, S sleeps."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


def limit_file_size(size):
    """For preexec_fn: no file of this process grows beyond `size`."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def npy(rows, descr="<f4", version=1, fortran=False, shape=None):
    """A .npy file of these rows."""
    code = {"<f4": "f", "<f2": "e", "|i1": "b", "<f8": "d", ">f4": "f"}[descr]
    order = ">" if descr[0] == ">" else "<"
    flat = [x for row in rows for x in row]
    if shape is None:
        shape = (len(rows), len(rows[0]) if rows else 0)
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape!r}, }}"
    return npy_header(header, version) + struct.pack(f"{order}{len(flat)}{code}", *flat)


def npy_header(text, version=1):
    start = 10 if version == 1 else 12
    text += " " * (-(start + len(text) + 1) % 64) + "\n"
    data = text.encode()
    return (b"\x93NUMPY" + bytes([version, 0]) +
            struct.pack("<H" if version == 1 else "<I", len(data)) + data)


SIGINT = -signal.SIGINT
SIGTERM = -signal.SIGTERM
SIGPIPE = -signal.SIGPIPE
