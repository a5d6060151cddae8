// dpcache explain, undo and reviews: why is a slot what it is, and what is to be done about it?
#include "cli/merges.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "cli/commands.h"
#include "cli/encoding.h"
#include "cli/example_json.h"
#include "cli/memory_file.h"
#include "cli/session.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

Named named(const Cache& cache, SlotId id) {
  const auto slot = cache.slot(id);
  if (!slot) return {id, 0, ""};
  return {id, slot->count,
          slot->text.empty() ? read_example(slot->payload).text : std::string(slot->text)};
}

void put(std::initializer_list<std::string> cells, Output& output) {
  const bool shown = is_terminal(STDOUT_FILENO);
  const char* before = "";
  for (const auto& cell : cells) {
    output.add(std::exchange(before, "\t"));
    output.add(shown ? printable(cell) : cell);
  }
  output.add('\n');
}

std::string list(const std::vector<std::string_view>& words) {
  std::string all;
  for (const auto word : words) all.append(all.empty() ? "" : ",").append(word);
  return all.empty() ? "-" : all;
}

ListedReview listed(const Cache& cache, const Review& review) {
  return {named(cache, review.slot), named(cache, review.other), review.similarity};
}

// What the core refuses, in the words of this command line.
[[noreturn]] void refuse(const std::string& path, const Status& status) {
  const bool unkept = status.pointer == "/audit" && status.code == Error::bad_config;
  throw Failure(Exit::memory, path + ": " + status.detail +
                                  (unkept ? " (distinct --audit full keeps all of it)" : ""));
}

// A member's line once more, as distinct took it. It owns what its item views.
class Line {
 public:
  // `id`: FILE:LINE, where it stood, or what the caller has named it.
  Line(const Cache& cache, const std::string& text, const std::string& id, const std::string& path)
      : text_(text), key_(cache.config().dimension) {
    const auto encoder = encoder_of(cache, EncoderOptions{}, path);
    if (const auto status = encoder.encode(text_, key_); !status) {
      throw Failure(Exit::input, "--line: " + status.detail);
    }
    const auto colon = id.rfind(':');
    std::uint64_t number = 0;
    if (colon != std::string::npos) {
      std::from_chars(id.data() + colon + 1, id.data() + id.size(), number);
    }
    examples_.set_file(id.substr(0, colon));
    item_.key = key_;
    item_.text = text_;
    item_.payload = examples_.write(text_, number);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  const Item& item() const { return item_; }

 private:
  std::string text_;
  std::vector<float> key_;
  ExampleWriter examples_;
  Item item_;
};

// MEMBER is the id of one member, or the number that explain prints.
std::uint64_t find_member(const std::vector<Member>& members, const std::string& name,
                          const std::string& path) {
  std::vector<std::uint64_t> found;
  for (const Member& member : members) {
    if (member.id == name) found.push_back(member.seq);
  }
  std::uint64_t number = 0;
  const auto* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data(), end, number);
  const bool is_number = error == std::errc() && at == end;
  const bool is_member = std::any_of(members.begin(), members.end(),
                                     [&](const Member& member) { return member.seq == number; });
  if (found.empty() && is_number && is_member) return number;
  if (found.size() == 1) return found.front();
  throw Failure(Exit::memory, path + (found.empty() ? ": the slot lists no member '" + name + "'"
                                                    : ": '" + name + "' is the id of " +
                                                          std::to_string(found.size()) +
                                                          " members (give the number)"));
}

Cache take(MemoryFile& file) {
  auto cache = file.take();
  if (!cache) throw Failure(Exit::memory, file.path() + ": " + system_words(ENOENT));
  return std::move(*cache);
}

}  // namespace

void print_text(const Explanation& explanation, Output& output) {
  const auto& slot = explanation.slot;
  put({"slot", std::to_string(slot.slot), std::to_string(slot.count),
       shortest(explanation.threshold), slot.text},
      output);
  for (const auto& member : explanation.members) {
    put({member.opened ? "opened" : "merged", std::to_string(member.member),
         shortest(member.similarity), shortest(member.threshold), list(member.guarded),
         member.id.empty() ? "-" : member.id, member.text},
        output);
  }
  for (const auto& one : explanation.apart) {
    put({"apart", std::to_string(one.slot), std::to_string(one.count), one.text}, output);
  }
  for (const auto& review : explanation.reviews) {
    put({"review", std::to_string(review.other.slot), shortest(review.similarity),
         review.other.text},
        output);
  }
}

