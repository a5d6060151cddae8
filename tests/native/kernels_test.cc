// The kernels against plain loops, by bits and on every instruction set, and against the truth
// within bounds that follow from the rounding unit.
#include "kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "native/support.h"
#include "numerics.h"
#include "reference.h"

namespace dpcache {
namespace {

using testing::Random;

constexpr double kFloatUnit = 0x1p-24;   // half an ulp of 1: the largest relative error of one step
constexpr double kDoubleUnit = 0x1p-53;  // the same in double

std::uint32_t bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}
std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

// Two vectors whose products are finite.
struct Pair {
  std::vector<float> a;
  std::vector<float> b;
};

struct Pattern {
  const char* name;
  std::function<Pair(std::size_t length, Random& random)> make;
};

template <class A, class B>
Pair fill(std::size_t length, A a, B b) {
  Pair pair;
  for (std::size_t i = 0; i < length; ++i) {
    pair.a.push_back(a(i));
    pair.b.push_back(b(i));
  }
  return pair;
}

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> kAll = {
      {"uniform",
       [](std::size_t n, Random& random) {
         return Pair{random.vector(n), random.vector(n)};
       }},
      {"denormal",
       [](std::size_t n, Random& random) {
         return fill(
             n, [&](std::size_t) { return random.number() * 1e-40F; },
             [&](std::size_t) { return random.number() * 1e4F; });
       }},
      {"products that underflow",
       [](std::size_t n, Random& random) {
         return fill(
             n, [&](std::size_t) { return random.number() * 1e-22F; },
             [&](std::size_t) { return random.number() * 1e-22F; });
       }},
      {"huge against tiny",
       [](std::size_t n, Random& random) {
         return fill(
             n, [&](std::size_t) { return random.number() * 3e38F; },
             [&](std::size_t) { return random.number() * 1e-38F; });
       }},
      {"all magnitudes",
       [](std::size_t n, Random& random) {
         return fill(
             n,
             [&](std::size_t) {
               return std::ldexp(random.number(), static_cast<int>(random.below(60)) - 30);
             },
             [&](std::size_t) {
               return std::ldexp(random.number(), static_cast<int>(random.below(60)) - 30);
             });
       }},
      {"cancelling along a lane",
       [](std::size_t n, Random& random) {
         Pair pair{random.vector(n), {}};
         for (std::size_t i = 0; i < n; ++i) {
           if (i >= 16 && i / 16 % 2 == 1) pair.a[i] = -pair.a[i - 16];
         }
         pair.b.assign(n, 1.0F / 3.0F);
         return pair;
       }},
      {"cancelling across lanes",
       [](std::size_t n, Random& random) {
         Pair pair{random.vector(n), {}};
         for (std::size_t i = 0; i < n; ++i) {
           if (i % 16 >= 8) pair.a[i] = -pair.a[i - 8];
         }
         pair.b.assign(n, 0.7F);
         return pair;
       }},
      {"zeros of both signs",
       [](std::size_t n, Random& random) {
         return fill(
             n,
             [&](std::size_t) {
               return random.one_of({0.0F, -0.0F});
             },
             [&](std::size_t) {
               return random.one_of({0.0F, -0.0F, 1.0F, -1.0F});
             });
       }},
      {"negative zeros alone",
       [](std::size_t n, Random&) {
         return fill(
             n, [](std::size_t) { return -0.0F; }, [](std::size_t) { return 1.0F; });
       }},
      {"one component",
       [](std::size_t n, Random& random) {
         Pair pair{std::vector<float>(n), std::vector<float>(n)};
         pair.a[random.below(n)] = 1.0F;
         pair.b = random.vector(n);
         return pair;
       }},
  };
  return kAll;
}

std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all;
  for (std::size_t n = 16; n <= 1040; n += n < 160 ? 16 : 80) all.push_back(n);
  return all;
}

// Calls visit(pair) with every pattern and length, on every target.
template <class Visit>
void on_every_input(Visit visit) {
  testing::on_every_target([&] {
    for (const Pattern& pattern : patterns()) {
      for (const std::size_t length : lengths()) {
        SCOPED_TRACE(::testing::Message() << pattern.name << ", " << length << " numbers");
        Random random(length);
        visit(pattern.make(length, random));
        if (::testing::Test::HasFailure()) return;
      }
    }
  });
}

TEST(Kernels, KnowAtLeastOneTargetAndRefuseUnknownOnes) {
  EXPECT_FALSE(kernels::targets().empty());
  EXPECT_FALSE(kernels::use_target("no such target"));
  EXPECT_FALSE(kernels::use_target(""));
}

