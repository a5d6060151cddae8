// What the HTTP server takes for a request, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "http/chunked.h"
#include "http/head_scan.h"
#include "http_support.h"

namespace dpcache::server {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

class HttpRequests : public testing::Test {
 protected:
  // One request, and what comes back. The connection must be closed afterwards.
  Reply refused(std::string_view request) {
    Client client(running.port());
    client.send(request);
    Reply reply = client.reply();
    EXPECT_EQ(reply.header("Connection"), "close");
    EXPECT_TRUE(client.closed());
    return reply;
  }

  TinyApplication application;
  Running running{application};
};

TEST_F(HttpRequests, AreAnsweredOneAfterTheOther) {
  Client client(running.port());
  for (int i = 0; i < 3; ++i) {
    const Reply reply = client.get("/thing?x=1");
    EXPECT_EQ(reply.status, 200U);
    EXPECT_EQ(reply.body, "GET /thing?x=1");
    EXPECT_EQ(reply.header("Server"), "dpcache");
    EXPECT_EQ(reply.header("Date").size(),
              std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").size());
    EXPECT_EQ(reply.header("Connection"), "");
  }
  EXPECT_EQ(running.server().connections(), 1U);
  client.close();
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 0; }));
}

TEST_F(HttpRequests, CarryWhatWasSent) {
  Request seen;
  application.on_handle = [&](Request request, const Respond& respond) {
    seen = std::move(request);
    respond(text("x"));
  };
  Client client(running.port());
  client.send(
      "PATCH /a%00b/%2e%2e/c?d=%C3%A9 HTTP/1.1\r\nHOST: h\r\nX-Thing:  two  words \t\r\n"
      "x-request-id: abc-1\r\nContent-Length: 3\r\n\r\nx\0y"sv);
  EXPECT_EQ(client.reply().status, 200U);
  EXPECT_EQ(seen.method, "PATCH");
  EXPECT_EQ(seen.target, "/a%00b/%2e%2e/c?d=%C3%A9");
  EXPECT_EQ(seen.header("host"), "h");
  EXPECT_EQ(seen.header("x-thing"), "two  words");
  EXPECT_EQ(seen.id, "abc-1");
  EXPECT_EQ(seen.body, "x\0y"sv);
  EXPECT_EQ(seen.remote, "127.0.0.1");
  EXPECT_FALSE(seen.secure);
  ASSERT_NE(seen.gone, nullptr);
  EXPECT_FALSE(*seen.gone);
}

TEST_F(HttpRequests, GetAnIdOfTheirOwnWhereTheirsIsNotSane) {
  Client client(running.port());
  for (const std::string id : {"", "two words", "<script>", "\x80", "quote\""}) {
    client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: " + id + "\r\n\r\n");
    client.reply();
  }
  client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: " + std::string(129, 'a') + "\r\n\r\n");
  client.reply();
  std::vector<std::string> ids;
  for (const auto& done : application.completed_of(6)) ids.push_back(done.request.id);
  for (const auto& id : ids) EXPECT_EQ(id.size(), 16U);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

TEST_F(HttpRequests, MayComeAllAtOnce) {
  std::string all;
  for (int i = 0; i < 100; ++i) {
    all += "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n";
    all += std::to_string(10000 + i);
  }
  Client client(running.port());
  client.send(all);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.reply().body, std::to_string(10000 + i));
}

TEST_F(HttpRequests, MayComeByteByByte) {
  Client client(running.port());
  for (const char c :
       "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
       "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"sv) {
    client.send({&c, 1});
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(client.reply().body, "abcde");
  EXPECT_EQ(client.get("/next").body, "GET /next");
}

TEST_F(HttpRequests, MayHaveALargeBody) {
  application.on_admit = [](const Request&) {
    return Application::Admission{std::uint64_t{64} << 20, std::nullopt};
  };
  std::string body(20'000'000, 'x');
  for (std::size_t i = 0; i < body.size(); i += 997) body[i] = static_cast<char>('a' + i % 26);
  Client client(running.port());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 20000000\r\n\r\n"));
  ASSERT_TRUE(client.send(body));
  EXPECT_TRUE(client.reply().body == body);
  ASSERT_TRUE(
      client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "1312D00\r\n"));
  ASSERT_TRUE(client.send(body));
  ASSERT_TRUE(client.send("\r\n0\r\n\r\n"));
  EXPECT_TRUE(client.reply().body == body);
}

