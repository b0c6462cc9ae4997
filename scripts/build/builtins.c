/*
 * Compiler builtins that SBF code calls and upstream Rust does not give it in a usable form.
 *
 * 128-bit arithmetic: Rust's own versions return through a pointer, LLVM calls them expecting two registers.
 * Memory: short runs are done in place, because a syscall costs at least 10 compute units; longer ones go to
 * the runtime. `scripts/build/compile.ts` compiles this file to bitcode and links it before everything else.
 */
typedef unsigned char u8;
typedef unsigned long u64;
typedef unsigned __int128 u128;
typedef __int128 i128;

extern void sol_memcpy_(void *to, const void *from, u64 length);
extern void sol_memmove_(void *to, const void *from, u64 length);
extern void sol_memset_(void *to, u8 value, u64 length);
extern void sol_memcmp_(const void *left, const void *right, u64 length, int *result);

/* Longest run, in bytes, for which a loop of 8-byte steps is cheaper than the syscall. */
#define COPY_IN_PLACE 40
#define FILL_IN_PLACE 80
#define COMPARE_IN_PLACE 32

/* SBF memory has no alignment requirement; said to be aligned, because LLVM splits other accesses into bytes. */
typedef u64 __attribute__((may_alias)) word;

static u128 join(u64 high, u64 low) { return ((u128)high << 64) | low; }
static u64 high(u128 value) { return (u64)(value >> 64); }
static u64 low(u128 value) { return (u64)value; }

/* 64 x 64 -> 128 bits by 32-bit halves. */
static u128 multiply_words(u64 a, u64 b) {
  u64 a0 = (unsigned)a, a1 = a >> 32, b0 = (unsigned)b, b1 = b >> 32;
  u64 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
  u64 middle = (p00 >> 32) + (unsigned)p01 + (unsigned)p10;
  return join(p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32), (middle << 32) | (unsigned)p00);
}

i128 __multi3(i128 a, i128 b) {
  u128 product = multiply_words(low(a), low(b));
  return join(high(product) + high(a) * low(b) + low(a) * high(b), low(product));
}

/* Shift-and-subtract long division; by zero gives all ones, but Rust checks the divisor before it calls. */
static u128 divide(u128 dividend, u128 divisor, u128 *remainder) {
  if (high(dividend) == 0 && high(divisor) == 0) {
    u64 quotient = low(dividend) / low(divisor);
    *remainder = low(dividend) - quotient * low(divisor);
    return quotient;
  }
  u64 quotient_high = 0, quotient_low = 0, rest_high = 0, rest_low = 0;
  u64 next_high = high(dividend), next_low = low(dividend);
  int bits = 128;
  if (next_high == 0) {
    next_high = next_low;
    next_low = 0;
    bits = 64;
  }
  for (; bits > 0; bits--) {
    u64 carry = rest_high >> 63;
    rest_high = (rest_high << 1) | (rest_low >> 63);
    rest_low = (rest_low << 1) | (next_high >> 63);
    next_high = (next_high << 1) | (next_low >> 63);
    next_low <<= 1;
    quotient_high = (quotient_high << 1) | (quotient_low >> 63);
    quotient_low <<= 1;
    if (carry || rest_high > high(divisor) || (rest_high == high(divisor) && rest_low >= low(divisor))) {
      u64 borrow = rest_low < low(divisor);
      rest_low -= low(divisor);
      rest_high -= high(divisor) + borrow;
      quotient_low |= 1;
    }
  }
  *remainder = join(rest_high, rest_low);
  return join(quotient_high, quotient_low);
}

static u128 negate(u128 value) { return join(~high(value) + (low(value) == 0), ~low(value) + 1); }
static int is_negative(u128 value) { return (int)(high(value) >> 63); }
static u128 absolute(u128 value) { return is_negative(value) ? negate(value) : value; }

u128 __udivti3(u128 a, u128 b) {
  u128 remainder;
  return divide(a, b, &remainder);
}

u128 __umodti3(u128 a, u128 b) {
  u128 remainder;
  divide(a, b, &remainder);
  return remainder;
}

i128 __divti3(i128 a, i128 b) {
  u128 remainder;
  u128 quotient = divide(absolute(a), absolute(b), &remainder);
  return is_negative(a) != is_negative(b) ? negate(quotient) : quotient;
}

i128 __modti3(i128 a, i128 b) {
  u128 remainder;
  divide(absolute(a), absolute(b), &remainder);
  return is_negative(a) ? negate(remainder) : remainder;
}

static void copy_forward(u8 *to, const u8 *from, u64 length) {
  u64 at = 0;
  for (; at + 8 <= length; at += 8) *(word *)(to + at) = *(const word *)(from + at);
  for (; at < length; at++) to[at] = from[at];
}

static void copy_backward(u8 *to, const u8 *from, u64 length) {
  for (; length >= 8; length -= 8) *(word *)(to + length - 8) = *(const word *)(from + length - 8);
  for (; length > 0; length--) to[length - 1] = from[length - 1];
}

void *memcpy(void *to, const void *from, u64 length) {
  if (length > COPY_IN_PLACE) sol_memcpy_(to, from, length);
  else copy_forward(to, from, length);
  return to;
}

void *memmove(void *to, const void *from, u64 length) {
  if (length > COPY_IN_PLACE) sol_memmove_(to, from, length);
  else if ((u64)to <= (u64)from) copy_forward(to, from, length);
  else copy_backward(to, from, length);
  return to;
}

void *memset(void *to, int value, u64 length) {
  if (length > FILL_IN_PLACE) {
    sol_memset_(to, (u8)value, length);
    return to;
  }
  u8 *bytes = to;
  u64 pattern = (u8)value * 0x0101010101010101UL, at = 0;
  for (; at + 8 <= length; at += 8) *(word *)(bytes + at) = pattern;
  for (; at < length; at++) bytes[at] = (u8)value;
  return to;
}

int memcmp(const void *left, const void *right, u64 length) {
  if (length > COMPARE_IN_PLACE) {
    int result = 0;
    sol_memcmp_(left, right, length, &result);
    return result;
  }
  const u8 *a = left, *b = right;
  u64 at = 0;
  while (at + 8 <= length && *(const word *)(a + at) == *(const word *)(b + at)) at += 8;
  for (; at < length; at++)
    if (a[at] != b[at]) return a[at] - b[at];
  return 0;
}

int bcmp(const void *left, const void *right, u64 length) { return memcmp(left, right, length); }
