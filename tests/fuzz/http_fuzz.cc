// What a client sends, as the server reads it but for the sockets: heads, targets, and bodies with
// a length or in chunks, one request behind the other. Read at once or in pieces it is the same.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "api/target.h"
#include "fuzz/input.h"
#include "http/chunked.h"
#include "http/head_parser.h"
#include "http/head_scan.h"
#include "http/request_id.h"

namespace dpcache::server {
namespace {

using fuzz::require;

constexpr std::size_t kBodyLimit = 64;  // so small that short inputs meet it
constexpr std::size_t kExtrasLimit = 32;

// Sizes of pieces that follow from what was read.
class Pieces {
 public:
  explicit Pieces(std::string_view bytes) {
    for (const char c : bytes) state_ = mix64(state_ ^ static_cast<unsigned char>(c));
  }
  std::size_t next() {
    state_ = mix64(state_);
    return 1 + (state_ >> 32U) % ((state_ & 1U) != 0 ? 3 : 40);
  }

 private:
  std::uint64_t state_ = 1;
};

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

// The size of a head, or 0: there is none that is whole and sound.
std::size_t scan(std::string_view bytes) {
  HeadScan whole;
  const HeadScan::State state = whole.feed(bytes);
  HeadScan slow;
  Pieces pieces(bytes);
  auto slow_state = HeadScan::State::more;
  std::size_t size = 0;
  while (slow_state == HeadScan::State::more && size < bytes.size()) {
    size = std::min(bytes.size(), size + pieces.next());
    slow_state = slow.feed(bytes.substr(0, size));
  }
  require(state == slow_state, "a head in pieces ends otherwise");
  require(whole.fault() == slow.fault(), "a head in pieces has another fault");
  require((state == HeadScan::State::malformed) == !whole.fault().empty(), "a fault has no words");
  if (state != HeadScan::State::complete) return 0;
  require(whole.size() == slow.size(), "a head in pieces has another size");
  const std::string_view head = bytes.substr(0, whole.size());
  require(head.ends_with("\r\n") && head.find("\r\n\r\n") >= head.size() - 4,
          "a head goes on behind its empty line");
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '\n') require(i > 0 && head[i - 1] == '\r', "a line ends by a line feed alone");
    if (head[i] == '\r') require(head[i + 1] == '\n', "a carriage return stands alone");
    if (head[i] == '\0') require(false, "a head has a NUL");
  }
  return whole.size();
}

std::string encoded(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) {
    out += '%';
    out += "0123456789ABCDEF"[c >> 4U];
    out += "0123456789abcdef"[c & 15U];
  }
  return out;
}

void check_target(std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return;
  require(text.front() == '/', "a target without a slash was read");
  std::string again = target->path.empty() ? "/" : "";
  for (const std::string& part : target->path) {
    require(part.find('\0') == std::string::npos, "a path has a NUL");
    again += "/" + encoded(part);
  }
  if (!target->path.empty() && target->path.back().empty()) again += "/";
  char mark = '?';
  for (const auto& [name, value] : target->query) {
    again += mark + encoded(name) + "=" + encoded(value);
    mark = '&';
  }
  const auto second = parse_target(again);
  require(second.has_value(), "what was decoded cannot be encoded:", again);
  require(second->path == target->path && second->query == target->query,
          "what was decoded is another target when it is encoded:", again);
}

