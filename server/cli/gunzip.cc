// Unpacks gzip as it comes, by zlib.
#include "cli/gunzip.h"

#include <algorithm>
#include <climits>
#include <new>

namespace dpcache::cli {
namespace {
constexpr int kGzipOnly = MAX_WBITS + 16;  // neither zlib nor raw deflate
}

Gunzip::Gunzip() {
  if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
}

Gunzip::~Gunzip() {
  inflateEnd(&stream_);
}

Gunzip::Progress Gunzip::unpack(std::span<const char> from, std::span<char> to) {
  Progress progress;
  if (between_) {
    const auto start = std::find_if(from.begin(), from.end(), [](char c) { return c != 0; });
    progress.taken = static_cast<std::size_t>(start - from.begin());
    from = from.subspan(progress.taken);
    if (from.empty()) return progress;
    inflateReset(&stream_);
    between_ = false;
  }
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
  stream_.avail_in = static_cast<uInt>(std::min<std::size_t>(from.size(), UINT_MAX));
  stream_.next_out = reinterpret_cast<Bytef*>(to.data());
  stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(to.size(), UINT_MAX));
  const uInt in = stream_.avail_in;
  const uInt out = stream_.avail_out;
  const int result = inflate(&stream_, Z_NO_FLUSH);
  progress.taken += in - stream_.avail_in;
  progress.made = out - stream_.avail_out;
  switch (result) {
    case Z_OK:
    case Z_BUF_ERROR:  // no progress was possible; not an error
      break;
    case Z_STREAM_END:
      between_ = any_ = true;
      break;
    case Z_MEM_ERROR:
      throw std::bad_alloc();
    default:
      progress.error = any_ && stream_.total_out == 0 ? "there are other bytes behind the gzip data"
                       : stream_.msg != nullptr       ? std::string("gzip: ") + stream_.msg
                                                      : "gzip: damaged";
  }
  return progress;
}

}  // namespace dpcache::cli
