// The memory file told by a liar: every number, name, type, shape and offset wrong in turn, behind
// a right checksum. Each lie is refused, and costs no more memory than a small multiple of the
// file.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "native/allocation_watch.h"
#include "native/memory_file.h"
#include "native/support.h"

namespace dpcache {
namespace {

using testing::AllocationWatch;
using testing::Bytes;
using testing::full_cache;
using testing::MemoryFile;
using Tensor = testing::MemoryFile::Tensor;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

void expect_refused(std::span<const std::byte> bytes) {
  const AllocationWatch watch;
  const Result<Cache> cache = Cache::load(bytes);
  EXPECT_EQ(cache.status.code, Error::bad_snapshot);
  EXPECT_FALSE(cache.status.detail.empty());
  // A small multiple of what is there, whatever lengths it claims.
  EXPECT_LE(watch.bytes(), 30 * bytes.size() + 30'000);
}

// Changes a good file and seals it, and expects that it is refused.
template <class Change>
void expect_lie_refused(const char* lie, Change change) {
  SCOPED_TRACE(lie);
  MemoryFile file(full_cache().save());
  change(file);
  expect_refused(file.bytes());
}

// Changes a good file and seals it, and expects that it is refused.
template <class Change>
void expect_lie_refused(const std::string& lie, Change change) {
  SCOPED_TRACE(lie);
  MemoryFile file(full_cache().save());
  change(file);
  expect_refused(file.bytes());
}

TEST(Lies, AreToldToAReaderThatTakesTheSameFileUnchanged) {
  const Bytes file = full_cache().save();
  EXPECT_EQ(MemoryFile(file).bytes(), file);
}

TEST(Lies, AboutTheHeadersLengthAreRefused) {
  const Bytes file = full_cache().save();
  const std::uint64_t size = file.size();
  for (const std::uint64_t length : std::vector<std::uint64_t>{
           0, 1, size - 8 + 1, size, 100'000'001, std::uint64_t{1} << 32U, std::uint64_t{1} << 63U,
           ~std::uint64_t{0}, ~std::uint64_t{0} - 7}) {
    Bytes lie = file;
    std::memcpy(lie.data(), &length, sizeof length);
    testing::seal(lie);
    expect_refused(lie);
  }
}

TEST(Lies, AboutWhereATensorLiesAreRefused) {
  const MemoryFile file(full_cache().save());
  const Bytes data = file.data();
  const std::uint64_t end = data.size();
  const auto expect = [&](const std::string& what, MemoryFile::Json header) {
    SCOPED_TRACE(what);
    expect_refused(testing::assemble(header.dump(), data));
  };
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  for (const char* name : {"keys", "ids", "exact_keys"}) {
    const std::uint64_t from = file.header()[name]["data_offsets"][0];
    const std::uint64_t to = file.header()[name]["data_offsets"][1];
    const auto offsets = [&](const char* what, MemoryFile::Json value) {
      MemoryFile::Json header = file.header();
      header[name]["data_offsets"] = std::move(value);
      expect(std::string(name) + ": " + what, header);
    };
    offsets("swapped", {to, from});
    offsets("one byte more", {from, to + 1});
    offsets("one byte less", {from, to - 1});
    offsets("begins later", {from + 8, to});
    offsets("begins before", {kHuge, to});
    offsets("ends nowhere", {from, kHuge});
    offsets("around the end of numbers", {kHuge - 7, to});
    offsets("all of the data", {0, end});
    offsets("past the data", {end, end + (to - from)});
    offsets("one number", {from});
    offsets("three numbers", {from, to, to});
    offsets("no numbers", MemoryFile::Json::array());
    offsets("a number", from);
    offsets("text", {std::to_string(from), std::to_string(to)});
    offsets("fractions", {static_cast<double>(from), static_cast<double>(to)});
    offsets("negative", {-1, to});
    offsets("null", nullptr);
    offsets("nested", {{from, to}});
  }
  // A gap, an overlap and a rest that no tensor covers.
  MemoryFile::Json header = file.header();
  header.erase("budget");
  expect("a gap", header);
  Bytes longer = data;
  longer.resize(longer.size() + 64);
  expect_refused(testing::assemble(file.header().dump(), longer));
  header = file.header();
  header["extra"] = header["keys"];
  expect("an overlap", header);
}

TEST(Lies, AboutShapesAreRefused) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 32U;
  for (const std::vector<std::uint64_t>& shape : std::vector<std::vector<std::uint64_t>>{
           {kHalf, kHalf},     // 2^64 elements, 0 in 64 bits
           {kHalf, kHalf, 0},  // fine: none
           {std::uint64_t{1} << 63U, 2},
           {std::uint64_t{1} << 62U, 4, 1},
           {~std::uint64_t{0}},
           {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}},
           {1},
           {}}) {
    MemoryFile file(full_cache().save());
    file.tensors.push_back({"extra", "F32", shape, {}});
    SCOPED_TRACE(MemoryFile::Json(shape).dump());
    if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) {
      EXPECT_TRUE(Cache::load(file.bytes()));
    } else {
      expect_refused(file.bytes());
    }
  }
  expect_lie_refused("keys in one dimension", [](MemoryFile& file) {
    auto& keys = file.tensor("keys");
    keys.shape = {keys.shape[0] * keys.shape[1]};
  });
  expect_lie_refused("keys turned", [](MemoryFile& file) {
    auto& keys = file.tensor("keys");
    ASSERT_NE(keys.shape[0], keys.shape[1]) << "turning would change nothing";
    std::swap(keys.shape[0], keys.shape[1]);
  });
  expect_lie_refused("keys in three dimensions",
                     [](MemoryFile& file) { file.tensor("keys").shape.push_back(1); });
}