void check_head(std::string_view head, const Request& request, const HeadFacts& facts) {
  require(!request.method.empty() && !request.target.empty(), "a head has no method or target");
  require(request.target.find_first_of(" \t") == std::string::npos, "a target has a blank");
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t codings = 0;
  for (const auto& [name, value] : request.headers) {
    require(!name.empty() && name.find_first_of(" \t:") == std::string::npos, "a name is none");
    for (const char c : name) require(c < 'A' || c > 'Z', "a name has a capital");
    require(!has_control(value), "a value has a control character");
    require(value.empty() || (value.front() != ' ' && value.back() != ' '), "a value is padded");
    hosts += name == "host" ? 1 : 0;
    lengths += name == "content-length" ? 1 : 0;
    codings += name == "transfer-encoding" ? 1 : 0;
  }
  require(hosts == 1 || (hosts == 0 && facts.http_10), "not one Host");
  require(lengths + codings <= 1, "two ways to tell where the body ends");
  require(facts.chunked == (codings == 1), "a coding is not chunked");
  require(!facts.chunked || facts.content_length == 0, "a chunked body has a length");
  if (lengths == 1) {
    const std::string_view digits = request.header("content-length");
    require(digits.find_first_not_of("0123456789") == std::string_view::npos, "no digits");
    require(
        std::to_string(facts.content_length) ==
            std::string(digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1))),
        "a length is another number");
  }
  require(head.find(request.target) != std::string_view::npos, "the target was not sent");
  const std::string_view id = request.header("x-request-id");
  if (is_sane_id(id)) {
    require(!id.empty() && id.size() <= 128 && !has_control(id), "an id is not sane");
    require(id.find_first_of(" \"\\<>") == std::string_view::npos, "an id is not plain");
  }
}

// Bytes of the body's coding; 0: it is not whole, or not sound.
std::size_t decode_chunks(std::string_view bytes) {
  using State = ChunkDecoder::State;
  std::string body;
  ChunkDecoder whole(kBodyLimit, kExtrasLimit);
  std::string_view left = bytes;
  const State state = whole.feed(left, body);
  std::string slow_body;
  ChunkDecoder slow(kBodyLimit, kExtrasLimit);
  Pieces pieces(bytes);
  State slow_state = State::more;
  std::size_t at = 0;
  while (slow_state == State::more && at < bytes.size()) {
    const std::string_view piece = bytes.substr(at, pieces.next());
    std::string_view rest = piece;
    slow_state = slow.feed(rest, slow_body);
    require(slow_state != State::more || rest.empty(), "bytes are left that were to be taken");
    at += piece.size() - rest.size();
  }
  require(state == slow_state, "chunks in pieces end otherwise");
  require(body == slow_body, "chunks in pieces carry something else");
  require(at == bytes.size() - left.size(), "chunks in pieces have another size");
  require(body.size() <= kBodyLimit, "a body is above its limit");
  if (state != State::complete) return 0;

  // The same body in one chunk, and in chunks of one byte.
  for (const std::size_t size : {body.size(), std::size_t{1}}) {
    std::string coded;
    for (std::size_t i = 0; i < body.size(); i += size) {
      const std::string_view chunk = std::string_view(body).substr(i, size);
      char digits[20];
      std::snprintf(digits, sizeof digits, "%zX", chunk.size());
      coded.append(digits).append("\r\n").append(chunk).append("\r\n");
    }
    coded += "0\r\n\r\nGET";
    std::string again;
    ChunkDecoder decoder(kBodyLimit, kExtrasLimit);
    std::string_view rest = coded;
    require(decoder.feed(rest, again) == State::complete, "our own chunks are refused");
    require(again == body && rest == "GET", "our own chunks carry something else");
  }
  return at;
}

}  // namespace
}  // namespace dpcache::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dpcache::server;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_target(bytes);
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t head_size = scan(rest);
    if (head_size == 0) break;
    const std::string head(rest.substr(0, head_size));  // of its own: reading behind it is seen
    Request request;
    HeadFacts facts;
    const Failure failure = parse_head(head, request, facts);
    rest.remove_prefix(head_size);
    if (failure.status != 0) {
      require(failure.status == 400 || failure.status == 417, "a failure of no kind");
      require(!failure.detail.empty(), "a failure without words");
      break;
    }
    check_head(head, request, facts);
    check_target(request.target);
    std::size_t body_size =
        static_cast<std::size_t>(std::min<std::uint64_t>(facts.content_length, rest.size()));
    if (facts.chunked) {
      body_size = decode_chunks(rest);
      if (body_size == 0) break;
    }
    rest.remove_prefix(body_size);
  }
  decode_chunks(bytes);
  return 0;
}
