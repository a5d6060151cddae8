// Cuts a text into pieces, and pieces into words, numbers and identifiers.
#ifndef DPCACHE_SRC_TEXT_GUARD_SCAN_H_
#define DPCACHE_SRC_TEXT_GUARD_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/guard_read.h"
#include "text/guard_table.h"

namespace dpcache::text {

class GuardScanner {
 public:
  GuardScanner(const GuardTable& table, Reading& reading)
      : table_(table), reading_(reading), text_(reading.text) {}
  void scan();

 private:
  unsigned char at(std::size_t i) const {
    return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0;
  }
  void mark(unsigned char c);
  void close_quote();
  void piece(std::size_t begin, std::size_t end);
  bool identifier(std::size_t begin, std::size_t end);
  bool dotted(std::size_t begin, std::size_t end);
  void parts(std::size_t begin, std::size_t end);
  std::size_t word(std::size_t begin, std::size_t end);
  void letters(std::size_t begin, std::size_t end);
  void contracted(std::size_t begin, std::size_t apostrophe, std::size_t end);
  std::size_t number(std::size_t begin, std::size_t end);
  std::size_t date(std::size_t begin, std::size_t end);
  std::size_t clock(std::size_t begin, std::size_t end);
  void digits(std::size_t begin, std::size_t end, int shift);
  void put_number(std::size_t begin, std::size_t end, std::uint64_t hash, int exponent,
                  std::uint32_t value);
  void code(std::size_t begin, std::size_t end, std::uint32_t flags, bool fold);
  void known_word(std::string_view small, std::size_t begin, std::size_t end, std::uint32_t flags);
  GuardToken* put(std::size_t begin, std::size_t end);
  GuardToken* last();  // put; null: none yet

  const GuardTable& table_;
  Reading& reading_;
  std::string_view text_;
  std::uint32_t pending_ = kFirst;  // flags of the next token
  unsigned char quote_ = 0;         // the open one
  std::size_t quoted_ = 0;          // the first token behind it
  std::size_t resume_ = 0;          // where the next piece may begin
  bool below_ = false;              // a minus stands in front of the next number
};

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_GUARD_SCAN_H_
