# SPDX-License-Identifier: Apache-2.0
"""XCP's settings in C++: the core's integers, people's units for the switch, words of the FPGA block."""

from __future__ import annotations

import json

from clarion_contract.generate import layout
from clarion_contract.generate.contract_model import Contract
from clarion_contract.setting import Argument, Setting

PROLOGUE = """\
// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
// {about}
#pragma once

{includes}

"""

CONFIG = """
namespace clarion {{

{defaults}

// Efficiency and fairness controllers of the traffic that leaves by this port.
struct XcpConfig {{
  bool enabled = false;
  {members}
}};

CLARION_INLINE bool operator==(const XcpConfig& a, const XcpConfig& b) {{
  return a.enabled == b.enabled && {equal};
}}
CLARION_INLINE bool operator!=(const XcpConfig& a, const XcpConfig& b) {{ return !(a == b); }}

// The nearest configuration whose integers fit their widths.
CLARION_INLINE XcpConfig within_widths(XcpConfig xcp) {{
  {limits}
  return xcp;
}}

// Every integer, by its type.
template <class Visitor>
CLARION_INLINE void visit_fields(Visitor& visitor, XcpConfig& xcp) {{
  {fields}
}}

// Every integer as an argument of set_xcp_port: visit(name, integer, least, most).
template <class Config, class Visit>
void visit_arguments(Config& xcp, Visit visit) {{
  {arguments}
}}

}}  // namespace clarion
"""

SETTINGS = """
namespace clarion {{

struct XcpSettings {{
  {members}
}};

inline bool operator==(const XcpSettings& a, const XcpSettings& b) {{ return {equal}; }}
inline bool operator!=(const XcpSettings& a, const XcpSettings& b) {{ return !(a == b); }}

inline XcpConfig xcp_config(const XcpSettings& settings) {{
  XcpConfig config;
  config.enabled = true;
  {encoded}
  return limited(config);
}}

inline XcpConfig xcp_config({parameters}) {{
  return xcp_config(XcpSettings{{{names}}});
}}

// What is known of a setting. Numbers are legal from `least` to `most`. One with a `range` (in words) needs
// `allow_unstable` outside of it: between `above` and `below`, or `within` a part of what `follows` asks for.
struct XcpSetting {{
  const char* name;
  double least = 0;
  double most = 0;
  const char* legal = "";
  const char* range = nullptr;
  const char* reason = "";
  double above = 0;
  double below = 0;
  const char* follows = nullptr;
  const char* rule = "";
  double within = 0;
  const char* at_most = nullptr;
  std::uint64_t numerator = 1;  // integers of the data plane are numerator / denominator of a unit
  std::uint64_t denominator = 1;
  const char* zero = nullptr;  // what people write for 0, which is legal beside the range
}};

// Every setting with its value, in order.
template <class Settings, class Visit>
void visit_settings(Settings& settings, Visit visit) {{
  {visits}
}}

}}  // namespace clarion
"""

PLACES = """
namespace clarion::sim {{

// Every argument with its place in the command: put(word, bits, integer).
template <class Put>
void put_xcp(const XcpConfig& xcp, Put put) {{
  using namespace registers;
  {puts}
}}

}}  // namespace clarion::sim
"""


def as_config(contract: Contract) -> str:
    """Return core/xcp_config.hpp."""
    settings = list(contract.encoded("xcp_port"))
    defaults = (
        f"constexpr {_integer(argument)} {_default_name(argument)} = {argument.encode(setting.default)};"
        for setting, argument in settings
        if setting.default is not None
    )
    return _file(
        "XCP's configuration of a port in the data plane's own integers.",
        ["<cstdint>", '"platform.hpp"'],
        CONFIG,
        defaults="\n".join(defaults),
        members="\n".join(_member(setting, argument) for setting, argument in settings),
        equal=" && ".join(f"a.{argument.core} == b.{argument.core}" for _, argument in settings),
        limits="\n".join(
            f"if (xcp.{argument.core} > {_most(setting)}u) xcp.{argument.core} = {_most(setting)}u;"
            for setting, argument in settings
            if argument.bits not in (32, 64)
        ),
        fields="\n".join(f"visitor.field(xcp.{argument.core});" for _, argument in settings),
        arguments="\n".join(
            f'visit("{argument.name}", xcp.{argument.core}, std::uint64_t{{{argument.least}}},'
            f" std::uint64_t{{{_most(setting)}}});"
            for setting, argument in settings
        ),
    )


