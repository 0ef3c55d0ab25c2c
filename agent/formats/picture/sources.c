/* SPDX-License-Identifier: MIT */
#include "sources.h"

/* The assembler reads the file; its path is one from the tree's root, where all is built. */
#define SOURCE(name, file) \
	__asm__(".pushsection .rodata\n" \
		".global " name "\n" name ":\n" \
		".incbin \"agent/formats/picture/" file "\"\n" \
		".byte 0\n" \
		".popsection\n")

SOURCE("sources_flame_css", "flame.css");
SOURCE("sources_flame_js", "flame.js");
SOURCE("sources_report_css", "report.css");
SOURCE("sources_report_js", "report.js");
