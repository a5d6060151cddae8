#!/usr/bin/env python3
"""Runs the commands of a page's ```shell-session blocks, and its ```python blocks, against a server of their own, as written.

usage: readme_server.py BINARY PAGE
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def main() -> int:
    binary, page = sys.argv[1:]
    text = pathlib.Path(page).read_text(encoding="utf-8")
    blocks = re.findall(r"```(shell-session|python)\n(.*?)```", text, re.DOTALL)
    faults = [] if blocks else [f"{page} has no shell-session block"]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--data", f"{folder}/data"],
                                  stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().split("//")[1].strip("/\n")
            for kind, block in blocks:
                block = re.sub(r"(localhost|127\.0\.0\.1):8080", address, block)
                if kind == "python":
                    run = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True,
                                         check=False, timeout=60)
                    if run.returncode != 0 or run.stdout:
                        faults.append(f"{block}\nfails\n{run.stdout}{run.stderr}")
                    continue
                for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                    command, _, expected = part.partition("\n")
                    run = subprocess.run(["bash", "-c", command],
                                         capture_output=True, text=True, check=False, timeout=60)
                    if run.stdout.strip() != expected.strip():
                        faults.append(f"$ {command}\nprints\n{run.stdout}{run.stderr}\nand the page says\n{expected}")
        finally:
            server.terminate()
            server.wait(60)
    print("\n".join(faults) or "the page's server answers as it says")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
