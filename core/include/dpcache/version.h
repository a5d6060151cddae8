// The version of the library: the one place where it is written. Snapshots carry a format version
// of their own.
#ifndef DPCACHE_VERSION_H_
#define DPCACHE_VERSION_H_

#define DPCACHE_VERSION_MAJOR 0
#define DPCACHE_VERSION_MINOR 1
#define DPCACHE_VERSION_PATCH 0
#define DPCACHE_VERSION_STRING "0.1.0"

#endif  // DPCACHE_VERSION_H_
