// Vectors to measure with, made or read, and what is true about them in double precision.
#include "data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

namespace peers {
namespace {

// Sums of 384 float32 products differ by some 1e-7 by their order.
constexpr double kRounding = 2e-6;

// A sum of four uniform numbers is near enough to a Gaussian for directions.
float gaussian(Random& random) {
  const std::uint64_t bits = random();
  std::int32_t sum = -2 * 65535;
  for (unsigned part = 0; part < 4; ++part) {
    sum += static_cast<std::int32_t>(bits >> (16 * part) & 65535U);
  }
  return static_cast<float>(sum);
}

void scale_to_unit(float* x, std::size_t n) {
  const double factor = 1.0 / std::sqrt(dot(x, x, n));
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(x[i] * factor);
}

void random_unit(Random& random, float* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = gaussian(random);
  scale_to_unit(out, n);
}

// Appends a unit vector of about that cosine to `unit`.
void append_near(const float* unit, double cosine, Random& random, Vectors& out) {
  const std::size_t n = out.dimension;
  out.data.resize(out.data.size() + n);
  float* x = out.data.data() + out.data.size() - n;
  random_unit(random, x, n);
  const double other = std::sqrt(1 - cosine * cosine);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(cosine * unit[i] + other * x[i]);
  scale_to_unit(x, n);
}

}  // namespace

Vectors clustered(std::size_t n, std::size_t dimension, std::uint64_t seed) {
  Random random(seed);
  const auto centres =
      scattered(static_cast<std::size_t>(std::sqrt(static_cast<double>(n))) + 1, dimension, seed);
  Vectors out{dimension, {}};
  out.data.reserve(n * dimension);
  for (std::size_t i = 0; i < n; ++i) {
    append_near(centres.row(random() % centres.size()), std::sqrt(0.5), random, out);
  }
  return out;
}

Vectors scattered(std::size_t n, std::size_t dimension, std::uint64_t seed) {
  Random random(seed + 1'000'003);
  Vectors out{dimension, std::vector<float>(n * dimension)};
  for (std::size_t i = 0; i < n; ++i) {
    random_unit(random, out.data.data() + i * dimension, dimension);
  }
  return out;
}

void append_repeat(const float* unit, Random& random, Vectors& out) {
  append_near(unit, 0.96, random, out);
}

Vectors read_int8(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 10) return {};
  const std::size_t header =
      10U + static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  const std::string text(bytes.data(), std::min(header, bytes.size()));
  const std::size_t comma = text.find(',', text.find("'shape': ("));
  if (comma == std::string::npos || text.find("|i1") == std::string::npos) return {};
  Vectors out{std::stoul(text.substr(comma + 1)), {}};
  for (std::size_t at = header; at + out.dimension <= bytes.size(); at += out.dimension) {
    const char* row = bytes.data() + at;
    if (std::all_of(row, row + out.dimension, [](char x) { return x == 0; })) continue;
    for (std::size_t i = 0; i < out.dimension; ++i) {
      out.data.push_back(static_cast<float>(static_cast<signed char>(row[i])));
    }
    scale_to_unit(out.data.data() + out.data.size() - out.dimension, out.dimension);
  }
  return out;
}

double dot(const float* a, const float* b, std::size_t dimension) {
  constexpr std::size_t kLanes = 16;
  double sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= dimension; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    }
  }
  double sum = 0;
  for (; i < dimension; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (const double part : sums) sum += part;
  return sum;
}

Truth::Truth(const Vectors& keys, const float* queries, std::size_t count, std::size_t k)
    : keys_(&keys), queries_(queries), k_(k) {
  std::vector<double> all(keys.size());
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(k);
  for (std::size_t q = 0; q < count; ++q) {
    const float* query = queries + q * keys.dimension;
    for (std::size_t i = 0; i < keys.size(); ++i) all[i] = dot(keys.row(i), query, keys.dimension);
    std::partial_sort(all.begin(), middle, all.end(), std::greater<>());
    best_.insert(best_.end(), all.begin(), middle);
  }
}

std::size_t Truth::wrong(const Hit* hits, std::size_t count) const {
  std::size_t wrong = 0;
  for (std::size_t q = 0; q < count; ++q) {
    const float* query = queries_ + q * keys_->dimension;
    std::set<std::int64_t> rows;
    bool right = true;
    for (std::size_t j = 0; right && j < k_; ++j) {
      const std::int64_t row = hits[q * k_ + j].row;
      right = row >= 0 && rows.insert(row).second &&
              dot(keys_->row(static_cast<std::size_t>(row)), query, keys_->dimension) >=
                  best_[q * k_ + j] - kRounding;
    }
    wrong += right ? 0U : 1U;
  }
  return wrong;
}

}  // namespace peers
