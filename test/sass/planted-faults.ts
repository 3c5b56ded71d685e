/**
 * Compares cubins with the PTX next to them (`A.cubin`, `A.ptx`), then plants faults: a barrier, fence, atomic or store
 * that is dropped, an access exchanged with the barrier next to it, and two accesses exchanged across a barrier. A
 * finding in an unchanged cubin is a false alarm. A fault that excludes code from the check is counted separately.
 *
 *     node test/sass/planted-faults.ts SEED PLANTS CUBIN…
 */
import { readFileSync } from 'node:fs';
import { seededRandom } from '../../src/base/random.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { type CodeFunction, readCubin } from '../../src/sass/cubin/cubin.ts';
import { barrierForm, instructionsOf, type SassInstruction, versionOf, wordBits } from '../../src/sass/instruction/decode.ts';
import { fenceStrength, groupsLeftOf } from '../../src/sass/translation/missing.ts';
import { validateTranslation } from '../../src/sass/translation/translation.ts';

const [seed = '1', plants = '1', ...files] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const counts = new Map<string, number>();
const count = (what: string): unknown => counts.set(what, (counts.get(what) ?? 0) + 1);
const [falseAlarms, missed]: [string[], string[]] = [[], []];

const spaces: ReadonlySet<string | undefined> = new Set(['global', 'shared', 'generic']);
const isOf = ({ opcode }: SassInstruction, kind: string): boolean =>
  opcode?.kind === kind && (kind === 'fence' ? opcode.mnemonic === 'MEMBAR' : kind === 'copy' || spaces.has(opcode.space));

/** Whether a fence is next to one of a wider scope, under the same guard: without it the code does the same. */
function isCovered(instructions: readonly SassInstruction[], index: number): boolean {
  const one = instructions[index]!;
  const own = fenceStrength(one);
  if (!own) return false;
  return [instructions[index - 1], instructions[index + 1]].some((near) => {
    const other = near && fenceStrength(near);
    return other && other.scope > own.scope && (other.isSequential || !own.isSequential) && wordBits(near, 12, 4) === wordBits(one, 12, 4);
  });
}

/** Bytes that a function has at some instructions after an edit. */
type Edit = readonly { readonly at: SassInstruction; readonly code: Uint8Array }[];

function plantsOf(
  instructions: readonly SassInstruction[],
  codeOf: (one: SassInstruction) => Uint8Array,
  isPrivate: (one: SassInstruction) => boolean,
): Map<string, Edit[]> {
  const found = new Map<string, Edit[]>();
  const add = (kind: string, edit: Edit): unknown => found.set(kind, [...(found.get(kind) ?? []), edit]);
  const dropped = (at: SassInstruction): Edit => {
    const code = codeOf(at).slice();
    code[0] = 0x18;
    code[1] = (code[1]! & 0xf0) | 0x9;
    code.fill(0, 2, 13);
    return [{ at, code }];
  };
  const exchanged = (one: SassInstruction, other: SassInstruction): Edit => [
    { at: one, code: codeOf(other) },
    { at: other, code: codeOf(one) },
  ];
  // The order of issue does not matter.
  const isSame = (one: SassInstruction, other: SassInstruction): boolean =>
    [0, 1, 2].every((word) => one.words[word] === other.words[word]);
  for (const kind of ['fence', 'atomic', 'store', 'copy']) {
    for (const [index, one] of instructions.entries())
      if (isOf(one, kind) && !isCovered(instructions, index)) add(`${isPrivate(one) ? 'private ' : ''}${kind} dropped`, dropped(one));
  }
  // Other waits are for loads of the same thread.
  const isEnd = ({ opcode }: SassInstruction): boolean => opcode?.mnemonic === 'LDGDEPBAR' || opcode?.mnemonic === 'UTMACMDFLUSH';
  const hasGroups = instructions.some(isEnd);
  for (const one of instructions) {
    const groups = hasGroups ? groupsLeftOf(one) : null;
    if (groups !== null) add('wait dropped', dropped(one));
    if (groups === 0) {
      const code = codeOf(one).slice();
      // Bits 38 to 43.
      code[4] = code[4]! | 0x40;
      add('wait for fewer copies', [{ at: one, code }]);
    }
    if (isEnd(one)) add('end of a group dropped', dropped(one));
  }
  for (const one of instructions)
    if (one.opcode?.mnemonic === 'STL') add(`${isPrivate(one) ? 'private' : 'spill'} store dropped`, dropped(one));
  for (const [index, one] of instructions.entries()) {
    if (one.opcode?.kind !== 'barrier' || barrierForm(one) === 'arrive') continue;
    add('barrier dropped', dropped(one));
    for (const kind of ['load', 'store']) {
      const before = instructions.slice(Math.max(0, index - 60), index).filter((near) => isOf(near, kind));
      const after = instructions.slice(index, index + 60).filter((near) => isOf(near, kind));
      for (const near of [before.at(-1), after[0]]) if (near) add(`${kind} exchanged with a barrier`, exchanged(near, one));
      for (const left of before.slice(-4)) {
        for (const right of after.slice(0, 4)) {
          if (left.opcode!.space === right.opcode!.space && !isSame(left, right))
            add(`${kind}s exchanged across a barrier`, exchanged(left, right));
        }
      }
    }
  }
  return found;
}

