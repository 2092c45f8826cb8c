#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orlop {

/// What may stand under a key.
enum class KeyKind : std::uint8_t {
  section,   ///< A map with known keys.
  sections,  ///< A list of such maps; their keys are listed below "name[]".
  boolean,
  integer,
  number,  ///< With or without a fraction.
  text,
  texts,     ///< A list.
  duration,  ///< config/duration.h, or a bare integer of nanoseconds.
  size,      ///< config/size.h
  size_map,  ///< Size to size.
  free_map,  ///< Any map. Each value is replaced whole by a later file.
};

/// What becomes of a key. A key without a rule of its own follows the section above it.
enum class KeyRule : std::uint8_t {
  inherit,
  used,     ///< Read into Config.
  ignored,  ///< No effect, said in one notice for all keys that follow this rule. `note` says why.
  refused,  ///< Not built yet and not to be ignored: stops the start unless it is empty.
};

struct KeyRow {
  std::string path;  ///< "castore.volumes[].location"
  KeyKind kind;
  KeyRule rule = KeyRule::inherit;
  std::string_view note = {};
};

/// Every key that exists: those of Kraken's origin (kraken-formats-and-store, 6.4) and our own.
/// Made once; safe from any thread.
const std::vector<KeyRow>& key_table();

/// The row of a path, or null.
const KeyRow* find_key(std::string_view path);

/// The row of the key `name` as it stands in a file, in the section `parent` (empty for the top).
/// Null for a dotted name: "a.b: 1" at the top is not "a: {b: 1}".
const KeyRow* find_key_in(std::string_view parent, std::string_view name);

/// The row whose rule holds for `row`: itself or the nearest section above that has one.
const KeyRow& rule_of(const KeyRow& row);

/// The known path that the writer of an unknown one most likely meant; empty if nothing is near.
std::string nearest_key(std::string_view path);

}  // namespace orlop