TEST(Dots, HaveTheBitsOfThePlainLoop) {
  on_every_input([](const Pair& pair) {
    // Three rows: b, a, b.
    std::vector<float> rows = pair.b;
    rows.insert(rows.end(), pair.a.begin(), pair.a.end());
    rows.insert(rows.end(), pair.b.begin(), pair.b.end());
    bool finite = true;
    for (float x : pair.a) finite = finite && std::fabs(x) < 1e18F;
    const std::size_t count = finite ? 3 : 1;  // a . a may overflow
    std::vector<float> out(count);
    kernels::dots(pair.a.data(), rows.data(), pair.a.size(), count, out.data());
    const float expected = reference::dot(pair.a, pair.b);
    EXPECT_EQ(bits(out[0]), bits(expected)) << out[0] << " against " << expected;
    if (!finite) return;
    EXPECT_EQ(bits(out[1]), bits(reference::dot(pair.a, pair.a)));
    EXPECT_EQ(bits(out[2]), bits(expected));
  });
}

// A row whose second product, rounded on its own, cancels the first exactly. A fused step would
// leave the rounding error.
TEST(Dots, RoundEachProductBeforeItIsAdded) {
  testing::on_every_target([] {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::vector<float> a(48);
      std::vector<float> b(48);
      a[lane] = -1.0F;
      b[lane] = 1.0F + 0x1p-11F;
      a[lane + 16] = b[lane + 16] = 1.0F + 0x1p-12F;
      float out = 1.0F;
      kernels::dots(a.data(), b.data(), a.size(), 1, &out);
      EXPECT_EQ(out, 0.0F) << "lane " << lane;
    }
  });
}

TEST(Dots, OfNoRowsWriteNothing) {
  const std::vector<float> query(16, 1.0F);
  float out = 7.0F;
  kernels::dots(query.data(), query.data(), 16, 0, &out);
  EXPECT_EQ(out, 7.0F);
}

TEST(Dots, DoNotDependOnAlignment) {
  testing::on_every_target([] {
    for (std::size_t shift = 0; shift < 16; ++shift) {
      Random random(shift);
      const std::size_t length = 112;
      const std::vector<float> a = random.vector(length);
      const std::vector<float> b = random.vector(length * 3);
      std::vector<float> moved_a(length + 16);
      std::vector<float> moved_b(length * 3 + 16);
      std::copy(a.begin(), a.end(), moved_a.begin() + static_cast<std::ptrdiff_t>(shift));
      std::copy(b.begin(), b.end(), moved_b.begin() + static_cast<std::ptrdiff_t>(15 - shift));
      std::vector<float> out(3);
      std::vector<float> moved(4);
      kernels::dots(a.data(), b.data(), length, 3, out.data());
      kernels::dots(moved_a.data() + shift, moved_b.data() + 15 - shift, length, 3,
                    moved.data() + 1);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(bits(out[i]), bits(moved[i + 1]));
    }
  });
}

// A lane adds length / 16 products, then the tree adds 4 times; each step errs by one rounding
// unit, and a product that underflows by half the least float.
TEST(Dots, AreWithinTheRoundingBoundOfTheTruth) {
  on_every_input([](const Pair& pair) {
    float out = 0.0F;
    kernels::dots(pair.a.data(), pair.b.data(), pair.a.size(), 1, &out);
    double truth = 0.0;
    double magnitude = 0.0;
    for (std::size_t i = 0; i < pair.a.size(); ++i) {
      const double product = static_cast<double>(pair.a[i]) * static_cast<double>(pair.b[i]);
      truth += product;
      magnitude += std::fabs(product);
    }
    const auto steps = static_cast<double>(pair.a.size() / kLanes + 5);
    const double bound =
        1.001 * steps * kFloatUnit * magnitude + static_cast<double>(pair.a.size()) * 0x1p-150;
    EXPECT_LE(std::fabs(static_cast<double>(out) - truth), bound);
  });
}

TEST(SumSquares, HaveTheBitsOfThePlainLoop) {
  on_every_input([](const Pair& pair) {
    const auto plain = [](const auto& x) {
      return reference::canonical_sum<double>(x.size(), [&](std::size_t i) {
        const double square = static_cast<double>(x[i]) * static_cast<double>(x[i]);
        return square;
      });
    };
    EXPECT_EQ(bits(kernels::sum_squares(pair.a.data(), pair.a.size())), bits(plain(pair.a)));
    std::vector<double> wide(pair.a.begin(), pair.a.end());
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] += static_cast<double>(pair.b[i]) * 1e-9;
    EXPECT_EQ(bits(kernels::sum_squares(wide.data(), wide.size())), bits(plain(wide)));
  });
}

