// What people see: widths, numbers in words, and text that is safe to show on a terminal.
#ifndef DPCACHE_CLI_TERMINAL_H_
#define DPCACHE_CLI_TERMINAL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dpcache::cli {

bool is_terminal(int fd) noexcept;
// Whether the terminal behind `fd` understands control sequences (TERM is set and not "dumb").
bool is_capable_terminal(int fd) noexcept;
std::size_t terminal_columns(int fd) noexcept;

// Reads the character set of the environment; call once, first.
void use_character_set() noexcept;
bool has_utf8() noexcept;

// `text` in at most `columns` columns: control characters and bytes outside the character set as
// \xHH, so that no line of input can command the terminal; an ellipsis where it was cut.
std::string printable(std::string_view text, std::size_t columns = SIZE_MAX);
// Columns that printable text takes.
std::size_t columns_of(std::string_view text) noexcept;

std::string grouped(std::uint64_t number);                    // "56,482"
std::string in_bytes(std::uint64_t bytes);                    // "312 KB"
std::string in_time(std::chrono::duration<double> duration);  // "12 ms", "3.4 s", "2 min 5 s"
std::string in_percent(double share);                         // "0.75 %"
std::string in_date(std::int64_t milliseconds);               // "2026-11-29 12:00:00Z"
std::string shortest(float number);                           // "0.4": gives the same float back
std::string plural(std::uint64_t number, const char* one, const char* many);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_TERMINAL_H_
