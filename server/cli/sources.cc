// The files that a command reads.
#include "cli/sources.h"

#include <algorithm>
#include <utility>

#include "cli/failure.h"
#include "cli/npy.h"

namespace dpcache::cli {

Sources::Sources(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (name == "-" && std::count(names.begin(), names.end(), name) > 1) {
      throw Failure(Exit::usage, "standard input can be read only once");
    }
    Input input(name);
    const auto content = input.starts_with(kNpyMagic) ? Content::vectors : Content::text;
    if (sources_.empty()) content_ = content;
    if (content != content_) {
      const char* kind = content == Content::text ? "text" : "vectors";
      throw Failure(Exit::input, input.title() + ": is " + kind +
                                     ", the files before it are not (give "
                                     "one kind at a time)");
    }
    const auto size = input.size();
    const bool keep = !input.is_file() || name == "-";
    sources_.push_back({name, std::nullopt, size});
    if (keep) sources_.back().kept = std::move(input);
  }
}

bool Sources::all_files() const noexcept {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const auto& source) { return source.size.has_value(); });
}

std::optional<std::uint64_t> Sources::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& source : sources_) {
    if (!source.size) return std::nullopt;
    sum += *source.size;
  }
  return sum;
}

Input Sources::open(std::size_t at) {
  auto& source = sources_[at];
  if (source.kept) return std::move(*std::exchange(source.kept, std::nullopt));
  return Input(source.name);
}

}  // namespace dpcache::cli
