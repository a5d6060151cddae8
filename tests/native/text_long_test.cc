// Lines of 100 MB: they are data, and take time in proportion.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/text.h"

namespace dpcache {
namespace {

constexpr std::size_t kHundredMegabytes = 100'000'000;

std::string repeated(std::string_view part, std::size_t size) {
  std::string text;
  text.reserve(size + part.size());
  while (text.size() < size) text += part;
  return text;
}

double seconds_for(const Encoder& encoder, std::string_view text) {
  std::vector<float> vector(encoder.config().dimension);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(encoder.encode(text, vector));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  double squares = 0.0;
  for (const float x : vector) squares += double{x} * double{x};
  EXPECT_NEAR(squares, 1.0, 1e-6);
  return taken.count();
}

TEST(LongText, OfAHundredMegabytesTakesTimeInProportion) {
  EncoderConfig config;
  config.masks = Masks::all();
  const Encoder encoder = *Encoder::create(config);
  for (const std::string_view part :
       {"a", "1:", "/", "0x", "12:00:", "word 42 ", "\u0323\u0301", "用户", "\xff", "<number"}) {
    const double tenth = seconds_for(encoder, repeated(part, kHundredMegabytes / 10));
    const double whole = seconds_for(encoder, repeated(part, kHundredMegabytes));
    // Ten times the text; the rest is for a busy machine. A quadratic pass takes a hundred times.
    EXPECT_LT(whole, 30.0 * tenth + 1.0) << "'" << part << "'";
  }
}

}  // namespace
}  // namespace dpcache
