// All of dpcache's public API.
#ifndef DPCACHE_DPCACHE_H_
#define DPCACHE_DPCACHE_H_

#include "dpcache/advise.h"     // IWYU pragma: export
#include "dpcache/cache.h"      // IWYU pragma: export
#include "dpcache/config.h"     // IWYU pragma: export
#include "dpcache/error.h"      // IWYU pragma: export
#include "dpcache/event.h"      // IWYU pragma: export
#include "dpcache/guards.h"     // IWYU pragma: export
#include "dpcache/scorer.h"     // IWYU pragma: export
#include "dpcache/templates.h"  // IWYU pragma: export
#include "dpcache/text.h"       // IWYU pragma: export
#include "dpcache/threads.h"    // IWYU pragma: export
#include "dpcache/train.h"      // IWYU pragma: export
#include "dpcache/trust.h"      // IWYU pragma: export
#include "dpcache/version.h"    // IWYU pragma: export

#endif  // DPCACHE_DPCACHE_H_
