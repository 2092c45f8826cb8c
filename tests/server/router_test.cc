#include "server/router.h"

#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <utility>

#include "server/health.h"
#include "tests/server/test_origin.h"

namespace orlop {
namespace {

using enum http::verb;
using enum RouteClass;

/// What a call to a router needs around it. The connection is not connected.
struct RouterBench {
  TestOrigin origin;
  asio::io_context io;
  ConnectionGroup group;
  Connection connection{Socket(io), group};
  RequestParser parser{4096};
  Body body{connection, parser, std::chrono::seconds(1)};
  Health health;

  Reply answer(const Router& router, const Request& request) {
    std::optional<Reply> reply;
    auto ask = [&]() -> Task<> {
      reply.emplace(co_await router.answer(request, body, origin.get(), health));
    };
    asio::co_spawn(io, ask(), rethrow);
    io.restart();
    io.run();
    REQUIRE(reply);
    return *std::move(reply);
  }
};

Request request_of(http::verb method, std::string path, std::string_view peer = "127.0.0.1") {
  Request request;
  request.method = method;
  request.path = std::move(path);
  request.peer = asio::ip::make_address(std::string(peer));
  return request;
}

std::string allow_of(const Reply& reply) {
  for (const auto& [name, value] : reply.fields) {
    if (name == "Allow") return value;
  }
  return "";
}

/// Tells which parameters arrived.
Task<Reply> echo(Call& call) {
  std::string text;
  for (const auto& parameter : call.parameters) text += "[" + parameter + "]";
  co_return text_reply(200, std::move(text));
}

constexpr std::array kEcho = {
    Route{get, "/plain", read, echo},
    Route{get, "/a/{one}/b/{two}", read, echo},
    Route{put, "/a/{one}/b/{two}", write, echo},
    Route{post, "/operate/{one}", operate, echo},
    Route{head, "/only-head", read, echo},
    Route{get, "/three/{one}/{two}/{three}", read, echo},
};

TEST_CASE("router: parameters arrive in the order of the pattern, decoded once") {
  RouterBench bench;
  const Router router(kEcho, {});
  const auto text = [&](std::string path) {
    return bench.answer(router, request_of(get, std::move(path))).text;
  };

  CHECK(text("/plain") == "[][][]");
  CHECK(text("/a/x/b/y") == "[x][y][]");
  CHECK(text("/three/x/y/z") == "[x][y][z]");
  CHECK(text("/a/x%2Fb%2Fy/b/%2541") == "[x/b/y][%41][]");
  CHECK(text("/a/a+b/b/%C3%A9") == "[a+b][é][]");
  CHECK(text("/a/../b/..") == "[..][..][]");
}

TEST_CASE("router: a path fits segment by segment or not at all") {
  RouterBench bench;
  const Router router(kEcho, {});
  for (const auto* path :
       {"/", "/plai", "/plain/", "/plain/x", "//plain", "/Plain", "/%70lain", "/a/x/b", "/a/x/b/",
        "/a/x/b/y/", "/a/x/b/y/z", "/a/x/c/y", "/operate/", "*", ""}) {
    INFO(path);
    CHECK(bench.answer(router, request_of(get, path)).status == 404);
  }
}

TEST_CASE("router: HEAD is answered wherever GET is, and GET not where only HEAD is") {
  RouterBench bench;
  const Router router(kEcho, {});
  CHECK(bench.answer(router, request_of(head, "/plain")).status == 200);
  CHECK(bench.answer(router, request_of(head, "/only-head")).status == 200);
  const auto refused = bench.answer(router, request_of(get, "/only-head"));
  CHECK(refused.status == 405);
  CHECK(allow_of(refused) == "HEAD");
}

TEST_CASE("router: the first of 405, 404, 403 and 400 that applies is the answer") {
  RouterBench bench;
  const Router router(kEcho, {});
  const auto status = [&](http::verb method, std::string path, std::string_view peer) {
    return bench.answer(router, request_of(method, std::move(path), peer)).status;
  };
  constexpr auto kHere = "127.0.0.1";
  constexpr auto kThere = "203.0.113.9";

  CHECK(status(get, "/operate/%zz", kThere) == 405);
  CHECK(status(post, "/elsewhere/%zz", kThere) == 404);
  CHECK(status(post, "/operate/%zz", kThere) == 403);
  CHECK(status(post, "/operate/x", kThere) == 403);
  CHECK(status(post, "/operate/%zz", kHere) == 400);
  CHECK(status(post, "/operate/%00", kHere) == 400);
  CHECK(status(post, "/operate/%FF", kHere) == 400);
  CHECK(status(post, "/operate/x", kHere) == 200);
  CHECK(status(get, "/a//b/y", kThere) == 400);
  CHECK(status(get, "/a/x/b/%zz", kThere) == 400);
  CHECK(status(put, "/a/x/b/y", kThere) == 200);
}

TEST_CASE("router: a refused parameter is named, and a refused caller is told of the setting") {
  RouterBench bench;
  const Router router(kEcho, {});
  CHECK(bench.answer(router, request_of(get, "/a//b/y")).text == "param one is required");
  CHECK(bench.answer(router, request_of(get, "/a/x/b/%zz")).text.find("param two") == 0);
  CHECK(bench.answer(router, request_of(post, "/operate/x", "203.0.113.9"))
            .text.find("admin.allow") != std::string::npos);
}

TEST_CASE("router: admin.allow opens the operators' routes") {
  RouterBench bench;
  AccessRules access;
  access.admin_allow.push_back(*Cidr::parse("203.0.113.0/24"));
  const Router router(kEcho, access);
  CHECK(bench.answer(router, request_of(post, "/operate/x", "203.0.113.9")).status == 200);
  CHECK(bench.answer(router, request_of(post, "/operate/x", "203.0.114.9")).status == 403);
}

/// Handlers that answer with their own number.
template <std::size_t Number>
Task<Reply> numbered(Call&) {
  co_return Reply(1000 + Number);
}

template <std::size_t... Numbers>
std::vector<Handler> numbered_handlers(std::index_sequence<Numbers...>) {
  return {numbered<Numbers>...};
}

/// A path that fits the pattern.
std::string path_of(std::string_view pattern) {
  std::string path;
  for (bool inside = false; const char c : pattern) {
    inside = c == '{' || (inside && c != '}');
    if (c == '{') path += "p-";
    if (c != '{' && c != '}') path += c;
  }
  return path;
}

TEST_CASE("routes: each endpoint is reached by its method and path, and by no other's") {
  RouterBench bench;
  const auto handlers = numbered_handlers(std::make_index_sequence<64>());
  std::vector<Route> routes(all_routes().begin(), all_routes().end());
  REQUIRE(routes.size() >= 25);
  REQUIRE(routes.size() <= handlers.size());
  for (std::size_t i = 0; i < routes.size(); ++i) routes[i].handler = handlers[i];
  const Router router(routes, {});

  for (std::size_t i = 0; i < routes.size(); ++i) {
    INFO(http::to_string(routes[i].method) << " " << routes[i].pattern);
    const auto request = request_of(routes[i].method, path_of(routes[i].pattern));
    CHECK(bench.answer(router, request).status == 1000 + i);
  }
}

TEST_CASE("routes: every endpoint has at most three parameters, and a handler") {
  for (const auto& route : all_routes()) {
    INFO(route.pattern);
    CHECK(std::count(route.pattern.begin(), route.pattern.end(), '{') <= 3);
    CHECK(route.handler != nullptr);
  }
}

TEST_CASE("routes: a method that a path does not have is told which it has") {
  RouterBench bench;
  const Router router(all_routes(), {});
  struct Case {
    std::string path;
    std::string allow;
  };
  for (const auto& [path, allow] : {
           Case{"/health", "GET, HEAD"},
           Case{"/readiness", "GET, HEAD"},
           Case{"/cas", "POST, GET, HEAD"},
           Case{"/cas/x", "PUT, GET, HEAD, DELETE"},
           Case{"/forcecleanup", "POST"},
           Case{"/forcecleanup/v2", "POST"},
           Case{"/blobs/d/locations", "GET, HEAD"},
           Case{"/namespace/n/blobs/d", "GET, HEAD"},
           Case{"/namespace/n/blobs/d/prefetch", "POST"},
           Case{"/namespace/n/blobs/d/uploads", "POST"},
           Case{"/namespace/n/blobs/d/uploads/u", "PATCH, PUT, GET, HEAD, DELETE"},
           Case{"/internal/blobs/d", "DELETE"},
           Case{"/internal/blobs/d/uploads/u", "PATCH, PUT, GET, HEAD, DELETE"},
           Case{"/internal/blobs/d/metainfo", "POST"},
           Case{"/internal/namespace/n/blobs/d", "HEAD"},
           Case{"/internal/duplicate/namespace/n/blobs/d/uploads/u", "PUT"},
       }) {
    INFO(path);
    const auto reply = bench.answer(router, request_of(http::verb::unknown, path));
    CHECK(reply.status == 405);
    CHECK(allow_of(reply) == allow);
  }
}

TEST_CASE("routes: what removes, cleans up or recuts is for operators, and nothing else") {
  std::set<std::string> operators;
  for (const auto& route : all_routes()) {
    if (route.route_class != operate) continue;
    operators.insert(std::string(http::to_string(route.method)) + " " + std::string(route.pattern));
  }
  // Design, section 10, "Route classes".
  CHECK(operators == std::set<std::string>{"DELETE /internal/blobs/{digest}",
                                           "DELETE /cas/{digest}", "POST /forcecleanup",
                                           "POST /forcecleanup/v2",
                                           "POST /internal/blobs/{digest}/metainfo"});
}

TEST_CASE("routes: what is answered without a limit is how the node is, and nothing else") {
  std::set<std::string_view> probes;
  for (const auto& route : all_routes()) {
    if (route.route_class == probe) probes.insert(route.pattern);
  }
  CHECK(probes == std::set<std::string_view>{"/health", "/metrics", "/readiness"});
}

TEST_CASE("router: beyond its limit a class is refused in the path's dialect, until a reply goes") {
  RouterBench bench;
  const Router router(kEcho, {}, {.reads_max = 1, .writes_max = 1, .operations_max = 1});
  const auto read_it = request_of(get, "/plain");
  std::optional<Reply> first = bench.answer(router, read_it);
  REQUIRE(first->status == 200);

  const auto refused = bench.answer(router, read_it);
  CHECK(refused.status == 503);
  CHECK(refused.shed);
  CHECK_THAT(refused.text, Catch::Contains("server.reads_max"));
  CHECK(bench.answer(router, request_of(head, "/plain")).status == 503);
  CHECK(bench.answer(router, request_of(put, "/a/x/b/y")).status == 200);
  CHECK(bench.answer(router, request_of(post, "/operate/x")).status == 200);

  first.reset();
  CHECK(bench.answer(router, read_it).status == 200);
}

TEST_CASE("router: what can never succeed is refused for that, however many others run") {
  RouterBench bench;
  const Router router(kEcho, {}, {.reads_max = 0, .writes_max = 0, .operations_max = 0});

  CHECK(bench.answer(router, request_of(get, "/nowhere")).status == 404);
  CHECK(bench.answer(router, request_of(put, "/plain")).status == 405);
  CHECK(bench.answer(router, request_of(get, "/a/%zz/b/y")).status == 400);
  CHECK(bench.answer(router, request_of(post, "/operate/x", "192.0.2.1")).status == 403);
  CHECK(bench.answer(router, request_of(get, "/plain")).status == 503);
}

TEST_CASE("routes: health and readiness say OK, until the node drains") {
  RouterBench bench;
  const Router router(all_routes(), {});
  CHECK(bench.answer(router, request_of(get, "/health")).text == "OK\n");
  CHECK(bench.answer(router, request_of(get, "/readiness")).text == "OK\n");

  bench.health.begin_draining();

  CHECK(bench.answer(router, request_of(get, "/health")).status == 200);
  const auto reply = bench.answer(router, request_of(get, "/readiness"));
  CHECK(reply.status == 503);
  CHECK(reply.text.find("draining") != std::string::npos);
}

}  // namespace
}  // namespace orlop
