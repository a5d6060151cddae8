// The memory file: what comes back, what is kept for others, that damage of any byte and any bit is
// refused, and that readers which know nothing of dpcache take it. Lies behind a right checksum are
// told in snapshot_lies_test.cc.
#include <gtest/gtest.h>
#if !defined(__EMSCRIPTEN__)
#include <unistd.h>
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "native/memory_file.h"
#include "native/support.h"

namespace dpcache {
namespace {

using testing::Bytes;
using testing::MemoryFile;
using testing::OwnedItem;

void expect_refused(std::span<const std::byte> bytes) {
  const Result<Cache> cache = Cache::load(bytes);
  EXPECT_EQ(cache.status.code, Error::bad_snapshot);
  EXPECT_FALSE(cache.status.detail.empty());
}

TEST(MemoryFiles, GiveBackAllThatASlotHolds) {
  const Cache cache = testing::full_cache();
  const Result<Cache> loaded = Cache::load(cache.save());
  ASSERT_TRUE(loaded) << loaded.status.detail;
  const std::vector<Slot> expected = cache.slots();
  const std::vector<Slot> slots = loaded->slots();
  ASSERT_EQ(slots.size(), expected.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    EXPECT_EQ(slots[i].id, expected[i].id);
    EXPECT_TRUE(std::equal(slots[i].key.begin(), slots[i].key.end(), expected[i].key.begin()));
    EXPECT_TRUE(
        std::equal(slots[i].value.begin(), slots[i].value.end(), expected[i].value.begin()));
    EXPECT_EQ(slots[i].payload, expected[i].payload);
    EXPECT_FALSE(slots[i].payload.empty());
    EXPECT_EQ(slots[i].exact_keys, expected[i].exact_keys);
    EXPECT_EQ(slots[i].usage, expected[i].usage);
    EXPECT_EQ(slots[i].count, expected[i].count);
    EXPECT_EQ(slots[i].first_time, expected[i].first_time);
    EXPECT_EQ(slots[i].last_time, expected[i].last_time);
    EXPECT_EQ(slots[i].expires, expected[i].expires);
  }
  EXPECT_EQ(loaded->config(), cache.config());
  EXPECT_EQ(loaded->metadata(), cache.metadata());
  const Stats a = cache.stats();
  const Stats b = loaded->stats();
  EXPECT_EQ(a.items, b.items);
  EXPECT_EQ(a.evictions, b.evictions);
  EXPECT_EQ(a.next_id, b.next_id);
  EXPECT_EQ(a.seq, b.seq);
  EXPECT_EQ(a.state_hash, b.state_hash);
  EXPECT_EQ(a.surprise, b.surprise);
  EXPECT_EQ(a.budget, b.budget);
}

TEST(MemoryFiles, OfAnEmptyCacheAreLoaded) {
  for (const std::uint32_t values : {0U, 7U}) {
    Config config = testing::plain_config(9, .3F);
    config.value_dimension = values;
    config.value_update = ValueUpdate::mean;
    const Cache cache = testing::make_cache(config);
    const Result<Cache> loaded = Cache::load(cache.save());
    ASSERT_TRUE(loaded) << loaded.status.detail;
    EXPECT_EQ(loaded->save(), cache.save());
    EXPECT_EQ(loaded->size(), 0U);
  }
}

TEST(MemoryFiles, LoadSeveralTimesIntoCachesOfTheirOwn) {
  const Bytes file = testing::full_cache().save();
  std::vector<Cache> caches;
  for (int i = 0; i < 3; ++i) {
    Result<Cache> loaded = Cache::load(file);
    ASSERT_TRUE(loaded);
    caches.push_back(std::move(*loaded));
  }
  ASSERT_TRUE(caches[0].erase(caches[0].slots().front().id));
  EXPECT_EQ(caches[1].save(), file);
  EXPECT_EQ(caches[2].save(), file);
  EXPECT_NE(caches[0].save(), file);
}

TEST(MemoryFiles, DoNotDependOnWhereTheirBytesLie) {
  const Bytes file = testing::full_cache().save();
  for (std::size_t shift = 1; shift < 16; ++shift) {
    Bytes moved(file.size() + shift);
    std::copy(file.begin(), file.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
    const Result<Cache> loaded = Cache::load(std::span(moved).subspan(shift));
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->save(), file);
  }
}

TEST(UnknownTensors, AndMetadataOfUsersAreKept) {
  Cache cache = testing::full_cache();
  cache.metadata()["quotes \" and \\ and \n"] = "\"dpcache.checksum\":\"0000000000000000\"";
  cache.metadata()["\"dpcache.checksum\":\""] = "gr\xC3\xBC\xC3\x9F, \xF0\x9F\x98\x80";
  cache.metadata()[""] = "";
  MemoryFile file(cache.save());
  const auto extra = [&](const char* name, const char* dtype, std::vector<std::uint64_t> shape,
                         std::size_t size) {
    file.tensors.push_back({name, dtype, std::move(shape), Bytes(size, std::byte{7})});
  };
  extra("extra one", "F32", {2, 3}, 24);
  extra("extra two", "F8_E4M3", {5}, 5);  // a type that is not known here
  extra("extra \" three", "U8", {0}, 0);
  extra("extra four", "F64", {}, 8);  // a single number has no dimensions
  extra("dpcache.checksum", "U8", {3}, 3);
  std::rotate(file.tensors.begin(), file.tensors.end() - 2, file.tensors.end());  // any order

  const Result<Cache> loaded = Cache::load(file.bytes());
  ASSERT_TRUE(loaded) << loaded.status.detail;
  EXPECT_EQ(loaded->metadata(), cache.metadata());
  const Bytes saved = loaded->save();
  MemoryFile again(saved);
  for (const char* name :
       {"extra one", "extra two", "extra \" three", "extra four", "dpcache.checksum"}) {
    EXPECT_EQ(again.tensor(name).bytes, file.tensor(name).bytes) << name;
    EXPECT_EQ(again.tensor(name).shape, file.tensor(name).shape) << name;
    EXPECT_EQ(again.tensor(name).dtype, file.tensor(name).dtype) << name;
  }
  EXPECT_EQ(testing::copy_of(*loaded).save(), saved);
}

TEST(Metadata, WithNamesOfTheFileItselfAreNotTheUsers) {
  Cache cache = testing::full_cache();
  const Bytes file = cache.save();
  cache.metadata()["dpcache.config"] = "{}";
  cache.metadata()["dpcache.checksum"] = "x";
  cache.metadata()["dpcache.else"] = "x";
  EXPECT_EQ(cache.save(), file);
}

TEST(Metadata, ThatIsNoUtf8StillMakesAFileThatLoads) {
  Cache cache = testing::full_cache();
  cache.metadata()["\xFF"] = "\x80";
  cache.metadata()["\xFE"] = "two keys that become one";
  const Bytes file = cache.save();
  const Result<Cache> loaded = Cache::load(file);
  ASSERT_TRUE(loaded) << loaded.status.detail;
  EXPECT_EQ(loaded->save(), file);
}

TEST(Damage, OfALengthIsRefused) {
  const Bytes file = testing::full_cache().save();
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_EQ(Cache::load(std::span(file).first(length)).status.code, Error::bad_snapshot)
        << "cut to " << length << " of " << file.size();
  }
  for (const std::size_t more : {1U, 8U, 64U, 5000U}) {
    for (const std::byte junk : {std::byte{0}, std::byte{' '}, std::byte{0xFF}}) {
      Bytes longer = file;
      longer.insert(longer.end(), more, junk);
      EXPECT_EQ(Cache::load(longer).status.code, Error::bad_snapshot) << more << " bytes follow";
      testing::seal(longer);
      expect_refused(longer);
    }
  }
  Bytes twice = file;
  twice.insert(twice.end(), file.begin(), file.end());
  expect_refused(twice);
  testing::seal(twice);
  expect_refused(twice);
}

TEST(Damage, OfAnySingleBitIsRefused) {
  Config config = testing::plain_config(2, .3F);
  Cache cache = testing::make_cache(config);
  Item item = testing::item_of(std::vector<float>{1, 0});
  const std::vector<float> key = {3, 4};
  item.key = key;
  item.payload = "p";
  item.exact_key = "e";
  cache.observe(item);
  Bytes file = cache.save();
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1U << (bit % 8));
    file[bit / 8] ^= mask;
    ASSERT_EQ(Cache::load(file).status.code, Error::bad_snapshot) << "bit " << bit;
    file[bit / 8] ^= mask;
  }
  EXPECT_TRUE(Cache::load(file));
}

