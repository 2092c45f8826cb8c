#pragma once

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "metadata/msgpack.h"
#include "metadata/msgpack_format.h"

namespace orlop {

// MessagePack of whole values: bool, integers, float, double, std::string,
// std::optional (nil), std::vector, maps from strings (std::map and boost's
// flat_map, written in key order), and structs that list their fields:
//
//   template <class Self, class Visit>
//   static void fields(Self& self, Visit&& visit) {
//     visit.template operator()<"id">(self.id);
//   }
//
// A struct is a map from the names of its fields or an array of their values,
// both in the order of the list; a reader takes either form. Names are template
// arguments, so that reading compares each with a constant, in the order in
// which we write (measured-choices.md, part B). Read in map form, fields may
// come in any order; unknown names are skipped, a name that comes twice is
// refused. In array form fields may be added at the end only: surplus values
// are skipped. A field that the bytes do not have is made empty, so nothing is
// left over from what the value was before.

/// A field's name as a template argument.
template <std::size_t N>
struct FieldName {
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the literal.
  consteval FieldName(const char (&from)[N]) { std::copy_n(from, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }

  char text[N]{};
};

enum class RecordForm : std::uint8_t { map, array };

/// Only to ask whether a type has a list of fields.
struct FieldProbe {
  template <FieldName Name, class Field>
  void operator()(Field& field) const;
};

template <class T>
concept MsgpackRecord = requires(T& value) {
  T::fields(value, FieldProbe{});
};
template <class T>
concept MsgpackMap = requires {
  requires std::is_same_v<typename T::key_type, std::string>;
}
&&requires { typename T::mapped_type; };

template <class T>
inline constexpr bool is_optional_v = false;
template <class T>
inline constexpr bool is_optional_v<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector_v = false;
template <class T>
inline constexpr bool is_vector_v<std::vector<T>> = true;

/// A constant, but only to the optimiser: few values of today's containers are
/// constexpr.
template <MsgpackRecord T>
std::size_t field_count(const T& value) {
  std::size_t count = 0;
  T::fields(value, [&]<FieldName Name>(const auto&) { ++count; });
  return count;
}

/// At least as many bytes as `put_msgpack` writes.
template <RecordForm Form, class T>
std::size_t msgpack_bound(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return kMsgpackHeadMax;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return kMsgpackHeadMax + value.size();
  } else if constexpr (is_optional_v<T>) {
    return value ? msgpack_bound<Form>(*value) : 1;
  } else if constexpr (is_vector_v<T>) {
    std::size_t bytes = kMsgpackHeadMax;
    for (const auto& element : value) bytes += msgpack_bound<Form>(element);
    return bytes;
  } else if constexpr (MsgpackMap<T>) {
    std::size_t bytes = kMsgpackHeadMax;
    for (const auto& [key, element] : value) {
      bytes += kMsgpackHeadMax + key.size() + msgpack_bound<Form>(element);
    }
    return bytes;
  } else {
    std::size_t bytes = kMsgpackHeadMax;
    T::fields(value, [&]<FieldName Name>(const auto& field) {
      if constexpr (Form == RecordForm::map) bytes += kMsgpackHeadMax + Name.view().size();
      bytes += msgpack_bound<Form>(field);
    });
    return bytes;
  }
}

inline char* put_msgpack_str(char* to, std::string_view text) {
  to = put_msgpack_str_head(to, text.size());
  // Not through memcpy: with no text its source may be null.
  return std::copy(text.begin(), text.end(), to);
}

/// Writes the value to memory that has room for its bound, and answers where it
/// ended.
template <RecordForm Form, class T>
char* put_msgpack(char* to, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return put_msgpack_code(to, value ? MsgpackCode::kTrue : MsgpackCode::kFalse);
  } else if constexpr (std::is_same_v<T, float>) {
    return put_msgpack_float(to, value);
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == sizeof(double));
    return put_msgpack_double(to, value);
  } else if constexpr (std::is_unsigned_v<T>) {
    return put_msgpack_uint(to, value);
  } else if constexpr (std::is_integral_v<T>) {
    return put_msgpack_int(to, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return put_msgpack_str(to, value);
  } else if constexpr (is_optional_v<T>) {
    return value ? put_msgpack<Form>(to, *value) : put_msgpack_code(to, MsgpackCode::kNil);
  } else if constexpr (is_vector_v<T>) {
    to = put_msgpack_array_head(to, value.size());
    for (const auto& element : value) to = put_msgpack<Form>(to, element);
    return to;
  } else if constexpr (MsgpackMap<T>) {
    to = put_msgpack_map_head(to, value.size());
    for (const auto& [key, element] : value) {
      to = put_msgpack<Form>(put_msgpack_str(to, key), element);
    }
    return to;
  } else {
    const auto count = field_count(value);
    to = Form == RecordForm::map ? put_msgpack_map_head(to, count)
                                 : put_msgpack_array_head(to, count);
    T::fields(value, [&]<FieldName Name>(const auto& field) {
      if constexpr (Form == RecordForm::map) to = put_msgpack_str(to, Name.view());
      to = put_msgpack<Form>(to, field);
    });
    return to;
  }
}

template <class T>
void read_msgpack(MsgpackReader& reader, T& value);

/// How many elements may be reserved for at once: a count costs its sender one
/// byte an element, so what is beyond this grows only as elements arrive.
template <class T>
std::size_t reservable(std::size_t count) {
  return std::min(count, std::max<std::size_t>(1, 4096 / sizeof(T)));
}

