#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "metadata/msgpack_codec.h"

namespace orlop {

struct EncodedLruOptions {
  std::size_t entries_max = 10'000;            ///< At least 1.
  std::size_t bytes_max = 16 * 1024 * 1024;    ///< Of keys, values and kEntryBytes an entry.
  std::chrono::nanoseconds default_expiry{0};  ///< Of set_with_default_expiry; 0: none.
  const Clock* clock = nullptr;                ///< Needed only for entries that expire.
  std::string invalidation_event = {};         ///< See `invalidation_event()`.
};

/// A cache of mutable records as encoded bytes, the least recently used go
/// first.
///
/// A `get` decodes into the caller's own value, so nobody can alias or change
/// what another reads. It observably behaves as a plain map with a list of uses
/// (tests/metadata/encoded_lru_test.cc has that model): a set or a get moves
/// the key to the front; an entry that expired, or is of before the last purge,
/// is dropped when it is touched.
///
/// Whoever writes the truth calls `set` or `remove` under the lock that orders
/// those writes; a reader that fills the cache does it under that lock too,
/// else it may put back what is old.
///
/// Safe to use from any thread, at most for moments under one mutex: encoding,
/// decoding and freeing happen outside. `clock` outlives it.
class EncodedLru {
 public:
  /// What an entry costs beside its key and value.
  static constexpr std::size_t kEntryBytes = 64;

  explicit EncodedLru(EncodedLruOptions options);
  EncodedLru(const EncodedLru&) = delete;
  EncodedLru& operator=(const EncodedLru&) = delete;
  ~EncodedLru();

  /// Remembers the value until it is displaced. False, and the key is
  /// forgotten, if it is larger than all of `bytes_max`.
  template <class T, RecordForm Form = RecordForm::map>
  bool set(std::string_view key, const T& value) {
    return set_with_expiry<T, Form>(key, value, std::chrono::nanoseconds(0));
  }
  template <class T, RecordForm Form = RecordForm::map>
  bool set_with_default_expiry(std::string_view key, const T& value) {
    return set_with_expiry<T, Form>(key, value, options_.default_expiry);
  }
  /// `expiry` from now on; 0: none.
  template <class T, RecordForm Form = RecordForm::map>
  bool set_with_expiry(std::string_view key, const T& value, std::chrono::nanoseconds expiry) {
    Scratch scratch;
    encode_msgpack<Form>(value, scratch.bytes());
    return set_bytes(key, scratch.bytes(), expiry);
  }

  /// `not_found` if there is none: `value` is as it was. `corrupt` if it is no
  /// such value: then `value` is unspecified.
  template <class T>
  Result<> get(std::string_view key, T& value) {
    Scratch scratch;
    if (!get_bytes(key, scratch.bytes())) return Error(Errc::not_found, "not cached");
    return decode_msgpack(scratch.bytes(), value);
  }

  /// Whether it was there.
  bool remove(std::string_view key);
  /// Forgets everything, in O(1): the memory goes as entries are touched or
  /// displaced.
  void purge();

  /// From the oldest to the newest use; with those that expired and were not
  /// touched since.
  std::vector<std::string> keys() const;
  /// As many as `keys()` has.
  std::size_t length() const;

  /// What to tell other nodes when an entry changes; empty: nothing. Only kept
  /// here.
  const std::string& invalidation_event() const { return options_.invalidation_event; }

 private:
  struct Entry;
  /// This thread's memory for encoded bytes. Not for two at once in one thread.
  class Scratch {
   public:
    Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch();
    std::string& bytes() { return *bytes_; }

   private:
    std::string* bytes_;
  };

  bool set_bytes(std::string_view key, std::string_view bytes, std::chrono::nanoseconds expiry);
  bool get_bytes(std::string_view key, std::string& out);

  // All below: with the mutex.
  Entry** place(std::uint64_t hash, std::string_view key);
  Entry*& bucket(std::uint64_t hash);
  bool alive(const Entry& entry) const;
  void unlink(Entry& entry);
  void link_newest(Entry& entry);
  /// Takes it out of everything; the caller frees it.
  Entry* take_out(Entry** place);
  void grow();

  const EncodedLruOptions options_;
  mutable std::mutex mutex_;
  Entry* newest_ = nullptr;
  Entry* oldest_ = nullptr;
  Entry* one_bucket_ = nullptr;  ///< Until there is more than one entry.
  std::vector<Entry*> buckets_;  ///< Empty, or a power of two.
  std::size_t entries_ = 0;      ///< In the list, also those before the last purge.
  std::size_t length_ = 0;       ///< Of this generation.
  std::size_t bytes_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace orlop
