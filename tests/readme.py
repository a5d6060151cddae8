#!/usr/bin/env python3
"""Runs the commands of Markdown pages' ```console blocks and compares what they print, line by line.

usage: readme.py BINARY PAGE...    BINARY stands for build/release/dpcache in the commands.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def check(page: pathlib.Path, binary: str) -> list[str]:
    faults = []
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            run = subprocess.run(
                ["bash", "-c", command.replace("build/release/dpcache", binary)],
                cwd=ROOT, capture_output=True, text=True, check=False)
            if run.stdout != expected:
                faults.append(f"{page.name}: $ {command}\nprints\n{run.stdout}{run.stderr}"
                              f"and the page says\n{expected}")
    if not blocks:
        faults.append(f"{page.name} has no console block")
    return faults


def main() -> int:
    binary, *pages = sys.argv[1:]
    faults = [fault for page in pages for fault in check(pathlib.Path(page), binary)]
    print("\n".join(faults) or f"{len(pages)} pages print what they say")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