const std::vector<std::string>& known_tensors() {
  static const std::vector<std::string> kNames = {"ids",
                                                  "counts",
                                                  "first_times",
                                                  "last_times",
                                                  "expires",
                                                  "usage",
                                                  "usage_exponents",
                                                  "growth",
                                                  "growth_exponent",
                                                  "payload_offsets",
                                                  "exact_key_offsets",
                                                  "exact_key_slots",
                                                  "ghosts",
                                                  "key_sums",
                                                  "value_sums",
                                                  "keys",
                                                  "values",
                                                  "budget",
                                                  "payloads",
                                                  "exact_keys"};
  return kNames;
}

TEST(Lies, AboutWhichTensorsThereAreAreRefused) {
  ASSERT_EQ(MemoryFile(full_cache().save()).tensors.size(), known_tensors().size());
  for (const std::string& name : known_tensors()) {
    expect_lie_refused(name + " is missing", [&](MemoryFile& file) {
      std::erase_if(file.tensors, [&](const Tensor& tensor) { return tensor.name == name; });
    });
    expect_lie_refused(name + " has another name",
                       [&](MemoryFile& file) { file.tensor(name).name += "s"; });
    for (const char* dtype :
         {"F32", "F64", "I64", "U64", "U8", "I8", "F16", "BOOL", "", "f32", "F33"}) {
      MemoryFile file(full_cache().save());
      if (file.tensor(name).dtype == dtype) continue;
      file.tensor(name).dtype = dtype;
      SCOPED_TRACE(name + " is " + dtype);
      expect_refused(file.bytes());
    }
    expect_lie_refused(name + " has a row too few", [&](MemoryFile& file) {
      Tensor& tensor = file.tensor(name);
      const std::size_t row = tensor.bytes.size() / tensor.shape[0];
      --tensor.shape[0];
      tensor.bytes.resize(tensor.bytes.size() - row);
      // Fewer ghosts are fewer ghosts.
      if (name == "ghosts") file.metadata["dpcache.state_hash"] = "";
    });
    expect_lie_refused(name + " has rows too many", [&](MemoryFile& file) {
      Tensor& tensor = file.tensor(name);
      const std::size_t row = tensor.bytes.size() / tensor.shape[0];
      const std::size_t rows = name == "ghosts" ? 33 - tensor.shape[0] : 1;  // 32 may be there
      tensor.shape[0] += rows;
      tensor.bytes.resize(tensor.bytes.size() + rows * row);
    });
  }
}

