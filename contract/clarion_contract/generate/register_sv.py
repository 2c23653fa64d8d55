# SPDX-License-Identifier: Apache-2.0
"""The map as a SystemVerilog package: where registers are, and what messages hold."""

from __future__ import annotations

from clarion_contract.generate.register_cpp import Constant, sections
from clarion_contract.generate.register_model import RegisterMap


def as_sv(regmap: RegisterMap) -> str:
    """Return the package. Everything is 32 bits wide, like a register; what needs more has 64."""
    body = "\n".join(
        "\n".join(["", f"  // {section.about}", *map(_line, section.constants)])
        for section in sections(regmap)
    )
    return f"""\
// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from registers.yaml; do not edit.
package clarion_registers_pkg;
  // verilator lint_off UNUSEDPARAM
{body}

endpackage
"""


def _line(constant: Constant) -> str:
    bits = 64 if constant.is_wide else 32
    value = f"{bits}'h{constant.value:0{bits // 4}x}" if constant.is_hex else f"{bits}'d{constant.value}"
    return f"  localparam logic [{bits - 1}:0] {constant.name} = {value};"
