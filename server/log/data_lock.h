// One server a data folder: the lock that a second one does not get.
#ifndef DPCACHE_SERVER_LOG_DATA_LOCK_H_
#define DPCACHE_SERVER_LOG_DATA_LOCK_H_

#include <string>

#include "log/files.h"

namespace dpcache::server {

// Held while it lives, and given up by the system when the process ends, however it ends.
class DataLock {
 public:
  // Makes the folder (mode 0700; its parent must be there) and takes the lock. std::runtime_error:
  // another server has it (the text says which process), the folder holds other things than a
  // server's data, or it cannot be made or written.
  explicit DataLock(const std::string& folder);
  ~DataLock();
  DataLock(const DataLock&) = delete;
  DataLock& operator=(const DataLock&) = delete;

 private:
  File file_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_DATA_LOCK_H_