TEST(SumSquares, AreWithinTheRoundingBoundOfTheTruth) {
  on_every_input([](const Pair& pair) {
    long double truth = 0.0L;
    for (float x : pair.a) truth += static_cast<long double>(x) * static_cast<long double>(x);
    const double found = kernels::sum_squares(pair.a.data(), pair.a.size());
    const auto steps = static_cast<double>(pair.a.size() / kLanes + 5);
    EXPECT_LE(std::fabs(static_cast<double>(static_cast<long double>(found) - truth)),
              1.001 * steps * kDoubleUnit * static_cast<double>(truth));
  });
}

TEST(Divide, RoundsTheQuotientInDoubleAndThenOnceToFloat) {
  on_every_input([](const Pair& pair) {
    std::vector<double> wide(pair.a.begin(), pair.a.end());
    for (const double divisor : {1.0, 3.0, 0.1, 1e30, 1e-30, 7.0 / 11.0}) {
      std::vector<float> out(pair.a.size());
      const auto check = [&](const auto& x) {
        for (std::size_t i = 0; i < out.size(); ++i) {
          const double quotient = static_cast<double>(x[i]) / divisor;
          if (std::fabs(quotient) > 3.4e38) continue;  // where a float ends
          ASSERT_EQ(bits(out[i]), bits(static_cast<float>(quotient)))
              << x[i] << " / " << divisor << " at " << i;
        }
      };
      kernels::divide(pair.a.data(), divisor, pair.a.size(), out.data());
      check(pair.a);
      kernels::divide(wide.data(), divisor, wide.size(), out.data());
      check(wide);
      std::vector<float> in_place = pair.a;
      kernels::divide(in_place.data(), divisor, in_place.size(), in_place.data());
      check(pair.a);
    }
  });
}

// Quotients half way between two floats, where a product with the inverse goes the wrong way.
TEST(Divide, RoundsAsADivisionAndNotAsAProductWithTheInverse) {
  testing::on_every_target([] {
    Random random(9);
    int inverse_differs = 0;
    for (int i = 0; i < 2000; ++i) {
      const float below = 1.5F + 0.49F * random.number();
      const double half_way =
          (static_cast<double>(below) + static_cast<double>(std::nextafter(below, 2.0F))) / 2;
      const std::vector<float> x(16, 1.5F + 0.49F * random.number());
      const double divisor = static_cast<double>(x[0]) / half_way;
      const auto expected = static_cast<float>(static_cast<double>(x[0]) / divisor);
      inverse_differs +=
          expected != static_cast<float>(static_cast<double>(x[0]) * (1.0 / divisor));
      std::vector<float> out(16);
      kernels::divide(x.data(), divisor, x.size(), out.data());
      for (float quotient : out) ASSERT_EQ(bits(quotient), bits(expected));
    }
    EXPECT_GT(inverse_differs, 100);
  });
}

TEST(Accumulate, HasTheBitsOfThePlainLoop) {
  on_every_input([](const Pair& pair) {
    for (const double weight : {1.0, 0.1, 1e-300, -3.0}) {
      std::vector<double> sum(pair.b.begin(), pair.b.end());
      std::vector<double> expected = sum;
      kernels::accumulate(weight, pair.a.data(), pair.a.size(), sum.data());
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const double product = weight * static_cast<double>(pair.a[i]);
        expected[i] += product;
        ASSERT_EQ(bits(sum[i]), bits(expected[i])) << "at " << i;
      }
    }
  });
}

TEST(Accumulate, RoundsTheProductBeforeItIsAdded) {
  testing::on_every_target([] {
    const std::vector<float> x(16, 1.0F + 0x1p-20F);
    const double weight = 1.0 + 0x1p-50;
    const double rounded = weight * static_cast<double>(x[0]);  // loses 2^-70
    std::vector<double> sum(16, -rounded);
    kernels::accumulate(weight, x.data(), x.size(), sum.data());
    for (double s : sum) EXPECT_EQ(s, 0.0);
  });
}

