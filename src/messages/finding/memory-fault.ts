/** Titles and texts of findings on a single access: what the thread accesses, why that is wrong, and the remedy. */
import { type MemoryFault, memoryFaultOf } from '../../verdict/memory-fault.ts';
import type { RaceFinding } from '../../verdict/finding.ts';
import { chosenText } from '../text/launch-text.ts';
import { code, listed, sentences } from '../text/code-text.ts';
import { homeOf, lineText } from '../text/place.ts';

const titles: Readonly<Record<MemoryFault, string>> = {
  'out-of-bounds': 'Access outside of',
  'index-overflow': 'Overflow of an index into',
  misaligned: 'Misaligned access to',
  uninitialised: 'Uninitialised read of',
};

/** Title of a finding with one of these codes: ``Access outside of `s` ``; null for other codes. */
export function memoryFaultTitle(name: string, object: string): string | null {
  const fault = memoryFaultOf(name);
  return fault && `${titles[fault]} ${object}`;
}

const largerArrays: Readonly<Record<NonNullable<RaceFinding['left']>['memory'], string>> = {
  allocated: 'check the index before the access, or allocate a larger array',
  'dynamic-shared': 'check the index before the access, or launch the kernel with more dynamic shared memory',
  declared: 'check the index before the access, launch fewer blocks or threads, or declare a larger array',
};

/** The sentences on an access outside the bounds of its object. */
export function outOfBounds(finding: RaceFinding, left: NonNullable<RaceFinding['left']>): string {
  const { offset, bytes, memory, by } = left;
  const { fromElement } = finding;
  if (bytes === 0)
    return sentences(
      `${actionText(finding, 'of')}, for which the launch passes a null pointer`,
      `pass an array, or do not access it if ${code(`${finding.array ?? 'it'} == nullptr`)}`,
    );
  const where = `${offset < 0 ? 'before the start' : 'past the end'} of`;
  return sentences(
    `${actionText(finding, where)}: at byte ${offset} of an array of ${bytes} bytes${fromElement ? `, since ${code(`${fromElement.element} = ${fromElement.value}`)}` : ''}`,
    fromElement
      ? `store another number in ${code(fromElement.element)}, or check the index before the access`
      : offset < 0
        ? 'check the index before the access, or start at a larger one'
        : by === undefined
          ? largerArrays[memory]
          : largerArrays[memory].replace('blocks or threads', by),
  );
}

/** The sentences on an access at an address that is not a multiple of its size. */
export function misalignedText(finding: RaceFinding, { multiple, offset, needs }: NonNullable<RaceFinding['misaligned']>): string {
  const { chosen } = finding;
  const action = actionText(finding, 'of');
  const where = offset === undefined ? 'at an address' : `at byte ${offset} of the array,`;
  if (needs === undefined)
    return sentences(
      `${action} ${where} which is not a multiple of ${multiple}`,
      `make the offset a multiple of ${multiple} bytes, or access single elements`,
    );
  return sentences(
    `${action}, which is aligned to ${multiple} bytes only if ${code(needs)}, and nothing ensures that`,
    chosen && `for example, it is misaligned if the kernel is launched with ${chosenText(chosen)}`,
    `ensure ${code(needs)} in each launch and state it above the kernel with ${code(`// selvage: assume(${needs})`)}, or access single elements otherwise`,
  );
}

/** The sentences on a read of shared memory that no thread of the block has written. */
export function uninitialisedText(finding: RaceFinding, { offset, reaches }: NonNullable<RaceFinding['uninitialised']>): string {
  const { chosen } = finding;
  const byte = offset === undefined ? '' : ` (byte ${offset} of the array)`;
  const use =
    reaches === undefined
      ? 'no result of this run depends on the value'
      : reaches === null
        ? 'a branch depends on the value'
        : `the value reaches ${code(reaches)}`;
  return sentences(
    `${actionText(finding, 'of')}, which no thread of the block has written${byte}; ${use}`,
    chosen && `for example, this happens if the kernel is launched with ${chosenText(chosen)}`,
    'write each element before a barrier, those without data included, or read only elements that were written',
  );
}

/** The sentences on an index of 32 bits that wraps around, in a run or from a size on. */
export function indexOverflow(finding: RaceFinding): string {
  const { wrapped, when, about, first, array, more = 0, computedAt = [] } = finding;
  const home = homeOf([first.location]);
  const elsewhere = computedAt.filter(({ file, line }) => file !== first.location?.file || line !== first.location.line);
  const computed = elsewhere.length === 0 ? '' : ` on ${listed(elsewhere.map((location) => lineText(location, home)))}`;
  const remedy =
    'compute the index in 64 bits: declare it as `size_t`, and convert a factor of a product to `size_t` before the multiplication';
  if (wrapped) {
    const [type, most] = wrapped.isSigned ? ['int', 2 ** 31 - 1] : ['unsigned int', 2 ** 32 - 1];
    const index = computed === '' ? 'the index' : `the index, which is computed${computed},`;
    const ends = `${index} is ${wrapped.value} there, more than the ${most} that ${code(type)} holds, and wraps around`;
    return sentences(`${actionText(finding, 'of')}: ${ends}`, remedy);
  }
  const place = first.location ? ` on ${lineText(first.location, home)}` : '';
  const text = code(first.expression ?? array ?? 'memory');
  const others = more === 0 ? '' : `, like that of ${more === 1 ? 'one more access' : `${more} more accesses`},`;
  return sentences(
    `the index of ${text}${place}${others} is computed in 32 bits${computed}, and wraps around when ${about === undefined ? '' : 'about '}${code(about ?? when ?? '')}`,
    remedy,
  );
}

/** ``thread (0, 0, 0) of block (0, 0, 0) reads 4 bytes of `s` with `s[i]` on line 12``. */
function actionText({ first, array }: RaceFinding, where: string): string {
  const { thread = [0, 0, 0], block = [0, 0, 0] } = first;
  const verb = { read: 'reads', write: 'writes', atomic: 'updates' }[first.operation];
  const text = first.expression === undefined ? '' : ` with ${code(first.expression)}`;
  const place = first.location ? ` on ${lineText(first.location, homeOf([first.location]))}` : '';
  return `thread (${thread.join(', ')}) of block (${block.join(', ')}) ${verb} ${first.bytes ?? 0} bytes ${where} ${code(array ?? 'memory')}${text}${place}`;
}
