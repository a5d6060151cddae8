// What int8 components are multiplied by: one number for all rows, or one a row from a .npy file.
#ifndef DPCACHE_CLI_SCALE_H_
#define DPCACHE_CLI_SCALE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "cli/npy.h"

namespace dpcache::cli {

class Scale {
 public:
  // `given` is a number or a file's name; nothing: 1. Failure if the rows are not int8, if a scale
  // file is to serve several files, or does not have a number for each row.
  Scale(const std::optional<std::string>& given, const NpyReader& rows, std::size_t files);

  // Multiplies the next row.
  void apply(std::span<float> row);

 private:
  float factor_ = 1.0F;
  std::optional<NpyReader> factors_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_SCALE_H_
