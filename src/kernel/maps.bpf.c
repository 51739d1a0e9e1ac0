/* SPDX-License-Identifier: GPL-2.0 */
/* The one place where the shared maps and settings live; see maps.h. */
#define DEFINE_MAPS
#include "kernel/maps.h"

char LICENSE[] SEC("license") = "GPL";