// Each of the numbers a tensor must not hold, at the first, a middle and the last place.
template <class T>
void expect_numbers_refused(const char* name, const std::vector<T>& lies) {
  const std::size_t size = MemoryFile(full_cache().save()).tensor(name).numbers<T>().size();
  for (const T lie : lies) {
    for (const std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
      MemoryFile file(full_cache().save());
      SCOPED_TRACE(::testing::Message() << name << "[" << place << "] = " << lie);
      if (file.tensor(name).numbers<T>()[place] == lie) continue;
      file.tensor(name).set<T>(place, lie);
      expect_refused(file.bytes());
    }
  }
}

TEST(Lies, AboutSlotsAreRefused) {
  const std::int64_t too_large = kMaxInteger + 1;
  const auto next_id = static_cast<std::int64_t>(full_cache().stats().next_id);
  expect_numbers_refused<std::int64_t>("ids", {0, -1, next_id, too_large, kMost, kLeast});
  expect_lie_refused("ids that do not ascend", [](MemoryFile& file) {
    auto ids = file.tensor("ids").numbers<std::int64_t>();
    std::swap(ids[0], ids[1]);
    file.tensor("ids").assign(ids);
  });
  expect_lie_refused("an id twice", [](MemoryFile& file) {
    auto ids = file.tensor("ids").numbers<std::int64_t>();
    ids[1] = ids[0];
    file.tensor("ids").assign(ids);
  });
  expect_numbers_refused<std::int64_t>("counts", {0, -1, 41, too_large, kMost, kLeast});
  expect_numbers_refused<std::int64_t>("first_times", {too_large, -too_large, 50, kMost, kLeast});
  expect_numbers_refused<std::int64_t>("last_times", {too_large, -too_large, -50, kMost, kLeast});
  expect_numbers_refused<std::int64_t>("expires", {too_large, -1, kMost - 1, kLeast});
  expect_numbers_refused<double>(
      "usage", {0.0, -0.0, 0.5, 0.9999999999999999, 2.0, -1.0, 1e300, kNaN, kInfinity, -kInfinity});
  expect_numbers_refused<std::int64_t>("usage_exponents",
                                       {-1, 1000, std::int64_t{1} << 61, kMost, kLeast});
  expect_numbers_refused<float>(
      "keys", {2.0F, -1.5F, static_cast<float>(kNaN), 3e38F, static_cast<float>(kInfinity),
               -static_cast<float>(kInfinity)});
  expect_numbers_refused<float>("values",
                                {static_cast<float>(kNaN), static_cast<float>(kInfinity)});
  expect_numbers_refused<double>("key_sums", {kNaN, kInfinity, -kInfinity, 1e6, -1e300});
  expect_numbers_refused<double>("value_sums", {kNaN, kInfinity, -kInfinity, 1e300, -1e41});
  expect_lie_refused("a key of zeros", [](MemoryFile& file) {
    for (std::size_t i = 0; i < 5; ++i) file.tensor("keys").set<float>(i, 0.0F);
  });
}

TEST(Lies, AboutTheBudgetAreRefused) {
  expect_numbers_refused<double>("growth", {0.0, 0.5, 2.0, -1.0, kNaN, kInfinity});
  expect_numbers_refused<std::int64_t>("growth_exponent", {-1, 40 * 150 + 150, kMost, kLeast});
  for (const float lie : {-0.1F, 1.1F, static_cast<float>(kNaN), static_cast<float>(kInfinity)}) {
    expect_lie_refused("surprise " + std::to_string(lie),
                       [&](MemoryFile& file) { file.tensor("budget").set<float>(0, lie); });
  }
  for (const float lie :
       {0.0F, -5.0F, 0.99F, 1e30F, static_cast<float>(kNaN), static_cast<float>(kInfinity)}) {
    expect_lie_refused("budget " + std::to_string(lie),
                       [&](MemoryFile& file) { file.tensor("budget").set<float>(1, lie); });
  }
  expect_lie_refused("ghosts without a ghost budget", [](MemoryFile& file) {
    auto config = MemoryFile::Json::parse(file.metadata["dpcache.config"].get<std::string>());
    config["budget"] = "fixed";
    file.metadata["dpcache.config"] = config.dump();
  });
}

