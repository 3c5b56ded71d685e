/**
 * A pseudorandom pattern of 128 bits for an unknown value.
 * @param thread number in the launch
 * @param count distinguishes the values of a run
 */
export function unknownPattern(seed: number, thread: number, instruction: number, count: number): bigint {
  let pattern = 0n;
  let state = mix(mix(mix(seed ^ thread) ^ instruction) ^ count);
  for (let word = 0; word < 4; word++) {
    state = mix(state + 0x9e3779b9);
    pattern = (pattern << 32n) | BigInt(state >>> 0);
  }
  return pattern;
}

function mix(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 16);
}
