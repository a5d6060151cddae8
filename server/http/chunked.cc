// Takes the chunked coding off: RFC 9112, 7.1, with nothing forgiven.
#include "http/chunked.h"

#include <algorithm>

namespace dpcache::server {
namespace {

constexpr unsigned kDigits = 16;  // of a size that fits 64 bits

int hex_digit(unsigned char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

ChunkDecoder::State ChunkDecoder::feed(std::string_view& bytes, std::string& body) {
  while (!bytes.empty()) {
    if (place_ == Place::data) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(size_, bytes.size()));
      body.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      size_ -= count;
      if (size_ == 0) place_ = Place::data_return;
      continue;
    }
    const auto c = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (const State state = take(c); state != State::more) return state;
  }
  return State::more;
}

ChunkDecoder::State ChunkDecoder::go(Place place) {
  place_ = place;
  return State::more;
}

ChunkDecoder::State ChunkDecoder::take(unsigned char c) {
  switch (place_) {
    case Place::size:
      return take_size(c);
    case Place::extension:
      return take_extra(c, Place::size_end);
    case Place::size_end:
      if (c != '\n') return State::malformed;
      body_left_ -= size_;
      digits_ = 0;
      return go(size_ == 0 ? Place::trailer : Place::data);
    case Place::data:
      break;
    case Place::data_return:
      return c == '\r' ? go(Place::data_end) : State::malformed;
    case Place::data_end:
      return c == '\n' ? go(Place::size) : State::malformed;
    case Place::trailer:
      if (c == '\r') return go(Place::last_end);
      if (c == ' ' || c == '\t') return State::malformed;  // a folded line
      return take_extra(c, Place::trailer_end);
    case Place::trailer_line:
      return take_extra(c, Place::trailer_end);
    case Place::trailer_end:
      return c == '\n' ? go(Place::trailer) : State::malformed;
    case Place::last_end:
      return c == '\n' ? State::complete : State::malformed;
  }
  return State::malformed;
}

ChunkDecoder::State ChunkDecoder::take_size(unsigned char c) {
  if (const int digit = hex_digit(c); digit >= 0) {
    if (++digits_ > kDigits) return State::malformed;
    size_ = size_ << 4U | static_cast<unsigned>(digit);
    return size_ > body_left_ ? State::too_large : State::more;
  }
  if (digits_ == 0) return State::malformed;
  if (c == '\r') return go(Place::size_end);
  return c == ';' ? go(Place::extension) : State::malformed;
}

// A byte of an extension or a trailer.
ChunkDecoder::State ChunkDecoder::take_extra(unsigned char c, Place end) {
  if (c == '\r') return go(end);
  if ((c < 0x20 && c != '\t') || c == 0x7f || extras_left_ == 0) return State::malformed;
  --extras_left_;
  return end == Place::trailer_end ? go(Place::trailer_line) : State::more;
}

}  // namespace dpcache::server
