// The command line's store of recent vectors gives what the encoder gives, whatever it was asked
// before.
#include "cli/encoding.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace dpcache::cli {
namespace {

// Texts of few parts, so that many have the same masked form by different ways, and the mask's own
// spelling is among them.
std::string random_text(std::mt19937_64& random) {
  static const std::array<std::string, 24> kParts{
      "<number>", "<ip>",   "<user>",   "u_bob",     "u_eve",      "5",
      "17",       "0xBEEF", "10.0.0.1", "12:00:01",  "/var/log/x", " ",
      " ",        "disk",   "é",        "e\xcc\x81", "\xff",       std::string(1, '\0'),
      "-",        ".",      ":",        "=",         "<",          "deadbeef12"};
  std::string text;
  const auto parts = 1 + random() % 5;
  for (std::size_t part = 0; part < parts; ++part) text += kParts[random() % kParts.size()];
  return text;
}

void expect_the_encoders_vectors(const EncoderOptions& options) {
  const auto encoder = new_encoder(options);
  RecentVectors vectors(encoder);
  std::mt19937_64 random(7);
  std::vector<float> expected(encoder.config().dimension);
  for (int i = 0; i < 100000; ++i) {
    const auto text = random_text(random);
    ASSERT_TRUE(encoder.encode(text, expected));
    const auto vector = vectors.of(text);
    ASSERT_EQ(std::vector<float>(vector.begin(), vector.end()), expected) << text;
  }
}

TEST(RecentVectors, AreTheEncodersWithAllMasks) {
  expect_the_encoders_vectors({});
}

TEST(RecentVectors, AreTheEncodersWithoutMasks) {
  EncoderOptions options;
  options.masks = "none";
  expect_the_encoders_vectors(options);
}

TEST(RecentVectors, AreTheEncodersWithOwnMasks) {
  EncoderOptions options;
  options.own = {{"user", "u_[a-z]+"}, {"edge", R"(\b)"}};
  options.dimension = 4096;  // few entries
  expect_the_encoders_vectors(options);
}

TEST(RecentVectors, AreTheEncodersForLongTexts) {
  const auto encoder = new_encoder({});
  RecentVectors vectors(encoder);
  std::vector<float> expected(encoder.config().dimension);
  for (const std::size_t size : {1000U, 1024U, 1025U, 4096U, 4097U, 100000U}) {
    for (const char letter : {'a', 'b', 'a', '7'}) {
      const std::string text(size, letter);
      ASSERT_TRUE(encoder.encode(text, expected));
      const auto vector = vectors.of(text);
      EXPECT_EQ(std::vector<float>(vector.begin(), vector.end()), expected) << size << letter;
    }
  }
}

}  // namespace
}  // namespace dpcache::cli
