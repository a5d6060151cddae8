// Bodies that are plain floats, and base64.
#include "api/body.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dpcache::server {

namespace {

template <class One>
Sent<One> read_rows(std::string_view body, std::size_t row) {
  Sent<One> sent;
  const std::size_t bytes = row * sizeof(float);
  if (bytes == 0 || body.empty() || body.size() % bytes != 0) {
    sent.malformed = std::to_string(body.size()) + " bytes are no whole rows of " +
                     std::to_string(row) + " float32";
    return sent;
  }
  const std::size_t count = body.size() / bytes;
  if (count > kMostItems) {
    sent.malformed =
        std::to_string(count) + " rows: a batch has at most " + std::to_string(kMostItems);
    return sent;
  }
  sent.floats.resize(count * row);
  std::memcpy(sent.floats.data(), body.data(), body.size());
  sent.list.resize(count);
  return sent;
}

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::uint8_t, 256> base64_digits() {
  std::array<std::uint8_t, 256> digits{};
  for (auto& digit : digits) digit = 255;
  for (std::size_t i = 0; i < kBase64.size(); ++i) {
    digits[static_cast<unsigned char>(kBase64[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}

}  // namespace

Sent<SentItem> read_items_floats(std::string_view body, std::size_t dimension,
                                 std::size_t value_dimension) {
  const std::size_t row = dimension + value_dimension;
  auto sent = read_rows<SentItem>(body, row);
  for (std::size_t i = 0; i < sent.list.size(); ++i) {
    sent.list[i].key = {i * row, dimension};
    sent.list[i].value = {i * row + dimension, value_dimension};
  }
  return sent;
}

Sent<SentQuery> read_queries_floats(std::string_view body, std::size_t dimension) {
  auto sent = read_rows<SentQuery>(body, dimension);
  for (std::size_t i = 0; i < sent.list.size(); ++i) sent.list[i].key = {i * dimension, dimension};
  return sent;
}

std::optional<std::string> from_base64(std::string_view text) {
  static constexpr auto kDigits = base64_digits();
  if (text.size() % 4 != 0) return {};
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t bits = 0;
    const std::size_t last = at + 4 == text.size() ? 4 - padding : 4;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t digit = i < last ? kDigits[static_cast<unsigned char>(text[at + i])] : 0;
      if (digit == 255) return {};
      bits = bits << 6U | digit;
    }
    for (const unsigned shift : {16U, 8U, 0U}) bytes += static_cast<char>(bits >> shift & 255U);
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8U | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= count ? kBase64[bits >> (18U - 6U * i) & 63U] : '=';
    }
  }
  return text;
}

bool append_base64(std::string_view text, std::vector<float>& floats) {
  const auto bytes = from_base64(text);
  if (!bytes || bytes->size() % sizeof(float) != 0) return false;
  const std::size_t begin = floats.size();
  floats.resize(begin + bytes->size() / sizeof(float));
  if (!bytes->empty()) std::memcpy(floats.data() + begin, bytes->data(), bytes->size());
  return true;
}

}  // namespace dpcache::server
