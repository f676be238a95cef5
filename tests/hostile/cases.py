# SPDX-License-Identifier: Apache-2.0
"""The table of bad input (case.py says what a case is)."""

import cases_bytes  # noqa: F401
import cases_semantics  # noqa: F401
from case import CASES, SAME  # noqa: F401
from cases_bytes import SMALL_MAX  # noqa: F401
