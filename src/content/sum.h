/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The sum of content: bytes as one large number, the first byte in front, modulo two primes. Unlike a hash it can be put together and
 * taken apart without the bytes: what stands between two places follows from the sums up to them. Shared by BPF C and C++;
 * docs/content.md says it bit by bit.
 *
 *   number(ab) = number(a) * 256^|b| + number(b)          sum = (number mod SUM_PRIME_HIGH) << 32 | number mod SUM_PRIME_LOW
 *
 * Both primes lie right below 2^32, so that going on by 4 bytes is a multiplication by a small number: 2^32 mod 2^32-5 is 5.
 */
#pragma once

#define SUM_PRIME_HIGH 4294967291U /* 2^32 - 5 */
#define SUM_PRIME_LOW 4294967279U  /* 2^32 - 17 */
#define SUM_STEP_HIGH 5
#define SUM_STEP_LOW 17
