/* SPDX-License-Identifier: MIT */
/* How the comments begin in which ktop tells what profile.proto has no field for, and by which it reads them back. */
#ifndef PPROF_COMMENTS_H
#define PPROF_COMMENTS_H

#define PPROF_COMMENT_MACHINE "machine: "
#define PPROF_COMMENT_KERNEL "kernel: "
#define PPROF_COMMENT_VERSION "version: "
#define PPROF_COMMENT_ARCH "arch: "
#define PPROF_COMMENT_RANGE "guest ns: "	/* "from-to" */
#define PPROF_COMMENT_LOST "lost samples: "
#define PPROF_COMMENT_MAPPING "mapping "	/* "id: name", where the name is not that of the file */

#endif
