// What people see.
#include "cli/terminal.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cwchar>

namespace dpcache::cli {
namespace {

std::string with_digits(double number, int digits, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, number, unit);
  return text.data();
}

// The next character of `text`: its bytes, and its columns or -1 if it cannot be shown.
struct Character {
  std::size_t bytes = 1;
  int columns = -1;
};

Character next_character(std::string_view text) noexcept {
  wchar_t wide = 0;
  std::mbstate_t state{};
  const auto bytes = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {};  // NUL, invalid or cut
  return {bytes, wcwidth(wide)};
}

}  // namespace

bool is_terminal(int fd) noexcept {
  return isatty(fd) == 1;
}

bool is_capable_terminal(int fd) noexcept {
  const char* kind = std::getenv("TERM");
  return is_terminal(fd) && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

std::size_t terminal_columns(int fd) noexcept {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void use_character_set() noexcept {
  std::setlocale(LC_CTYPE, "");
}

bool has_utf8() noexcept {
  return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

std::string printable(std::string_view text, std::size_t columns) {
  const std::string_view ellipsis = has_utf8() ? "…" : "...";
  const std::size_t ellipsis_columns = has_utf8() ? 1 : 3;
  std::string out;
  std::size_t used = 0;
  std::size_t cut = 0;  // where an ellipsis still fits
  while (!text.empty()) {
    const auto character = next_character(text);
    std::string shown(text.substr(0, character.bytes));
    auto wide = static_cast<std::size_t>(std::max(character.columns, 0));
    if (text[0] == '\t') {
      shown = " ";
      wide = 1;
    } else if (character.columns < 0) {
      shown.clear();
      for (const char byte : text.substr(0, character.bytes)) {
        std::array<char, 8> hex{};
        std::snprintf(hex.data(), hex.size(), "\\x%02x", static_cast<unsigned char>(byte));
        shown += hex.data();
      }
      wide = shown.size();
    }
    if (used + wide > columns) {
      out.resize(cut);
      return out.append(ellipsis);
    }
    used += wide;
    out += shown;
    if (used + ellipsis_columns <= columns) cut = out.size();
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto character = next_character(text);
    columns += static_cast<std::size_t>(std::max(character.columns, 0));
    text.remove_prefix(character.bytes);
  }
  return columns;
}

std::string grouped(std::uint64_t number) {
  auto text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return text;
}

std::string in_bytes(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  auto amount = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KB", "MB", "GB", "TB"}) {
    if (amount < 999.5 && *unit != '\0') break;
    amount /= 1000;
    unit = next;
  }
  return with_digits(amount, amount < 9.95 ? 1 : 0, unit);
}

std::string in_time(std::chrono::duration<double> duration) {
  const auto seconds = duration.count();
  if (seconds < 0.9995) return with_digits(seconds * 1000, 0, "ms");
  if (seconds < 59.95) return with_digits(seconds, 1, "s");
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

std::string in_percent(double share) {
  const auto percent = share * 100;
  return with_digits(percent, percent >= 10 ? 0 : percent >= 1 ? 1 : 2, "%");
}

std::string in_date(std::int64_t milliseconds) {
  auto seconds = milliseconds / 1000;
  if (milliseconds % 1000 < 0) --seconds;
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  std::array<char, 64> text{};
  if (gmtime_r(&time, &parts) == nullptr) return std::to_string(milliseconds) + " ms";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%SZ", &parts);
  return text.data();
}

std::string shortest(float number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

std::string plural(std::uint64_t number, const char* one, const char* many) {
  return grouped(number) + ' ' + (number == 1 ? one : many);
}

}  // namespace dpcache::cli
