/**
 * Kernels that synchronise by locks, flags, tickets and counters, with one memory order, scope, fence or volatile
 * access weakened in each. `node test/kernels/weakenings.ts [FILE…]` prints how many are refuted, how many lose their
 * proof, and each that is still proved: it must be correct without the removed strength.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { closeSolver } from '../check/kernel-text.ts';
import { checkFile } from './checked-file.ts';
import { ptxFile } from './portable-ptx.ts';

/** Weaker variants of a line of PTX; empty: nothing in it is strong. */
export function weakened(line: string): readonly string[] {
  const [, indent = '', guard = '', instruction = ''] = /^(\s*)(@!?%p\d+\s+)?(\S.*)$/.exec(line) ?? [];
  const narrow = instruction.replace(/\.(?:gpu|sys)\b/, '.cta');
  const found: string[] = [];
  if (/^(?:fence|membar)\b/.test(instruction)) {
    found.push('');
    found.push(instruction.startsWith('membar') ? instruction.replace(/\.(?:gl|sys)\b/, '.cta') : narrow);
    found.push(instruction.replace('fence.sc.', 'fence.acq_rel.'));
  } else if (/^(?:ld|st)\.(?:volatile|relaxed|acquire|release)\b/.test(instruction)) {
    found.push(instruction.replace(/\.(?:volatile|(?:relaxed|acquire|release)\.\w+)/, ''));
    found.push(instruction.replace(/\.(?:acquire|release)\b/, '.relaxed'));
    found.push(narrow);
  } else if (/^(?:atom|red)\./.test(instruction)) {
    found.push(instruction.replace(/\.(?:acquire|release|acq_rel)\b/, '.relaxed'));
    found.push(instruction.replace('.acq_rel.', '.acquire.'), instruction.replace('.acq_rel.', '.release.'));
    const isScoped = /\.(?:cta|gpu|sys)\b/.test(instruction);
    found.push(isScoped ? narrow : instruction.replace(/^(atom|red)\./, '$1.relaxed.cta.'));
    const exchange = /^atom(\S*?)\.exch\.b(\d+)\s+%\w+, (\[[^\]]+\]), ([^;]+);/.exec(instruction);
    const space = /\.(?:global|shared)/.exec(exchange?.[1] ?? '')?.[0] ?? '';
    if (exchange) found.push(`st${space}.b${exchange[2]} ${exchange[3]}, ${exchange[4]};`);
  }
  return [...new Set(found)].filter((text) => text !== instruction).map((text) => `${indent}${text && guard}${text}`);
}

/** Counts of verdicts, and the weakened kernels that are still proved. */
export interface Weakened {
  readonly counts: Readonly<Record<string, number>>;
  readonly proved: readonly string[];
}

/** The lines of a kernel, and of the functions that it calls by name, from 0. */
function linesOf(lines: readonly string[], symbol: string): readonly number[] {
  const bodyAt = (start: number): readonly number[] => {
    const end = lines.indexOf('}', start);
    return Array.from({ length: end - start }, (_, at) => start + at);
  };
  const own = bodyAt(lines.findIndex((line) => line.startsWith('.visible .entry') && line.includes(symbol)));
  const called = lines.flatMap((line, at) => {
    const [, name] = /^\.func.*?(\w+)\(\)?$/.exec(line) ?? [];
    return name !== undefined && own.some((each) => lines[each]!.includes(`${name},`)) ? bodyAt(at) : [];
  });
  return [...own, ...called];
}

/**
 * Checks the kernels of a file that are proved, with each of their lines weakened, in 4 blocks of 64 threads if no
 * launch is given.
 * @param file relative to the root; its PTX is next to it
 * @param every takes one of this number of weakenings
 */
export async function weakenFile(file: string, every = 1): Promise<Weakened> {
  const { checks } = await checkFile(file);
  const lines = readFileSync(ptxFile(file, 'verification'), 'utf8').split('\n');
  const counts: Record<string, number> = { proved: 0, possible: 0, race: 0 };
  const proved: string[] = [];
  let number = 0;
  for (const { request, result } of checks) {
    if (result.race.verdict !== 'proved') continue;
    const { symbol } = request.kernel;
    const { block, grid } = request.launch;
    const launch = {
      ...request.launch,
      block: block ?? ([64, 1, 1] as const),
      grid: grid ?? ([4, 1, 1] as const),
    };
    const checked = (text: string): ReturnType<typeof checkKernel> => {
      const kernel = lowerModule(parsePtx(text).module).kernels.find((each) => each.symbol === symbol)!;
      return checkKernel({ ...request, kernel, launch, budget: { ...request.budget, replaySteps: 20_000 } });
    };
    const all = linesOf(lines, symbol).flatMap((line) => weakened(lines[line]!).map((to) => ({ line, to })));
    for (const { line, to } of all) {
      if (number++ % every !== 0) continue;
      const { verdict } = (await checked(lines.with(line, to).join('\n'))).race;
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      if (verdict === 'proved') proved.push(`${symbol}: ${lines[line]!.trim()} -> ${to.trim() || 'nothing'}`);
    }
  }
  return { counts, proved };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const usual = ['lock', 'ticket-lock', 'lock-by-flag', 'flag', 'flag-of-block', 'last-block'];
  const named = process.argv.slice(2);
  for (const file of named.length > 0 ? named : usual.map((name) => `test/kernels/memory-model/${name}.cu`)) {
    const { counts, proved } = await weakenFile(file);
    console.log(file, counts);
    for (const line of proved) console.log(`  proved: ${line}`);
  }
  await closeSolver();
}
