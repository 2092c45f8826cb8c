#include "core/digester.h"

#include <openssl/evp.h>

#include <utility>

#include "base/check.h"

namespace orlop {
namespace {

const EVP_MD* sha256() {
  // Fetched once: EVP_sha256() looks the provider up again at each init (OpenSSL 3, crypto(7),
  // "Algorithm fetching").
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  ORLOP_CHECK(algorithm != nullptr);
  return algorithm;
}

}  // namespace

void Digester::Free::operator()(evp_md_ctx_st* context) const noexcept { EVP_MD_CTX_free(context); }

Digester::Digester() : context_(EVP_MD_CTX_new()) {
  ORLOP_CHECK(context_ != nullptr);
  ORLOP_CHECK(EVP_DigestInit_ex(context_.get(), sha256(), nullptr) == 1);
}

Digester::Digester(const Digester& other) : context_(EVP_MD_CTX_new()) {
  ORLOP_CHECK(context_ != nullptr);
  ORLOP_CHECK(other.context_ != nullptr);
  ORLOP_CHECK(EVP_MD_CTX_copy_ex(context_.get(), other.context_.get()) == 1);
}

Digester& Digester::operator=(const Digester& other) {
  Digester copy(other);
  context_ = std::move(copy.context_);
  return *this;
}

void Digester::update(std::span<const std::byte> bytes) {
  ORLOP_CHECK(context_ != nullptr);
  ORLOP_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

Digest Digester::finish() && {
  ORLOP_CHECK(context_ != nullptr);
  const auto context = std::move(context_);
  std::array<std::uint8_t, Digest::kBytes> bytes;
  ORLOP_CHECK(EVP_DigestFinal_ex(context.get(), bytes.data(), nullptr) == 1);
  return Digest(bytes);
}

Digest Digester::finish_and_restart() {
  ORLOP_CHECK(context_ != nullptr);
  std::array<std::uint8_t, Digest::kBytes> bytes;
  ORLOP_CHECK(EVP_DigestFinal_ex(context_.get(), bytes.data(), nullptr) == 1);
  // Without an algorithm: the one that it has, so its state is used again.
  ORLOP_CHECK(EVP_DigestInit_ex(context_.get(), nullptr, nullptr) == 1);
  return Digest(bytes);
}

Digest digest_of(std::span<const std::byte> bytes) {
  Digester digester;
  digester.update(bytes);
  return std::move(digester).finish();
}

Digest digest_of(std::string_view text) {
  return digest_of(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace orlop
