// SPDX-License-Identifier: Apache-2.0
// Strict reading of one JSON object: every key has a type and a range, and an unknown key is an error.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "error.hpp"

namespace clarion::emu {

class JsonObject {
 public:
  JsonObject(const nlohmann::json& value, Path path) : value_(value), path_(std::move(path)) {
    if (!value.is_object()) throw Fault{path_, FaultCode::invalid, "must be an object"};
  }

  Path path_of(const std::string& key) const { return path_ / key; }
  [[noreturn]] void fail(const std::string& key, FaultCode code, const std::string& reason) const {
    throw Fault{path_of(key), code, reason};
  }

  // The value of an optional key, or null.
  const nlohmann::json* find(const std::string& key) {
    known_.push_back(key);
    const auto it = value_.find(key);
    return it == value_.end() ? nullptr : &*it;
  }
  bool has(const std::string& key) const { return value_.contains(key); }
  void require(const std::string& key) const {
    if (!value_.contains(key)) fail(key, FaultCode::missing, "is missing");
  }

  // A number that is whole and not negative, however it is written: 1e9 is a fine way.
  static std::optional<std::uint64_t> whole(const nlohmann::json& value) {
    if (value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0))
      return value.get<std::uint64_t>();
    if (!value.is_number_float()) return std::nullopt;
    const auto number = value.get<double>();
    if (!(number >= 0 && number < 0x1p53) || number != std::floor(number)) return std::nullopt;
    return static_cast<std::uint64_t>(number);
  }

  // Each reads the key into `out` if it is there and leaves `out` as it is if not.
  void integer(const std::string& key, std::uint64_t min, std::uint64_t max, std::uint64_t& out) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return;
    const std::string legal =
        "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max);
    const auto number = whole(*value);
    if (!number) {
      const bool negative = value->is_number_integer();
      fail(key, negative ? FaultCode::out_of_range : FaultCode::invalid, legal + ", not " + value->dump());
    }
    out = *number;
    if (out < min || out > max) fail(key, FaultCode::out_of_range, legal + ", not " + value->dump());
  }

  void real(const std::string& key, double min, double max, double& out) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return;
    const std::string legal = "must be a number from " + short_text(min) + " to " + short_text(max);
    if (!value->is_number()) fail(key, FaultCode::invalid, legal + ", not " + value->dump());
    out = value->get<double>();
    if (!(out >= min && out <= max)) fail(key, FaultCode::out_of_range, legal + ", not " + value->dump());
  }

  void boolean(const std::string& key, bool& out) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) fail(key, FaultCode::invalid, "must be true or false, not " + value->dump());
    out = value->get<bool>();
  }

  void text(const std::string& key, std::string& out) {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string() || value->get<std::string>().empty()) {
      fail(key, FaultCode::invalid, "must be a non-empty string, not " + value->dump());
    }
    out = value->get<std::string>();
  }

  // After all keys have been read.
  void refuse_unknown_keys() const {
    for (const auto& [key, unused] : value_.items()) {
      bool found = false;
      std::string legal;
      for (const std::string& known : known_) {
        found |= known == key;
        legal += (legal.empty() ? "" : ", ") + known;
      }
      if (!found) fail(key, FaultCode::unknown, "unknown key; known here: " + legal);
    }
  }

 private:
  static std::string short_text(double value) { return nlohmann::json(value).dump(); }

  const nlohmann::json& value_;
  Path path_;
  std::vector<std::string> known_;
};

}  // namespace clarion::emu
