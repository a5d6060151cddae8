// Error codes and results: the one way in which dpcache says that something was refused.
#ifndef DPCACHE_ERROR_H_
#define DPCACHE_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace dpcache {

// The same words stand in C++, JSON and JavaScript; see to_string.
enum class Error : std::uint8_t {
  ok = 0,
  bad_request,       // the bytes or the text cannot be parsed at all
  bad_config,        // a setting is out of its range, or two settings exclude each other
  bad_shape,         // a vector has the wrong length
  not_finite,        // a component is NaN or infinite
  zero_norm,         // a key or a query has no direction
  bad_snapshot,      // a memory file is damaged, cut, or not a memory file
  encoder_mismatch,  // the vector comes from another encoder than the memory's
  not_found,         // no slot has this id
  conflict,          // an event does not follow the state that it is applied to
  full,              // there is no room left: memory, or slot ids
};

// The code as the word that JSON and JavaScript use, e.g. "bad_shape". Never null; static storage.
const char* to_string(Error code) noexcept;

// Whether something was done, and if not, what was refused. `pointer` is a JSON Pointer (RFC 6901)
// to the bad field inside the item or the config, e.g. "/key/3"; `detail` is a sentence for people.
// Both are empty on success, so that success allocates nothing.
struct Status {
  Error code = Error::ok;
  std::size_t index = 0;  // which item of a batch
  std::string pointer;
  std::string detail;

  explicit operator bool() const noexcept { return code == Error::ok; }
};

// A value, or the reason why there is none. Read the value only if the result is true.
template <class T>
struct Result {
  T value{};
  Status status;

  Result() = default;
  Result(T v) : value(std::move(v)) {}        // NOLINT(google-explicit-constructor)
  Result(Status s) : status(std::move(s)) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const noexcept { return static_cast<bool>(status); }
  T& operator*() noexcept { return value; }
  const T& operator*() const noexcept { return value; }
  T* operator->() noexcept { return &value; }
  const T* operator->() const noexcept { return &value; }
};

}  // namespace dpcache

#endif  // DPCACHE_ERROR_H_
