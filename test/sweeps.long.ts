/** The whole of the sweeps of which `npm test` runs a sample: `run/sweep.ts`. */
process.env['SELVAGE_TEST_SWEEPS'] = 'whole';

for (const file of [
  './check/async-copy.test.ts',
  './check/deciding/pair-tiers.test.ts',
  './check/witness/random-stages.test.ts',
  './github/faults.test.ts',
  './kernels/verdict.test.ts',
  './interpreter/core/back-ends.test.ts',
  './serve/webhooks.test.ts',
  './solver/built-in.test.ts',
  './solver/z3-wasm.test.ts',
])
  await import(file);
