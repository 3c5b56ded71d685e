/** Functions that lead to launches, by calls and by addresses. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { functionsReachingLaunches } from '../../src/gimple/call-graph.ts';

/** A dump of functions that name others. */
function dumpOf(names: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(names)
    .map(
      ([symbol, uses], at) =>
        `;; Function ${symbol} (${symbol}, funcdef_no=${at}, decl_uid=${at}, cgraph_uid=1, symbol_order=1)\n\nvoidD.48 ${symbol}D.${at} (intD.9 nD.1)\n{\n;;   basic block 2, loop depth 0\n;;    pred:       ENTRY\n${uses.map((use) => `  [a.cu:1:1] gimple_call <${use}, NULL>\n`).join('')};;    succ:       EXIT\n\n}\n\n`,
    ) // oxfmt-ignore
    .join('');
}

const reaching = (names: Readonly<Record<string, readonly string[]>>): string[] => [...functionsReachingLaunches(dumpOf(names)).keys()].sort(); // oxfmt-ignore

test('callers of launches are found, and callers of those', () => {
  assert.deepEqual(
    reaching({
      main: ['_Z3runvD.7'],
      _Z3runv: ['_Z4gridvD.8', '__cudaPushCallConfigurationD.9'],
      _Z4gridv: ['_Z4sizevD.3'],
      _Z4sizev: [],
    }),
    ['_Z3runv', 'main'],
  );
});

test('a function whose address is taken may be called', () => {
  assert.deepEqual(reaching({ main: ['qsortD.1, &_Z3runvD.7'], _Z3runv: ['cudaLaunchKernelExCD.2'] }), ['_Z3runv', 'main']); // oxfmt-ignore
});

test('launches by functions of the runtime, its templates, the driver and graphs', () => {
  for (const name of [
    'cudaLaunchKernel',
    'cudaLaunchCooperativeKernel',
    'cuLaunchKernelEx',
    'cudaGraphAddKernelNode',
    'cudaGraphExecKernelNodeSetParams',
    '_Z16cudaLaunchKernelIFvPdiEE9cudaErrorPT_4dim3S5_PPvmP11CUstream_st',
  ])
    // oxfmt-ignore
    assert.deepEqual(reaching({ main: [`${name}D.1`] }), ['main'], name);
  for (const name of ['cudaMalloc', 'cudaDeviceSynchronize', 'myLauncher', 'notcudaLaunchKernel']) assert.deepEqual(reaching({ main: [`${name}D.1`] }), [], name); // oxfmt-ignore
});

test('constructors are called by the name of complete objects', () => {
  assert.deepEqual(reaching({ main: ['_ZN3JobC1EiD.4'], _ZN3JobC2Ei: ['cudaLaunchKernelD.2'] }), [
    '_ZN3JobC2Ei',
    'main',
  ]);
});

test('functions are parsed lazily, on request', () => {
  const dump = readFileSync(new URL('launches.gimple', import.meta.url), 'utf8');
  const functions = functionsReachingLaunches(dump);
  assert.deepEqual([...functions.keys()], ['_Z3runPfiRK4PlanPKi']);
  const make = functions.get('_Z3runPfiRK4PlanPKi')!;
  assert.equal(make()?.parameters.length, 4);
  assert.equal(make(), make());
});
