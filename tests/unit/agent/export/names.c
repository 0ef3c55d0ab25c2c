/* SPDX-License-Identifier: MIT */
/* The same stand-in for symbols as in the tests of queries: what is exported is the answer to a query. */
#include "tests/unit/agent/query/fake_symbols.c"
