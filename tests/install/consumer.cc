// Uses the public API alone: three items go in, two of them alike, and a query is answered.
#include <dpcache/dpcache.h>

#include <array>
#include <cstdio>

#if DPCACHE_VERSION_MAJOR != 0 || DPCACHE_VERSION_MINOR < 1
#error "another version of dpcache than the one that was asked for"
#endif

int main() {
  dpcache::Config config;
  config.dimension = 3;
  auto cache = dpcache::Cache::create(config);
  if (!cache) {
    std::printf("create: %s %s\n", to_string(cache.status.code), cache.status.detail.c_str());
    return 1;
  }
  const std::array<std::array<float, 3>, 3> keys = {{{1, 0, 0}, {0, 1, 0}, {2, 0, 0}}};
  for (const auto& key : keys) {
    dpcache::Item item;
    item.key = key;
    const auto decision = cache->observe(item);
    if (!decision) {
      std::printf("observe: %s\n", to_string(decision.status.code));
      return 1;
    }
  }
  const auto nearest = cache->nearest(keys[1]);
  if (!nearest || !nearest->has_value()) return 1;
  std::printf("dpcache %s: %zu slots, the second key is in slot %llu\n", DPCACHE_VERSION_STRING,
              cache->size(), static_cast<unsigned long long>((*nearest)->slot));
  return cache->size() == 2 && (*nearest)->slot == 2 ? 0 : 1;
}
