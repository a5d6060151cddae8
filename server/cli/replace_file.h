// A small file that is replaced whole or not at all.
#ifndef DPCACHE_CLI_REPLACE_FILE_H_
#define DPCACHE_CLI_REPLACE_FILE_H_

#include <string>
#include <string_view>

namespace dpcache::cli {

// Whether `path` could be written, asked before long work. Throws Failure(output).
void check_replaceable(const std::string& path);
// Writes `text` beside the file, forces it to the disk and renames it over the file. Mode stays as
// it was; a symbolic link stays a link. Throws Failure(output), with the file as it was.
void replace_file(const std::string& path, std::string_view text);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_REPLACE_FILE_H_
