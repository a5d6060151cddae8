// Decimal and hex digits, by exact integers: small and plain rather than fast, as settings and
// counters are all that is spelled out. A number takes microseconds.
#include "digits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace dpcache {

namespace {

// A decimal half way between two doubles has at most 767 digits; of longer ones it only matters
// that something follows.
constexpr std::size_t kEnoughDigits = 780;
// Numbers below 10^-324 round to 0, those from 10^309 to infinity.
constexpr std::int64_t kLeastExponent = -324;
constexpr std::int64_t kMostExponent = 308;

// A natural number. The largest here is about 10^(780 + 325).
class Natural {
 public:
  explicit Natural(std::uint64_t value) {
    limbs_[0] = static_cast<std::uint32_t>(value);
    limbs_[1] = static_cast<std::uint32_t>(value >> 32U);
    size_ = 2;
    trim();
  }

  void multiply_add(std::uint32_t factor, std::uint32_t summand) {
    std::uint64_t carry = summand;
    for (std::size_t i = 0; i < size_; ++i) {
      carry += std::uint64_t{limbs_[i]} * factor;
      limbs_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    if (carry != 0) limbs_[size_++] = static_cast<std::uint32_t>(carry);
  }
  void multiply_by_ten_to(std::int64_t exponent) {
    for (; exponent >= 9; exponent -= 9) multiply_add(1000000000, 0);
    for (; exponent > 0; --exponent) multiply_add(10, 0);
  }
  void shift_left(std::size_t bits) {
    for (; bits >= 31; bits -= 31) multiply_add(1U << 31U, 0);
    multiply_add(1U << bits, 0);
  }
  // `other` is not larger.
  void subtract(const Natural& other) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const std::uint64_t from = limbs_[i];
      const std::uint64_t difference = from - (i < other.size_ ? other.limbs_[i] : 0) - borrow;
      limbs_[i] = static_cast<std::uint32_t>(difference);
      borrow = difference >> 63U;
    }
    trim();
  }
  // Below, at or above zero as this is less than, equal to or greater than the other.
  int compare(const Natural& other) const {
    if (size_ != other.size_) return size_ < other.size_ ? -1 : 1;
    for (std::size_t i = size_; i-- > 0;) {
      if (limbs_[i] != other.limbs_[i]) return limbs_[i] < other.limbs_[i] ? -1 : 1;
    }
    return 0;
  }
  std::int64_t bits() const {
    return size_ == 0 ? 0
                      : static_cast<std::int64_t>(32 * size_) - std::countl_zero(limbs_[size_ - 1]);
  }

 private:
  void trim() {
    while (size_ > 0 && limbs_[size_ - 1] == 0) --size_;
  }

  std::array<std::uint32_t, 120> limbs_{};  // 3840 bits, the lowest first
  std::size_t size_ = 0;                    // the highest one is not 0
};

// The double nearest to a / b, both above 0.
double nearest_quotient(Natural a, Natural b) {
  constexpr std::int64_t kMantissaBits = 53;
  constexpr std::int64_t kLeastNormal = -1022;
  constexpr std::int64_t kMost = 1023;
  std::int64_t exponent = a.bits() - b.bits();
  if (exponent > 0) b.shift_left(static_cast<std::size_t>(exponent));
  if (exponent < 0) a.shift_left(static_cast<std::size_t>(-exponent));
  if (a.compare(b) < 0) {
    a.shift_left(1);
    --exponent;
  }
  if (exponent > kMost) return std::numeric_limits<double>::infinity();
  // Now 1 <= a / b < 2, and the number is that times 2^exponent. Below the normal numbers there are
  // fewer bits; with none left it still may round up.
  const std::int64_t bits = std::min(kMantissaBits, kMantissaBits + exponent - kLeastNormal);
  if (bits < 0) return 0.0;
  std::uint64_t mantissa = 0;
  for (std::int64_t i = 0; i < bits; ++i) {
    const bool bit = a.compare(b) >= 0;
    if (bit) a.subtract(b);
    a.shift_left(1);
    mantissa = mantissa << 1U | (bit ? 1U : 0U);
  }
  const int rest = a.compare(b);  // against one half
  if (rest > 0 || (rest == 0 && (mantissa & 1U) != 0)) ++mantissa;
  if (bits < kMantissaBits) return std::bit_cast<double>(mantissa);
  // The mantissa's first bit adds 1 to the exponent's field; so does a carry, up to infinity.
  const auto field = static_cast<std::uint64_t>(exponent - kLeastNormal);
  return std::bit_cast<double>((field << 52U) + mantissa);
}

// A number above 0 as 0.DIGITS x 10^point: `count` digits rounded half to even, less zeros at the
// end.
struct Decimal {
  std::string digits;
  int point = 1;
};