TEST(Damage, LeavesTheCacheThatItWasMeantFor) {
  Cache cache = testing::full_cache();
  const Bytes before = cache.save();
  Bytes file = before;
  file.back() ^= std::byte{1};
  Result<Cache> loaded = Cache::load(file);
  if (loaded) cache = std::move(*loaded);
  EXPECT_EQ(cache.save(), before);
}

#if !defined(__EMSCRIPTEN__)

int check_safetensors(const Bytes& file) {
  const std::string path = ::testing::TempDir() + "dpcache_" + std::to_string(getpid()) + ".memory";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  const std::string command = "python3 " DPCACHE_TEST_DATA "/../check_safetensors " + path;
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  std::remove(path.c_str());
  return status;
}

TEST(MemoryFiles, AreSafetensorsFilesToAnotherReader) {
  Cache cache = testing::full_cache();
  EXPECT_EQ(check_safetensors(cache.save()), 0);
  for (std::size_t blanks = 0; blanks < 64; blanks += 7) {  // the padding before the data
    cache.metadata()["owner"] = std::string(blanks, 'x');
    EXPECT_EQ(check_safetensors(cache.save()), 0);
  }
  EXPECT_EQ(check_safetensors(testing::make_cache(testing::plain_config(3, .1F)).save()), 0);

  MemoryFile file(cache.save());
  file.tensors.push_back({"extra", "U8", {3}, Bytes(3)});
  const Result<Cache> loaded = Cache::load(file.bytes());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(check_safetensors(loaded->save()), 0);
}

// So that the check above can fail.
TEST(MemoryFiles, ThatAreDamagedAreRefusedByAnotherReader) {
  MemoryFile file(testing::full_cache().save());
  MemoryFile::Json header = file.header();
  header["keys"]["shape"][1] = 4;
  EXPECT_NE(check_safetensors(testing::assemble(header.dump(), file.data())), 0);
  file.tensor("keys").set<float>(0, 3.0F);
  EXPECT_NE(check_safetensors(file.bytes()), 0);
}

#endif

}  // namespace
}  // namespace dpcache
