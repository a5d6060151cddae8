// Names for requests.
#include "http/request_id.h"

#include <algorithm>
#include <random>

namespace dpcache::server {
namespace {

constexpr std::size_t kLongest = 128;
constexpr std::string_view kMarks = "-._~:/+=@";

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         kMarks.find(c) != std::string_view::npos;
}

// The finalizer of SplitMix64: one to one, so what differs stays different.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

std::uint64_t random_start() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U) | random();
}

}  // namespace

bool is_sane_id(std::string_view id) noexcept {
  return !id.empty() && id.size() <= kLongest && std::all_of(id.begin(), id.end(), is_plain);
}

RequestIds::RequestIds() : count_(random_start()) {}

std::string RequestIds::next() {
  std::uint64_t rest = mix(count_.fetch_add(1, std::memory_order_relaxed));
  std::string id(16, '0');
  for (auto digit = id.rbegin(); digit != id.rend(); ++digit, rest >>= 4U) {
    *digit = "0123456789abcdef"[rest & 15U];
  }
  return id;
}

}  // namespace dpcache::server
