// Takes items one by one, and lists what became of them.
#include "cli/collector.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "cli/failure.h"

namespace dpcache::cli {
namespace {
constexpr std::size_t kPage = 1024;       // slots looked at in one go
constexpr std::size_t kLongestId = 1024;  // bytes, of an item
constexpr std::uint64_t kThisRun = std::uint64_t{1} << 62U;

std::string_view text_of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Collector::Collector(Session& session, Printer& printer, Stream stream, Which which)
    : session_(session), printer_(printer), stream_(stream), which_(which) {
  if (session.encoder()) vectors_.emplace(*session.encoder());
  examples_.set_file(file_);
}

void Collector::take_text(std::string_view bytes, const Place& place) {
  const auto text = text_of(bytes);
  observe(vectors_->of(text), text, bytes, place);
}

void Collector::take_vector(std::span<const float> key, std::string_view label,
                            const Place& place) {
  observe(key, text_of(label), label, place);
}

void Collector::observe(std::span<const float> key, std::string_view text, std::string_view bytes,
                        const Place& place) {
  if (place.file != file_) {
    file_ = place.file;
    examples_.set_file(file_);
  }
  Item item;
  item.key = key;
  item.payload = examples_.write(text, place.line);
  item.time = session_.now();
  item.text = text;
  if (session_.cache().config().audit != Audit::none) {
    place_ = file_ + ':' + std::to_string(place.line);
    item.id = std::string_view(place_).substr(0, kLongestId);
  }
  const auto decision = session_.cache().observe(item);
  if (!decision) {
    if (decision.status.code == Error::full) throw Failure(Exit::resources, decision.status.detail);
    throw Failure(Exit::input, std::string(place.file) + ": row " + std::to_string(place.line) +
                                   ": " + decision.status.detail + " (nothing was saved)");
  }
  ++items_;
  remember(*decision);
  const bool fresh = decision->action == Action::allocate;
  if (stream_ == Stream::assign && (fresh || which_ != Which::fresh)) {
    printer_.assignment({&*decision, place.file, place.line, bytes});
  } else if (stream_ == Stream::fresh && fresh) {
    printer_.row(row(*session_.cache().slot(decision->slot)));
  }
}

void Collector::remember(const Decision& decision) {
  auto& mine = seen_[decision.slot];
  ++mine.count;
  mine.last = items_;
  if (decision.action == Action::allocate) {
    mine.novelty = decision.novelty;
    ++opened_;
  }
  for (const auto& fold : decision.folded) {
    const auto gone = seen_.find(fold.slot);
    if (gone == seen_.end()) continue;
    const auto was = gone->second;
    seen_.erase(gone);
    auto& into = seen_[fold.into];
    into.count += was.count;
    into.last = std::max(into.last, was.last);
  }
  if (seen_.size() > 2 * session_.cache().size() + kPage) forget_gone();
}

// Slots that were evicted or have expired. A pass now and then costs less than a search for each.
void Collector::forget_gone() {
  std::erase_if(seen_, [this](const auto& entry) { return !session_.cache().slot(entry.first); });
}

std::uint64_t Collector::rank(const Slot& slot, Order order) const {
  const auto mine = seen_.find(slot.id);
  const bool fresh = slot.id >= session_.first_new();
  switch (order) {
    case Order::count:
      return slot.count;
    case Order::first:
      return 0;
    case Order::last:  // this run's items come after all earlier ones
      return mine != seen_.end()
                 ? kThisRun + mine->second.last
                 : static_cast<std::uint64_t>(std::max<std::int64_t>(slot.last_time, 0));
    case Order::novelty:
      // Floats from 0 up are ordered as their bits; what this run did not open comes last.
      return fresh && mine != seen_.end() ? 1 + std::bit_cast<std::uint32_t>(mine->second.novelty)
                                          : 0;
  }
  return 0;
}

Row Collector::row(const Slot& slot) const {
  Row row;
  row.slot = slot.id;
  row.count = slot.count;
  row.fresh = slot.id >= session_.first_new();
  if (const auto mine = seen_.find(slot.id); mine != seen_.end()) {
    row.seen = mine->second.count;
    if (row.fresh) row.novelty = mine->second.novelty;
  }
  row.first = read_example(slot.payload);
  row.first_time = slot.first_time;
  row.last_time = slot.last_time;
  return row;
}

void Collector::list(Order order, std::optional<std::uint64_t> top) {
  const auto& cache = session_.cache();
  const auto now = session_.now();
  std::vector<Listed> listed;
  SlotId after = 0;
  for (auto page = cache.slots(after, kPage); !page.empty(); page = cache.slots(after, kPage)) {
    for (const auto& slot : page) {
      after = slot.id;
      if (slot.expires && *slot.expires <= now) continue;
      if (which_ == Which::fresh && slot.id < session_.first_new()) continue;
      if (which_ == Which::seen && !seen_.contains(slot.id)) continue;
      listed.push_back({slot.id, rank(slot, order)});
    }
  }
  const auto shown =
      static_cast<std::size_t>(std::min<std::uint64_t>(top.value_or(listed.size()), listed.size()));
  std::partial_sort(listed.begin(), listed.begin() + static_cast<std::ptrdiff_t>(shown),
                    listed.end(), [](const Listed& a, const Listed& b) {
                      return a.rank != b.rank ? a.rank > b.rank : a.slot < b.slot;
                    });
  for (std::size_t at = 0; at < shown; ++at) printer_.row(row(*cache.slot(listed[at].slot)));
  printer_.finish();
}

}  // namespace dpcache::cli
