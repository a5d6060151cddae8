// Takes the chunked coding off a request's body. Beast's own decoder asserts on what a client may
// send (1.74: a last chunk that comes in pieces) and sets no limit to extensions and trailers.
#ifndef DPCACHE_SERVER_HTTP_CHUNKED_H_
#define DPCACHE_SERVER_HTTP_CHUNKED_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dpcache::server {

class ChunkDecoder {
 public:
  enum class State : std::uint8_t { more, complete, malformed, too_large };

  // `extras_limit`: bytes of extensions and trailers, which are dropped; more of them are
  // malformed.
  ChunkDecoder(std::uint64_t body_limit, std::size_t extras_limit)
      : body_left_(body_limit), extras_left_(extras_limit) {}

  // Takes bytes from the front of `bytes` and appends what they carry to `body`. Once it has said
  // anything but `more`, it is done.
  State feed(std::string_view& bytes, std::string& body);

 private:
  enum class Place : std::uint8_t {
    size,
    extension,
    size_end,
    data,
    data_return,
    data_end,
    trailer,
    trailer_line,
    trailer_end,
    last_end,
  };

  State take(unsigned char c);
  State take_size(unsigned char c);
  State take_extra(unsigned char c, Place end);
  State go(Place place);

  std::uint64_t body_left_;
  std::size_t extras_left_;
  std::uint64_t size_ = 0;  // what is left of the chunk
  Place place_ = Place::size;
  unsigned digits_ = 0;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_HTTP_CHUNKED_H_
