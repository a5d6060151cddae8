// By this name the server's own files know the public header.
#ifndef DPCACHE_SERVER_HTTP_APPLICATION_H_
#define DPCACHE_SERVER_HTTP_APPLICATION_H_

#include "dpcache/server/application.h"  // IWYU pragma: export

#endif  // DPCACHE_SERVER_HTTP_APPLICATION_H_
