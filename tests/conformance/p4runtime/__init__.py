# SPDX-License-Identifier: Apache-2.0
"""A P4Runtime server against the text of the specification, section by section.

`listed` has the list, `servers` what it runs against, `peer` a client of bare messages, `deviations` what
servers are known to do instead. The modules of the sections are those that `listed` imports.
"""
