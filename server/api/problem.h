// Errors as RFC 9457 problems.
#ifndef DPCACHE_SERVER_API_PROBLEM_H_
#define DPCACHE_SERVER_API_PROBLEM_H_

#include <string>
#include <string_view>
#include <vector>

#include "dpcache/error.h"
#include "http/application.h"

namespace dpcache::server {

// The codes of a server beside those of the library; see problem() for their status.
namespace code {
inline constexpr std::string_view kBusy = "busy";                         // 429
inline constexpr std::string_view kFull = "full";                         // 507
inline constexpr std::string_view kForbidden = "forbidden";               // 403
inline constexpr std::string_view kIdempotency = "idempotency_mismatch";  // 422
inline constexpr std::string_view kNotFound = "not_found";                // 404
inline constexpr std::string_view kExpectation = "expectation_failed";    // 417
inline constexpr std::string_view kConflict = "conflict";                 // 409
inline constexpr std::string_view kMethod = "method_not_allowed";         // 405
inline constexpr std::string_view kPrecondition = "precondition_failed";  // 412
inline constexpr std::string_view kTooLarge = "too_large";                // 413
inline constexpr std::string_view kHeaders = "headers_too_large";         // 431
inline constexpr std::string_view kRequest = "bad_request";               // 400
inline constexpr std::string_view kTimeout = "timeout";                   // 408
inline constexpr std::string_view kUnauthorized = "unauthorized";         // 401
inline constexpr std::string_view kUnavailable = "unavailable";           // 503
inline constexpr std::string_view kUnsupported = "unsupported";           // 415
inline constexpr std::string_view kInternal = "internal";                 // 500
}  // namespace code

// The status that goes with a code, of the server or the library.
unsigned status_of(std::string_view code);

// One field that is wrong. The pointer (RFC 6901) points into the body.
struct FieldError {
  std::size_t index = 0;
  std::string pointer;
  std::string code;
  std::string detail;
};

Response problem(std::string_view code, std::string_view detail,
                 const std::vector<FieldError>& errors = {});
// What the library refused. `prefix`: where in the body the items stand, e.g. "/items/"; with none
// the pointer is that of the status.
Response problem(const std::vector<Status>& errors, std::string_view prefix);
Response problem(const Status& error);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_PROBLEM_H_
