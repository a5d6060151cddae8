// The kernels' own source on the CPU, held to plain loops by bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cuda/emulated_launch.h"
#include "cuda/work.h"
#include "dpcache/scorer.h"
#include "numerics.h"
#include "reference.h"

namespace dpcache::cuda {
namespace {

using Vector = std::vector<float>;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  float normal() { return normal_(engine_); }
  std::size_t below(std::size_t n) { return engine_() % n; }

 private:
  std::mt19937 engine_;
  std::normal_distribution<float> normal_;
};

Vector unit(const Vector& x) {
  Vector out = reference::unit<float>(std::span<const float>(x));
  out.resize(padded(x.size()));
  return out;
}

// Vectors with the arrays that belong to them, each in memory of its exact size.
struct Block {
  explicit Block(const std::vector<Vector>& vectors) : stride(vectors[0].size()) {
    for (const Vector& vector : vectors) keys.insert(keys.end(), vector.begin(), vector.end());
    codes.resize(rounded_up(vectors.size(), kChunkRows) * code_stride(stride) / sizeof(uint4));
    steps.resize(vectors.size());
    errors.resize(vectors.size());
    chunk_errors.resize(chunks(vectors.size()));
  }
  Vectors view() {
    Vectors view;
    view.keys = keys.data();
    view.codes = reinterpret_cast<std::int8_t*>(codes.data());
    view.steps = steps.data();
    view.errors = errors.data();
    view.chunk_errors = chunk_errors.data();
    view.count = static_cast<std::uint32_t>(steps.size());
    view.stride = static_cast<std::uint32_t>(stride);
    return view;
  }
  void encode() { launch_encode_here(EncodeWork{view(), 0, view().count}); }
  const float* key(std::size_t i) const { return keys.data() + i * stride; }

  std::size_t stride;
  Vector keys;
  std::vector<uint4> codes;
  Vector steps;
  Vector errors;
  Vector chunk_errors;
};

struct Case {
  std::vector<Vector> rows;  // padded, of unit length
  std::vector<Vector> queries;
  std::vector<std::uint32_t> skip;
  std::size_t k = 1;
  std::uint32_t parts = 2;
};

std::vector<Entry> by_loops(const Case& test) {
  const float margin = snap_margin(test.rows[0].size());
  std::vector<Entry> out;
  for (const Vector& query : test.queries) {
    std::vector<Entry> all;
    for (std::uint32_t r = 0; r < test.rows.size(); ++r) {
      if (!test.skip.empty() && (test.skip[r / 32] >> r % 32 & 1U) != 0) continue;
      all.push_back({r, snap(reference::dot(query, test.rows[r]), margin)});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Entry& a, const Entry& b) { return a.score > b.score; });
    all.resize(test.k, {RowMatch::kNone, -4.0F});
    out.insert(out.end(), all.begin(), all.end());
  }
  return out;
}

struct Answer {
  std::vector<Entry> entries;
  std::uint64_t live = 0;
};

Answer by_kernels(const Case& test, Way way, std::uint32_t scan_from = 8) {
  Block rows(test.rows);
  Block queries(test.queries);
  rows.encode();
  const std::size_t count = test.queries.size();
  Answer answer;
  answer.entries.resize(count * test.k);
  Vector best(count * chunks(test.rows.size()));
  Vector least(count);
  std::vector<Entry> partial(count * test.parts * test.k);
  SearchWork work;
  work.way = way;
  work.rows = rows.view();
  work.queries = queries.view();
  work.queries.chunk_errors = nullptr;
  work.skip = test.skip.empty() ? nullptr : test.skip.data();
  work.margin = snap_margin(rows.stride);
  work.k = static_cast<std::uint32_t>(test.k);
  work.parts = test.parts;
  work.scan_from = scan_from;
  work.best = best.data();
  work.least = least.data();
  work.live = &answer.live;
  work.partial = partial.data();
  work.out = answer.entries.data();
  launch_search_here(work);
  return answer;
}

void expect_same(const std::vector<Entry>& found, const std::vector<Entry>& expected,
                 const char* way) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].row, expected[i].row) << way << ", entry " << i;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i].score),
              std::bit_cast<std::uint32_t>(expected[i].score))
        << way << ", entry " << i;
  }
}

