#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the folders that hold Python packages, one a line: pyproject.toml names them, once."""

import re
from pathlib import Path

text = Path(__file__).resolve().parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8")
found = re.search(r"^where = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
assert found is not None, "pyproject.toml: tool.setuptools.packages.find.where is missing"
print("\n".join(re.findall(r'"([^"]+)"', found.group(1))))
