// SPDX-License-Identifier: Apache-2.0
#include "discipline_reader.hpp"

#include <map>
#include <string>

#include "json_object.hpp"

namespace clarion::emu {
namespace {

using nlohmann::json;
using Name = DisciplineOptions::Name;

constexpr std::uint64_t MAX_US = 60'000'000;
constexpr std::uint64_t MAX_BYTES = std::uint64_t{1} << 31;
constexpr std::uint64_t MAX_FLOWS = 65'536;

void time_us(JsonObject& object, const std::string& key, Nanoseconds& out_ns) {
  std::uint64_t us = out_ns / 1000;
  object.integer(key, 1, MAX_US, us);
  out_ns = us * 1000;
}

void number(JsonObject& object, const std::string& key, std::uint64_t most, std::uint32_t& out) {
  std::uint64_t value = out;
  object.integer(key, 1, most, value);
  out = static_cast<std::uint32_t>(value);
}

void read_codel(JsonObject& object, CodelSettings& codel) {
  time_us(object, "target_us", codel.target_ns);
  time_us(object, "interval_us", codel.interval_ns);
}

void read_fq_codel(JsonObject& object, FqCodelSettings& fq) {
  read_codel(object, fq.codel);
  number(object, "quantum_bytes", MAX_BYTES, fq.quantum_bytes);
  number(object, "flows", MAX_FLOWS, fq.flows);
}

void read_pie(JsonObject& object, PieSettings& pie) {
  time_us(object, "target_us", pie.target_ns);
  time_us(object, "update_us", pie.update_ns);
  time_us(object, "burst_us", pie.burst_ns);
  object.real("alpha_hz", 0, 1000, pie.alpha_hz);
  object.real("beta_hz", 0, 1000, pie.beta_hz);
  object.real("mark_up_to", 0, 1, pie.mark_up_to);
}

void read_red(JsonObject& object, RedSettings& red) {
  object.integer("min_bytes", 1, MAX_BYTES, red.min_bytes);
  object.integer("max_bytes", 1, MAX_BYTES, red.max_bytes);
  object.real("max_probability", 0, 1, red.max_probability);
  object.real("weight", 0, 1, red.weight);
  object.boolean("gentle", red.gentle);
  if (red.min_bytes != 0 && red.max_bytes != 0 && red.min_bytes >= red.max_bytes) {
    object.fail("max_bytes", FaultCode::conflict, "must be above min_bytes");
  }
}

void read_dual_pi2(JsonObject& object, DualPi2Settings& pi2) {
  time_us(object, "target_us", pi2.target_ns);
  time_us(object, "update_us", pi2.update_ns);
  time_us(object, "step_us", pi2.step_ns);
  time_us(object, "step_range_us", pi2.step_range_ns);
  object.real("alpha_hz", 0, 1000, pi2.alpha_hz);
  object.real("beta_hz", 0, 1000, pi2.beta_hz);
  object.real("coupling", 0.1, 100, pi2.coupling);
}

void read_settings(JsonObject& object, DisciplineOptions& discipline) {
  switch (discipline.name) {
    case Name::codel:
      return read_codel(object, discipline.codel);
    case Name::fq_codel:
      return read_fq_codel(object, discipline.fq_codel);
    case Name::pie:
      return read_pie(object, discipline.pie);
    case Name::red:
      return read_red(object, discipline.red);
    case Name::dual_pi2:
      return read_dual_pi2(object, discipline.dual_pi2);
    case Name::drop_tail:
      return;
  }
}

}  // namespace

DisciplineOptions read_discipline(const json& value, const Path& path) {
  static const std::map<std::string, Name> NAMES = {
      {"drop-tail", Name::drop_tail},
      {"codel", Name::codel},
      {"fq-codel", Name::fq_codel},
      {"pie", Name::pie},
      {"red", Name::red},
      {"dual-pi2", Name::dual_pi2},
  };
  JsonObject object(value, path);
  DisciplineOptions discipline;
  std::string name;
  object.require("name");
  object.text("name", name);
  const auto known = NAMES.find(name);
  if (known == NAMES.end()) {
    object.fail("name", FaultCode::unknown,
                "must be drop-tail, codel, fq-codel, pie, red or dual-pi2, not \"" + name + "\"");
  }
  discipline.name = known->second;
  if (discipline.name != Name::drop_tail) object.boolean("ecn", discipline.ecn);
  read_settings(object, discipline);
  object.refuse_unknown_keys();
  return discipline;
}

}  // namespace clarion::emu
