// What the program that is killed writes, for the test that reads it.
#ifndef DPCACHE_TESTS_SERVER_LOG_WRITER_H_
#define DPCACHE_TESTS_SERVER_LOG_WRITER_H_

#include <string>

#include "server/log_support.h"

namespace dpcache::server::testing {

// Sizes from 100 bytes to more than a page, as they come.
inline std::string crash_entry(Partition partition, Position position) {
  return entry_at(partition, position, 100 + position * 977 % 5000);
}

}  // namespace dpcache::server::testing

#endif  // DPCACHE_TESTS_SERVER_LOG_WRITER_H_