void expect_exact(const Case& test) {
  const std::vector<Entry> expected = by_loops(test);
  expect_same(by_kernels(test, Way::scan).entries, expected, "scan");
  expect_same(by_kernels(test, Way::codes).entries, expected, "codes");
  expect_same(by_kernels(test, Way::codes, 1).entries, expected, "codes, never a scan");
}

// Rows of clusters, and queries near some of them.
Case clusters(unsigned seed, std::size_t dimension, std::size_t rows, std::size_t queries,
              std::size_t centres, float spread) {
  Random random(seed);
  std::vector<Vector> middle(centres, Vector(dimension));
  for (Vector& centre : middle) {
    for (float& x : centre) x = random.normal();
  }
  const auto near = [&] {
    Vector x = middle[random.below(centres)];
    for (float& part : x) part += spread * random.normal();
    return unit(x);
  };
  Case test;
  for (std::size_t r = 0; r < rows; ++r) test.rows.push_back(near());
  for (std::size_t q = 0; q < queries; ++q) test.queries.push_back(near());
  return test;
}

TEST(CudaKernels, EveryShapeFindsWhatLoopsFind) {
  struct Shape {
    std::size_t dimension, rows, queries, k;
  };
  for (const auto& [dimension, rows, queries, k] :
       {Shape{1, 3, 1, 1}, Shape{16, 1, 1, 1}, Shape{17, 127, 3, 2}, Shape{48, 128, 8, 16},
        Shape{64, 129, 9, 5}, Shape{100, 333, 33, 1}, Shape{384, 260, 5, 10}, Shape{30, 300, 65, 3},
        Shape{24, 500, 3, 64}, Shape{24, 20, 2, 17}}) {
    SCOPED_TRACE(testing::Message() << dimension << " floats, " << rows << " rows, " << queries
                                    << " queries, k = " << k);
    Case test = clusters(7, dimension, rows, queries, 1 + rows / 4, 0.3F);
    test.k = k;
    expect_exact(test);
  }
}

TEST(CudaKernels, CodesRuleOutMostRowsAndTheAnswerStays) {
  Case test = clusters(1, 64, 1500, 12, 400, 0.2F);
  for (const std::size_t k : {std::size_t{1}, std::size_t{10}}) {
    test.k = k;
    const Answer answer = by_kernels(test, Way::codes);
    expect_same(answer.entries, by_loops(test), "codes");
    EXPECT_LT(answer.live, k == 1 ? 12 * chunks(1500) / 2 : 12 * chunks(1500) + 1);
    EXPECT_GE(answer.live, 12U);
  }
}

TEST(CudaKernels, TheSecondLookFindsTheBestOfWhatIsLeft) {
  // Twenty neighbours for each query, each in a chunk of its own: few of all chunks are left.
  constexpr std::size_t kRows = 24'000;
  constexpr std::size_t kClusters = 1'200;
  Random random(18);
  std::vector<Vector> centres(kClusters, Vector(16));
  for (Vector& centre : centres) {
    for (float& x : centre) x = random.normal();
  }
  Case test;
  for (std::size_t r = 0; r < kRows; ++r) {
    Vector x = centres[r % kClusters];
    for (float& part : x) part += 0.1F * random.normal();
    test.rows.push_back(unit(x));
  }
  for (const std::size_t c : {3U, 500U, 1100U}) test.queries.push_back(unit(centres[c]));
  for (const std::size_t k : {std::size_t{1}, std::size_t{5}, std::size_t{17}}) {
    test.k = k;
    const Answer answer = by_kernels(test, Way::codes);
    ASSERT_LE(answer.live, test.queries.size() * chunks(kRows) / 8) << "a scan answered";
    ASSERT_GE(answer.live, test.queries.size() * k);
    expect_same(answer.entries, by_loops(test), "codes");
  }
}

TEST(CudaKernels, WhereCodesRuleNothingOutAScanAnswers) {
  // All rows are nearer to each other than their codes can tell.
  Case test = clusters(2, 48, 400, 4, 1, 0.001F);
  for (const std::size_t k : {std::size_t{1}, std::size_t{20}}) {
    test.k = k;
    const Answer answer = by_kernels(test, Way::codes);
    EXPECT_EQ(answer.live, 4 * chunks(400));
    expect_same(answer.entries, by_loops(test), "codes");
  }
}

