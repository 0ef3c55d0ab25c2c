/* SPDX-License-Identifier: MIT */
/* Scripts and styles of pictures: the files of this folder that are no C, as they are. They end with a 0. */
#ifndef SOURCES_H
#define SOURCES_H

extern const char sources_flame_css[], sources_flame_js[], sources_report_css[], sources_report_js[];

#endif
