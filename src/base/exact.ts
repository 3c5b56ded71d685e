/**
 * Integers of any size in exact arithmetic: numbers as long as these are exact, big integers beyond. Most integers of a
 * problem are small, and numbers take a tenth of the time. Both kinds compare with each other, and 0 is a number.
 */

/** An integer: a number if its magnitude is at most `Number.MAX_SAFE_INTEGER`, otherwise a big integer. */
export type Exact = number | bigint;

const most = Number.MAX_SAFE_INTEGER;

/** The integer in the form of this file. */
export function exact(value: bigint): Exact {
  return value <= most && value >= -most ? Number(value) : value;
}

/** The sum. */
export function added(a: Exact, b: Exact): Exact {
  if (typeof a === 'number' && typeof b === 'number') {
    // A sum that rounding changed is above the limit.
    const sum = a + b;
    if (sum <= most && sum >= -most) return sum;
  }
  return exact(BigInt(a) + BigInt(b));
}

/** The product. */
export function multiplied(a: Exact, b: Exact): Exact {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (product <= most && product >= -most) return product;
  }
  return exact(BigInt(a) * BigInt(b));
}

/** The quotient, rounded towards 0; of a number by one of its divisors it is exact. */
export function divided(a: Exact, b: Exact): Exact {
  return typeof a === 'number' && typeof b === 'number' ? Math.trunc(a / b) : exact(BigInt(a) / BigInt(b));
}

/** The remainder, with the sign of the dividend. */
export function remainder(a: Exact, b: Exact): Exact {
  return typeof a === 'number' && typeof b === 'number' ? a % b : exact(BigInt(a) % BigInt(b));
}

/** The greatest common divisor, at least 0. */
export function commonDivisor(a: Exact, b: Exact): Exact {
  let [x, y] = [magnitude(a), magnitude(b)];
  while (y !== 0) {
    if (typeof x === 'number' && typeof y === 'number') return commonDivisorOfNumbers(x, y);
    [x, y] = [y, remainder(x, y)];
  }
  return x;
}

function commonDivisorOfNumbers(a: number, b: number): number {
  while (b !== 0) {
    const rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/** The value without its sign. */
export function magnitude(value: Exact): Exact {
  return value < 0 ? -value : value;
}
