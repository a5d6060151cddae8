#!/usr/bin/env python3
"""Runs the commands of Markdown pages' ```console blocks and compares what they print, line by line.

Those of one page run one after the other in a folder of their own, which has nothing but scripts/ in it: so what
one command writes is there for the next, and nowhere else.

usage: readme.py BINARY PAGE...    BINARY stands for build/release/dpcache in the commands.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def check(page: pathlib.Path, binary: str, folder: pathlib.Path) -> list[str]:
    faults = []
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            run = subprocess.run(
                ["bash", "-c", command.replace("build/release/dpcache", binary)],
                cwd=folder, capture_output=True, text=True, check=False)
            if run.stdout != expected:
                faults.append(f"{page.name}: $ {command}\nprints\n{run.stdout}{run.stderr}"
                              f"and the page says\n{expected}")
    if not blocks:
        faults.append(f"{page.name} has no console block")
    return faults


def main() -> int:
    binary, *pages = sys.argv[1:]
    faults = []
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "scripts").symlink_to(ROOT / "scripts")
            faults += check(pathlib.Path(page), str(pathlib.Path(binary).resolve()), pathlib.Path(folder))
    print("\n".join(faults) or f"{len(pages)} pages print what they say")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
