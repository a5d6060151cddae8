// Vectors out of .npy and safetensors files, row by row.
#ifndef DPCACHE_CLI_NPY_H_
#define DPCACHE_CLI_NPY_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input.h"

namespace dpcache::cli {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// What a file with a single axis is: one vector, or a number a row.
enum class OneAxis : bool { vector, column };

// Format versions 1, 2 and 3; float32, float16 or int8; little-endian, C order, one or two axes.
// Lengths are checked before anything is allocated. Memory: 64 KiB and one row. Throws
// Failure(input) that says what is wrong and what is expected.
class NpyReader {
 public:
  enum class Type : std::uint8_t { float32, float16, int8, bfloat16 };

  // Reads the header; the input stands at its first byte.
  explicit NpyReader(Input input, OneAxis one_axis = OneAxis::vector);

  // The matrix `name` in a safetensors file, of one of these types or bfloat16. What follows it is
  // not read, but the size of the file is checked.
  static NpyReader of_safetensors(Input input, const std::string& name);

  Type type() const noexcept { return type_; }
  std::uint64_t rows() const noexcept { return rows_; }
  std::uint32_t columns() const noexcept { return columns_; }
  std::uint64_t bytes() const noexcept { return bytes_; }  // of the rows so far
  const Input& input() const noexcept { return input_; }

  // The next row as floats, `columns` of them; false behind the last one, where it also checks that
  // the file ends, or when a signal came.
  bool next(std::span<float> row);

 private:
  struct InTensor {
    std::string_view name;
  };
  NpyReader(Input input, InTensor tensor);

  void read_header(OneAxis one_axis);
  void read_tensor(std::string_view name);
  void pass_over(std::uint64_t bytes);
  void parse(std::string_view header, OneAxis one_axis);
  std::size_t row_size() const noexcept;
  void check_size(std::uint64_t header_size) const;

  Input input_;
  Type type_ = Type::float32;
  std::uint64_t rows_ = 0;
  std::uint32_t columns_ = 0;
  std::uint64_t row_ = 0;
  std::uint64_t bytes_ = 0;
  bool others_follow_ = false;  // behind the last row
  std::vector<char> buffer_;    // whole rows, in part handed out: [at_, filled_)
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_NPY_H_