def as_settings(contract: Contract) -> str:
    """Return core/xcp_settings.hpp."""
    numbers = [setting for setting in contract.xcp if setting.kind != "flag"]
    return _file(
        "Software only: XCP's settings of a port in people's units, and the integers that they become.",
        ["<cstdint>", '"host_units.hpp"', '"config.hpp"'],
        SETTINGS,
        members="\n".join(f"{_type(each)} {each.name} = {_literal(each)};" for each in contract.xcp),
        equal=" && ".join(f"a.{each.name} == b.{each.name}" for each in contract.xcp),
        encoded="\n".join(
            f"config.{argument.core} = {_encoder(setting, argument)};"
            for setting, argument in contract.encoded("xcp_port")
        ),
        parameters=", ".join(
            f"{_type(each)} {each.name}" + (f" = {_literal(each)}" if each.default is not None else "")
            for each in numbers
        ),
        names=", ".join(each.name for each in numbers),
        visits="\n".join(f"visit({_description(each)}, settings.{each.name});" for each in contract.xcp),
    )


def as_places(contract: Contract) -> str:
    """Return hls/sim/xcp_command.hpp."""
    names = (
        (argument.core, f"EGRESS_CONFIGURE_{argument.name.upper()}")
        for argument in contract.arguments("xcp_port")
    )
    return _file(
        "XCP's configuration as software writes it into a command.",
        ['"core/config.hpp"', '"hls/sim/register_map.hpp"'],
        PLACES,
        puts="\n".join(f"put({place}, {place}_BITS, xcp.{member});" for member, place in names),
    )


def _file(about: str, includes: list[str], body: str, **parts: str) -> str:
    head = PROLOGUE.format(about=about, includes="\n".join(f"#include {each}" for each in includes))
    return layout.cpp(head + body.format(**parts))


def _most(setting: Setting) -> int:
    assert setting.argument is not None
    return setting.argument.encode(setting.most)


def _integer(argument: Argument) -> str:
    return "std::uint64_t" if argument.bits > 32 else "std::uint32_t"


def _default_name(argument: Argument) -> str:
    return f"DEFAULT_{argument.core}".upper()


def _member(setting: Setting, argument: Argument) -> str:
    value = "0" if setting.default is None else _default_name(argument)
    return f"{_integer(argument)} {argument.core} = {value};  // {argument.about}"


def _s(argument: Argument) -> str:
    return "s" if argument.bits > 32 else ""


def _type(setting: Setting) -> str:
    return {"flag": "bool", "whole": "std::uint64_t", "real": "double"}[setting.kind]


def _literal(setting: Setting) -> str:
    return "0" if setting.default is None else json.dumps(setting.default)


def _encoder(setting: Setting, argument: Argument) -> str:
    scale = f"{argument.numerator}, {argument.denominator}"
    function = "nearest" if argument.is_nearest else "rounded_down"
    made = f"{function}(settings.{setting.name}, {scale}, {argument.least}, {_most(setting)}u)"
    return made if argument.bits > 32 else f"static_cast<std::uint32_t>({made})"


def _description(setting: Setting) -> str:
    """The setting as an XcpSetting."""
    known = [_text(setting.name)]
    if setting.kind != "flag":
        known += [json.dumps(float(setting.least)), json.dumps(float(setting.most)), _text(setting.legal)]
        stable = setting.stable
        if stable is not None:
            known += [_text(stable.range), _text(stable.reason)]
            known += [json.dumps(stable.above or 0), json.dumps(stable.below or 0)]
        else:
            known += ["nullptr", '""', "0", "0"]
        follows = stable.follows if stable is not None else ""
        known += [_text(follows) if follows else "nullptr", _text(stable.rule if stable else "")]
        known += [
            json.dumps(stable.within if stable else 0),
            _text(setting.at_most) if setting.at_most else "nullptr",
        ]
        if setting.argument is not None:
            known += [str(setting.argument.numerator), str(setting.argument.denominator)]
        if setting.zero:
            known += [_text(setting.zero)]
    return f"XcpSetting{{{', '.join(known)}}}"


def _text(text: str) -> str:
    return json.dumps(text)