TEST(CudaKernels, TheLowestOfEqualRowsWins) {
  Case test = clusters(3, 40, 700, 6, 5, 0.5F);
  for (std::size_t r = 0; r < test.rows.size(); ++r) test.rows[r] = test.rows[r % 90];
  test.queries[0] = test.rows[80];
  test.queries[1] = test.rows[13];
  for (const std::size_t k : {std::size_t{1}, std::size_t{9}, std::size_t{40}}) {
    test.k = k;
    expect_exact(test);
  }
}

TEST(CudaKernels, WhatSnapsIsEqual) {
  // Rows around one direction, some of them so near that they count as 1; and the opposite.
  Case test = clusters(4, 64, 300, 1, 300, 0.1F);
  Random random(5);
  const Vector centre = test.queries[0];
  for (std::size_t r = 0; r < test.rows.size(); r += 3) {
    Vector x = centre;
    x[random.below(64)] += 2e-4F * random.normal();
    test.rows[r] = unit(x);
  }
  Vector opposite = centre;
  for (float& x : opposite) x = -x;
  test.queries = {centre, opposite, test.rows[0]};
  for (const std::size_t k : {std::size_t{1}, std::size_t{8}}) {
    test.k = k;
    expect_exact(test);
  }
  // Only opposites: all count as -1, and the lowest is the answer.
  test.rows.assign(200, opposite);
  for (std::size_t r = 0; r < test.rows.size(); ++r) {
    Vector x = opposite;
    x[random.below(64)] += 1e-4F * random.normal();
    test.rows[r] = unit(x);
  }
  test.queries = {centre};
  test.k = 3;
  expect_exact(test);
}

TEST(CudaKernels, WhatSnapsIsEqualWhereCodesCouldTell) {
  // Rows whose codes are all but exact: A scores 1, B just enough to count as 1.
  constexpr std::size_t kStride = 4096;
  const float margin = snap_margin(kStride);
  Vector a(kStride);
  a[0] = 1.0F;
  Vector b(kStride);
  b[0] = 127.0F;
  b[1] = 1.0F;
  b = unit(b);
  ASSERT_GE(b[0], 1.0F - margin);
  ASSERT_LT(b[0], 1.0F - 0.9F * margin);
  Vector opposite(kStride);
  opposite[0] = -1.0F;
  Vector far(kStride);
  far[7] = 1.0F;
  Case test;
  test.rows.assign(2 * kChunkRows, far);
  test.rows[3] = b;
  test.rows[kChunkRows + 5] = a;
  test.queries = {a};
  expect_exact(test);
  EXPECT_EQ(by_kernels(test, Way::codes, 1).entries[0].row, 3U);
  test.rows.assign(kChunkRows, a);
  test.rows.resize(2 * kChunkRows, b);
  test.queries = {opposite};
  expect_exact(test);
  EXPECT_EQ(by_kernels(test, Way::codes, 1).entries[0].row, 0U);
}

TEST(CudaKernels, ARowThatIsSkippedRulesNothingOut) {
  Case test = clusters(16, 64, 450, 10, 450, 0.1F);
  test.skip.assign((test.rows.size() + 31) / 32, 0);
  for (std::size_t q = 0; q < 10; ++q) {
    const std::size_t r = q * 43;
    test.queries[q] = test.rows[r];
    test.skip[r / 32] |= 1U << r % 32;
  }
  expect_exact(test);
}