TEST(Normalise, HasTheBitsOfThePlainLoopForEveryLength) {
  testing::on_every_target([] {
    for (std::size_t dimension = 1; dimension <= 100; ++dimension) {
      Random random(dimension);
      for (const float scale : {1.0F, 1e-44F, 1e-30F, 3e38F}) {
        std::vector<float> x = random.vector(dimension);
        for (float& component : x) component *= scale;
        x[0] = scale;  // not all zero
        const std::vector<float> expected = reference::unit<float>(std::span<const float>(x));
        std::vector<float> out(padded(dimension), 9.0F);
        kernels::normalise(x, out);
        for (std::size_t i = 0; i < out.size(); ++i) {
          ASSERT_EQ(bits(out[i]), bits(i < dimension ? expected[i] : 0.0F)) << "component " << i;
        }
        // In place.
        std::vector<float> in_place(padded(dimension), 9.0F);
        std::copy(x.begin(), x.end(), in_place.begin());
        kernels::normalise(std::span(in_place).first(dimension), in_place);
        ASSERT_EQ(in_place, out);
      }
    }
  });
}

// Unit vectors of many shapes: spread, steep, and with most of their length in one place.
std::vector<float> unit_vector(std::size_t dimension, std::uint64_t shape) {
  Random random(dimension * 8 + shape);
  std::vector<float> x = random.vector(dimension);
  for (std::size_t i = 0; i < dimension; ++i) {
    const auto t = static_cast<float>(i) / static_cast<float>(dimension);
    if (shape % 4 == 1) x[i] = 1.0F;                    // all equal
    if (shape % 4 == 2) x[i] = std::exp(-20.0F * t);    // steep
    if (shape % 4 == 3) x[i] = i == 0 ? 100.0F : x[i];  // one leads
  }
  if (shape >= 4) {  // no two components of a lane rounded alike
    for (float& component : x) component *= 1.0F + 0.1F * random.number();
  }
  std::vector<float> unit(padded(dimension));
  kernels::normalise(x, unit);
  return unit;
}

std::vector<std::size_t> dimensions() {
  return {1, 2, 3, 7, 16, 17, 64, 100, 128, 384, 768, 1024, 1536, 3072, 4096, 10000, 32768, 65536};
}

TEST(UnitVectors, ScoreThemselvesWithinTheSnapOfOneInAnyDimension) {
  testing::on_every_target([] {
    for (const std::size_t dimension : dimensions()) {
      const float margin = snap_margin(padded(dimension));
      for (std::uint64_t shape = 0; shape < 8; ++shape) {
        const std::vector<float> x = unit_vector(dimension, shape);
        std::vector<float> rows = x;
        for (float component : x) rows.push_back(-component);
        std::vector<float> scores(2);
        kernels::dots(x.data(), rows.data(), x.size(), 2, scores.data());
        EXPECT_EQ(snap(scores[0], margin), 1.0F) << dimension << ", shape " << shape;
        EXPECT_EQ(snap(scores[1], margin), -1.0F) << dimension << ", shape " << shape;
      }
    }
  });
}

// The canonical score of two float unit vectors is within (d / 16 + 8) 2^-24, half the snap margin,
// of the cosine of what was given: d / 16 + 4 additions and a product in the score, and one
// rounding of each component of either vector, as sum |a b| <= 1.
TEST(UnitVectors, ScoreWithinHalfTheSnapMarginOfTheTrueCosine) {
  for (const std::size_t dimension : dimensions()) {
    const double bound = static_cast<double>(snap_margin(padded(dimension))) / 2;
    for (std::uint64_t shape = 0; shape < 16; ++shape) {
      Random random(dimension + shape);
      std::vector<float> a = random.vector(dimension);
      std::vector<float> b = random.vector(dimension);
      const float mix = random.one_of({0.0F, .5F, 10.0F, -1000.0F});  // up to nearly parallel
      for (std::size_t i = 0; i < dimension; ++i) b[i] += mix * a[i];
      const std::vector<double> true_a = reference::unit<double>(std::span<const float>(a));
      const std::vector<double> true_b = reference::unit<double>(std::span<const float>(b));
      if (true_a.empty() || true_b.empty()) continue;
      std::vector<float> unit_a(padded(dimension));
      std::vector<float> unit_b(padded(dimension));
      kernels::normalise(a, unit_a);
      kernels::normalise(b, unit_b);
      float score = 0.0F;
      kernels::dots(unit_a.data(), unit_b.data(), unit_a.size(), 1, &score);
      EXPECT_LE(std::fabs(static_cast<double>(score) - reference::dot(true_a, true_b)), bound)
          << dimension << ", shape " << shape;
    }
  }
}

}  // namespace
}  // namespace dpcache
