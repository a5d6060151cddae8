// Takes items one by one: observes them, remembers what this run saw, prints what is to be
// streamed.
#ifndef DPCACHE_CLI_COLLECTOR_H_
#define DPCACHE_CLI_COLLECTOR_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/encoding.h"
#include "cli/example_json.h"
#include "cli/options.h"
#include "cli/rows.h"
#include "cli/session.h"

namespace dpcache::cli {

// Where an item stands.
struct Place {
  std::string_view file;
  std::uint64_t line = 0;  // or row, from 1
};

// Memory: per slot that this run met about 80 bytes; nothing per item.
class Collector {
 public:
  // The session must have its cache.
  Collector(Session& session, Printer& printer, Stream stream, Which which);

  // `bytes`: a line without its newline. One carriage return at its end is not part of the text.
  void take_text(std::string_view bytes, const Place& place);
  // A vector and its label. Failure(input) that names the row if it is not finite or has no
  // direction.
  void take_vector(std::span<const float> key, std::string_view label, const Place& place);

  // Prints the slots, in that order; the first `top` of them.
  void list(Order order, std::optional<std::uint64_t> top);

  std::uint64_t items() const noexcept { return items_; }
  std::uint64_t opened() const noexcept { return opened_; }  // slots, by this run

 private:
  struct Seen {
    std::uint64_t count = 0;
    std::uint64_t last = 0;  // number of the last item
    float novelty = 0.0F;    // of the item that opened the slot
  };
  struct Listed {
    SlotId slot = 0;
    std::uint64_t rank = 0;  // first by rank, descending, then by slot
  };

  void observe(std::span<const float> key, std::string_view text, std::string_view bytes,
               const Place& place);
  void remember(const Decision& decision);
  void forget_gone();
  std::uint64_t rank(const Slot& slot, Order order) const;
  Row row(const Slot& slot) const;

  Session& session_;
  Printer& printer_;
  Stream stream_;
  Which which_;
  std::optional<RecentVectors> vectors_;
  ExampleWriter examples_;
  std::string file_;   // that examples_ writes for
  std::string place_;  // FILE:LINE, where there is an audit
  std::unordered_map<SlotId, Seen> seen_;
  std::uint64_t items_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_COLLECTOR_H_
