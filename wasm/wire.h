// How a call's arguments and its answer cross the border between JavaScript and the library: as
// cells of 8 bytes, one behind the other. src/wire.ts is the other side.
//
//   number   one cell, a double; NaN stands for "none"
//   floats   their count, then float32, two a cell
//   bytes    their count (-1: none), then bytes, eight a cell
//
// There is one request and one reply; a call is over before the next begins.
#ifndef DPCACHE_WASM_WIRE_H_
#define DPCACHE_WASM_WIRE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dpcache::wasm {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What JavaScript has written, read in the same order. The writer is this package itself, and has
// seen to the lengths.
class Request {
 public:
  // Where JavaScript may write `cells` cells; what stands there stays. Null: no memory.
  double* reserve(std::size_t cells) {
    if (cells > capacity_) {
      auto* grown = static_cast<double*>(std::realloc(cells_, cells * sizeof(double)));
      if (grown == nullptr) return nullptr;
      cells_ = grown;
      capacity_ = cells;
    }
    return cells_;
  }
  void free() {
    std::free(cells_);
    cells_ = nullptr;
    capacity_ = 0;
  }

  void rewind() { at_ = 0; }
  double number() { return cells_[at_++]; }
  // For what must be a whole number from 0 to `most`: anything else becomes most + 1.
  std::uint64_t whole(std::uint64_t most) {
    const double x = number();
    return x >= 0.0 && x <= static_cast<double>(most) && x == std::floor(x)
               ? static_cast<std::uint64_t>(x)
               : most + 1;
  }
  std::optional<std::int64_t> time() {
    const double x = number();
    if (std::isnan(x)) return {};
    constexpr double kBeyond = 0x1p60;  // refused by the library, and fits its integers
    return static_cast<std::int64_t>(std::fmin(std::fmax(x, -kBeyond), kBeyond));
  }
  std::optional<float> maybe_float() {
    const double x = number();
    if (std::isnan(x)) return {};
    return static_cast<float>(x);
  }
  std::span<const float> floats() {
    const auto count = static_cast<std::size_t>(number());
    const auto* begin = reinterpret_cast<const float*>(cells_ + at_);
    at_ += (count + 1) / 2;
    return {begin, count};
  }
  std::optional<std::string_view> maybe_bytes() {
    const double length = number();
    if (length < 0.0) return {};
    const auto count = static_cast<std::size_t>(length);
    const auto* begin = reinterpret_cast<const char*>(cells_ + at_);
    at_ += (count + 7) / 8;
    return std::string_view(begin, count);
  }
  std::string_view bytes() { return maybe_bytes().value_or(std::string_view()); }

 private:
  double* cells_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t at_ = 0;
};

// What JavaScript will read.
class Reply {
 public:
  void clear() { cells_.clear(); }
  void free() { cells_ = std::vector<double>(); }
  const double* data() const { return cells_.data(); }

  void number(double x) { cells_.push_back(x); }
  void count(std::uint64_t n) { number(static_cast<double>(n)); }
  void time(std::int64_t t) { number(static_cast<double>(t)); }
  void numbers(std::span<const double> x) { append(x.data(), x.size_bytes()); }
  template <class T>
  void maybe(const std::optional<T>& x) {
    number(x ? static_cast<double>(*x) : kNone);
  }
  void floats(std::span<const float> values) {
    count(values.size());
    append(values.data(), values.size_bytes());
  }
  void bytes(std::string_view text) {
    count(text.size());
    append(text.data(), text.size());
  }
  void maybe_bytes(const std::optional<std::string_view>& text) {
    if (text) {
      bytes(*text);
    } else {
      number(-1.0);
    }
  }

 private:
  void append(const void* from, std::size_t size) {
    const std::size_t at = cells_.size();
    cells_.resize(at + (size + sizeof(double) - 1) / sizeof(double));
    if (size > 0) std::memcpy(cells_.data() + at, from, size);
  }

  std::vector<double> cells_;
};

}  // namespace dpcache::wasm

#endif  // DPCACHE_WASM_WIRE_H_
