/* What stands in the way of trusting an epoch's numbers and names: losses first, then names. */
#ifndef REMARKS_H
#define REMARKS_H

#include <stddef.h>

struct epoch;

enum { REMARKS_SIZE = 768 };

/* One after the other, `between` two of them; "" when all is well. Returns `text`. */
const char *remarks_text(const struct epoch *epoch, const char *between, char *text, size_t size);

#endif
