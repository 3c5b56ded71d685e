/** Validators against the truth by re-execution, on a few launches of some kernels; `measure.ts` takes all of them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeSolver } from '../check/kernel-text.ts';
import { readCorpus } from './corpus.ts';
import { launchesOf } from './launches.ts';
import { truthOf } from './truth.ts';
import { checkCorpusKernel, classifyCorpusKernel, isValidated } from './validate.ts';

/** The first launches of a kernel have arrays disjoint, equal, empty, touching, with a common byte or element. */
const launches = 6;
const contents = 3;
const stops = 3;

/** Kernels whose launches with disjoint arrays must be known as idempotent. */
const known = [
  'vectorAdd',
  'axpyInto',
  'elemwiseRelu',
  'copyVector4',
  'reluInPlace',
  'evenFromOdd',
  'splitStructures',
  'writeThenRead',
  'sumBlocks',
  'gather',
  'multiply',
  'transpose',
  'radix8',
  'adamInto',
];
/** Kernels with other launches that are not idempotent, or with only such launches. */
const others = [
  'vectorInc',
  'axpy',
  'scatterAdd',
  'updateWhereFlagged',
  'sharedWithoutWriting',
  'modalUpdate',
  'shiftUp',
  'halfWrittenThenRead',
  'lowBytesWrittenThenRead',
  'guardedWriteThenRead',
  'flipBitsInPlace',
  'leakyInPlace',
  'bytesModulo4',
  'columnsOfRows',
  'exclusiveModes',
  'countsLaunches',
  'maximumBefore',
  'pingPong',
  'writtenOnOnePath',
];

after(closeSolver);

const corpus = readCorpus();

for (const name of [...known, ...others]) {
  test(`no non-idempotent launch of ${name} is validated`, async () => {
    const kernel = corpus.find((one) => one.name === name)!;
    const checked = await checkCorpusKernel(kernel);
    const classification = classifyCorpusKernel(kernel, checked);
    for (const launch of launchesOf(kernel, launches, 7)) {
      const { isRefuted, idempotent } = truthOf(launch, contents, stops);
      const answer = isValidated(launch, classification);
      if (isRefuted) assert.equal(answer, false, `launch ${launch.number}, ${launch.placement}`);
      if (launch.placement === 'apart' && known.includes(name)) {
        assert.equal(idempotent, true);
        assert.equal(answer, true, 'is not validated');
      }
    }
  });
}
