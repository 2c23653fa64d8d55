# SPDX-License-Identifier: Apache-2.0
"""What the SystemVerilog front end needs of the map: where registers are, not what messages hold."""

from __future__ import annotations

from clarion_contract.generate.register_cpp import Constant, sections
from clarion_contract.generate.register_model import RegisterMap

WANTED = ("AT_", "TYPE_", "VERSION_", "RESET_", "MASK_", "WINDOW_", "STRIDE_")
COUNTS = ("COMMAND_WORDS", "REPLY_WORDS")


def as_sv(regmap: RegisterMap) -> str:
    """Return the package. Everything is 32 bits wide, like a register."""
    lines: list[str] = []
    for section in sections(regmap):
        constants = [c for c in section.constants if c.name.startswith(WANTED) or c.name in COUNTS]
        if constants:
            lines += ["", f"  // {section.about}", *map(_line, constants)]
    body = "\n".join(lines)
    return f"""\
// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from registers.yaml; do not edit.
package clarion_registers_pkg;
  // verilator lint_off UNUSEDPARAM
{body}

endpackage
"""


def _line(constant: Constant) -> str:
    value = f"32'h{constant.value:08x}" if constant.is_hex else f"32'd{constant.value}"
    return f"  localparam logic [31:0] {constant.name} = {value};"
