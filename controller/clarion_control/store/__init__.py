# SPDX-License-Identifier: Apache-2.0
"""The controller's database: desired state, audit, tokens, policies, experiments and telemetry."""

from clarion_control.store.store import Store

__all__ = ["Store"]