TEST(Lies, AboutTextsAreRefused) {
  for (const char* name : {"payload_offsets", "exact_key_offsets"}) {
    const auto offsets = MemoryFile(full_cache().save()).tensor(name).numbers<std::int64_t>();
    ASSERT_GE(offsets.size(), 4U);
    const auto expect = [&](const char* lie, std::size_t place, std::int64_t value) {
      expect_lie_refused(std::string(name) + ": " + lie, [&](MemoryFile& file) {
        file.tensor(name).set<std::int64_t>(place, value);
      });
    };
    expect("begins at 1", 0, 1);
    expect("begins below 0", 0, -1);
    expect("falls", 2, offsets[1] - 1);
    expect("goes below 0", 1, -1);
    expect("ends early", offsets.size() - 1, offsets.back() - 1);
    expect("ends late", offsets.size() - 1, offsets.back() + 1);
    expect("ends nowhere", offsets.size() - 1, kMost);
    expect("leaps", 1, kMost);
    expect("leaps back", 1, kLeast);
  }
  const auto ids = MemoryFile(full_cache().save()).tensor("ids").numbers<std::int64_t>();
  expect_numbers_refused<std::int64_t>("exact_key_slots", {0, -1, ids.back() + 1, kMost, kLeast});
  expect_lie_refused("an exact key twice", [](MemoryFile& file) {
    const std::string keys = "aa";
    file.tensor("exact_keys").assign(std::vector<char>(keys.begin(), keys.end()));
    file.tensor("exact_key_offsets").assign(std::vector<std::int64_t>{0, 1, 2});
    const auto owners = file.tensor("exact_key_slots").numbers<std::int64_t>();
    file.tensor("exact_key_slots").assign(std::vector<std::int64_t>{owners[0], owners[1]});
  });
  expect_lie_refused("an exact key twice in one slot", [](MemoryFile& file) {
    const std::string keys = "aa";
    file.tensor("exact_keys").assign(std::vector<char>(keys.begin(), keys.end()));
    file.tensor("exact_key_offsets").assign(std::vector<std::int64_t>{0, 1, 2});
    const auto owners = file.tensor("exact_key_slots").numbers<std::int64_t>();
    file.tensor("exact_key_slots").assign(std::vector<std::int64_t>{owners[0], owners[0]});
  });
}

TEST(Lies, AboutCountersAreRefused) {
  const auto counters = MemoryFile::Json::parse(
      MemoryFile(full_cache().save()).metadata["dpcache.counters"].get<std::string>());
  ASSERT_EQ(counters.size(), 9U);
  for (const auto& entry : counters.items()) {
    const std::string name = entry.key();
    const auto number = entry.value().get<std::uint64_t>();
    const auto expect = [&](const MemoryFile::Json& lie) {
      expect_lie_refused(name + " = " + lie.dump(), [&](MemoryFile& file) {
        MemoryFile::Json changed = counters;
        if (lie.is_discarded()) {
          changed.erase(name);
        } else {
          changed[name] = lie;
        }
        file.metadata["dpcache.counters"] = changed.dump();
      });
    };
    if (name != "seq") expect(number + 1);  // more events than these there may have been
    if (number > 0) expect(name == "seq" ? 39 : number - 1);
    expect(std::uint64_t{1} << 54U);
    expect(~std::uint64_t{0});
    expect(-1);
    expect(static_cast<double>(number));
    expect(std::to_string(number));
    expect(nullptr);
    expect(MemoryFile::Json(MemoryFile::Json::value_t::discarded));
  }
  for (const char* text : {"", "{}", "[]", "null", "{", "{\"items\":40}"}) {
    expect_lie_refused(std::string("counters ") + text,
                       [&](MemoryFile& file) { file.metadata["dpcache.counters"] = text; });
  }
}