void print_text(const Undone& undone, Output& output) {
  put({"slot", std::to_string(undone.slot.slot), std::to_string(undone.slot.count),
       undone.slot.text},
      output);
  put({"opened", std::to_string(undone.opened.slot), std::to_string(undone.opened.count),
       undone.opened.text},
      output);
}

void print_text(const std::vector<ListedReview>& reviews, Output& output) {
  for (const auto& review : reviews) {
    put({std::to_string(review.slot.slot), std::to_string(review.other.slot),
         shortest(review.similarity), review.slot.text, review.other.text},
        output);
  }
}

Ending run_explain(const ExplainOptions& options) {
  const auto loaded = read_memory(options.memory);
  const Cache& cache = loaded.cache;
  Explanation explanation;
  explanation.slot = named(cache, options.slot);
  explanation.threshold = threshold(cache.config());
  const auto members = cache.members(options.slot);
  if (!members) refuse(options.memory, members.status);
  for (const Member& member : *members) {
    explanation.members.push_back(
        {member.seq, std::string(member.id), member.opened, member.similarity, member.threshold,
         member.gate, member.time, member.guarded.list(),
         member.text.empty() ? read_example(member.payload).text : std::string(member.text)});
  }
  for (const dpcache::Apart& pair : cache.apart()) {
    if (pair.slot == options.slot) explanation.apart.push_back(named(cache, pair.other));
    if (pair.other == options.slot) explanation.apart.push_back(named(cache, pair.slot));
  }
  for (Review review : cache.reviews()) {
    if (review.other == options.slot) std::swap(review.slot, review.other);
    if (review.slot == options.slot) explanation.reviews.push_back(listed(cache, review));
  }
  Output output;
  if (options.format == Format::json) {
    print_json(explanation, output);
  } else {
    print_text(explanation, output);
  }
  output.close();
  return {};
}

Ending run_undo(const UndoOptions& options) {
  MemoryFile file(options.memory);
  Cache cache = take(file);
  const auto members = cache.members(options.slot);
  if (!members) refuse(options.memory, members.status);
  SplitOptions split;
  split.time = options.time.value_or(Session::clock());
  const auto member = find_member(*members, options.member, options.memory);
  std::optional<Line> line;
  if (options.line) {
    const auto at = std::find_if(members->begin(), members->end(),
                                 [&](const Member& one) { return one.seq == member; });
    line.emplace(cache, *options.line, std::string(at->id), options.memory);
    split.item = &line->item();
  }
  const auto opened = cache.split(options.slot, member, split);
  if (!opened) {
    const bool lacks_item = cache.config().audit == Audit::ids && !options.line;
    if (!lacks_item) refuse(options.memory, opened.status);
    throw Failure(Exit::memory, options.memory + ": " + opened.status.detail +
                                    " (undo --line TEXT, or keep it with distinct --audit full)");
  }
  const Undone undone{named(cache, options.slot), named(cache, *opened)};
  Output output;
  if (options.format == Format::json) {
    print_json(undone, output);
  } else {
    print_text(undone, output);
  }
  output.flush();
  file.save(cache);
  output.close();
  return {};
}

Ending run_reviews(const ReviewsOptions& options) {
  std::optional<MemoryFile> file;
  Cache cache;
  if (options.answers.empty()) {
    cache = read_memory(options.memory).cache;
  } else {
    file.emplace(options.memory);
    cache = take(*file);
    for (const auto& [verdict, slot, other] : options.answers) {
      const auto status =
          cache.review(slot, other, verdict, options.time.value_or(Session::clock()));
      if (!status) refuse(options.memory, status);
    }
  }
  std::vector<ListedReview> reviews;
  for (const Review& review : cache.reviews()) reviews.push_back(listed(cache, review));
  Output output;
  if (options.format == Format::json) {
    print_json(reviews, output);
  } else {
    print_text(reviews, output);
  }
  output.flush();
  if (file) file->save(cache);
  output.close();
  return {};
}

}  // namespace dpcache::cli
