// Characters out of bytes, and back.
#include "utf8.h"

#include <cstdint>

namespace dpcache {

CodePoint read_utf8(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&text](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  // The second byte's range keeps out surrogates, over-long forms and what is above 0x10FFFF.
  std::uint32_t least = 0x80;
  std::uint32_t most = 0xBF;
  std::size_t size = 0;
  char32_t code = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2;
    code = lead & 0x1FU;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    code = lead & 0x0FU;
    if (lead == 0xE0) least = 0xA0;
    if (lead == 0xED) most = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    code = lead & 0x07U;
    if (lead == 0xF0) least = 0x90;
    if (lead == 0xF4) most = 0x8F;
  } else {
    return {kReplacement, 1, false};
  }
  for (std::size_t i = 1; i < size; ++i) {
    const std::uint32_t next = byte(at + i);
    if (next < least || next > most) return {kReplacement, i, false};
    code = code << 6U | (next & 0x3FU);
    least = 0x80;
    most = 0xBF;
  }
  return {code, size, true};
}

void append_utf8(char32_t code, std::string& out) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | code >> 6U);
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | code >> 12U);
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | code >> 18U);
    put(0x80U | (code >> 12U & 0x3FU));
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

}  // namespace dpcache
