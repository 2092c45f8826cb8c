#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/digest.h"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX, named here so that no caller includes OpenSSL.

namespace orlop {

/// Bytes in, in order and in any portions; a Digest out.
///
/// A copy is a checkpoint: it continues on its own from where the original stood (some hundred
/// bytes and one allocation). Moved from, it may only be assigned to or destroyed. One thread at a
/// time. Never fails: OpenSSL can refuse only for want of memory, and that ends the process.
class Digester {
 public:
  Digester();
  Digester(const Digester& other);
  Digester& operator=(const Digester& other);
  Digester(Digester&&) noexcept = default;
  Digester& operator=(Digester&&) noexcept = default;
  ~Digester() = default;

  void update(std::span<const std::byte> bytes);

  /// The digest of everything so far. Consumes the digester; to go on, finish a copy.
  Digest finish() &&;

  /// The digest of everything so far; then begins anew. For who hashes often: allocates nothing.
  Digest finish_and_restart();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

Digest digest_of(std::span<const std::byte> bytes);
Digest digest_of(std::string_view text);

}  // namespace orlop
