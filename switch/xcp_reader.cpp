// SPDX-License-Identifier: Apache-2.0
#include "xcp_reader.hpp"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace clarion::emu {
namespace {

using nlohmann::json;

// Of a setting that follows another: the value that fits.
double followed(double leader) { return leader * leader * std::sqrt(2.0); }

class XcpReader {
 public:
  XcpReader(JsonObject& object, XcpSettings& settings) : object_(object), settings_(settings) {}

  void read() {
    visit_settings(settings_, [this](const XcpSetting& setting, auto& value) { take(setting, value); });
    visit_settings(settings_, [this](const XcpSetting& setting, auto& value) { follow(setting, value); });
    object_.refuse_unknown_keys();
    visit_settings(settings_, [this](const XcpSetting& setting, auto& value) { check(setting, value); });
    visit_settings(settings_,
                   [this](const XcpSetting& setting, auto& value) { check_order(setting, value); });
  }

 private:
  void take(const XcpSetting& setting, bool& value) { object_.boolean(setting.name, value); }

  void take(const XcpSetting& setting, std::uint64_t& value) {
    const json* given = object_.find(setting.name);
    if (given == nullptr) return;
    if (setting.zero != nullptr && *given == setting.zero) {
      value = 0;
      return;
    }
    const auto whole = JsonObject::whole(*given);
    if (!whole || !holds(setting, static_cast<double>(*whole)))
      refuse(setting, *given, whole ? FaultCode::out_of_range : FaultCode::invalid, setting.legal);
    value = *whole;
  }

  void take(const XcpSetting& setting, double& value) {
    const json* given = object_.find(setting.name);
    if (given == nullptr) return;
    if (!given->is_number()) refuse(setting, *given, FaultCode::invalid, setting.legal);
    value = given->get<double>();
  }

  template <class Value>
  void follow(const XcpSetting&, Value&) {}

  void follow(const XcpSetting& setting, double& value) {
    if (setting.follows != nullptr && object_.has(setting.follows) && !object_.has(setting.name))
      value = followed(number(setting.follows));
  }

  template <class Value>
  void check(const XcpSetting&, Value&) {}

  void check(const XcpSetting& setting, double& value) {
    if (setting.range != nullptr && !settings_.allow_unstable) {
      if (!holds(setting, value) || !is_stable(setting, value))
        refuse(setting, shown(setting, value), FaultCode::out_of_range,
               says(setting) + "; with allow_unstable from " + text(setting.least) + " to " +
                   text(setting.most));
    } else if (!holds(setting, value)) {
      refuse(setting, shown(setting, value), FaultCode::out_of_range, setting.legal);
    }
    const auto scale = static_cast<double>(setting.numerator) / static_cast<double>(setting.denominator);
    if (value > 0 && value * scale < 0.5) {
      refuse(setting, shown(setting, value), FaultCode::out_of_range,
             "the switch would round it to 0; use at least " + std::to_string(setting.denominator) + "/" +
                 std::to_string(setting.numerator));
    }
  }

  template <class Value>
  void check_order(const XcpSetting&, Value&) {}

  void check_order(const XcpSetting& setting, std::uint64_t& value) {
    if (setting.at_most == nullptr || static_cast<double>(value) <= number(setting.at_most)) return;
    refuse(setting, value, FaultCode::conflict,
           std::string("must be at most ") + setting.at_most + ", " +
               std::to_string(static_cast<std::uint64_t>(number(setting.at_most))));
  }

  static bool holds(const XcpSetting& setting, double value) {
    return value >= setting.least && value <= setting.most;
  }

  bool is_stable(const XcpSetting& setting, double value) {
    if (setting.follows == nullptr) return value > setting.above && value < setting.below;
    const double fits = followed(number(setting.follows));
    return std::abs(value - fits) <= setting.within * fits;
  }

  // What would be stable, with the value that fits in the place of {}.
  std::string says(const XcpSetting& setting) {
    std::string range = setting.range;
    if (const auto at = range.find("{}"); at != std::string::npos) {
      char fits[32];
      std::snprintf(fits, sizeof fits, "%.4g", followed(number(setting.follows)));
      range.replace(at, 2, std::string(fits) + " (" + setting.rule + ")");
    }
    return "must be " + range + setting.reason;
  }

  // The value of a setting by its name.
  double number(const std::string& name) {
    double found = 0;
    visit_settings(settings_, [&found, &name](const XcpSetting& setting, auto& value) {
      if (name == setting.name) found = static_cast<double>(value);
    });
    return found;
  }

  // As it was given; what follows another field was not.
  json shown(const XcpSetting& setting, double value) {
    const json* given = object_.find(setting.name);
    return given == nullptr ? json(value) : *given;
  }

  static std::string text(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.6g", value);
    return buffer;
  }

  [[noreturn]] void refuse(const XcpSetting& setting, const json& value, FaultCode code,
                           const std::string& reason) const {
    object_.fail(setting.name, code, value.dump() + ": " + reason);
  }

  JsonObject& object_;
  XcpSettings& settings_;
};

}  // namespace

void read_xcp(const json& value, const Path& path, XcpOptions& xcp) {
  JsonObject object(value, path);
  object.boolean("enabled", xcp.enabled);
  if (object.has("capacity_bps")) xcp.has_capacity = true;
  XcpReader(object, xcp.settings).read();
}

}  // namespace clarion::emu
