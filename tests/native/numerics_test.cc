// The exponential of the readout, and the counts that decay without a pass over the slots.
#include "numerics.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "native/support.h"

namespace dpcache {
namespace {

// How many doubles lie between two positive ones.
std::uint64_t distance(double a, double b) {
  const auto x = std::bit_cast<std::uint64_t>(a);
  const auto y = std::bit_cast<std::uint64_t>(b);
  return x > y ? x - y : y - x;
}

TEST(Exponential, IsWithinTwoUnitsOfTheLastPlaceOfLibm) {
  std::uint64_t worst = 0;
  const auto look = [&](double x) {
    const double found = exp_nonpositive(x);
    const double truth = std::exp(x);
    ASSERT_GT(found, 0.0) << x;
    worst = std::max(worst, distance(found, truth));
    ASSERT_LE(distance(found, truth), 2U) << "at " << x << ": " << found << " against " << truth;
  };
  for (int i = 0; i < 400'000; ++i) look(-i * 1e-5);           // [-4, 0], where the weight is
  for (int i = 0; i < 400'000; ++i) look(-i * (707.9 / 4e5));  // the whole range
  for (int n = 1; n < 1021; ++n) {  // both sides of each step of the range reduction
    const double step = -(n - 0.5) * 0.6931471805599453;
    for (int ulp = -40; ulp <= 40; ++ulp) look(step + ulp * 1e-14 * std::fabs(step));
  }
  for (double tiny = 1.0; tiny > 0.0; tiny /= 2) look(-tiny);
  EXPECT_GE(worst, 1U) << "looks at too few places";
}

TEST(Exponential, IsOneAtZeroAndZeroFarBelow) {
  EXPECT_EQ(exp_nonpositive(0.0), 1.0);
  EXPECT_EQ(exp_nonpositive(-0.0), 1.0);
  EXPECT_GT(exp_nonpositive(-707.999999), 0.0);
  EXPECT_EQ(exp_nonpositive(-708.0), 0.0);
  EXPECT_EQ(exp_nonpositive(-709.0), 0.0);
  EXPECT_EQ(exp_nonpositive(-1e300), 0.0);
  EXPECT_EQ(exp_nonpositive(-std::numeric_limits<double>::infinity()), 0.0);
}

// Two similarities that differ at all differ by 2^-24 / 100 in the exponent, far more than this.
TEST(Exponential, NeverFallsAsItsArgumentRises) {
  for (double x = -700.0; x < 0.0; x += 0.01) {
    ASSERT_LE(exp_nonpositive(x), exp_nonpositive(x + 1e-10)) << "at " << x;
  }
  for (int n = 1; n < 1021; ++n) {  // where the range reduction steps
    const double step = -(n - 0.5) * 0.6931471805599453;
    for (int i = -20; i < 20; ++i) {
      const double x = step + i * 1e-12 * std::fabs(step);
      ASSERT_LE(exp_nonpositive(x), exp_nonpositive(x + 1e-12 * std::fabs(step))) << "at " << x;
    }
  }
}

void expect_normal(WideNumber x) {
  EXPECT_GE(x.mantissa, 1.0);
  EXPECT_LT(x.mantissa, 2.0);
}

TEST(WideNumbers, KeepNumbersAsTheyAre) {
  for (double value : {1.0, 1.5, 3.0, 0.1, 1e-300, 1e300, 0x1p52 + 1.0}) {
    const WideNumber wide = WideNumber::of(value);
    expect_normal(wide);
    EXPECT_EQ(wide.over(WideNumber::of(1.0)), value);
  }
  EXPECT_EQ(WideNumber::of(0.0), WideNumber{});
}

TEST(WideNumbers, CountExactlyBelow2To53) {
  const WideNumber one = WideNumber::of(1.0);
  WideNumber count = one;
  for (int i = 2; i <= 100'000; ++i) {
    count = count.plus(one);
    ASSERT_EQ(count.over(one), static_cast<double>(i));
  }
  for (std::uint64_t n = 1; n < (std::uint64_t{1} << 53); n = n * 2 + 1) {
    const auto exact = static_cast<double>(n);
    EXPECT_EQ(WideNumber::of(exact).plus(one).over(one), exact + 1.0);
    EXPECT_EQ(one.plus(WideNumber::of(exact)).over(one), exact + 1.0);
  }
}

TEST(WideNumbers, AddAndMultiplyAsWiderArithmeticDoes) {
  testing::Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const double a = std::ldexp(1.5 + 0.5 * static_cast<double>(random.number()),
                                static_cast<int>(random.below(200)) - 100);
    const double b = std::ldexp(1.5 + 0.5 * static_cast<double>(random.number()),
                                static_cast<int>(random.below(200)) - 100);
    const WideNumber one = WideNumber::of(1.0);
    // Both are rounded once, to the nearest, as plain doubles are.
    EXPECT_EQ(WideNumber::of(a).plus(WideNumber::of(b)).over(one), a + b);
    EXPECT_EQ(WideNumber::of(a).times(b).over(one), a * b);
    EXPECT_EQ(WideNumber::of(a).over(WideNumber::of(b)), a / b);
    EXPECT_EQ(WideNumber::of(a) < WideNumber::of(b), a < b);
  }
}

TEST(WideNumbers, AddNothingToWhatIsFarLarger) {
  const WideNumber large{1.25, 1'000'000};
  const WideNumber small{1.75, 999'930};
  EXPECT_EQ(large.plus(small), large);
  EXPECT_EQ(small.plus(large), large);
  EXPECT_EQ(large.plus(WideNumber{}), large);
  EXPECT_EQ(WideNumber{}.plus(large), large);
}

TEST(WideNumbers, DivideDownToTheLeastDoubleAndThenGiveZero) {
  for (int exponent = 0; exponent >= -1200; --exponent) {
    for (const double mantissa : {1.0, 1.3, 1.999}) {
      const WideNumber by = WideNumber::of(1.7);
      // A quotient rounded to 53 bits and then scaled exactly, or rounded again where doubles end.
      EXPECT_EQ((WideNumber{mantissa, exponent}.over(by)), std::ldexp(mantissa / 1.7, exponent))
          << mantissa << " x 2^" << exponent;
    }
  }
}

// A decay of .01 makes weights grow a hundredfold with each item.
TEST(DecayedCounts, DoNotOverflowInTenMillionSteps) {
  const double growth_rate = 1.0 / static_cast<double>(.01F);
  WideNumber growth = WideNumber::of(1.0);
  WideNumber every = WideNumber::of(1.0);  // a slot that absorbs every item
  for (int i = 0; i < 10'000'000; ++i) {
    growth = growth.times(growth_rate);
    every = every.plus(growth);
  }
  expect_normal(growth);
  // The sum of .01^n.
  EXPECT_NEAR(every.over(growth), 1.0 / (1.0 - static_cast<double>(.01F)), 1e-12);
  EXPECT_NEAR(static_cast<double>(growth.exponent), 1e7 * std::log2(growth_rate), 2.0);
  EXPECT_EQ(WideNumber::of(1.0).over(growth), 0.0);
}

TEST(DecayedCounts, AreTheSumsThatDecayDefines) {
  testing::Random random(2);
  for (const float decay : {.999F, .95F, .5F, .01F}) {
    WideNumber growth = WideNumber::of(1.0);
    WideNumber weight{};
    long double naive = 0.0L;  // every step: all counts times decay, then the item's 1
    for (int i = 0; i < 5000; ++i) {
      growth = growth.times(1.0 / static_cast<double>(decay));
      naive *= static_cast<long double>(decay);
      if (!random.one_in(3)) continue;
      weight = weight.plus(growth);
      naive += 1.0L;
    }
    const auto expected = static_cast<double>(naive);
    EXPECT_NEAR(weight.over(growth), expected, expected * 1e-11) << "decay " << decay;
  }
}

TEST(DecayedCounts, KeepTheirOrderWhileTimePasses) {
  testing::Random random(3);
  WideNumber growth = WideNumber::of(1.0);
  WideNumber a{};
  WideNumber b{};
  for (int i = 0; i < 2000; ++i) {
    growth = growth.times(1.0 / .9);
    if (random.one_in(2)) a = a.plus(growth);
    if (random.one_in(2)) b = b.plus(growth);
    if (a.mantissa == 0.0 || b.mantissa == 0.0) continue;
    const double ratio = a.over(growth) / b.over(growth);
    if (std::fabs(ratio - 1.0) < 1e-12) continue;
    // What is used less now is used less at any later time.
    EXPECT_EQ(a < b, ratio < 1.0);
    const WideNumber later = growth.times(0x1p100);
    EXPECT_EQ(a.over(later) < b.over(later), ratio < 1.0);
  }
}

TEST(Snap, TakesInWhatIsWithinTheMarginOfOneAndNothingElse) {
  for (const std::size_t dimension : {16U, 384U, 4096U, 65536U}) {
    const float margin = snap_margin(dimension);
    EXPECT_EQ(margin, static_cast<float>(dimension / 16 + 8) * 0x1p-23F);
    EXPECT_EQ(snap(1.0F - margin, margin), 1.0F);
    EXPECT_EQ(snap(margin - 1.0F, margin), -1.0F);
    EXPECT_EQ(snap(1.0F + margin, margin), 1.0F);
    EXPECT_EQ(snap(-1.0F - margin, margin), -1.0F);
    const float below = std::nextafter(1.0F - margin, 0.0F);
    EXPECT_EQ(snap(below, margin), below);
    EXPECT_EQ(snap(-below, margin), -below);
    EXPECT_EQ(snap(0.0F, margin), 0.0F);
  }
}

}  // namespace
}  // namespace dpcache
