// Numbers as text, the same on every platform and without a locale: decimal, both ways and
// correctly rounded, and hex.
#ifndef DPCACHE_SRC_DIGITS_H_
#define DPCACHE_SRC_DIGITS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace dpcache {

// The double that is nearest to a decimal number, spelled as in JSON; of two that are equally near
// the even one. Infinity if it is beyond the largest. Time is linear in the text.
double parse_decimal(std::string_view number);

// A finite number rounded to that many significant digits, 1 to 17, half to even: what printf makes
// of %.*g, such as 0.4, 1e-05, 2 and -0.
std::string decimal(double x, int digits);

// The number with the fewest digits that gives a finite float back, also by way of a double:
// decimal() of 0.4F that is 0.4. Integers are spelled out below 10^15.
std::string shortest_decimal(float x);

// In decimal, as std::to_string, whose tables would double the code for it in WebAssembly.
std::string whole_number(std::uint64_t value);

// 16 lower-case digits.
std::string hex(std::uint64_t value);

}  // namespace dpcache

#endif  // DPCACHE_SRC_DIGITS_H_
