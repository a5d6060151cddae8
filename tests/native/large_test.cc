// A cache whose rows lie beyond 2^31 bytes: no offset wraps. Takes 5 GB of memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "native/support.h"

namespace dpcache {
namespace {

TEST(LargeCaches, KeepTheirOffsetsIn64Bits) {
  constexpr std::uint32_t kWide = 65536;
  constexpr std::uint64_t kSlots = 8300;  // x 65536 floats = 2.03 GiB
  Cache cache = testing::make_cache(testing::plain_config(kWide, 0.0F));
  std::vector<float> key(kWide);
  // Replayed, because each observation would scan all that is there.
  for (std::uint64_t i = 0; i < kSlots; ++i) {
    key[i] = 1.0F;
    Event event;
    event.seq = i + 1;
    event.item.key = key;
    event.decision.slot = i + 1;
    const Status status = cache.apply(event);
    ASSERT_TRUE(status) << status.detail;
    key[i] = 0.0F;
  }
  EXPECT_GT(cache.stats().bytes, std::uint64_t{1} << 31U);
  for (const std::uint64_t i : {std::uint64_t{0}, kSlots / 2, std::uint64_t{8192}, kSlots - 1}) {
    key[i] = 1.0F;
    const Match match = **cache.nearest(key);
    EXPECT_EQ(match.slot, i + 1);
    EXPECT_EQ(match.similarity, 1.0F);
    const Result<Decision> decision = cache.observe(testing::item_of(key));
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->action, Action::merge);
    EXPECT_EQ(cache.slot(i + 1)->key[i], 1.0F);
    key[i] = 0.0F;
  }
}

}  // namespace
}  // namespace dpcache