TEST_F(HttpRequests, OfHeadHaveNoBodyInTheAnswer) {
  Client client(running.port());
  client.send("HEAD /abc HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.reply("HEAD").header("Content-Length"), "9");
  EXPECT_EQ(client.reply().body, "GET /");
}

TEST_F(HttpRequests, MayAskBeforeTheySendTheBody) {
  Client client(running.port());
  client.send(
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_EQ(client.reply().status, 100U);
  client.send("ab");
  EXPECT_EQ(client.reply().body, "ab");
  client.send(
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\ncd");
  EXPECT_EQ(client.reply().body, "cd");  // nothing to ask for
  client.send(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.reply().status, 413U);
  EXPECT_EQ(
      refused("POST / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\nContent-Length: 1\r\n\r\n").status,
      417U);
  EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\nExpect: "
                    "100-continue\r\nContent-Length: 1\r\n\r\n")
                .status,
            417U);
}

TEST_F(HttpRequests, OfHttp10CloseUnlessTheyAskForMore) {
  Client client(running.port());
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(client.reply().header("Connection"), "keep-alive");
  client.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.reply().header("Connection"), "close");
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpRequests, MayCloseTheConnection) {
  Client client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.reply().header("Connection"), "close");
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpRequests, MayFollowABlankLine) {
  Client client(running.port());
  client.send("\r\n\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n\r\n");
  EXPECT_EQ(client.reply().body, "GET /a");
  client.send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.reply().body, "GET /b");
  client.send("\r\n\r\n\r\n\r\n\r\n\r\n");
  EXPECT_EQ(client.reply().status, 400U);
}

TEST_F(HttpRequests, ThatAreMalformedAreRefused) {
  for (const std::string_view request : {
           "nonsense\r\n\r\n"sv,
           "GET\r\n\r\n"sv,
           "GET /\r\n\r\n"sv,
           "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"sv,
           "GET / HTTP/1.1 \r\nHost: h\r\n\r\n"sv,
           "GET / HTTP/2.0\r\nHost: h\r\n\r\n"sv,
           "GET / http/1.1\r\nHost: h\r\n\r\n"sv,
           "G\tT / HTTP/1.1\r\nHost: h\r\n\r\n"sv,
           "GET /a\0b HTTP/1.1\r\nHost: h\r\n\r\n"sv,
           "GET / HTTP/1.1\r\nHost: h\r\nA: b\0c\r\n\r\n"sv,
           "GET / HTTP/1.1\r\nHost: h\r\nA: b\x7f\r\n\r\n"sv,
           "GET / HTTP/1.1\r\n\r\n"sv,                            // no Host
           "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"sv,      // two
           "GET / HTTP/1.1\r\nHost : h\r\n\r\n"sv,                // a blank before the colon
           "GET / HTTP/1.1\r\n Host: h\r\n\r\n"sv,                // before the name
           "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n"sv,   // folded
           "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n\tc\r\n\r\n"sv,  // folded
           "GET / HTTP/1.1\r\nHost: h\r\n: c\r\n\r\n"sv,
           "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n"sv,
           "GET / HTTP/1.1\nHost: h\n\n"sv,
           "GET / HTTP/1.1\r\nHost: h\n\r\n"sv,
           "GET / HTTP/1.1\r\nHost: h\rA: b\r\n\r\n"sv,
       }) {
    EXPECT_EQ(refused(request).status, 400U) << request;
  }
}

