#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <span>

#include "server/request.h"

namespace orlop {

/// Beast's parser, fed by hand: it fills a Request and copies the body to wherever the reader wants
/// it, without a message object in between. One parser a request.
class RequestParser final : public http::basic_parser<true> {
 public:
  explicit RequestParser(std::uint32_t header_bytes_max) : header_bytes_max_(header_bytes_max) {
    header_limit(header_bytes_max);
    body_limit(boost::none);  // Uploads have limits of their own (store.upload_bytes_max).
  }

  /// Complete once `is_header_done()`.
  Request& request() { return request_; }

  /// The client holds its body back until it is told to go on (RFC 9110, section 10.1.1).
  bool request_waits() const { return request_.expects_continue && !is_done(); }

  /// Where body bytes go next. If the caller's input lies there already, nothing is copied.
  void set_output(std::span<std::byte> output) {
    output_ = output;
    output_used_ = 0;
  }
  std::size_t output_used() const { return output_used_; }

 private:
  using Text = boost::beast::string_view;
  using Ec = boost::system::error_code;

  void on_request_impl(http::verb method, Text method_text, Text target, int version,
                       Ec& ec) override;
  void on_response_impl(int, Text, int, Ec&) override {}
  void on_field_impl(http::field name, Text name_text, Text value, Ec& ec) override;
  void on_header_impl(Ec& ec) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& content_length, Ec& ec) override;
  std::size_t on_body_impl(Text body, Ec& ec) override;
  void on_chunk_header_impl(std::uint64_t size, Text extensions, Ec& ec) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, Text body, Ec& ec) override;
  void on_finish_impl(Ec& ec) override;

  std::size_t take(Text body);

  const std::uint32_t header_bytes_max_;
  std::size_t field_bytes_ = 0;
  Request request_;
  std::span<std::byte> output_;
  std::size_t output_used_ = 0;
};

}  // namespace orlop
