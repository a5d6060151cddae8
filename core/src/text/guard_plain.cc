// Typography, other scripts' digits, and letters that ASCII knows.
#include "text/guard_plain.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "text/unicode.h"
#include "utf8.h"

namespace dpcache::text {
namespace {

struct Replacement {
  char32_t code;
  std::string_view by;
};

// In the order of their codes.
constexpr std::array<Replacement, 46> kReplacements = {{
    {0xA2, " cent "},   {0xA3, " gbp "},   {0xA5, " jpy "},   {0xAB, "\""},   {0xAD, ""},
    {0xB0, " degree "}, {0xB1, " "},       {0xB2, "2"},       {0xB3, "3"},    {0xB4, "'"},
    {0xB5, "u"},        {0xB7, " "},       {0xB9, "1"},       {0xBB, "\""},   {0xBC, " 1/4 "},
    {0xBD, " 1/2 "},    {0xBE, " 3/4 "},   {0xBF, " "},       {0xD7, " x "},  {0xDF, "ss"},
    {0x2BC, "'"},       {0x3BC, "u"},      {0x200B, ""},      {0x200C, ""},   {0x200D, ""},
    {0x2010, "-"},      {0x2011, "-"},     {0x2012, "-"},     {0x2013, "-"},  {0x2014, ", "},
    {0x2018, "'"},      {0x2019, "'"},     {0x201C, "\""},    {0x201D, "\""}, {0x201E, "\""},
    {0x2026, ". "},     {0x20AC, " eur "}, {0x20B9, " inr "}, {0x2212, "-"},  {0x3001, ", "},
    {0x3002, ". "},     {0x300C, "\""},    {0x300D, "\""},    {0x300E, "\""}, {0x300F, "\""},
    {0xFEFF, ""},
}};

// Where scripts have their digit 0; nine more follow each.
constexpr std::array<char32_t, 20> kZeros = {0x660, 0x6F0,  0x7C0,  0x966,  0x9E6,  0xA66,  0xAE6,
                                             0xB66, 0xBE6,  0xC66,  0xCE6,  0xD66,  0xE50,  0xED0,
                                             0xF20, 0x1040, 0x17E0, 0x1810, 0xFF10, 0x1D7CE};

bool put_digit(char32_t code, std::string& out) {
  for (const char32_t zero : kZeros) {
    if (code < zero || code > zero + 9) continue;
    out.push_back(static_cast<char>('0' + (code - zero)));
    return true;
  }
  return false;
}

// Small letters of Greek and Cyrillic; Latin is decomposed into ASCII and marks.
char32_t small_letter(char32_t code) {
  if ((code >= 0x391 && code <= 0x3A9) || (code >= 0x410 && code <= 0x42F)) return code + 0x20;
  if (code >= 0x400 && code <= 0x40F) return code + 0x50;
  if (code == 0x3C2) return 0x3C3;
  return code;
}

}  // namespace

std::string_view beginning(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  std::size_t end = most;
  // Back to the first byte of a character; at most three bytes follow one.
  while (end > most - 3 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

std::string plain_form(std::string_view text) {
  const std::string form = decomposed(text);
  std::string out;
  out.reserve(form.size());
  for (std::size_t at = 0; at < form.size();) {
    const auto byte = static_cast<unsigned char>(form[at]);
    if (byte < 0x80) {
      out.push_back(form[at++]);
      continue;
    }
    const CodePoint next = read_utf8(form, at);
    at += next.size;
    const char32_t code = next.value;
    const auto* const found =
        std::lower_bound(kReplacements.begin(), kReplacements.end(), code,
                         [](const Replacement& one, char32_t wanted) { return one.code < wanted; });
    if (found != kReplacements.end() && found->code == code) {
      out.append(found->by);
    } else if (is_wide_blank(code)) {
      out.push_back(' ');
    } else if (code > 0xFF00 && code < 0xFF5F) {  // wide forms of ASCII
      out.push_back(static_cast<char>(code - 0xFEE0));
    } else if (put_digit(code, out)) {
      continue;
    } else if ((code >= 0xA0 && code < 0xC0 && code != 0xAA && code != 0xBA) ||
               (code >= 0x2000 && code < 0x2070) || (code >= 0x2190 && code < 0x2C00) ||
               (code >= 0x3000 && code < 0x3040) || code >= 0x1F000) {
      // Punctuation, symbols, pictures. Planes of Han above are words.
      if (is_unspaced(code)) {
        append_utf8(code, out);
      } else {
        out.push_back(' ');
      }
    } else {
      append_utf8(small_letter(code), out);
    }
  }
  return out;
}

}  // namespace dpcache::text
