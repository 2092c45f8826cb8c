#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "config/duration.h"
#include "config/effective.h"
#include "config/key_check.h"
#include "config/merge.h"
#include "config/settings.h"
#include "config/size.h"
#include "config/yaml.h"

// A configuration comes from an operator, but its path may be wrong. Property: whatever the bytes,
// each mistake and notice begins with the file's name, and a merged tree has no null and no key
// twice, so that it stays as it is when it is merged again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = orlop::parse_size(text)) ORLOP_CHECK(text.front() >= '0');
  if (orlop::parse_duration(text)) ORLOP_CHECK(!text.empty());

  const auto layer = orlop::parse_yaml(text, "f.yaml");
  if (!layer) {
    ORLOP_CHECK(layer.error().detail().starts_with("f.yaml"));
    return 0;
  }
  orlop::Findings findings;
  orlop::check_layer(*layer, false, findings);
  orlop::Node merged;
  orlop::merge_layer(merged, *layer);
  orlop::review(merged, findings);
  orlop::Config config;
  orlop::EffectiveSettings effective;
  orlop::read_settings(merged, "f.yaml", config, findings, effective);
  for (const auto& line : findings.mistakes) ORLOP_CHECK(line.starts_with("f.yaml"));
  for (const auto& line : findings.notices) ORLOP_CHECK(line.starts_with("f.yaml"));

  const auto once = merged;
  orlop::merge_layer(merged, once);
  ORLOP_CHECK(merged.children.size() == once.children.size());
  for (const auto& child : merged.children) {
    ORLOP_CHECK(child.kind != orlop::Node::Kind::null);
    ORLOP_CHECK(merged.find(child.key) == &child);
  }
  return 0;
}
