#!/usr/bin/env python3
# Compiles the kernels to PTX and holds them to what the same bits need: no fused multiply-add of floats, and
# no product or sum that a later compiler may fuse (those without a rounding mode).
#
# usage: tests/cuda/ptx.py NVCC ROOT [ARCH...]
# With ARCH (75, 80, ...): compiles to machine code of each of them instead. Ends with 77 (skipped) without NVCC.
import os
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "--expt-relaxed-constexpr"]
NO_FUSING = ["--fmad=false"]
# What may not stand there: fma and mad of floats; mul, add and sub of floats without .rn.
BAD = re.compile(r"\b(?:fma|mad)\.(?:\w+\.)*f(?:16|32|64)\b|\b(?:mul|add|sub)\.(?:ftz\.)?f(?:32|64)\b")
GOOD = re.compile(r"\b(?:mul|add)\.rn\.f32\b")
# The kernels in which canonical scores are made, and how many there are of each.
CANONICAL = {"scan": 3, "settle": 2}

# A file that must be found bad without --fmad=false.
FUSED = "__global__ void f(float* x) { x[0] = x[1] * x[2] + x[3]; }\n"


def compile_to(nvcc, source, out, flags):
    return subprocess.run([nvcc, *FLAGS, *flags, "-o", out, source], capture_output=True, text=True, check=False)


def entries(ptx):
    """(mangled name, body) of each kernel."""
    for match in re.finditer(r"\.entry\s+(\w+)\(.*?\n\{\n(.*?)\n\}\n", ptx, re.DOTALL):
        yield match.group(1), match.group(2)


def faults(ptx):
    found = []
    kernels = list(entries(ptx))
    if not kernels:
        found.append("there are no kernels")
    for name, body in kernels:
        for match in BAD.finditer(body):
            found.append(f"{name}: {match.group(0)}")
    for word, count in CANONICAL.items():
        named = [body for name, body in kernels if re.search(rf"\d{word}I", name)]
        if len(named) != count:
            found.append(f"{len(named)} kernels {word}, not {count}")
        for body in named:
            if len(GOOD.findall(body)) < 2:
                found.append(f"{word} has no canonical products and sums")
    return found


def main():
    nvcc, root, *archs = sys.argv[1:]
    if not nvcc or nvcc.endswith("NOTFOUND") or not os.path.exists(nvcc):
        print("SKIPPED: there is no nvcc, so nothing is known of the kernels' machine code")
        return 77
    source = os.path.join(root, "server/cuda/cuda_device.cu")
    includes = [f"-I{root}/server", f"-I{root}/core/include"]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        for arch in archs:
            done = compile_to(nvcc, source, out, [*includes, *NO_FUSING, "-cubin", f"-arch=sm_{arch}"])
            if done.returncode != 0 or os.path.getsize(out) == 0:
                print(f"sm_{arch} does not compile:\n{done.stderr}")
                return 1
            print(f"sm_{arch} compiles: {os.path.getsize(out)} bytes")
        if archs:
            return 0
        fused = os.path.join(folder, "fused.cu")
        with open(fused, "w", encoding="utf-8") as file:
            file.write(FUSED)
        done = compile_to(nvcc, fused, out, ["-ptx"])
        with open(out, encoding="utf-8") as file:
            if not any("fma" in fault for fault in faults(file.read())):
                print("this check does not see a fused multiply-add where there is one")
                return 1
        done = compile_to(nvcc, source, out, [*includes, *NO_FUSING, "-ptx", "-arch=compute_80"])
        if done.returncode != 0:
            print(done.stderr)
            return 1
        with open(out, encoding="utf-8") as file:
            ptx = file.read()
        found = faults(ptx)
        print("\n".join(found[:20]))
        print(f"{len(list(entries(ptx)))} kernels, {len(found)} faults")
        return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
