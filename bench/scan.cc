// Times nearest and observe on a memory file, inside C++: natively with one instruction set, or in
// wasm.
//
//   scan FILE QUERIES ROUNDS [TARGET | flat:TARGET]
//
// QUERIES: rows of float32, all of which must merge. TARGET: an instruction set by Highway's name,
// by default the best. flat: all keys are scanned, as if there were no codes. Prints one line of
// JSON: nanoseconds a call, one figure a round. bench/js puts them beside the same calls made from
// JavaScript.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "codes.h"
#include "dpcache/dpcache.h"
#include "kernels.h"

namespace {

using dpcache::Cache;
using Clock = std::chrono::steady_clock;

constexpr double kRoundNs = 1e7;  // long enough for any clock, short enough for many rounds

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "scan: %s\n", what.c_str());
  std::exit(1);
}

std::vector<char> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Call>
double time_round(std::size_t calls, const Call& call) {
  const auto start = Clock::now();
  for (std::size_t i = 0; i < calls; ++i) call(i);
  const std::chrono::duration<double, std::nano> passed = Clock::now() - start;
  return passed.count();
}

template <class Call>
void print_rounds(const char* name, std::size_t rounds, const Call& call) {
  std::size_t calls = 16;
  while (time_round(calls, call) < kRoundNs) calls *= 2;
  std::printf(", \"%s\": [", name);
  for (std::size_t round = 0; round < rounds; ++round) {
    std::printf("%s%.1f", round > 0 ? ", " : "",
                time_round(calls, call) / static_cast<double>(calls));
  }
  std::printf("]");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: scan FILE QUERIES ROUNDS [TARGET | flat:TARGET]");
  std::string target = argc > 4 ? argv[4] : "";
  if (target.starts_with("flat:")) {
    dpcache::codes_from.floats = SIZE_MAX;
    target.erase(0, 5);
  }
  if (!target.empty() && !dpcache::kernels::use_target(target)) {
    fail("there is no such target here");
  }
  const std::vector<char> file = read(argv[1]);
  auto loaded = Cache::load(std::as_bytes(std::span(file)));
  if (!loaded) fail("not a memory file");
  Cache cache = std::move(*loaded);

  const std::vector<char> bytes = read(argv[2]);
  std::vector<float> queries(bytes.size() / sizeof(float));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(queries.data()));
  const std::size_t dimension = cache.config().dimension;
  const std::size_t count = queries.size() / dimension;
  if (count == 0) fail("there are no queries");
  const auto query = [&](std::size_t i) {
    return std::span<const float>(queries).subspan(i % count * dimension, dimension);
  };
  const auto rounds = static_cast<std::size_t>(std::atoi(argv[3]));

  std::printf("{\"target\": \"%s\"", target.empty()
                                         ? std::string(dpcache::kernels::targets().front()).c_str()
                                         : target.c_str());
  std::uint64_t seen = 0;  // keeps the calls from being optimised away
  print_rounds("nearest", rounds, [&](std::size_t i) { seen += (*cache.nearest(query(i)))->slot; });
  print_rounds("observe", rounds, [&](std::size_t i) {
    dpcache::Item item;
    item.key = query(i);
    item.time = 1;
    const auto decision = cache.observe(item);
    if (decision->action != dpcache::Action::merge) fail("an item did not merge");
    seen += decision->slot;
  });
  std::printf(", \"seen\": %llu}\n", static_cast<unsigned long long>(seen));
  return 0;
}
