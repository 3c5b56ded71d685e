/** The result of the product for launches of the corpus: checks the kernel, classifies it, and tests its condition. */
import { checkKernel } from '../../src/check/check-kernel.ts';
import { usualBudget } from '../../src/check/request/check-budget.ts';
import type { CheckResult } from '../../src/check/request/check-request.ts';
import { type Classification, classify } from '../../src/idempotency/classify.ts';
import { isKnownToHold } from '../../src/idempotency/validator/instance-condition.ts';
import { seededRandom } from '../../src/base/random.ts';
import { stage } from '../../src/interpreter/javascript/stage.ts';
import { requestFor } from '../check/kernel-text.ts';
import type { CorpusKernel } from './corpus.ts';
import { drawLaunch } from './directive.ts';
import { bufferAddress, type CorpusLaunch, packedArguments } from './launches.ts';

/** The proofs of the checks: for any launch, otherwise for the block of the kernel's launches in the corpus. */
export async function checkCorpusKernel({ verified, parameters, stated, launch }: CorpusKernel): Promise<CheckResult> {
  const check = (block: readonly [number, number, number] | null): Promise<CheckResult> => {
    const request = requestFor(verified, { block, grid: null, parameters, budget: usualBudget });
    return checkKernel({ ...request, assumptions: stated });
  };
  const isProved = ({ race, divergence }: CheckResult): boolean => race.verdict === 'proved' && divergence.verdict === 'proved';
  const anyLaunch = await check(null);
  if (isProved(anyLaunch)) return anyLaunch;
  return check(drawLaunch(launch, { random: seededRandom(1), isEmpty: false }).block);
}

/** Classifies a kernel of the corpus on its production build. */
export function classifyCorpusKernel(kernel: CorpusKernel, checked: CheckResult): Classification {
  return classify({
    kernel: kernel.kernel,
    module: kernel.module,
    parameters: kernel.parameters,
    objectName: (symbol) => symbol,
    // The policy of `requestFor` warns of volatile accesses that race.
    checked: { ...checked, volatileRaces: true },
    stated: kernel.stated,
  });
}

/** Whether the validator calls a launch idempotent. */
export function isValidated(launch: CorpusLaunch, { condition }: Classification): boolean {
  const { kernel, grid, block, sharedBytes, buffers } = launch;
  const { bytes, offsets } = packedArguments(launch);
  const { layout } = stage(kernel.executable);
  const starts = buffers.map((size, buffer) => ({ start: BigInt(bufferAddress(kernel, buffer)), bytes: BigInt(size) }));
  return isKnownToHold(condition, {
    arguments: bytes,
    offsets,
    grid,
    block,
    dynamicShared: sharedBytes,
    allocation: (address) => starts.find((one) => one.start <= address && address < one.start + one.bytes),
    symbol: (name) => {
      const object = kernel.executable.objects.find(({ symbol }) => symbol === name);
      const address = object && layout.addresses[object.id];
      return address === undefined ? undefined : BigInt(address);
    },
  });
}
