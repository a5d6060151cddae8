// A file of templates on disk.
#ifndef DPCACHE_CLI_TEMPLATE_FILE_H_
#define DPCACHE_CLI_TEMPLATE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cli/held_file.h"
#include "dpcache/templates.h"

namespace dpcache::cli {

// Whether the bytes begin as templates do.
bool holds_templates(std::span<const std::byte> bytes) noexcept;
// The templates in these bytes, their own masks compiled. Damaged if they are none.
Templates load_templates(std::span<const std::byte> bytes, const std::string& path);

// One writer's hold on a file of templates; as MemoryFile.
class TemplateFile {
 public:
  explicit TemplateFile(const std::string& path);

  std::optional<Templates> take() { return std::move(templates_); }
  std::uint64_t bytes() const noexcept { return file_.bytes(); }
  const std::string& path() const noexcept { return file_.path(); }
  void save(const Templates& templates);

 private:
  HeldFile file_;
  std::optional<Templates> templates_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_TEMPLATE_FILE_H_
