# SPDX-License-Identifier: Apache-2.0
"""The keys of TLS between controllers and switches: an authority, and the certificates that it signs."""
