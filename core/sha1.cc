#include "core/sha1.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace orlop {

std::array<std::uint8_t, 20> sha1_of(std::string_view bytes) {
  std::array<std::uint8_t, 20> sum;
  ORLOP_CHECK(EVP_Digest(bytes.data(), bytes.size(), sum.data(), nullptr, EVP_sha1(), nullptr) ==
              1);
  return sum;
}

}  // namespace orlop