Decimal rounded(double x, int count) {
  const auto pattern = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t fraction = pattern & ((std::uint64_t{1} << 52U) - 1);
  const std::uint64_t field = pattern >> 52U;
  Natural a(field == 0 ? fraction : fraction | std::uint64_t{1} << 52U);
  Natural b(1);
  constexpr std::uint64_t kOne = 1075;  // the field of a number whose last bit counts 1
  const std::uint64_t exponent = std::max<std::uint64_t>(field, 1);
  if (exponent > kOne) a.shift_left(static_cast<std::size_t>(exponent - kOne));
  if (exponent < kOne) b.shift_left(static_cast<std::size_t>(kOne - exponent));
  Decimal out;
  for (; a.compare(b) < 0; --out.point) a.multiply_add(10, 0);
  for (Natural ten = b;; ++out.point) {
    ten.multiply_add(10, 0);
    if (a.compare(ten) < 0) break;
    b = ten;
  }
  for (int i = 0; i < count; ++i) {
    char digit = '0';
    for (; a.compare(b) >= 0; ++digit) a.subtract(b);
    out.digits += digit;
    a.multiply_add(10, 0);
  }
  b.multiply_add(5, 0);  // against one half
  const int rest = a.compare(b);
  bool up = rest > 0 || (rest == 0 && (out.digits.back() - '0') % 2 != 0);
  while (!out.digits.empty() && (up ? out.digits.back() == '9' : out.digits.back() == '0')) {
    out.digits.pop_back();
  }
  if (out.digits.empty()) {
    out.digits = "1";
    ++out.point;
  } else if (up) {
    ++out.digits.back();
  }
  return out;
}

// Spelled with an exponent if it is below 10^-4 or has more than `most` digits before the point.
std::string spelled(double x, int count, int most) {
  std::string out = std::signbit(x) ? "-" : "";
  if (x == 0.0) return out + '0';
  auto [digits, point] = rounded(std::fabs(x), count);
  const int length = static_cast<int>(digits.size());
  if (point < -3 || point > most) {
    out += digits[0];
    if (length > 1) out.append(".").append(digits, 1);
    const int exponent = point - 1;
    const std::string number = whole_number(static_cast<std::uint64_t>(std::abs(exponent)));
    return out + (exponent < 0 ? "e-" : "e+") + (number.size() < 2 ? "0" : "") + number;
  }
  if (point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-point), '0');
  } else if (point < length) {
    digits.insert(static_cast<std::size_t>(point), 1, '.');
  } else {
    digits.append(static_cast<std::size_t>(point - length), '0');
  }
  return out + digits;
}

}  // namespace

double parse_decimal(std::string_view number) {
  const bool negative = !number.empty() && number[0] == '-';
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  Natural digits(0);
  std::size_t count = 0;   // of digits that are taken, from the first that is not 0
  std::int64_t point = 0;  // of digits before the point, less zeros behind it
  bool behind_point = false;
  bool more = false;  // whether what is left out is not zero
  std::size_t at = negative ? 1 : 0;
  for (; at < number.size() && (number[at] == '.' || is_digit(number[at])); ++at) {
    if (number[at] == '.') {
      behind_point = true;
      continue;
    }
    const bool leading = count == 0 && number[at] == '0';
    if (leading ? behind_point : !behind_point) point += leading ? -1 : 1;
    if (leading) continue;
    if (count < kEnoughDigits) {
      digits.multiply_add(10, static_cast<std::uint32_t>(number[at] - '0'));
      ++count;
    } else {
      more = more || number[at] != '0';
    }
  }
  const double sign = negative ? -1.0 : 1.0;
  if (count == 0) return sign * 0.0;
  if (more) {
    digits.multiply_add(10, 1);
    ++count;
  }
  if (at < number.size()) {
    ++at;  // e or E
    const bool below = at < number.size() && number[at] == '-';
    if (at < number.size() && !is_digit(number[at])) ++at;
    constexpr std::int64_t kFar = std::int64_t{1} << 50;
    std::int64_t exponent = 0;
    for (; at < number.size(); ++at) {
      exponent = std::min(kFar, exponent * 10 + (number[at] - '0'));
    }
    point += below ? -exponent : exponent;
  }
  if (point - 1 < kLeastExponent) return sign * 0.0;
  if (point - 1 > kMostExponent) return sign * std::numeric_limits<double>::infinity();
  const std::int64_t exponent = point - static_cast<std::int64_t>(count);
  Natural divisor(1);
  digits.multiply_by_ten_to(exponent);
  divisor.multiply_by_ten_to(-exponent);
  return sign * nearest_quotient(digits, divisor);
}

std::string decimal(double x, int digits) {
  return spelled(x, digits, digits);
}

std::string shortest_decimal(float x) {
  constexpr int kMostDigits = 9;  // which tell all floats apart
  constexpr int kMostBeforePoint = 15;
  std::string text;
  for (int digits = 1; digits <= kMostDigits; ++digits) {
    text = spelled(static_cast<double>(x), digits, kMostBeforePoint);
    if (static_cast<float>(parse_decimal(text)) == x) break;
  }
  return text;
}

std::string whole_number(std::uint64_t value) {
  std::array<char, 20> digits;
  std::size_t at = digits.size();
  do {
    digits[--at] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return {digits.data() + at, digits.size() - at};
}

std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; value >>= 4U)
    text[i] = "0123456789abcdef"[value & 15U];
  return text;
}

}  // namespace dpcache
