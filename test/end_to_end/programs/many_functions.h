// 8,000 functions, f0000 to f7999, and kMany, which has their addresses. KEPT is what each begins with.
#pragma once

// clang-format off
#define F1(n) KEPT unsigned f##n(unsigned x) { return x + 1##n; }
#define F10(n) F1(n##0) F1(n##1) F1(n##2) F1(n##3) F1(n##4) F1(n##5) F1(n##6) F1(n##7) F1(n##8) F1(n##9)
#define F100(n) F10(n##0) F10(n##1) F10(n##2) F10(n##3) F10(n##4) F10(n##5) F10(n##6) F10(n##7) F10(n##8) F10(n##9)
#define F1000(n) F100(n##0) F100(n##1) F100(n##2) F100(n##3) F100(n##4) F100(n##5) F100(n##6) F100(n##7) F100(n##8) F100(n##9)
F1000(0) F1000(1) F1000(2) F1000(3) F1000(4) F1000(5) F1000(6) F1000(7)
#define P1(n) f##n,
#define P10(n) P1(n##0) P1(n##1) P1(n##2) P1(n##3) P1(n##4) P1(n##5) P1(n##6) P1(n##7) P1(n##8) P1(n##9)
#define P100(n) P10(n##0) P10(n##1) P10(n##2) P10(n##3) P10(n##4) P10(n##5) P10(n##6) P10(n##7) P10(n##8) P10(n##9)
#define P1000(n) P100(n##0) P100(n##1) P100(n##2) P100(n##3) P100(n##4) P100(n##5) P100(n##6) P100(n##7) P100(n##8) P100(n##9)


inline unsigned (*const kMany[])(unsigned) = {
    P1000(0) P1000(1) P1000(2) P1000(3) P1000(4) P1000(5) P1000(6) P1000(7)};
// clang-format on
