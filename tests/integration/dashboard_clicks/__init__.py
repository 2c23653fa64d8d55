# SPDX-License-Identifier: Apache-2.0
"""The dashboard, by clicks in headless Chromium: views and rights of each role, and live updates."""
