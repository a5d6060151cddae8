"""What a result was measured on: machine, compiler, command and date, as Markdown lines."""

import datetime
import os
import re
import subprocess


def describe(command: str) -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = re.search(r"model name\s*:\s*(.+)", lines.read())
    with open("/proc/meminfo", encoding="utf-8") as lines:
        kib = int(re.search(r"MemTotal:\s*(\d+)", lines.read()).group(1))
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True)
    return "\n".join([
        f"- Machine: {model.group(1) if model else 'unknown'}, {os.cpu_count()} cores, "
        f"{kib / 2**20:.0f} GiB, shared with others",
        f"- Compiler: {compiler.stdout.splitlines()[0]}, preset release",
        f"- Command: `{command}`",
        f"- Date: {datetime.date.today().isoformat()}",
    ])