TEST_F(HttpRequests, WhoseLengthCouldBeReadInTwoWaysAreRefused) {
  for (const std::string_view header : {
           "Content-Length: -1"sv,
           "Content-Length: +1"sv,
           "Content-Length: 1 1"sv,
           "Content-Length: 0x1"sv,
           "Content-Length: 1.0"sv,
           "Content-Length:"sv,
           "Content-Length: 18446744073709551616"sv,
           "Content-Length: 99999999999999999999999"sv,
           "Content-Length: 1, 1"sv,
           "Content-Length: 1\r\nContent-Length: 2"sv,
           "Content-Length: 1\r\nContent-Length: 1"sv,
           "Content-Length: 1\r\nTransfer-Encoding: chunked"sv,
           "Transfer-Encoding: chunked\r\nContent-Length: 1"sv,
           "Transfer-Encoding: chunked\r\ncontent-length: 0"sv,
           "Transfer-Encoding: gzip, chunked"sv,
           "Transfer-Encoding: chunked, gzip"sv,
           "Transfer-Encoding: chunked, chunked"sv,
           "Transfer-Encoding: identity"sv,
           "Transfer-Encoding: xchunked"sv,
           "Transfer-Encoding: \"chunked\""sv,
           "Transfer-Encoding:"sv,
           "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"sv,
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip"sv,
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"sv,
           "Transfer-Encoding\x0b: chunked"sv,
           "Transfer-Encoding : chunked"sv,
       }) {
    std::string request = "POST / HTTP/1.1\r\nHost: h\r\n";
    request += header;
    request += "\r\n\r\n1\r\nZ\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n";
    EXPECT_EQ(refused(request).status, 400U) << header;
  }
  EXPECT_EQ(refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").status, 400U);
  for (const auto& done : application.all_completed()) {
    EXPECT_NE(done.request.target, "/smuggled");
  }
}

TEST_F(HttpRequests, WithMalformedChunksAreRefused) {
  for (const std::string_view body : {
           "g\r\n"sv,
           "\r\n"sv,
           "-1\r\n"sv,
           "+1\r\nx\r\n"sv,
           "0x1\r\nx\r\n"sv,
           " 1\r\nx\r\n"sv,
           "1 \r\nx\r\n"sv,
           "1\nx\r\n"sv,
           "1\r\nx\n"sv,
           "1\r\nxy\r\n"sv,
           "1\rx"sv,
           "00000000000000001\r\nx\r\n"sv,
           "1;a\nb\r\nx\r\n"sv,
           "0\r\nA: b\n\r\n"sv,
           "0\r\n folded\r\n\r\n"sv,
       }) {
    std::string request = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    request += body;
    EXPECT_EQ(refused(request).status, 400U) << body;
  }
  std::string request = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(refused(request + "1;" + std::string(20000, 'x')).status, 400U);
  EXPECT_EQ(refused(request + "0\r\nA: " + std::string(20000, 'x')).status, 400U);
  EXPECT_EQ(refused(request + "FFFFFFFFFFFFFFFF\r\n").status, 413U);
}

TEST_F(HttpRequests, WithTooLargeABodyAreRefused) {
  // By its length, at once; the client is still sending and can read the answer all the same.
  const std::string body(1'500'000, 'x');
  EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1500000\r\n\r\n" + body).status,
            413U);
  EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n").status,
            413U);
  // By what comes: chunked without end.
  Client client(running.port());
  client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::string chunk = "10000\r\n";
  chunk += std::string(65536, 'x') + "\r\n";
  for (int i = 0; i < 20; ++i) client.send(chunk);
  EXPECT_EQ(client.reply().status, 413U);
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpRequests, WithTooLargeAHeaderAreRefused) {
  const std::string start = "GET / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(refused(start + "A: " + std::string(1 << 20, 'x')).status, 431U);
  EXPECT_EQ(refused("GET /" + std::string(1 << 20, 'x')).status, 431U);
  std::string flood = start;
  for (int i = 0; i < 10000; ++i) flood += "A" + std::to_string(i) + ": b\r\n";
  EXPECT_EQ(refused(flood).status, 431U);
  // To the byte.
  const std::size_t limit = HttpOptions{}.max_header;
  const std::size_t rest = limit - start.size() - std::string_view("A: \r\n\r\n").size();
  Client client(running.port());
  client.send(start + "A: " + std::string(rest, 'x') + "\r\n\r\n");
  EXPECT_EQ(client.reply().status, 200U);
  EXPECT_EQ(refused(start + "A: " + std::string(rest + 1, 'x') + "\r\n\r\n").status, 431U);
}

TEST_F(HttpRequests, ThatTheApplicationDoesNotAdmitAreRefused) {
  application.on_admit = [](const Request& head) {
    Application::Admission admission{100, std::nullopt};
    if (head.target == "/secret") admission.refusal = text("no", 401);
    if (head.target == "/throw") throw std::runtime_error("admit");
    return admission;
  };
  Client client(running.port());
  EXPECT_EQ(client.get("/secret").status, 401U);
  EXPECT_EQ(client.get("/throw").status, 500U);
  client.send("POST /secret HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(client.reply().status, 401U);
  EXPECT_EQ(client.get("/").status, 200U);  // on the same connection
  EXPECT_EQ(refused("POST /secret HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n").status, 401U);
  EXPECT_EQ(
      refused("POST /secret HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
          .status,
      401U);
}

TEST_F(HttpRequests, ThatEndInTheMiddleAreNotHandled) {
  for (const std::string_view start :
       {"\r"sv, "GET / HT"sv, "GET / HTTP/1.1\r\nHost: h\r\n"sv,
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc"sv}) {
    Client client(running.port());
    client.send(start);
    client.shutdown_send();
    EXPECT_TRUE(client.closed());
  }
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 0; }));
  const auto completed = application.all_completed();
  ASSERT_EQ(completed.size(), 1U);  // the one that has a head
  EXPECT_EQ(completed[0].status, 499U);
}