for (const file of files) {
  const bytes = new Uint8Array(readFileSync(file));
  const cubin = readCubin(bytes);
  if ('problem' in cubin) throw new Error(`${file}: ${cubin.problem}`);
  const text = readFileSync(file.replace(/cubin$/, 'ptx'), 'utf8');
  const lines = text.split('\n');
  const { kernels } = lowerModule(parsePtx(text).module);
  for (const kernel of kernels) {
    const own = cubin.functions.find(({ isKernel, symbol }) => isKernel && symbol === kernel.symbol);
    if (!own) continue;
    count('kernels');
    const whole = validateTranslation(kernel, cubin);
    count(whole.checked ? 'checked' : `not checked: ${whole.reason}`);
    if (!whole.checked) continue;
    if (whole.faults.length > 0) {
      falseAlarms.push(`${file} ${kernel.symbol}: ${JSON.stringify(whole.faults[0])}`);
      continue;
    }
    const placeOf = ({ address }: SassInstruction, { fileOffset, start }: CodeFunction): number => fileOffset + address - start;
    // Arrays in the frame, and arguments of calls: the PTX stores them, but other threads do not observe it.
    const shown = new Set(
      kernel.blocks.flatMap(({ instructions }) =>
        instructions.flatMap(({ ptxLine, operation: { effect } }) =>
          effect.kind === 'store' && spaces.has(effect.space) ? [ptxLine] : [],
        ),
      ),
    );
    const isPrivate = ({ address }: SassInstruction, { ptxLineAt }: CodeFunction): boolean => {
      const line = ptxLineAt(address) ?? 0;
      return /\bst\./.test(lines[line - 1] ?? '') && !shown.has(line);
    };
    const planted = plantsOf(
      instructionsOf(own, versionOf(cubin.arch)),
      (one) => bytes.subarray(placeOf(one, own), placeOf(one, own) + 16),
      (one) => isPrivate(one, own),
    );
    for (const [kind, edits] of planted) {
      for (let left = Number(plants); left > 0 && edits.length > 0; left--) {
        const [edit] = edits.splice(random.below(edits.length), 1);
        const copy = bytes.slice();
        for (const { at, code } of edit!) copy.set(code, placeOf(at, own));
        const edited = readCubin(copy);
        const answer = 'problem' in edited ? null : validateTranslation(kernel, edited);
        const isMissed = answer?.checked === true && answer.faults.length === 0;
        count(`${kind}: ${isMissed ? 'missed' : answer?.checked ? 'found' : 'told as not checked'}`);
        if (isMissed)
          missed.push(`${file} ${kernel.symbol} ${kind} at ${edit!.map(({ at }) => (at.address - own.start).toString(16)).join(' and ')}`);
      }
    }
  }
}

for (const [what, times] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) console.log(`${times}\t${what}`);
console.log(`${falseAlarms.length}\tfalse alarms`);
for (const one of [...falseAlarms.slice(0, 20), ...missed.slice(0, 400)]) console.log(one);
if (falseAlarms.length > 0) process.exitCode = 1;
