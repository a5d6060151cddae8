// Reads the page's files.
#include "serve/page.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace dpcache::server {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 64U << 20U;

std::string type_of(const fs::path& path) {
  static const std::map<std::string, std::string> kTypes = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".wasm", "application/wasm"},
      {".svg", "image/svg+xml"},
      {".txt", "text/plain; charset=utf-8"}};
  const auto found = kTypes.find(path.extension().string());
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

}  // namespace

std::map<std::string, PageFile> read_page(const std::string& folder) {
  std::map<std::string, PageFile> files;
  std::uintmax_t bytes = 0;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      bytes += entry.file_size();
      if (bytes > kMostBytes) throw std::runtime_error(folder + ": holds more than a page");
      std::ifstream file(entry.path(), std::ios::binary);
      if (!file) throw std::runtime_error(entry.path().string() + ": cannot be read");
      const std::string name = "/" + entry.path().lexically_relative(folder).generic_string();
      files[name] = {type_of(entry.path()), std::string(std::istreambuf_iterator<char>(file), {})};
    }
  } catch (const fs::filesystem_error& error) {
    throw std::runtime_error(folder + ": " + error.code().message());
  }
  const auto index = files.find("/index.html");
  if (index == files.end()) throw std::runtime_error(folder + ": there is no index.html");
  files["/"] = index->second;
  return files;
}

std::string find_page() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  // Installed beside the program; or built in the repository, two folders above it.
  for (const char* place : {"../share/dpcache/page", "../../web/dist"}) {
    const fs::path folder = program.parent_path() / place;
    if (fs::exists(folder / "index.html", error)) return fs::weakly_canonical(folder).string();
  }
  return {};
}

}  // namespace dpcache::server
