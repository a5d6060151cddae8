// Snapshots as files of one folder: CACHE.POSITION.dpcache, the position in 20 digits.
#ifndef DPCACHE_SERVER_LOG_FOLDER_SNAPSHOTS_H_
#define DPCACHE_SERVER_LOG_FOLDER_SNAPSHOTS_H_

#include <mutex>
#include <set>
#include <string>

#include "log/snapshots.h"

namespace dpcache::server {

// A name of a cache that is not [a-z0-9-]{1,200} is a std::invalid_argument. Files of other names
// are left alone. What open() returns may be used after the snapshot was replaced or removed;
// whoever else shortens such a file while it is open ends the process by SIGBUS.
class FolderSnapshots final : public Snapshots {
 public:
  // Makes the folder (mode 0700; its parent must be there).
  explicit FolderSnapshots(std::string folder);

  void put(const std::string& cache, Position position, std::span<const std::byte> bytes) override;
  std::vector<StoredSnapshot> list() override;
  std::unique_ptr<SnapshotBytes> open(const std::string& cache, Position position) override;
  void remove_below(const std::string& cache, Position position) override;

 private:
  std::string path_of(const std::string& cache, Position position) const;

  const std::string folder_;
  std::mutex mutex_;
  std::set<std::string> being_written_;  // names of files that are no leftovers
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_FOLDER_SNAPSHOTS_H_
