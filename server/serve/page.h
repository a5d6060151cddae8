// The files of the page, read once and kept in memory: no name in a request reaches the file
// system.
#ifndef DPCACHE_SERVER_SERVE_PAGE_H_
#define DPCACHE_SERVER_SERVE_PAGE_H_

#include <map>
#include <string>

#include "api/app.h"

namespace dpcache::server {

// All files below a folder, by path ("/assets/x.js"); "/" is its index.html. std::runtime_error: it
// cannot be read, has no index.html, or is larger than any page.
std::map<std::string, PageFile> read_page(const std::string& folder);

// Where an installed or built page lies, seen from this program; empty: there is none.
std::string find_page();

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVE_PAGE_H_
