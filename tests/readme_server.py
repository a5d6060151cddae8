#!/usr/bin/env python3
"""Runs the commands of README's ```shell-session blocks against a server of their own, as written.

usage: readme_server.py BINARY PAGE
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def main() -> int:
    binary, page = sys.argv[1:]
    blocks = re.findall(r"```shell-session\n(.*?)```", pathlib.Path(page).read_text(encoding="utf-8"), re.DOTALL)
    faults = [] if blocks else [f"{page} has no shell-session block"]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--data", f"{folder}/data"],
                                  stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().split("//")[1].strip("/\n")
            for block in blocks:
                for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                    command, _, expected = part.partition("\n")
                    run = subprocess.run(["bash", "-c", command.replace("localhost:8080", address)],
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
