// What merges say of themselves: lists for explain, undo and reviews, and their printing.
#ifndef DPCACHE_CLI_MERGES_H_
#define DPCACHE_CLI_MERGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "cli/output.h"
#include "dpcache/cache.h"

namespace dpcache::cli {

struct Named {
  SlotId slot = 0;
  std::uint64_t count = 0;
  std::string text;
};

struct ListedMember {
  std::uint64_t member = 0;
  std::string id;
  bool opened = false;
  float similarity = 0.0F;
  float threshold = 0.0F;
  float gate = 0.0F;
  std::int64_t time = 0;
  std::vector<std::string_view> guarded;
  std::string text;
};

struct ListedReview {
  Named slot;
  Named other;
  float similarity = 0.0F;
};

struct Explanation {
  Named slot;
  float threshold = 0.0F;
  std::vector<ListedMember> members;  // may be fewer than the slot's count
  std::vector<Named> apart;           // what it must not be merged with
  std::vector<ListedReview> reviews;  // the other slot is `other`
};

struct Undone {
  Named slot;    // without the member
  Named opened;  // for it
};

// Fields separated by tabs; on a terminal made safe to show.
void print_text(const Explanation& explanation, Output& output);
void print_text(const Undone& undone, Output& output);
void print_text(const std::vector<ListedReview>& reviews, Output& output);
// One object; reviews: one a line.
void print_json(const Explanation& explanation, Output& output);
void print_json(const Undone& undone, Output& output);
void print_json(const std::vector<ListedReview>& reviews, Output& output);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_MERGES_H_
