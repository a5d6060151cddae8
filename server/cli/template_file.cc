// A file of templates on disk. Its checksum tells one saved state from another.
#include "cli/template_file.h"

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/encoding.h"

namespace dpcache::cli {
namespace {

constexpr std::string_view kMark = "DPCTMPLS";

HeldFile::Identity identity_of(std::span<const std::byte> bytes) {
  constexpr std::size_t kChecksumAt = 20;
  HeldFile::Identity identity;
  identity.generation = bytes.size();
  if (bytes.size() >= kChecksumAt + sizeof identity.mark) {
    std::memcpy(&identity.mark, bytes.data() + kChecksumAt, sizeof identity.mark);
  }
  return identity;
}

}  // namespace

bool holds_templates(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= kMark.size() && std::memcmp(bytes.data(), kMark.data(), kMark.size()) == 0;
}

Templates load_templates(std::span<const std::byte> bytes, const std::string& path) {
  const auto refuse = [&path](const Status& status) {
    throw Damaged(path + ": is damaged, or holds no templates: " + status.detail +
                  " (use a copy of it)");
  };
  auto patterns = Templates::patterns_of(bytes);
  if (!patterns) refuse(patterns.status);
  std::vector<OwnMask> own;
  for (const Pattern& pattern : *patterns) own.push_back({pattern.name, pattern.source});
  auto templates = Templates::load(bytes, compile(own));
  if (!templates) refuse(templates.status);
  return std::move(*templates);
}

TemplateFile::TemplateFile(const std::string& path) : file_(path, identity_of) {
  const auto bytes = file_.take();
  if (!bytes) return;
  templates_ = load_templates(*bytes, path);
  file_.know(identity_of(*bytes));
}

void TemplateFile::save(const Templates& templates) {
  file_.check_unchanged();
  const auto bytes = templates.save();
  file_.save(bytes, identity_of(bytes));
}

}  // namespace dpcache::cli