TEST(Lies, InMetadataAreRefused) {
  for (const char* key : {"dpcache.format_version", "dpcache.config", "dpcache.counters",
                          "dpcache.state_hash", "dpcache.checksum"}) {
    const std::string name = key;
    expect_lie_refused("no " + name, [&](MemoryFile& file) { file.metadata.erase(name); });
    expect_lie_refused(name + " is empty", [&](MemoryFile& file) { file.metadata[name] = ""; });
    expect_lie_refused(name + " is a number", [&](MemoryFile& file) { file.metadata[name] = 1; });
    expect_lie_refused(name + " is null", [&](MemoryFile& file) { file.metadata[name] = nullptr; });
  }
  for (const char* version : {"0", "3", "1 ", " 1", "01", "1.0", "one"}) {
    expect_lie_refused(std::string("version ") + version, [&](MemoryFile& file) {
      file.metadata["dpcache.format_version"] = version;
    });
  }
  for (const char* hash : {"0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF",
                           "0x23456789abcdef", " 123456789abcdef", "-123456789abcdef"}) {
    expect_lie_refused(std::string("state hash ") + hash,
                       [&](MemoryFile& file) { file.metadata["dpcache.state_hash"] = hash; });
  }
  for (const char* change : {R"({"dimension":6})", R"({"dimension":0})", R"({"value_dimension":2})",
                             R"({"keep_sums":"yes"})", R"({"tau":3})", R"({"unknown":1})",
                             R"({"value_dimension":4096})", R"({"dimension":4096})"}) {
    expect_lie_refused(std::string("config with ") + change, [&](MemoryFile& file) {
      auto config = MemoryFile::Json::parse(file.metadata["dpcache.config"].get<std::string>());
      config.update(MemoryFile::Json::parse(change));
      // Ghosts' projections are a constant of the dimension, not of the file.
      config["budget"] = "fixed";
      file.tensor("ghosts").assign(std::vector<std::uint64_t>{});
      file.metadata["dpcache.config"] = config.dump();
    });
  }
  expect_lie_refused("a user's number", [](MemoryFile& file) { file.metadata["mine"] = 1; });
  expect_lie_refused("a user's list",
                     [](MemoryFile& file) { file.metadata["mine"] = MemoryFile::Json::array(); });
}

TEST(Lies, InTheShapeOfTheHeaderAreRefused) {
  const MemoryFile file(full_cache().save());
  const std::string good = file.header().dump();
  const auto expect = [&](const std::string& what, const std::string& header) {
    SCOPED_TRACE(what);
    expect_refused(testing::assemble(header, file.data()));
  };
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string header = good;
    const std::size_t at = header.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return header.replace(at, from.size(), to);
  };
  EXPECT_TRUE(Cache::load(testing::assemble(good, file.data())));
  expect("a list", "[" + good + "]");
  expect("text", "\"" + std::string(100, 'x') + "\"");
  expect("cut", good.substr(0, good.size() - 1));
  expect("two objects", good + good);
  expect("a rest", good + "x");
  expect("a NUL and a rest", good + std::string(1, '\0') + "{\"keys\":1}");
  expect("not JSON", replaced("{\"__metadata__\"", "{__metadata__"));
  expect("a comment", replaced("{\"__metadata__\"", "/**/{\"__metadata__\""));
  expect("a tensor twice",
         replaced("{\"__metadata__\"",
                  R"({"keys":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"__metadata__")"));
  expect("metadata twice", replaced("{\"__metadata__\"", R"({"__metadata__":{},"__metadata__")"));
  expect("a key of the metadata twice", replaced("\"owner\"", "\"owner\":\"x\",\"owner\""));
  expect("a tensor that is null", replaced("{\"__metadata__\"", R"({"extra":null,"__metadata__")"));
  expect("a tensor that is text", replaced("{\"__metadata__\"", R"({"extra":"x","__metadata__")"));
  expect("a tensor without fields", replaced("{\"__metadata__\"", R"({"extra":{},"__metadata__")"));
  expect("a tensor without a type",
         replaced("{\"__metadata__\"",
                  R"({"extra":{"shape":[0],"data_offsets":[0,0]},"__metadata__")"));
  expect(
      "a tensor with a field too many",
      replaced("{\"__metadata__\"",
               R"({"extra":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1},"__metadata__")"));
  expect(
      "a field twice",
      replaced(
          "{\"__metadata__\"",
          R"({"extra":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]},"__metadata__")"));
  expect("a type that is a number", replaced("\"dtype\":\"F32\"", "\"dtype\":32"));
  expect("a fraction in a shape", replaced("\"shape\":[", "\"shape\":[1.5,"));
  expect("a negative number in a shape", replaced("\"shape\":[", "\"shape\":[-1,"));
  expect("a number beyond 64 bits in a shape",
         replaced("\"shape\":[", "\"shape\":[18446744073709551616,"));
  expect("a list in a shape", replaced("\"shape\":[", "\"shape\":[[1],"));
  expect("a shape that is a number", replaced("\"shape\":[2]", "\"shape\":2"));
}

