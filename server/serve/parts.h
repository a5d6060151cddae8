// A server's parts but for its sockets, in the order in which they need each other.
#ifndef DPCACHE_SERVER_SERVE_PARTS_H_
#define DPCACHE_SERVER_SERVE_PARTS_H_

#include <cstdint>
#include <string>

#include "api/app.h"
#include "log/data_lock.h"
#include "log/folder_snapshots.h"
#include "log/sqlite_log.h"
#include "service/service.h"

namespace dpcache::server {

// Of a body: what it changes is one entry of the log.
inline constexpr std::uint64_t kMostBody = 256U << 20U;

struct Parts {
  // std::runtime_error: the folder is another's, or cannot be read or written.
  Parts(const std::string& data, ServiceOptions of_service, AppOptions of_app);

  const DataLock lock;
  SqliteLog log;
  FolderSnapshots snapshots;
  Service service;
  App app;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVE_PARTS_H_
