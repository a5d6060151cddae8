// Scales of int8 rows.
#include "cli/scale.h"

#include <charconv>

#include "cli/failure.h"
#include "cli/numbers.h"
#include "cli/signals.h"

namespace dpcache::cli {

Scale::Scale(const std::optional<std::string>& given, const NpyReader& rows, std::size_t files) {
  if (!given) return;
  if (rows.type() != NpyReader::Type::int8) {
    throw Failure(Exit::usage, "--scale is for int8; " + rows.input().title() + " holds floats");
  }
  if (!given->ends_with(".npy")) {
    factor_ = parse_number<float>(*given, "--scale");
    return;
  }
  if (files > 1) throw Failure(Exit::usage, "--scale FILE goes with one .npy FILE only");
  factors_.emplace(Input(*given), OneAxis::column);
  if (factors_->columns() != 1 || factors_->rows() != rows.rows()) {
    throw Failure(Exit::input, *given + ": has " + std::to_string(factors_->rows()) + " x " +
                                   std::to_string(factors_->columns()) +
                                   " numbers; expected one for each of the " +
                                   std::to_string(rows.rows()) + " rows of " +
                                   rows.input().title());
  }
}

void Scale::apply(std::span<float> row) {
  if (factors_) factors_->next({&factor_, 1});
  if (factor_ == 1.0F) return;
  for (float& component : row) component *= factor_;
}

}  // namespace dpcache::cli
