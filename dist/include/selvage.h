/*
 * selvage.h: what a kernel tells the checks of Selvage. Empty in every other build.
 *
 *   SELVAGE_ASSUME(n % 32 == 0);   holds here, in every thread; reports list it as an assumption
 *   SELVAGE_HAVOC(value);          value may be anything from here on
 *
 * Both are statements of device code. Copy this file into your project, or guard its use:
 *
 *   #if __has_include("selvage.h")
 *   #include "selvage.h"
 *   #else
 *   #define SELVAGE_ASSUME(condition) ((void)0)
 *   #define SELVAGE_HAVOC(lvalue) ((void)0)
 *   #endif
 *
 * Copyright (c) 2026 the Selvage authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
 * permit persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
 * Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
#ifndef SELVAGE_H
#define SELVAGE_H

#if defined(__SELVAGE__) && defined(__CUDA_ARCH__)

#define SELVAGE_ASSUME(condition) \
  do { \
    asm volatile("// selvage.assume %0;" ::"r"((int)((condition) ? 1 : 0))); \
  } while (0)

/* The address is a null pointer of the right type: the old value is not read. */
#define SELVAGE_HAVOC(lvalue) \
  do { \
    (lvalue) = selvage_unknown((__typeof__(lvalue)*)0); \
  } while (0)

#define SELVAGE_UNKNOWN(type, carrier, constraint) \
  static __device__ __forceinline__ type selvage_unknown(const volatile type*) { \
    carrier value; \
    asm volatile("// selvage.unknown %0" : constraint(value)); \
    return (type)value; \
  }

SELVAGE_UNKNOWN(char, int, "=r")
SELVAGE_UNKNOWN(signed char, int, "=r")
SELVAGE_UNKNOWN(unsigned char, unsigned int, "=r")
SELVAGE_UNKNOWN(short, int, "=r")
SELVAGE_UNKNOWN(unsigned short, unsigned int, "=r")
SELVAGE_UNKNOWN(int, int, "=r")
SELVAGE_UNKNOWN(unsigned int, unsigned int, "=r")
SELVAGE_UNKNOWN(long, long, "=l")
SELVAGE_UNKNOWN(unsigned long, unsigned long, "=l")
SELVAGE_UNKNOWN(long long, long long, "=l")
SELVAGE_UNKNOWN(unsigned long long, unsigned long long, "=l")
SELVAGE_UNKNOWN(float, float, "=f")
SELVAGE_UNKNOWN(double, double, "=d")

static __device__ __forceinline__ bool selvage_unknown(const volatile bool*) {
  int value;
  asm volatile("// selvage.unknown %0" : "=r"(value));
  return (value & 1) != 0;
}

template <typename T>
static __device__ __forceinline__ T* selvage_unknown(T* const volatile*) {
  unsigned long long value;
  asm volatile("// selvage.unknown %0" : "=l"(value));
  return (T*)value;
}

#undef SELVAGE_UNKNOWN

#else

#define SELVAGE_ASSUME(condition) \
  do { \
  } while (0)

#define SELVAGE_HAVOC(lvalue) \
  do { \
  } while (0)

#endif

#endif