TEST(CudaKernels, RowsThatAreSkippedDoNotCount) {
  Case test = clusters(6, 32, 450, 10, 20, 0.3F);
  Random random(8);
  test.skip.assign((test.rows.size() + 31) / 32, 0);
  for (std::size_t r = 0; r < test.rows.size(); ++r) {
    if (random.below(3) != 0 || r < 140) test.skip[r / 32] |= 1U << r % 32;  // a whole chunk too
  }
  for (const std::size_t k : {std::size_t{1}, std::size_t{12}}) {
    test.k = k;
    expect_exact(test);
  }
  std::fill(test.skip.begin(), test.skip.end(), 0xFFFF'FFFFU);
  expect_exact(test);  // none counts
}

TEST(CudaKernels, VectorsThatMissUnitLengthAreFoundToo) {
  Case test = clusters(9, 48, 400, 4, 100, 0.2F);
  for (std::size_t r = 0; r < 400; r += 37) {
    for (float& x : test.rows[r]) x *= 1.001F;
  }
  for (float& x : test.rows[200]) x *= 1.5F;
  for (float& x : test.rows[300]) x = 0.0F;
  for (float& x : test.queries[1]) x *= 0.2F;
  for (float& x : test.queries[2]) x = 0.0F;
  for (const std::size_t k : {std::size_t{1}, std::size_t{7}}) {
    test.k = k;
    expect_exact(test);
  }
}

TEST(CudaKernels, OneLargeComponentSpoilsNoAnswer) {
  // Codes have little left for the other components.
  Case test = clusters(10, 64, 500, 8, 500, 0.0F);
  for (auto* vectors : {&test.rows, &test.queries}) {
    for (Vector& x : *vectors) {
      x[3] = 30.0F * (x[3] < 0 ? -1.0F : 1.0F);
      x = unit(x);
    }
  }
  test.k = 4;
  expect_exact(test);
}

TEST(CudaKernels, PartsDoNotChangeTheAnswer) {
  Case test = clusters(11, 32, 900, 3, 50, 0.3F);
  test.k = 6;
  const std::vector<Entry> expected = by_loops(test);
  for (const std::uint32_t parts : {1U, 2U, 3U, 8U, 40U}) {
    test.parts = parts;
    expect_same(by_kernels(test, Way::scan).entries, expected, "scan");
    expect_same(by_kernels(test, Way::codes, 1).entries, expected, "codes");
  }
}

// The angle of the proof: no code may miss its vector by more than its error says, nor a product of
// codes the canonical score by more than the bound.
TEST(CudaKernels, CodesMissByNoMoreThanTheySay) {
  Case test = clusters(12, 100, 150, 20, 150, 0.5F);
  test.rows[7] = unit([] {
    Vector x(100, 1e-30F);
    x[5] = 1.0F;
    return x;
  }());
  Block rows(test.rows);
  rows.encode();
  Block queries(test.queries);
  queries.encode();
  const std::size_t length = code_stride(rows.stride);
  const auto code = [length](Block& block, std::size_t i) {
    return reinterpret_cast<const std::int8_t*>(block.codes.data()) + i * length;
  };
  const float margin = snap_margin(rows.stride);
  double tightest = 1.0;
  for (std::size_t r = 0; r < test.rows.size(); ++r) {
    double squares = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const double there = i < rows.stride ? static_cast<double>(rows.key(r)[i]) : 0.0;
      const double rest =
          there - static_cast<double>(rows.steps[r]) * static_cast<double>(code(rows, r)[i]);
      squares += rest * rest;
    }
    ASSERT_LE(std::sqrt(squares), static_cast<double>(rows.errors[r]));
    ASSERT_LE(rows.errors[r], rows.chunk_errors[r / kChunkRows]);
    for (std::size_t q = 0; q < test.queries.size(); ++q) {
      std::int64_t product = 0;
      for (std::size_t i = 0; i < length; ++i) product += code(rows, r)[i] * code(queries, q)[i];
      const double cosine = static_cast<double>(product) * static_cast<double>(rows.steps[r]) *
                            static_cast<double>(queries.steps[q]);
      const auto score = static_cast<double>(reference::dot(test.queries[q], test.rows[r]));
      const auto error =
          static_cast<double>(bound_error(rows.errors[r], queries.errors[q], margin));
      ASSERT_LE(std::fabs(score - cosine), error);
      tightest = std::min(tightest, 1.0 - std::fabs(score - cosine) / error);
    }
  }
  EXPECT_LT(tightest, 0.9) << "the bound is so wide that the test shows nothing";
}

TEST(CudaKernels, AWaitThatCannotEndIsReported) {
  // On a thread of its own, which is left with a block in the middle.
  std::thread([] {
    EXPECT_THROW(host_grid::run(1, 64,
                                [] {
                                  if (host_grid::lane() == 5) return;
                                  host_grid::shuffle(0xFFFF'FFFFU, 1, 0);
                                }),
                 std::logic_error);
  }).join();
}

}  // namespace
}  // namespace dpcache::cuda
