/**
 * Compares the final memory of a GPU with that of the interpreter, and with that of a second execution of the launch.
 *
 *   node test/gpu/memory.ts write FOLDER   writes the launches to FOLDER/memory.launches
 *   node test/gpu/memory.ts read FOLDER    reads the output of `launcher memory`, FOLDER/memory.outcomes
 *
 * `read` prints every launch whose final memory differs, and every one that is idempotent by its validator but whose
 * second execution changed the memory; it exits with 1 if there are any.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeSolver } from '../check/kernel-text.ts';
import { checkCorpusKernel, classifyCorpusKernel, isValidated } from '../idempotency/validate.ts';
import { corpusLaunches, drawnLaunches, type KnownLaunch } from './drawn-launches.ts';
import { LaunchFile, memoryOutcomes } from './launch-file.ts';

const [command, folder = '.', launches = '40', runs = '2'] = process.argv.slice(2);

async function* all(): AsyncIterable<KnownLaunch> {
  yield* corpusLaunches(Number(launches), 1);
  yield* drawnLaunches(21, Number(runs));
}

async function write(): Promise<void> {
  const file = new LaunchFile();
  let [id, ptx] = [0, ''];
  for await (const launch of all()) {
    if (launch.ptx !== ptx || hasVariables(ptx)) file.addModule((ptx = launch.ptx));
    file.addLaunch({ ...launch.record, id: id++ });
  }
  writeFileSync(join(folder, 'memory.launches'), file.bytes());
  console.log(`${id} launches`);
}

async function read(): Promise<void> {
  const outcomes = new Map([...memoryOutcomes(readFileSync(join(folder, 'memory.outcomes')))].map((outcome) => [outcome.id, outcome]));
  const tally = {
    launches: 0,
    same: 0,
    approximation: 0,
    atomics: 0,
    other: 0,
    refused: 0,
    again: 0,
    falsePositives: 0,
    guards: 0,
  };
  const excused = new Map<Excuse, number>();
  let id = 0;
  for await (const launch of all()) {
    const { title, record, left, corpus } = launch;
    const outcome = outcomes.get(id++);
    if (!outcome) continue;
    tally.launches++;
    if (outcome.status !== 0) {
      tally.refused++;
      console.log(`error ${outcome.status}: ${title}`);
      continue;
    }
    if (outcome.isGuardChanged) {
      tally.guards++;
      console.log(`bytes outside of the arrays changed: ${title}`);
    }
    if (outcome.memory === null) tally.same++;
    else {
      const why = mayDiffer(launch);
      if (why) excused.set(why, (excused.get(why) ?? 0) + 1);
      else tally.other++;
      console.log(`other memory${why ? ` (${why})` : ''}: ${title}: ${firstDifference(left, record.buffers, outcome.memory)}`);
    }
    if (!outcome.differsAgain) continue;
    tally.again++;
    if (!corpus) continue;
    const classification = classifyCorpusKernel(corpus.kernel, await checkCorpusKernel(corpus.kernel));
    if (!isValidated(corpus.launch, classification)) continue;
    tally.falsePositives++;
    console.log(`FALSE POSITIVE: ${title}`);
  }
  await closeSolver();
  console.log(
    `${tally.launches} launches: ${tally.same} left the memory of the interpreter, ${tally.other} other memory, and rightly so ${[...excused].map(([why, times]) => `${times} (${why})`).join(', ')}; ${tally.refused} ended with an error; ${tally.guards} changed bytes outside of their arrays`,
  );
  console.log(
    `run again: ${tally.again} left other memory than the first time, ${tally.falsePositives} of them idempotent by their validator`,
  );
  process.exitCode = tally.other + tally.refused + tally.guards + tally.falsePositives > 0 ? 1 : 0;
}

/** Why a GPU may rightly leave other memory. */
type Excuse = 'approximation' | 'contraction' | 'atomics' | 'addresses';

/**
 * By the instructions of the kernel: approximations have a few bits of error; products without a rounding modifier may
 * be fused with sums (PTX ISA, `mul`); the order of atomics is unspecified; the remaining bytes of a partly overwritten
 * pointer belong to an address of that GPU.
 */
function mayDiffer({ ptx, record: { symbol, pointers } }: KnownLaunch): Excuse | null {
  const [, text = ''] = ptx.split(new RegExp(`\\.entry\\s+${symbol}\\b`));
  const [own = ''] = text.split('.entry');
  if (/\batom\./.test(own)) return 'atomics';
  if (pointers && pointers.length > 0) return 'addresses';
  if (/\.(?:approx|full)\b/.test(own)) return 'approximation';
  return /\bmul\.f(?:32|64)\b/.test(own) && /\b(?:add|sub)\.f(?:32|64)\b/.test(own) ? 'contraction' : null;
}

/** Variables of a module keep their values between launches: such a module is loaded again for each launch. */
const hasVariables = (ptx: string): boolean => /^\s*(?:\.visible )?\.global /m.test(ptx);

function firstDifference(left: readonly Uint8Array[], start: readonly Uint8Array[], memory: Uint8Array): string {
  let place = 0;
  let [differing, first] = [0, ''];
  for (const [buffer, bytes] of left.entries())
    for (let at = 0; at < bytes.length; at++, place++) {
      if (bytes[at] === memory[place]) continue;
      const word = (from: Uint8Array, offset: number): string => Buffer.from(from.subarray(offset, offset + 4)).toString('hex');
      const aligned = at - (at % 4);
      if (differing++ === 0)
        first = `buffer ${buffer} byte ${at}: at first ${word(start[buffer]!, aligned)}, machine ${word(bytes, aligned)}, GPU ${word(memory, place - (at % 4))}`;
    }
  return `${differing} bytes, ${first}`;
}

if (command === 'write') await write();
else if (command === 'read') await read();
else throw new Error('node test/gpu/memory.ts write|read FOLDER');
