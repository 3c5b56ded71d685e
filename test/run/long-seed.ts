/** The seed of the long runs: `SELVAGE_TEST_SEED`, a whole number, which the nightly run takes from its own number. */
export const longSeed = Number(process.env['SELVAGE_TEST_SEED'] ?? '2');
