/**
 * The suites that are run by hand: `npm run suite -- NAME …`. Each is a file of this folder, which documents its
 * arguments.
 */
const suites: Readonly<Record<string, () => Promise<unknown>>> = {
  determinism: () => import('./determinism.ts'),
  idempotency: () => import('./idempotency.ts'),
  'launch-index': () => import('./launch-index.ts'),
  gpuverify: () => import('./gpuverify.ts'),
  load: () => import('./load.ts'),
  'recorded-launches': () => import('./recorded-launches.ts'),
  'repair-edits': () => import('./repair-edits.ts'),
  'sample-mutants': () => import('./sample-mutants.ts'),
  samples: () => import('./samples.ts'),
};

const suite = suites[process.argv[2] ?? ''];
if (suite) await suite();
else {
  process.stderr.write(`usage: npm run suite -- ${Object.keys(suites).join('|')} …\n`);
  process.exitCode = 2;
}
