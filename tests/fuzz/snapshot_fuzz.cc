// Memory files that were changed and then sealed with a right checksum. Whatever loads must be a
// cache like any other: it saves and loads again to the same bytes, and takes items.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "fuzz/input.h"
#include "native/memory_file.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace dpcache {
namespace {

using Bytes = std::vector<std::byte>;

// Small files of caches of many kinds, to start from.
const std::vector<Bytes>& samples() {
  static const std::vector<Bytes> kAll = [] {
    std::vector<Bytes> all;
    for (std::uint8_t kind = 0; kind < 40; ++kind) {
      std::vector<std::uint8_t> bytes(400);
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::uint8_t>((kind * 29 + 7) * (i + 1) * (i + 3) / 11 % 113);
      }
      fuzz::Input input(bytes.data(), bytes.size());
      Config config = fuzz::config_from(input);
      config.dimension = 1 + config.dimension % 3;
      config.budget = static_cast<BudgetKind>(kind % 4);
      if (kind >= 24) fuzz::trust(config, kind);
      Cache cache = std::move(*Cache::create(config));
      fuzz::use(cache, kind);
      cache.metadata()["m"] = "\"\\";
      all.push_back(cache.save());
    }
    return all;
  }();
  return kAll;
}

// 8-byte numbers that lie on edges.
constexpr std::uint64_t kEdges[] = {0,
                                    1,
                                    2,
                                    ~std::uint64_t{0},
                                    std::uint64_t{1} << 53U,
                                    (std::uint64_t{1} << 53U) - 1,
                                    (std::uint64_t{1} << 63U) - 1,
                                    std::uint64_t{1} << 63U,
                                    std::uint64_t{1} << 60U,
                                    0x3FF0000000000000U,   // 1
                                    0x3FFFFFFFFFFFFFFFU,   // just below 2
                                    0x7FF0000000000000U,   // infinity
                                    0x7FF8000000000000U,   // NaN
                                    0x7FEFFFFFFFFFFFFFU,   // the largest double
                                    0x7F7FFFFF3F800000U,   // floats: 1 and the largest
                                    0x7F8000007FC00000U};  // floats: NaN and infinity

}  // namespace
}  // namespace dpcache

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using namespace dpcache;
  if (size < 64 || seed % 64 == 0) {
    const Bytes& sample = samples()[seed / 64 % samples().size()];
    if (sample.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    std::memcpy(data, sample.data(), sample.size());
    return sample.size();
  }
  std::uint64_t length = 0;
  std::memcpy(&length, data, sizeof length);
  length = std::min<std::uint64_t>(length, size - 8);
  const std::size_t header_end = 8 + static_cast<std::size_t>(length);
  switch (seed / 64 % 4) {
    case 0:  // a number of the data
      if (header_end + 8 <= size) {
        const std::size_t places = (size - header_end) / 8;
        const std::uint64_t edge = kEdges[seed / 256 % std::size(kEdges)];
        std::memcpy(data + header_end + seed / 4096 % places * 8, &edge, sizeof edge);
      }
      break;
    case 1: {  // the data, at its length
      const std::size_t rest =
          LLVMFuzzerMutate(data + header_end, size - header_end, size - header_end);
      if (rest < size - header_end) {
        std::memset(data + header_end + rest, 0, size - header_end - rest);
      }
      break;
    }
    case 2: {  // the header, which may change its length
      Bytes rest(size - header_end);
      if (!rest.empty()) std::memcpy(rest.data(), data + header_end, rest.size());
      const std::size_t room = max_size - 8 - rest.size();
      length = LLVMFuzzerMutate(data + 8, static_cast<std::size_t>(length), room);
      std::memcpy(data, &length, sizeof length);
      if (!rest.empty()) std::memcpy(data + 8 + length, rest.data(), rest.size());
      size = 8 + static_cast<std::size_t>(length) + rest.size();
      break;
    }
    default:
      size = LLVMFuzzerMutate(data, size, max_size);
  }
  Bytes file(size);
  std::memcpy(file.data(), data, size);
  testing::seal(file);
  std::memcpy(data, file.data(), size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dpcache;
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  Bytes file(begin, begin + size);
  testing::seal(file);
  Result<Cache> loaded = Cache::load(file);
  if (!loaded) {
    fuzz::require(loaded.status.code == Error::bad_snapshot, "refused with another code");
    return 0;
  }
  fuzz::reloaded(*loaded);
  fuzz::use(*loaded, static_cast<std::uint8_t>(size));
  return 0;
}
