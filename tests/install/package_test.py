"""What an install and the Debian package hold, and that it works from there.

usage: package_test.py BUILD-FOLDER PREFIX      of a release build, and of an install of it"""
import http.client
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

PREFIX = os.path.abspath(sys.argv.pop(2))
BUILD = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HAS_PAGE = os.path.exists(os.path.join(ROOT, "web/dist/index.html"))


def run(*arguments, **options):
    options.setdefault("check", True)
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, **options)


def serves(test, program):
    """Starts it without a page of one's own, asks, and ends it."""
    with tempfile.TemporaryDirectory(prefix="dpcache-package-") as folder:
        process = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--data", folder + "/data"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = int(process.stdout.readline().strip().rsplit(":", 1)[1].strip("/"))

            def ask(path):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("GET", path)
                response = connection.getresponse()
                body = response.read()
                connection.close()
                return response.status, body

            test.assertEqual(ask("/readyz")[0], 200)
            status, body = ask("/")
            test.assertEqual(status, 200 if HAS_PAGE else 404)
            if HAS_PAGE:
                test.assertIn(b"<!doctype html>", body.lower())
            process.send_signal(signal.SIGTERM)
            test.assertEqual(process.wait(60), 0)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()


class Installed(unittest.TestCase):
    def test_everything_is_there(self):
        for path in ("bin/dpcache", "share/man/man1/dpcache.1", "lib/systemd/system/dpcache.service",
                     "share/doc/dpcache/LICENSE", "share/doc/dpcache/NOTICE", "share/doc/dpcache/dpcache.default",
                     "share/doc/dpcache/deploy.md", "include/dpcache/dpcache.h", "include/dpcache/server/mount.h",
                     *(["share/dpcache/page/index.html"] if HAS_PAGE else [])):
            self.assertTrue(os.path.exists(os.path.join(PREFIX, path)), path)

    def test_it_serves(self):
        serves(self, os.path.join(PREFIX, "bin/dpcache"))

    def test_only_public_headers_are_there(self):
        folder = os.path.join(PREFIX, "include/dpcache/server")
        self.assertEqual(sorted(os.listdir(folder)), ["application.h", "mount.h"])
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for include in re.findall(r"#include [<\"]([^>\"]+)", file.read()):
                    self.assertTrue("/" not in include or include.startswith("dpcache/"), include)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "needs systemd-analyze")
    def test_the_unit_is_sound_and_tight(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = os.path.join(folder, "dpcache.service")
            with open(os.path.join(PREFIX, "lib/systemd/system/dpcache.service"), encoding="utf-8") as file:
                text = file.read()
            # Where systemd would look for it.
            self.assertIn("\nExecStart=dpcache ", text)
            with open(unit, "w", encoding="utf-8") as file:
                file.write(text.replace("ExecStart=dpcache", f"ExecStart={PREFIX}/bin/dpcache"))
            env = {**os.environ, "MANPATH": os.path.join(PREFIX, "share/man")}
            done = run("systemd-analyze", "verify", unit, env=env, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = run("systemd-analyze", "security", "--offline=true", "--threshold=20", unit, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_default_options_are_options(self):
        """Each variable that stands there as a comment can be set to what it says."""
        with open(os.path.join(PREFIX, "share/doc/dpcache/dpcache.default"), encoding="utf-8") as file:
            names = re.findall(r"^#(DPCACHE_SERVE_\w+)=", file.read(), re.MULTILINE)
        self.assertGreater(len(names), 2)
        text = run(os.path.join(PREFIX, "bin/dpcache"), "serve", "--help").stdout
        for name in names:
            self.assertIn(f"--{name.removeprefix('DPCACHE_SERVE_').lower().replace('_', '-')}", text)

    def test_the_deploy_page_has_all_options(self):
        text = run(os.path.join(PREFIX, "bin/dpcache"), "serve", "--help").stdout
        options = set(re.findall(r"^ +(--[a-z-]+)", text, re.MULTILINE)) - {"--help"}
        self.assertGreater(len(options), 15)
        with open(os.path.join(ROOT, "docs/deploy.md"), encoding="utf-8") as file:
            page = file.read()
        for option in sorted(options):
            self.assertIn(f"`{option}", page)
        for option in re.findall(r"`(--[a-z-]+)", page):
            if option not in ("--component",):
                self.assertIn(option, options)


@unittest.skipUnless(shutil.which("cpack") and shutil.which("dpkg-deb"), "needs cpack and dpkg-deb")
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="dpcache-package-")
        cls.addClassCleanup(cls.folder.cleanup)
        out = cls.folder.name
        run("cpack", "-G", "DEB", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", out, cwd=out)
        cls.package = next(os.path.join(out, name) for name in os.listdir(out) if name.endswith(".deb"))
        cls.tree = os.path.join(out, "tree")
        run("dpkg-deb", "-x", cls.package, cls.tree)

    def test_its_fields(self):
        field = lambda name: run("dpkg-deb", "-f", self.package, name).stdout.strip()
        with open(os.path.join(ROOT, "core/include/dpcache/version.h"), encoding="utf-8") as file:
            version = re.search(r'VERSION_STRING "([^"]+)"', file.read()).group(1)
        architecture = run("dpkg", "--print-architecture").stdout.strip()
        self.assertEqual(os.path.basename(self.package), f"dpcache_{version}_{architecture}.deb")
        self.assertEqual((field("Package"), field("Version")), ("dpcache", version))
        if shutil.which("dpkg-shlibdeps"):
            depends = field("Depends")
            for library in ("libc6", "libstdc++6", "libsqlite3-0", "libssl3", "libre2-9", "libsimdjson14", "zlib1g"):
                self.assertRegex(depends, rf"(^|, ){re.escape(library)}\b")

    def test_its_files(self):
        lines = run("dpkg-deb", "-c", self.package).stdout.splitlines()
        files = {line.split(maxsplit=5)[5].removeprefix("."): line.split()[:2] for line in lines}
        for path in ("/usr/bin/dpcache", "/usr/lib/systemd/system/dpcache.service", "/etc/default/dpcache",
                     "/usr/share/man/man1/dpcache.1", "/usr/share/doc/dpcache/copyright",
                     "/usr/share/doc/dpcache/NOTICE"):
            self.assertIn(path, files)
        self.assertEqual("/usr/share/dpcache/page/index.html" in files, HAS_PAGE)
        for path, (mode, owner) in files.items():
            self.assertEqual(owner, "root/root", path)
            self.assertNotIn("w", mode[4:], path)
            self.assertTrue(path.startswith(("/usr", "/etc")) or path == "/", path)
            self.assertFalse(path.startswith(("/usr/include", "/usr/lib/x86_64", "/usr/local")), path)

    def test_its_options_are_kept_on_upgrades(self):
        self.assertEqual(run("dpkg-deb", "-I", self.package, "conffiles").stdout, "/etc/default/dpcache\n")

    def test_its_scripts_are_shell(self):
        control = os.path.join(self.folder.name, "control")
        run("dpkg-deb", "-e", self.package, control)
        for name in ("postinst", "prerm", "postrm"):
            path = os.path.join(control, name)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o755)
            run("sh", "-n", path)
            # Where no systemd runs they do nothing, and do not fail.
            if not os.path.exists("/run/systemd/system"):
                run("sh", path, "configure", "0.0.1")

    def test_the_program_runs_from_it(self):
        program = os.path.join(self.tree, "usr/bin/dpcache")
        self.assertIn("dpcache", run(program, "--version").stdout)
        serves(self, program)


if __name__ == "__main__":
    unittest.main()
