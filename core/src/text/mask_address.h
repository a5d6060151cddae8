// IPv4 and IPv6 addresses with their ports, MAC addresses and UUIDs. Look-ahead: 60 bytes at most.
#ifndef DPCACHE_SRC_TEXT_MASK_ADDRESS_H_
#define DPCACHE_SRC_TEXT_MASK_ADDRESS_H_

#include <cstddef>

#include "text/mask_reader.h"

namespace dpcache::text {

// Each function returns the end of what it is named for, if that begins at `at`, and 0 otherwise.
// `joint` is the separator between `at` and a number or placeholder in front of it, or 0: none of
// these begins in the middle of something longer, such as 1.2.3.4.5.
template <class Text>
class AddressMask {
 public:
  explicit AddressMask(const MaskReader<Text>& reader) : reader_(reader) {}

  // The word at `at` ends at `end` and has hex digits only.
  std::size_t ip(std::size_t at, std::size_t end, unsigned char joint) const {
    const unsigned char separator = reader_[end];
    if (separator == joint) return 0;
    if (separator == '.') return ipv4(at);
    return separator == ':' && end - at <= 4 ? ipv6(at) : 0;
  }

  // Eight groups of up to four hex digits, or fewer around one "::"; the last two may be an IPv4.
  // A ninth group of digits is a port.
  std::size_t ipv6(std::size_t at) const {
    int groups = 0;
    bool gap = false;
    for (;;) {
      if (reader_[at] == ':' && reader_[at + 1] == ':' && !gap) {
        gap = true;
        at += 2;
        if (!reader_.is(at, kHexDigit)) break;
      } else if (groups > 0) {
        if (groups == 8 || reader_[at] != ':') break;
        if (gap && !reader_.is(at + 1, kHexDigit)) break;
        ++at;
      }
      if (groups <= 6 && reader_.is(at, kDigit)) {
        if (const std::size_t end = octets(at)) {
          groups += 2;
          at = end;
          break;
        }
      }
      const std::size_t begin = at;
      while (reader_.is(at, kHexDigit) && at - begin < 4) ++at;
      if (at == begin) return 0;
      ++groups;
    }
    if (gap ? groups > 7 || groups == 0 : groups != 8) return 0;
    if (reader_.word_at(at) || (reader_[at] == '.' && reader_.word_at(at + 1))) return 0;
    if (reader_[at] == ':' && (gap || !reader_.is(at + 1, kDigit))) {
      return reader_.word_at(at + 1) || reader_[at + 1] == ':' ? 0 : at;
    }
    return port(at);
  }

  std::size_t uuid(std::size_t at, std::size_t end) const {
    if (end - at != 8) return 0;
    for (const std::size_t length : {4U, 4U, 4U, 12U}) {
      if (reader_[end] != '-') return 0;
      for (std::size_t i = 0; i < length; ++i) {
        if (!reader_.is(++end, kHexDigit)) return 0;
      }
      ++end;
    }
    return reader_.word_at(end) ? 0 : end;
  }

  std::size_t mac(std::size_t at, unsigned char joint) const {
    const unsigned char separator = reader_[at + 2];
    if (separator == joint) return 0;
    for (int pair = 0; pair < 6; ++pair, at += 3) {
      if (!reader_.is(at, kHexDigit) || !reader_.is(at + 1, kHexDigit)) return 0;
      if (pair < 5 && reader_[at + 2] != separator) return 0;
    }
    at -= 1;
    return reader_.word_at(at) || (reader_[at] == separator && reader_.word_at(at + 1)) ? 0 : at;
  }

 private:
  // Four numbers up to 255; 0 if there are none.
  std::size_t octets(std::size_t at) const {
    for (int octet = 0; octet < 4; ++octet) {
      if (octet > 0 && reader_[at++] != '.') return 0;
      unsigned value = 0;
      const std::size_t begin = at;
      while (reader_.is(at, kDigit) && at - begin < 3) value = value * 10 + (reader_[at++] - '0');
      if (at == begin || value > 255) return 0;
    }
    return at;
  }

  std::size_t ipv4(std::size_t at) const {
    const std::size_t end = octets(at);
    return end == 0 || reader_.word_at(end) || (reader_[end] == '.' && reader_.word_at(end + 1))
               ? 0
               : port(end);
  }

  // Behind an address: the end of ":port", or the address's own end.
  std::size_t port(std::size_t end) const {
    if (reader_[end] != ':') return end;
    std::size_t stop = end + 1;
    while (reader_.is(stop, kDigit) && stop - end <= 5) ++stop;
    return stop == end + 1 || reader_.word_at(stop) ? end : stop;
  }

  const MaskReader<Text>& reader_;
};

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_MASK_ADDRESS_H_
