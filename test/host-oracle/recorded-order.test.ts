/**
 * The order of operations of generated programs, as they make them: their record, with the handles that they had, gives the pairs of
 * operations that nothing orders. The reader of host programs has to find the same.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readUnit } from '../host/fixture.ts';
import { OrderModel, generateProgram, linesBefore } from '../host/operations/generated-order.ts';
import { temporaryFolder, withoutNvcc } from '../toolchain/fixture.ts';
import { type Recording, type RecordedOperation, compileRecording, runRecording } from './record.ts';

/** Seeds of the programs; `test/host/operations/` has lower ones. */
const [first, count] = [60_000, 120];

/** A unit of the programs, which marks each statement with its line. */
function recordedUnit(texts: readonly string[]): string {
  const marked = texts.map((text, at) => {
    const lines = text
      .split('\n')
      .map((line, index) => (index >= linesBefore && line !== '}' ? `selvageMark(${index + 1}); ${line}` : line));
    return `namespace s${at} {\n${lines.join('\n')}\n}`;
  });
  const calls = texts.map((_, at) => `selvageMark(-${at + 1}); s${at}::run();`);
  const head = 'extern "C" void selvageMark(int);\ntemplate <typename... A> __global__ void k(A...) {}';
  return `${head}\n${marked.join('\n')}\nint main() {\n${calls.join('\n')}\n}\n`;
}

/** The pairs of the operations of streams that the record of one program has. @param arrays names by address */
function pairsOf(operations: readonly RecordedOperation[], { launches }: Recording, arrays: ReadonlyMap<string, string>): string[] {
  const model = new OrderModel();
  const [streams, events] = [new Map([['0', '0']]), new Map<string, string>()];
  for (const { operation, mark, stream, event, to, from, launchesBefore } of operations) {
    const [lane, name] = [streams.get(stream)!, events.get(event) ?? event];
    const touches = (list: readonly (readonly [address: string, isWrite: boolean])[]): Map<string, boolean> =>
      new Map(list.flatMap(([address, isWrite]) => (arrays.has(address) ? [[arrays.get(address)!, isWrite] as const] : [])));
    switch (operation) {
      case 'stream':
      case 'separate stream':
        streams.set(stream, operation === 'stream' ? ['s', 't'][streams.size - 1]! : 'u');
        break;
      case 'launch': {
        const given = (launches[launchesBefore]?.arguments ?? []).map((bytes) => [addressIn(bytes), true] as const);
        model.issue(mark, lane, touches(given));
        break;
      }
      case 'cudaMemcpy':
      case 'cudaMemcpyAsync':
      case 'cudaMemset':
        model.issue(
          mark,
          lane,
          touches([
            [from, false],
            [to, true],
          ]),
        );
        if (operation === 'cudaMemcpy') model.waitForStream(mark, lane);
        break;
      case 'cudaEventRecord':
        model.record(mark, name, lane);
        break;
      case 'cudaStreamWaitEvent':
        model.wait(mark, lane, name);
        break;
      case 'cudaEventSynchronize':
        model.waitForEvent(mark, name);
        break;
      case 'cudaStreamSynchronize':
        model.waitForStream(mark, lane);
        break;
      case 'cudaDeviceSynchronize':
        model.waitForDevice(mark);
        break;
      default:
        assert.fail(operation);
    }
  }
  return model.pairs();
}

/** The address of which an argument has the bytes, the lowest first. */
function addressIn(bytes: string): string {
  return BigInt(`0x${bytes.match(/../g)!.toReversed().join('')}`).toString(16);
}

test('operations that programs make without an order are those that are found in their text', { skip: withoutNvcc }, async (context) => {
  const programs = Array.from({ length: count }, (_, at) => generateProgram(first + at));
  const folder = temporaryFolder(context);
  writeFileSync(join(folder, 'programs.cu'), recordedUnit(programs.map(({ text }) => text)));
  const executable = await compileRecording(['programs.cu'], folder, { environment: { SELVAGE_ORDER: '1' } });
  const recording = await runRecording(executable, []);
  const { operations, allocations } = recording;
  assert.equal(allocations.length, 4 * count, recording.errors);
  const { unordered } = await readUnit(
    context,
    programs.map(({ text }) => ({ text })),
  );
  let pairs = 0;
  let at = -1;
  const parts: RecordedOperation[][] = programs.map(() => []);
  for (const one of operations) {
    // The streams of a program are made before its first statement.
    if (one.mark < 0) at = -one.mark - 1;
    parts[at]!.push(one);
  }
  for (const [index, own] of parts.entries()) {
    const names = allocations.slice(4 * index, 4 * index + 4).map(({ address }, which) => [address.toString(16), 'abmh'[which]!] as const);
    const found = unordered[index]!.filter((pair) => pair.startsWith('streams')).sort();
    const recorded = pairsOf(own, recording, new Map(names)).filter((pair) => pair.startsWith('streams'));
    assert.deepEqual(found, recorded, `${first + index}:\n${programs[index]!.text}`);
    pairs += recorded.length;
  }
  assert.ok(pairs > count / 2, `${pairs} pairs`);
});
