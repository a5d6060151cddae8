#!/usr/bin/env python3
"""Breaks what exact search relies on, one line at a time, and sees a test fail each time.

usage: tests/mutations.py BUILD_FOLDER [WORD]

WORD: only the mutations that it describes.

Works on a copy of the sources, with the settings of a build folder (e.g. build/release). Takes some minutes; not
part of the tests that run with every change.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What is broken: file, text, and what stands there instead; the test that must notice.
MUTATIONS = [
    ("a key's angle to its code is ignored", "core/src/codes.cc",
     "static_cast<float>(angle_sine * (1.0 + 0x1p-22))", "static_cast<float>(angle_sine * 0.0)", "codes"),
    ("a key's angle is half of what it is", "core/src/codes.cc",
     "static_cast<float>(angle_sine * (1.0 + 0x1p-22))",
     "static_cast<float>(angle_sine * 0.5)", "codes"),
    ("the bound of the first look is that of keys without an angle", "core/src/codes.cc",
     "lowest(out.first, nibble_rows_) - out.slack", "out.first.cosine - out.slack", "codes"),
    ("the query's angle to its code is ignored", "core/src/codes.cc",
     "code = {inverse_of(quantised), std::sqrt(1.0 - sine * sine), sine};",
     "code = {inverse_of(quantised), 1.0, 0.0 * sine};", "codes"),
    ("the snap is ignored", "core/src/codes.cc",
     "std::min(static_cast<double>(similarity), 1.0 - static_cast<double>(margin)) -",
     "static_cast<double>(similarity) -", "codes"),
    ("the score's rounding raises the bound", "core/src/codes.cc",
     "score_error(margin);", "-20.0 * static_cast<double>(margin);", "codes"),
    ("the proof has no room for the score's rounding", "core/src/search_certain.cc",
     "const double error = score_error(slots.margin());", "const double error = 0.0;", "certain"),
    ("the proof takes the snapped score", "core/src/search_certain.cc",
     "std::min(static_cast<double>(similarity), 1.0 - margin)", "static_cast<double>(similarity)", "certain"),
    ("the whole angle between two slots counts, not half of it", "core/src/search_certain.cc",
     "const double others = a * b + std::sqrt((1.0 - a * a) * (1.0 - b * b));", "const double others = a;", "certain"),
    ("a slot that moves keeps its distance", "core/src/slots.cc",
     "forget_closest();\n  if (r < codes_.rows())", "if (r < codes_.rows())", "certain"),
    ("slots that come later, under another tau, change nothing", "core/src/slots.cc",
     "closest_opened_ = std::max(closest_opened_, closest);", "", "certain"),
    ("slots that come and are not known change nothing", "core/src/slots.cc",
     "if (closest == kUnknown) {\n    forget_closest();", "if (closest == kUnknown) {", "certain"),
    ("what a recorded event says of its nearest slot is believed", "core/src/apply.cc",
     "state.write(event.item, event.decision, kUnknown);",
     "state.write(event.item, event.decision, event.decision.similarity);", "certain"),
    ("keys that miss unit length are taken to have it", "core/src/slots.cc",
     "codes_.all_unit();", "true;", "certain"),
    ("keys that move with every merge are taken to stay", "core/src/slots.cc",
     "keys_stay_(config.key_update == KeyUpdate::frozen)", "keys_stay_(true)", "certain"),
    ("a guess that has expired counts", "core/src/search_batch.cc",
     "|| !counted.counts(*slots_, r)) return false;", ") return false;", "certain"),
    ("a guess made before others came is not proved again", "core/src/search_batch.cc",
     "if (!is_certain(*slots_, r, s)) return false;", "", "certain"),
    ("a key that moves keeps its code", "core/src/slots.cc",
     "if (r < codes_.rows()) codes_.set(r, keys_.data() + r * stride_);", "", "codes"),
    ("codes stay where they are when rows move up", "core/src/slots.cc",
     "if (coded != r) codes_.move(r, coded);", "", "codes"),
    ("a key that is not of unit length counts as one that is", "core/src/codes.cc",
     "unit ? 0.0 : 0.047", "unit ? 0.0 : 0.0", "codes"),
    ("a query that is not of unit length counts as one that is", "core/src/codes.cc",
     "if (!is_unit(key, length_)) return nullptr;", "", "codes"),
    ("the younger of two equal slots wins", "core/src/search_codes.cc",
     "a.similarity > b.similarity : a.row < b.row;", "a.similarity > b.similarity : a.row > b.row;", "codes"),
    ("the likeliest row is taken for the nearest", "core/src/search_codes.cc",
     "if (left == 0) return;", "return;", "codes"),
    ("slots that have expired count", "core/src/search_codes.cc",
     "if (!counted_.counts(slots_, r)) return;", "", "codes"),
    ("rows without codes are left out", "core/src/search_batch.cc",
     "found ? slots_->codes().rows() : 0", "found ? slots_->rows() : 0", "codes"),
    ("keys that have moved since the look are left out", "core/src/search_codes.cc",
     "query_.cosines[r] = kNone;\n      take(r);", "query_.cosines[r] = kNone;", "codes"),
    ("keys that have come since the look are left out", "core/src/search_codes.cc",
     "for (std::size_t r = query_.rows; r < codes_.rows(); ++r) take(r);", "", "codes"),
    ("rows that have other numbers since the look are taken for the same", "core/src/search_batch.cc",
     "moves.counts.numbers != before.numbers", "false", "codes"),
    ("more keys have moved than are kept in mind", "core/src/search_batch.cc",
     "if (moves.counts.keys - before.keys > moved_.size()) return false;", "", "codes"),
    ("the least of the nearest few is taken for nearer than it is", "core/src/search_codes.cc",
     "float least() const noexcept { return heap.front().similarity; }",
     "float least() const noexcept { return heap.back().similarity; }", "codes"),
    ("the second look keeps nothing", "core/src/codes.cc",
     "if (!(cosines[i] < least)) rows[kept++] = rows[i];", "static_cast<void>(least);", "codes"),
    ("on a GPU, codes err a fifth of what they do", "server/cuda/kernels.cuh",
     "return 1.02F * (key_error + query_error)", "return 0.2F * (key_error + query_error)", "cuda_kernels"),
    ("on a GPU, the bound has no margins for the snap", "server/cuda/kernels.cuh",
     "2.0F * margin +", "0.0F * margin +", "cuda_kernels"),
    ("on a GPU, the younger of equal rows wins", "server/cuda/kernels.cuh", "a.row < b.row", "a.row > b.row",
     "cuda_kernels"),
    ("on a GPU, a skipped row rules others out", "server/cuda/kernels.cuh",
     "if (row >= work.rows.count || !counts(work.skip, row)) continue;", "if (row >= work.rows.count) continue;",
     "cuda_kernels"),
    ("on a GPU, sums have another order", "server/cuda/kernels.cuh",
     "for (unsigned width = 8; width != 0; width /= 2) {\n      sum = __fadd_rn",
     "for (unsigned width = 1; width != 16; width *= 2) {\n      sum = __fadd_rn", "cuda_kernels"),
    ("on a GPU, the best bounds all k", "server/cuda/kernels.cuh", "if (before == work.k - 1) least = bound;",
     "if (before == 0) least = bound;", "cuda_kernels"),
    ("on a GPU, a list's first raises the bound of its last", "server/cuda/kernels.cuh",
     "fmaxf(least, list.last.score);", "fmaxf(least, half.from(list.entries[0].score, 0));", "cuda_kernels"),
    ("on a GPU, a key that moves keeps its code", "server/cuda/resident.cc",
     "if (outcome) {\n      outcome = device.encode(", "if (outcome && first == 0) {\n      outcome = device.encode(",
     "cuda_scorer"),
    ("a GPU's answer is taken before it is there", "server/cuda/lane.cc", "return device_.wait(half.done);",
     "return {};", "cuda_scorer"),
    ("what has changed is uploaded again and again", "server/cuda/resident.cc",
     "changed_.clear();\n  version_", "version_", "cuda_scorer"),
    ("what has moved since a scorer's answer is left out", "core/src/search_batch.cc",
     "for (const std::size_t r : moved) {\n    if (!counted.counts(*slots_, r)) continue;",
     "for (const std::size_t r : moved) {\n    continue;", "scorer"),
    ("a scorer's nearest row that has moved is still the nearest", "core/src/search_batch.cc",
     "if (std::find(moved.begin(), moved.end(), match.row) != moved.end()) return false;", "", "scorer"),
    ("a scorer's nearest row that has gone is still the nearest", "core/src/search_batch.cc",
     "if (!counted.counts(*slots_, match.row)) return false;", "", "scorer"),
    ("what has come since a scorer's answer is left out", "core/src/search_batch.cc",
     "scan(*slots_, query(i), scored_rows_,", "scan(*slots_, query(i), slots_->rows(),", "scorer"),
    ("rows that have expired stay among a scorer's nearest few", "core/src/search_batch.cc",
     "if (!slots_->alive(match.row, time)) return false;",
     "if (time < 0 && !slots_->alive(match.row, time)) return false;", "scorer"),
    ("a scorer is not told of keys that move", "core/src/slots.cc",
     "  key_changed(r);\n", "", "scorer"),
    ("a scorer is not told when rows move up", "core/src/slots.cc",
     "if (watch_) watch_->changed(0, rows_.size());", "", "scorer"),
]


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    mutations = [mutation for mutation in MUTATIONS if word in mutation[0]]
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    kept = ["CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER_LAUNCHER",
            "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_FLAGS", "CMAKE_PREFIX_PATH", "DPCACHE_DEPS"]
    settings = [f"-D{name}={value}" for name, value in re.findall(r"^([A-Za-z_]+):[A-Z]+=(.*)$", cache, re.MULTILINE)
                if name in kept]
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "dpcache"
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split("\n")
        for name in filter(None, files):
            if not (ROOT / name).is_file():
                continue
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        if (ROOT / ".deps").exists():
            (copy / ".deps").symlink_to(ROOT / ".deps")

        def passes(test: str) -> bool:
            target = f"{test}_test"
            build = subprocess.run(["cmake", "--build", str(copy / "build"), "--target", target], capture_output=True,
                                   text=True, check=False)
            if build.returncode != 0:
                sys.exit(f"it does not compile:\n{build.stdout[-3000:]}")
            return subprocess.run([str(copy / "build/tests" / target)], cwd=copy / "build/tests", timeout=600,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

        subprocess.run(["cmake", "-G", "Ninja", "-S", str(copy), "-B", str(copy / "build"), "-DDPCACHE_CUDA=OFF", *settings],
                       check=True,
                       stdout=subprocess.DEVNULL)
        for test in sorted({test for *_, test in mutations}):
            if not passes(test):
                print(f"{test} fails without a mutation")
                return 1
        for what, name, old, new, test in mutations:
            path = copy / name
            text = path.read_text(encoding="utf-8")
            if text.count(old) != 1:
                print(f"{name} has this {text.count(old)} times, not once: {old}")
                return 1
            path.write_text(text.replace(old, new), encoding="utf-8")
            survived = passes(test)
            path.write_text(text, encoding="utf-8")
            print(f"{'SURVIVED' if survived else 'caught  '}  {what}", flush=True)
            if survived:
                survivors.append(what)
    print(f"{len(mutations) - len(survivors)} of {len(mutations)} caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