TEST(HttpTimeouts, EndWhatIsTooSlow) {
  TinyApplication application;
  HttpOptions options;
  options.header_timeout = 200ms;
  options.body_timeout = 200ms;
  options.idle_timeout = 200ms;
  Running running(application, options);

  Client idle(running.port());
  Client head(running.port());
  Client body(running.port());
  Client chunks(running.port());
  head.send("GET / HTTP/1.1\r\nHost");
  body.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc");
  chunks.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab");
  EXPECT_TRUE(idle.closed());
  for (Client* client : {&head, &body, &chunks}) {
    EXPECT_EQ(client->reply().status, 408U);
    EXPECT_TRUE(client->closed());
  }
  Client used(running.port());
  EXPECT_EQ(used.get("/").status, 200U);
  EXPECT_TRUE(used.closed());
}

TEST(HttpTimeouts, AreNotProlongedByAHeaderThatDrips) {
  TinyApplication application;
  HttpOptions options;
  options.header_timeout = 300ms;
  Running running(application, options);
  Client client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\nA: ");
  std::atomic<bool> answered = false;
  std::thread drip([&] {
    while (!answered && client.send("x")) std::this_thread::sleep_for(20ms);
  });
  EXPECT_EQ(client.reply().status, 408U);
  answered = true;
  drip.join();
}

TEST(HttpTimeouts, LeaveABodyThatComesOnInPeace) {
  TinyApplication application;
  HttpOptions options;
  options.body_timeout = 2s;
  options.header_timeout = 300ms;
  Running running(application, options);
  Client client(running.port());
  client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n");
  for (int i = 0; i < 10; ++i) {
    client.send("x");
    std::this_thread::sleep_for(60ms);
  }
  EXPECT_EQ(client.reply().body, "xxxxxxxxxx");
}

// ---- The parts, in pieces of every size

TEST(HeadScan, FindsTheEndHoweverTheHeadComes) {
  const std::string head = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::string all = head + "body";
  for (std::size_t step = 1; step <= all.size(); ++step) {
    HeadScan scan;
    auto state = HeadScan::State::more;
    for (std::size_t end = step; state == HeadScan::State::more; end += step) {
      state = scan.feed(std::string_view(all).substr(0, std::min(end, all.size())));
    }
    EXPECT_EQ(state, HeadScan::State::complete);
    EXPECT_EQ(scan.size(), head.size());
  }
}

TEST(ChunkDecoder, TakesTheCodingOffHoweverItComes) {
  const std::string coded = "3;x=\"y\"\r\nabc\r\n000\r\n\r\n";
  const std::string more = "0A\r\n0123456789\r\n" + coded + "next";
  for (std::size_t step = 1; step <= more.size(); ++step) {
    ChunkDecoder decoder(13, 6);
    std::string body;
    std::size_t at = 0;
    auto state = ChunkDecoder::State::more;
    while (state == ChunkDecoder::State::more) {
      const std::size_t size = std::min(step, more.size() - at);
      std::string_view bytes = std::string_view(more).substr(at, size);
      state = decoder.feed(bytes, body);
      at += size - bytes.size();
    }
    EXPECT_EQ(state, ChunkDecoder::State::complete);
    EXPECT_EQ(body, "0123456789abc");
    EXPECT_EQ(more.substr(at), "next");
  }
}

TEST(ChunkDecoder, KeepsItsLimits) {
  std::string body;
  std::string_view bytes = "5\r\n12345\r\n6\r\n";
  EXPECT_EQ(ChunkDecoder(10, 0).feed(bytes, body), ChunkDecoder::State::too_large);
  bytes = "1;ab\r\nx\r\n1;c\r\nx\r\n";
  EXPECT_EQ(ChunkDecoder(10, 2).feed(bytes, body), ChunkDecoder::State::malformed);
}

}  // namespace
}  // namespace dpcache::server
