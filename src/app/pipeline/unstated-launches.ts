/** Kernels with unspecified launches: the assumptions about them, and how to state a launch. */
import type { Kernel, SpecialRegister } from '../../ir/form/kernel.ts';
import type { KernelReport } from '../../report-model/report.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { code, count } from '../../messages/text/code-text.ts';
import type { CheckedKernel, LaunchedKernel } from '../build/phase-data.ts';

/** Maximum number of kernels that the notice names. */
const maxNamed = 3;
/** Maximum number of arguments that the suggested launch contains. */
const maxArguments = 3;

/**
 * One notice on the assumptions about unproved kernels with unspecified launches. It suggests a comment that states a
 * launch, filled in for the first kernel.
 */
export function unstatedLaunches(kernels: readonly CheckedKernel[]): Diagnostic[] {
  const open = kernels.filter(({ entry, report }) => lacksLaunch(entry) && dependsOnLaunch(report));
  const [first] = open;
  if (!first) return [];
  const names = [...new Set(open.map(({ entry }) => entry.name.qualified))];
  const shown = names.slice(0, maxNamed).map(code).join(', ');
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  const who = `${count(names.length, 'kernel')} (${shown}${more})`;
  const message = `Selvage found no launch of ${who}, and took any block and grid, and any arguments, as possible. ${howToState(first.entry)}`;
  return [{ severity: 'notice', code: 'launch/unstated', message }];
}

/** Whether no command line, configuration, comment or launch site determines the launch. */
function lacksLaunch({ launches, launchFacts, notEvaluated }: LaunchedKernel): boolean {
  const isOpen = launches.every(({ source, block, grid }) => /^(?:symbolic|launch-bounds|reqntid)$/.test(source) && (!block || !grid));
  return isOpen && launchFacts.sites.length === 0 && notEvaluated.length === 0;
}

/** Whether a launch could change the verdict, or is needed for a proof. */
function dependsOnLaunch({ race, divergence }: KernelReport): boolean {
  return [race, divergence].some(
    ({ verdict, assumptions = [] }) =>
      verdict !== 'skipped' && (verdict !== 'proved' || assumptions.some(({ kind }) => kind === 'precondition')),
  );
}

function howToState(entry: LaunchedKernel): string {
  const { unit, kernel, name, parameters } = entry;
  const [block, grid] = suggestedLaunch(kernel, name.qualified);
  const scalars = kernel.parameters.filter((parameter) => /^[su](?:32|64|16)$/.test(parameter.type) && !isPointer(entry, parameter.index));
  // Sizes are often multiplied with each other, and the product has to fit in 32 bits.
  const size = scalars.length > 2 ? 256 : 4096;
  const values = scalars.slice(0, maxArguments).map(({ index }) => [parameters[index]?.name ?? `param${index}`, size] as const);
  if (unit.kind === 'ptx' || !entry.definition) {
    const given = values.map(([argument, value]) => `, args: { ${argument}: ${value} }`).slice(0, 1);
    const pattern = name.qualified.replaceAll("'", "''");
    const line = `- { match: '${pattern}', block: [${block}], grid: [${grid}]${given.join('')} }`;
    return `State what the program launches under \`kernels:\` in .selvage.yml, for example ${code(line)}, or give --block ${block} --grid ${grid}.`;
  }
  const given = values.map(([argument, value]) => ` arg(${argument}=${value})`).join('');
  const { file, kernel: definition } = entry.definition;
  return `State what the program launches in a comment above the kernel, for example ${code(`// selvage: block=${block} grid=${grid}${given}`)} at ${file}:${definition.signatureLine}.`;
}

/** Whether a 64-bit parameter may be a pointer: if the source declares it as one, or if the source is missing. */
function isPointer({ kernel, parameters }: LaunchedKernel, index: number): boolean {
  const type = parameters[index]?.type;
  if (type !== undefined) return type.includes('*');
  return kernel.parameters[index]?.bytes === 8;
}

/** A representative launch for a kernel from the indices that it reads, in the syntax of comments. */
export function suggestedLaunch(kernel: Kernel, name: string): readonly [block: string, grid: string] {
  const read = registersOf(kernel);
  const reads = (register: 'tid' | 'ctaid', axis: string): boolean => read.has(`${register}.${axis}` as SpecialRegister);
  const depth = (register: 'tid' | 'ctaid'): number => (reads(register, 'z') ? 3 : reads(register, 'y') ? 2 : 1);
  const grid = ['64', '64,64', '16,16,16'][depth('ctaid') - 1]!;
  const { requiredThreads, maximumThreads } = kernel;
  if (requiredThreads) return [withoutOnes(requiredThreads), grid];
  const most = maximumThreads ? maximumThreads[0] * maximumThreads[1] * maximumThreads[2] : 1024;
  // The extent of a shared-memory tile, with or without a padding column, determines the side of a two-dimensional
  // block.
  const elements = kernel.objects.filter(({ space, bytes }) => space === 'shared' && bytes !== null).map(({ bytes }) => bytes! / 4);
  const side =
    [32, 16, 8].find((one) =>
      elements.some((size) =>
        [1, 2].some((part) => [0, 1].some((pad) => size * part === one * (one + pad) || size === one * (one + pad) * part)),
      ),
    ) ?? 16;
  const template = [...(/<(.*)>$/.exec(name)?.[1] ?? '').matchAll(/(?<![\w.])\d+(?![\w.])/g)].map(Number);
  const stated = template.find((number) => number % 32 === 0 && number >= 32 && number <= most);
  const line = stated ?? (maximumThreads && most < 1024 ? most : 256);
  const shapes: readonly (readonly [number, number, number])[] = [
    [line, 1, 1],
    [side, side, 1],
    [8, 8, 4],
  ];
  const shape = shapes[depth('tid') - 1]!;
  const fits = shape[0] * shape[1] * shape[2] <= most;
  return [withoutOnes(fits ? shape : [Math.min(most, 32), 1, 1]), grid];
}

function withoutOnes(extents: readonly [number, number, number]): string {
  const [x, y, z] = extents;
  return (z > 1 ? [x, y, z] : y > 1 ? [x, y] : [x]).join(',');
}

function registersOf({ blocks }: Kernel): Set<SpecialRegister> {
  const found = new Set<SpecialRegister>();
  for (const { instructions, phis } of blocks) {
    const operands = [...instructions.flatMap(({ arguments: given }) => given), ...phis.flatMap(({ inputs }) => inputs)];
    for (const operand of operands) if (operand.kind === 'special') found.add(operand.register);
  }
  return found;
}
