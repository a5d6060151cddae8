// Streams of items by a rule and a seed: integers and exact float steps alone, so that every
// platform, and a reader with another language, makes the same bits. tests/vectors/README.md says
// the rule.
#ifndef DPCACHE_TESTS_STREAMS_H_
#define DPCACHE_TESTS_STREAMS_H_

#include <cstdint>
#include <vector>

namespace dpcache::streams {

// SplitMix64 as a function of a position.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t x = (seed << 32U) + position + 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// In [-1, 1]: the upper 32 bits as a signed integer, times 2^-31, rounded to float once.
inline float random_float(std::uint64_t seed, std::uint64_t position) {
  const auto high = static_cast<std::int32_t>(random_bits(seed, position) >> 32U);
  return static_cast<float>(high) * 0x1p-31F;
}

struct Rule {
  std::uint64_t seed = 1;
  std::uint32_t dimension = 16;
  std::uint32_t distinct = 8;  // how many vectors the stream repeats
  float noise = 0.0F;          // what is added to them, times random_float

  // Which of the distinct vectors item t repeats.
  std::uint32_t source(std::uint64_t t) const {
    return static_cast<std::uint32_t>(random_bits(seed + 1, t) % distinct);
  }
  float base(std::uint32_t source, std::uint32_t d) const {
    return random_float(seed, std::uint64_t{source} * dimension + d);
  }
  std::vector<float> key(std::uint64_t t) const {
    std::vector<float> out(dimension);
    for (std::uint32_t d = 0; d < dimension; ++d) {
      const float blur = noise * random_float(seed + 2, t * dimension + d);
      out[d] = base(source(t), d) + blur;
    }
    return out;
  }
};

}  // namespace dpcache::streams

#endif  // DPCACHE_TESTS_STREAMS_H_