/// What a map's pairs are gathered in: the map's own sequence, if it is made of
/// one.
template <class T>
struct MapPairs {
  using type = std::vector<std::pair<std::string, typename T::mapped_type>>;
};
template <class T>
requires requires { typename T::sequence_type; }
struct MapPairs<T> {
  using type = typename T::sequence_type;
};

template <MsgpackMap T>
void read_msgpack_map(MsgpackReader& reader, T& value) {
  using Mapped = typename T::mapped_type;
  value.clear();
  const auto count = reader.read_map();
  typename MapPairs<T>::type pairs;
  pairs.reserve(reservable<std::pair<std::string, Mapped>>(count));
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    auto& [key, element] = pairs.emplace_back(std::string(reader.read_str()), Mapped{});
    read_msgpack(reader, element);
  }
  const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
  // Ours come in order. Others are sorted once: to insert them one by one would
  // be quadratic.
  if (!std::is_sorted(pairs.begin(), pairs.end(), by_key)) {
    std::sort(pairs.begin(), pairs.end(), by_key);
  }
  const auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (std::adjacent_find(pairs.begin(), pairs.end(), same_key) != pairs.end()) {
    reader.reject("a key twice in one map");
  }
  if (reader.failed()) return;
  if constexpr (requires { typename T::sequence_type; }) {
    value.adopt_sequence(boost::container::ordered_unique_range, std::move(pairs));
  } else {
    for (auto& [key, element] : pairs) {
      value.emplace_hint(value.end(), std::move(key), std::move(element));
    }
  }
}

/// Reads a struct's fields and answers which the bytes had, a bit each.
template <MsgpackRecord T>
std::uint64_t read_msgpack_fields(MsgpackReader& reader, T& value) {
  std::uint64_t seen = 0;
  std::uint64_t bit = 1;
  if (reader.peek() == MsgpackKind::array) {
    auto left = reader.read_array();
    T::fields(value, [&]<FieldName Name>(auto& field) {
      if (left > 0) {
        read_msgpack(reader, field);
        --left;
        seen |= bit;
      }
      bit <<= 1;
    });
    for (; left > 0 && !reader.failed(); --left) reader.skip();
    return seen;
  }
  auto left = reader.read_map();
  T::fields(value, [&]<FieldName Name>(auto& field) {
    if (left > 0 && reader.accept_str(Name.view())) {
      read_msgpack(reader, field);
      --left;
      seen |= bit;
    }
    bit <<= 1;
  });
  for (; left > 0 && !reader.failed(); --left) {  // Not in our order, or not ours.
    const auto name = reader.read_str();
    bool known = false;
    bit = 1;
    T::fields(value, [&]<FieldName Name>(auto& field) {
      if (!known && name == Name.view()) {
        known = true;
        if ((seen & bit) != 0) reader.reject("a field twice");
        seen |= bit;
        read_msgpack(reader, field);
      }
      bit <<= 1;
    });
    if (!known) reader.skip();
  }
  return seen;
}

/// Reads one value. The reader fails on what does not fit the type; the value
/// is then unspecified.
template <class T>
void read_msgpack(MsgpackReader& reader, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = reader.read_bool();
  } else if constexpr (std::is_same_v<T, float>) {
    value = reader.read_float();
  } else if constexpr (std::is_floating_point_v<T>) {
    value = reader.read_double();
  } else if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>;
    Wide wide = 0;
    if constexpr (std::is_unsigned_v<T>) {
      wide = reader.read_uint();
    } else {
      wide = reader.read_int();
    }
    if (!std::in_range<T>(wide)) reader.reject("a number that its field cannot hold");
    value = static_cast<T>(wide);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value.assign(reader.read_str());
  } else if constexpr (is_optional_v<T>) {
    if (reader.peek() == MsgpackKind::nil) {
      reader.read_nil();
      value.reset();
      return;
    }
    if (!value) value.emplace();
    read_msgpack(reader, *value);
  } else if constexpr (is_vector_v<T>) {
    value.clear();
    const auto count = reader.read_array();
    value.reserve(reservable<typename T::value_type>(count));
    for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
      typename T::value_type element{};
      read_msgpack(reader, element);
      value.push_back(std::move(element));
    }
  } else if constexpr (MsgpackMap<T>) {
    read_msgpack_map(reader, value);
  } else {
    const auto count = field_count(value);
    ORLOP_CHECK(count < 64);  // A bit a field.
    const auto seen = read_msgpack_fields(reader, value);
    if (seen == (std::uint64_t{1} << count) - 1) return;
    std::uint64_t bit = 1;
    T::fields(value, [&]<FieldName Name>(auto& field) {
      if ((seen & bit) == 0) field = std::remove_reference_t<decltype(field)>{};
      bit <<= 1;
    });
  }
}

/// Replaces `out` by the encoded value. Keeps the memory of `out`.
template <RecordForm Form = RecordForm::map, class T>
void encode_msgpack(const T& value, std::string& out) {
  out.resize(msgpack_bound<Form>(value));
  const char* end = put_msgpack<Form>(out.data(), value);
  out.resize(static_cast<std::size_t>(end - out.data()));
}

/// Takes the whole of `bytes`, in either form. `corrupt` if they are not such a
/// value; `value` is then unspecified, but sound.
template <class T>
Result<> decode_msgpack(std::string_view bytes, T& value) {
  MsgpackReader reader(bytes);
  read_msgpack(reader, value);
  return reader.finish();
}

}  // namespace orlop
