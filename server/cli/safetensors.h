// Where one matrix stands in a safetensors file: from its header alone.
#ifndef DPCACHE_CLI_SAFETENSORS_H_
#define DPCACHE_CLI_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/npy.h"

namespace dpcache::cli {

// Longer headers are refused: those of files of vectors have a few hundred bytes, and reading one
// takes about ten times its size.
inline constexpr std::size_t kMostHeader = std::size_t{4} << 20U;

struct Tensor {
  NpyReader::Type type = NpyReader::Type::float32;
  std::uint64_t rows = 0;
  std::uint32_t columns = 0;
  std::uint64_t begin = 0;  // in the data, which follows the header
  std::uint64_t end = 0;    // of all data
};

// Whether bytes begin like such a file: a length below kMostHeader, and an object. 9 bytes do.
bool looks_like_safetensors(std::string_view start);
// The tensor `name` of a header, without its length: type F32, F16 or I8, and BF16; shape rows x
// columns. Throws Failure(input) that begins with `title`, says what is wrong and what is there.
Tensor find_tensor(std::string_view header, const std::string& name, const std::string& title);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_SAFETENSORS_H_
