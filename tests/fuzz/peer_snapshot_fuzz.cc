// Strings of strangers travel into snapshots, and snapshots are bytes at rest. Properties: the fast
// encoder writes any string as the plain one; whatever is read as a registry is a whole snapshot,
// and comes back unchanged; and made into sections with right digests, no text stops the reader.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json_writer.h"
#include "core/digester.h"
#include "peer/registry_facts.h"
#include "peer/text_buffer.h"

namespace {

bool read(std::string bytes) {
  bytes.append(orlop::snapshot_padding_bytes(), '\0');
  const auto before = bytes;
  const bool good = orlop::parse_registry(bytes).has_value();
  ORLOP_CHECK(bytes == before);
  return good;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  orlop::TextBuffer buffer;
  buffer.append_json(text);
  std::string plain;
  orlop::append_json_string(plain, text);
  ORLOP_CHECK(buffer.text() == plain);

  read(std::string(text));
  for (const std::string name : {"nodes", "pairs"}) {
    const auto tail = ",\"saved_at\":1,\"sections\":[[\"" + name + "\"," + std::to_string(size) +
                      ",\"" + orlop::digest_of(text).hex() + "\"]]";
    const auto checksum = orlop::digest_of("orlop snapshot v1\n" + tail).hex();
    read("{\"version\":1,\"" + name + "\":[" + std::string(text) + "]" + tail + ",\"checksum\":\"" +
         checksum + "\"}\n");
  }
  return 0;
}