// Texts whose parsing would cost far more than they are long.
TEST(Lies, ThatAreDeepOrEndlessCostNoMoreThanTheyAreLong) {
  const MemoryFile file(full_cache().save());
  const std::string good = file.header().dump();
  const auto with = [&](const std::string& first) {
    return testing::assemble("{" + first + "," + good.substr(1), file.data());
  };
  constexpr std::size_t kLong = 500'000;
  expect_refused(with("\"x\":" + std::string(kLong, '[')));
  expect_refused(with("\"x\":" + std::string(kLong, '[') + std::string(kLong, ']')));
  expect_refused(with("\"x\":{\"shape\":" + std::string(kLong, '[')));
  std::string objects;
  for (std::size_t i = 0; i < kLong / 5; ++i) objects += "{\"a\":";
  expect_refused(with("\"x\":" + objects));
  std::string keys;
  for (std::size_t i = 0; i < kLong / 10; ++i) keys += "\"k" + std::to_string(i) + "\":0,";
  expect_refused(with(keys + "\"x\":{}"));
  expect_refused(with("\"x\":{" + keys + "\"dtype\":\"U8\"}"));
  std::string numbers;
  for (std::size_t i = 0; i < kLong / 2; ++i) numbers += "0,";
  expect_refused(with("\"x\":{\"dtype\":\"U8\",\"shape\":[" + numbers + "0],\"data_offsets\":[" +
                      numbers + "0]}"));

  for (const char* name : {"dpcache.config", "dpcache.counters"}) {
    for (const std::string& text :
         {std::string(kLong, '['), "{" + keys + "\"x\":0}", "{\"tau\":" + objects}) {
      MemoryFile lie(full_cache().save());
      lie.metadata[name] = text;
      expect_refused(lie.bytes());
    }
  }
}

// Many tensors and much metadata are odd but no lie; they must not take quadratic time.
TEST(Crowds, OfTensorsAndMetadataAreKeptInTime) {
  Cache cache = testing::make_cache(testing::plain_config(2, .1F));
  for (int i = 0; i < 50'000; ++i) cache.metadata()["key " + std::to_string(i)] = "x";
  const Bytes saved = cache.save();
  MemoryFile::Json header = MemoryFile(testing::make_cache(cache.config()).save()).header();
  std::string text = header.dump();
  std::string extras;
  for (int i = 0; i < 50'000; ++i) {
    extras +=
        "\"extra " + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)";
  }
  const MemoryFile plain(testing::make_cache(cache.config()).save());
  const Bytes crowded = testing::assemble("{" + extras + text.substr(1), plain.data());
  const Result<Cache> loaded = Cache::load(crowded);
  ASSERT_TRUE(loaded) << loaded.status.detail;
  EXPECT_EQ(testing::copy_of(*loaded).save(), loaded->save());
  EXPECT_EQ(testing::copy_of(cache).save(), saved);
}

}  // namespace
}  // namespace dpcache
