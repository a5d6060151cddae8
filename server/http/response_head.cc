// The head of a response as it goes over the wire.
#include "http/response_head.h"

#include <array>
#include <charconv>
#include <ctime>
#include <string_view>

namespace dpcache::server {
namespace {

std::string_view reason(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return "";  // a reason may be empty
  }
}

void append_number(std::string& out, std::size_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_two(std::string& out, int number) {
  out += static_cast<char>('0' + number / 10 % 10);
  out += static_cast<char>('0' + number % 10);
}

// RFC 9110, 5.6.7, whatever the locale.
std::string http_date(std::time_t now) {
  constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  std::tm at{};
  gmtime_r(&now, &at);
  std::string text(kDays.substr(static_cast<std::size_t>(at.tm_wday) * 3, 3));
  text += ", ";
  append_two(text, at.tm_mday);
  text += ' ';
  text += kMonths.substr(static_cast<std::size_t>(at.tm_mon) * 3, 3);
  text += ' ';
  append_number(text, static_cast<std::size_t>(at.tm_year) + 1900);
  text += ' ';
  append_two(text, at.tm_hour);
  text += ':';
  append_two(text, at.tm_min);
  text += ':';
  append_two(text, at.tm_sec);
  text += " GMT";
  return text;
}

// Made anew once a second on each thread.
void append_date(std::string& out) {
  thread_local std::time_t second = -1;
  thread_local std::string text;
  std::timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec != second) {
    text = http_date(now.tv_sec);
    second = now.tv_sec;
  }
  out += text;
}

void append_value(std::string& out, std::string_view value) {
  const std::size_t start = out.size();
  out += value;
  for (std::size_t i = start; i < out.size(); ++i) {
    if (out[i] == '\r' || out[i] == '\n' || out[i] == '\0') out[i] = ' ';
  }
}

}  // namespace

bool has_no_body(unsigned status) noexcept {
  return status < 200 || status == 204 || status == 304;
}

void append_head(std::string& out, const Response& response, Framing framing,
                 Afterwards afterwards) {
  out += "HTTP/1.1 ";
  append_number(out, response.status);
  out += ' ';
  out += reason(response.status);
  out += "\r\nServer: dpcache\r\nDate: ";
  append_date(out);
  out += "\r\n";
  for (const auto& [name, value] : response.headers) {
    append_value(out, name);
    out += ": ";
    append_value(out, value);
    out += "\r\n";
  }
  if (framing == Framing::length) {
    out += "Content-Length: ";
    append_number(out, response.body.size());
    out += "\r\n";
  } else if (framing == Framing::chunked) {
    out += "Transfer-Encoding: chunked\r\n";
  }
  if (afterwards == Afterwards::close) out += "Connection: close\r\n";
  if (afterwards == Afterwards::keep_said) out += "Connection: keep-alive\r\n";
  out += "\r\n";
}

}  // namespace dpcache::server
