// The loops over floats, one source for every instruction set: the only files that see Highway.
//
// Every sum has one order, on every platform: 16 partial sums, where lane l takes the elements
// whose index is l modulo 16, each step a multiplication and then an addition (never fused), then a
// halving tree 8-4-2-1. So a browser, a server and a test loop get the same bits.
#ifndef DPCACHE_SRC_KERNELS_H_
#define DPCACHE_SRC_KERNELS_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "numerics.h"

namespace dpcache::kernels {

// All lengths below are padded: multiples of kLanes. Nothing allocates.

// The canonical score of `query` with each of `count` consecutive rows: out[i] = query . rows[i].
void dots(const float* query, const float* rows, std::size_t length, std::size_t count,
          float* out) noexcept;

// Sum of squares in double. The products of floats are exact.
double sum_squares(const float* x, std::size_t length) noexcept;
double sum_squares(const double* x, std::size_t length) noexcept;

// out[i] = float(x[i] / divisor), the quotient in double. `out` may be `x`.
void divide(const float* x, double divisor, std::size_t length, float* out) noexcept;
void divide(const double* x, double divisor, std::size_t length, float* out) noexcept;

// Writes `x`, brought to unit length and padded with zeros, to `out` (padded(x.size()) floats). The
// sum of squares in double, one square root, one division a component, rounded to float. `x` must
// be finite and not all zero; it may be the beginning of `out`.
void normalise(std::span<const float> x, std::span<float> out) noexcept;

// sum[i] += weight * x[i], in double.
void accumulate(double weight, const float* x, std::size_t length, double* sum) noexcept;

// For tests and benchmarks: the instruction sets that this build and this machine have, best first,
// and a way to use one of them from now on. Not thread-safe; false: there is no such target here.
std::vector<std::string_view> targets();
bool use_target(std::string_view name);

}  // namespace dpcache::kernels

#endif  // DPCACHE_SRC_KERNELS_H_
