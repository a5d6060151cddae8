// The loops of kernels.h, compiled once for each instruction set and chosen at run time.
#include "kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

// After our own headers, which see nothing of Highway.
#include "kernels_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dpcache::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// One lane at a time: 16 sums, then the tree.
template <class T>
HWY_INLINE T Tree(T* sums) {
  for (size_t half = kLanes / 2; half != 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

void Dots(const float* HWY_RESTRICT query, const float* HWY_RESTRICT rows, size_t length,
          size_t count, float* HWY_RESTRICT out) {
  for (size_t row = 0; row < count; ++row, rows += length) {
    float sums[kLanes] = {};
    for (size_t i = 0; i < length; i += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const float product = query[i + lane] * rows[i + lane];
        sums[lane] += product;
      }
    }
    out[row] = Tree(sums);
  }
}

template <class T>
double SumSquaresOf(const T* HWY_RESTRICT x, size_t length) {
  double sums[kLanes] = {};
  for (size_t i = 0; i < length; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double value = static_cast<double>(x[i + lane]);
      const double square = value * value;
      sums[lane] += square;
    }
  }
  return Tree(sums);
}

double SumSquaresF32(const float* x, size_t length) {
  return SumSquaresOf(x, length);
}
double SumSquaresF64(const double* x, size_t length) {
  return SumSquaresOf(x, length);
}

void DivideF32(const float* x, double divisor, size_t length, float* out) {
  for (size_t i = 0; i < length; ++i)
    out[i] = static_cast<float>(static_cast<double>(x[i]) / divisor);
}

void DivideF64(const double* x, double divisor, size_t length, float* out) {
  for (size_t i = 0; i < length; ++i) out[i] = static_cast<float>(x[i] / divisor);
}

void Accumulate(double weight, const float* HWY_RESTRICT x, size_t length,
                double* HWY_RESTRICT sum) {
  for (size_t i = 0; i < length; ++i) {
    const double product = weight * static_cast<double>(x[i]);
    sum[i] += product;
  }
}

#else

using F32 = hn::CappedTag<float, kLanes>;
using F64 = hn::CappedTag<double, 8>;
using F32ForF64 = hn::Rebind<float, F64>;

