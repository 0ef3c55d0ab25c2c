/* SPDX-License-Identifier: MIT */
/* The same stand-in for a session as in the tests of tui. */
#include "tests/unit/tui/fake_session.c"
