// Makes a memory file of given keys: each opens a slot, whatever is there already.
//
//   make_memory KEYS DIMENSION FILE
//
// KEYS: a file of rows of float32, or how many keys to make up. Recorded allocations are replayed,
// which scores nothing, so that 100,000 slots take a second and not minutes.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "dpcache/dpcache.h"
#include "kernels.h"

int main(int argc, char** argv) {
  const auto fail = [](const std::string& what) {
    std::fprintf(stderr, "make_memory: %s\n", what.c_str());
    return 1;
  };
  if (argc != 4) return fail("usage: make_memory KEYS DIMENSION FILE");
  dpcache::Config config;
  config.dimension = static_cast<std::uint32_t>(std::atoi(argv[2]));
  const std::string source = argv[1];
  std::vector<float> keys;
  if (source.find_first_not_of("0123456789") == std::string::npos) {
    keys.resize(std::stoul(source) * config.dimension);
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> between(-1, 1);
    for (float& number : keys) number = between(random);
  } else {
    std::ifstream in(source, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    keys.resize(bytes.size() / sizeof(float));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(keys.data()));
  }
  auto created = dpcache::Cache::create(config);
  if (!created || keys.empty()) return fail("no keys, or not a dimension");
  const std::size_t dimension = config.dimension;
  std::vector<float> unit(dpcache::padded(dimension));
  for (std::size_t i = 0; i < keys.size() / dimension; ++i) {
    dpcache::kernels::normalise(std::span(keys).subspan(i * dimension, dimension), unit);
    dpcache::Event event;
    event.seq = i + 1;
    event.item.key = std::span<const float>(unit).first(dimension);
    event.decision.slot = i + 1;
    if (!created->apply(event)) return fail("a key was refused");
  }
  const std::vector<std::byte> file = created->save();
  std::ofstream out(argv[3], std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  return out.flush() ? 0 : fail("cannot write the file");
}