// The halving tree below one vector: 8-4-2-1, or as much of it as the vector is long.
template <class D>
HWY_INLINE hn::TFromD<D> Tree([[maybe_unused]] D d, hn::Vec<D> v) {
  constexpr size_t kN = hn::MaxLanes(D());
  if constexpr (kN * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half;
    return Tree(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else if constexpr (kN == 4) {
    v = hn::Add(v, hn::Shuffle1032(v));
    return hn::GetLane(hn::Add(v, hn::Shuffle2301(v)));
  } else {
    return hn::GetLane(hn::Add(v, hn::Shuffle01(v)));
  }
}

// One row against the query. Named accumulators: g++ 12 spills arrays of vectors.
HWY_INLINE float Dot(const float* HWY_RESTRICT query, const float* HWY_RESTRICT row,
                     size_t length) {
  const F32 d;
  constexpr size_t kN = hn::MaxLanes(F32());
  static_assert(kN == 16 || kN == 8 || kN == 4);
  auto s0 = hn::Zero(d);
  auto s1 = s0;
  auto s2 = s0;
  auto s3 = s0;
  for (const float* end = query + length; query != end; query += kLanes, row += kLanes) {
    s0 = hn::Add(s0, hn::Mul(hn::LoadU(d, query), hn::LoadU(d, row)));
    if constexpr (kN <= 8) {
      s1 = hn::Add(s1, hn::Mul(hn::LoadU(d, query + kN), hn::LoadU(d, row + kN)));
    }
    if constexpr (kN == 4) {
      s2 = hn::Add(s2, hn::Mul(hn::LoadU(d, query + 2 * kN), hn::LoadU(d, row + 2 * kN)));
      s3 = hn::Add(s3, hn::Mul(hn::LoadU(d, query + 3 * kN), hn::LoadU(d, row + 3 * kN)));
    }
  }
  if constexpr (kN == 4) {
    s0 = hn::Add(s0, s2);
    s1 = hn::Add(s1, s3);
  }
  if constexpr (kN <= 8) s0 = hn::Add(s0, s1);
  return Tree(d, s0);
}

void Dots(const float* HWY_RESTRICT query, const float* HWY_RESTRICT rows, size_t length,
          size_t count, float* HWY_RESTRICT out) {
  for (size_t row = 0; row < count; ++row, rows += length) out[row] = Dot(query, rows, length);
}

HWY_INLINE hn::Vec<F64> LoadAsF64(const float* x) {
  return hn::PromoteTo(F64(), hn::LoadU(F32ForF64(), x));
}
HWY_INLINE hn::Vec<F64> LoadAsF64(const double* x) {
  return hn::LoadU(F64(), x);
}

HWY_INLINE hn::Vec<F64> AddSquare(hn::Vec<F64> sum, hn::Vec<F64> x) {
  return hn::Add(sum, hn::Mul(x, x));
}

template <class T>
HWY_INLINE double SumSquaresOf(const T* HWY_RESTRICT x, size_t length) {
  const F64 d;
  constexpr size_t kN = hn::MaxLanes(F64());
  static_assert(kN == 8 || kN == 4 || kN == 2);
  auto s0 = hn::Zero(d);
  auto s1 = s0;
  auto s2 = s0;
  auto s3 = s0;
  auto s4 = s0;
  auto s5 = s0;
  auto s6 = s0;
  auto s7 = s0;
  for (const T* end = x + length; x != end; x += kLanes) {
    s0 = AddSquare(s0, LoadAsF64(x));
    s1 = AddSquare(s1, LoadAsF64(x + kN));
    if constexpr (kN <= 4) {
      s2 = AddSquare(s2, LoadAsF64(x + 2 * kN));
      s3 = AddSquare(s3, LoadAsF64(x + 3 * kN));
    }
    if constexpr (kN == 2) {
      s4 = AddSquare(s4, LoadAsF64(x + 4 * kN));
      s5 = AddSquare(s5, LoadAsF64(x + 5 * kN));
      s6 = AddSquare(s6, LoadAsF64(x + 6 * kN));
      s7 = AddSquare(s7, LoadAsF64(x + 7 * kN));
    }
  }
  if constexpr (kN == 2) {
    s0 = hn::Add(s0, s4);
    s1 = hn::Add(s1, s5);
    s2 = hn::Add(s2, s6);
    s3 = hn::Add(s3, s7);
  }
  if constexpr (kN <= 4) {
    s0 = hn::Add(s0, s2);
    s1 = hn::Add(s1, s3);
  }
  return Tree(d, hn::Add(s0, s1));
}

double SumSquaresF32(const float* x, size_t length) {
  return SumSquaresOf(x, length);
}
double SumSquaresF64(const double* x, size_t length) {
  return SumSquaresOf(x, length);
}

template <class T>
HWY_INLINE void DivideOf(const T* x, double divisor, size_t length, float* out) {
  const F64 d;
  const auto by = hn::Set(d, divisor);
  for (size_t i = 0; i < length; i += hn::Lanes(d)) {
    hn::StoreU(hn::DemoteTo(F32ForF64(), hn::Div(LoadAsF64(x + i), by)), F32ForF64(), out + i);
  }
}

void DivideF32(const float* x, double divisor, size_t length, float* out) {
  DivideOf(x, divisor, length, out);
}
void DivideF64(const double* x, double divisor, size_t length, float* out) {
  DivideOf(x, divisor, length, out);
}

void Accumulate(double weight, const float* HWY_RESTRICT x, size_t length,
                double* HWY_RESTRICT sum) {
  const F64 d;
  const auto w = hn::Set(d, weight);
  for (size_t i = 0; i < length; i += hn::Lanes(d)) {
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), hn::Mul(w, LoadAsF64(x + i))), d, sum + i);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace dpcache::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace dpcache::kernels {

HWY_EXPORT(Dots);
HWY_EXPORT(SumSquaresF32);
HWY_EXPORT(SumSquaresF64);
HWY_EXPORT(DivideF32);
HWY_EXPORT(DivideF64);
HWY_EXPORT(Accumulate);

void dots(const float* query, const float* rows, std::size_t length, std::size_t count,
          float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(Dots)(query, rows, length, count, out);
}
double sum_squares(const float* x, std::size_t length) noexcept {
  return HWY_DYNAMIC_DISPATCH(SumSquaresF32)(x, length);
}
double sum_squares(const double* x, std::size_t length) noexcept {
  return HWY_DYNAMIC_DISPATCH(SumSquaresF64)(x, length);
}
void divide(const float* x, double divisor, std::size_t length, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(DivideF32)(x, divisor, length, out);
}
void divide(const double* x, double divisor, std::size_t length, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(DivideF64)(x, divisor, length, out);
}
void accumulate(double weight, const float* x, std::size_t length, double* sum) noexcept {
  HWY_DYNAMIC_DISPATCH(Accumulate)(weight, x, length, sum);
}

void normalise(std::span<const float> x, std::span<float> out) noexcept {
  if (x.data() != out.data()) std::copy(x.begin(), x.end(), out.begin());
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(x.size()), out.end(), 0.0F);
  divide(out.data(), std::sqrt(sum_squares(out.data(), out.size())), out.size(), out.data());
}

#if defined(__EMSCRIPTEN__)

// A wasm build has one target, chosen when it is compiled.
std::vector<std::string_view> targets() {
  return {hwy::TargetName(HWY_STATIC_TARGET)};
}
bool use_target(std::string_view name) {
  return name == targets().front();
}

#else

namespace {

constexpr unsigned kTargetBits = 63;

// What was compiled and runs here.
std::int64_t runnable() {
  hwy::SetSupportedTargetsForTest(0);
  return hwy::SupportedTargets() & HWY_TARGETS;
}

}  // namespace

std::vector<std::string_view> targets() {
  std::vector<std::string_view> names;
  const std::int64_t compiled = runnable();
  for (unsigned i = 0; i < kTargetBits; ++i) {
    const std::int64_t bit = std::int64_t{1} << i;
    if ((compiled & bit) != 0) names.emplace_back(hwy::TargetName(bit));
  }
  return names;
}

bool use_target(std::string_view name) {
  const std::int64_t compiled = runnable();
  for (unsigned i = 0; i < kTargetBits; ++i) {
    const std::int64_t bit = std::int64_t{1} << i;
    if ((compiled & bit) == 0 || hwy::TargetName(bit) != name) continue;
    hwy::SetSupportedTargetsForTest(bit);
    hwy::GetChosenTarget().Update(bit);
    return true;
  }
  return false;
}

#endif

}  // namespace dpcache::kernels

#endif  // HWY_ONCE
