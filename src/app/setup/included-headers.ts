/** Headers that units include from outside of the repository. */
import { grouped } from '../../base/grouped.ts';
import { posix } from 'node:path';
import { isHeader, isUnit, type SourceTree } from '../project/source-tree.ts';
import { isStandardHeader, isToolkitHeader } from './toolkit-headers.ts';

interface IncludedHeaders {
  /** Headers that are included, perhaps under a condition, and that are not in the repository. */
  readonly outside: ReadonlySet<string>;
  /**
   * Headers by unit that are included under no open condition, and that are neither in the repository, nor in the
   * toolkit, nor in the folders of the host compiler.
   */
  readonly foreign: ReadonlyMap<string, readonly string[]>;
}

interface IncludeLine {
  readonly name: string;
  readonly isQuoted: boolean;
  /** Undefined under a condition that the flags do not decide. */
  readonly isReached: boolean | undefined;
}

/**
 * Follows the includes of units.
 * @param flagsOf flags of a unit
 */
export function includedHeaders(units: readonly string[], tree: SourceTree, flagsOf: (unit: string) => readonly string[]): IncludedHeaders {
  const outside = new Set<string>();
  const foreign = new Map<string, readonly string[]>();
  const sources = new Set(tree.sources());
  const byName = grouped(sources, (path) => (isHeader(path) || isUnit(path) ? posix.basename(path) : undefined));
  /** A file of the repository whose path ends with the name, if no folder of the flags contains it. */
  const elsewhere = (name: string): string | undefined =>
    byName.get(posix.basename(name))?.find((path) => path === name || path.endsWith(`/${name.replace(/^(?:\.\.?\/)+/, '')}`));
  for (const unit of units) {
    const flags = flagsOf(unit);
    const folders = flags.flatMap((flag) => /^(?:-I|-isystem=)(.+)$/.exec(flag)?.[1] ?? []);
    const macros = new Set(flags.flatMap((flag) => /^-D(\w+)/.exec(flag)?.[1] ?? []));
    const missing = new Set<string>();
    const seen = new Map<string, boolean>();
    const visit = (path: string, isCertain: boolean): void => {
      if (seen.get(path) === true || seen.get(path) === isCertain) return;
      seen.set(path, isCertain);
      for (const { name, isQuoted, isReached } of includeLines(tree.text(path) ?? '', macros)) {
        if (isReached === false) continue;
        const places = [...(isQuoted ? [posix.dirname(path)] : []), ...folders].map((folder) => posix.join(folder, name));
        const found = places.find((place) => sources.has(place)) ?? (isKnown(name) ? undefined : elsewhere(name));
        const isSure = isCertain && isReached === true;
        if (found !== undefined) visit(found, isSure);
        else {
          outside.add(name);
          if (isSure && !isKnown(name)) missing.add(name);
        }
      }
    };
    visit(unit, true);
    if (missing.size > 0) foreign.set(unit, [...missing].sort());
  }
  return { outside, foreign };
}

function isKnown(name: string): boolean {
  return isStandardHeader(name) || isToolkitHeader(name);
}

/** Macros of nvcc and GCC on Linux. */
const defined = /^(?:__CUDACC__|__NVCC__|__cplusplus|__linux__|__linux|linux|__unix__|__GNUC__|__x86_64__|NDEBUG)$/;
/** Macros of other systems and compilers. */
const undefinedMacros =
  /^(?:_WIN32|_WIN64|WIN32|_MSC_VER|__APPLE__|__MINGW32__|__ANDROID__|__clang__|__HIP\w*|USE_ROCM|__HIPCC__|__CUDACC_RTC__|__aarch64__|__ARM_NEON|__INTEL_COMPILER|__EMSCRIPTEN__|__MUSACC__|\w+_(?:HIP|ROCM|MUSA))$/;

/** Includes of a text with the conditions around them. */
function includeLines(text: string, macros: ReadonlySet<string>): IncludeLine[] {
  const lines: IncludeLine[] = [];
  const stack: { truth: boolean | undefined; hasHeld: boolean | undefined }[] = [];
  const own = new Set(macros);
  const isDefined = (name: string): boolean | undefined =>
    own.has(name) || defined.test(name) ? true : undefinedMacros.test(name) ? false : undefined;
  const plain = text.replaceAll(/\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '));
  for (const [, directive, rest = ''] of plain.matchAll(/^[ \t]*#[ \t]*(\w+)[ \t]*(.*)$/gm)) {
    const top = stack.at(-1);
    const isReached = stack.some(({ truth }) => truth === false) ? false : stack.every(({ truth }) => truth === true) || undefined;
    if (directive === 'include') {
      const [, quote, name] = /^([<"])([^>"]+)[>"]/.exec(rest.trim()) ?? [];
      if (name !== undefined) lines.push({ name, isQuoted: quote === '"', isReached });
    } else if (directive === 'define') {
      const name = /^\w+/.exec(rest.trim())?.[0];
      if (name !== undefined && isReached === true) own.add(name);
    } else if (directive === 'ifdef' || directive === 'ifndef' || directive === 'if') {
      const name = /^\w+/.exec(rest.trim())?.[0] ?? '';
      const truth = directive === 'if' ? conditionOf(rest, isDefined) : isDefined(name);
      // A macro that nothing defines guards the text after it.
      const holds = directive === 'ifndef' ? (truth === undefined ? true : !truth) : truth;
      stack.push({ truth: holds, hasHeld: holds });
    } else if ((directive === 'elif' || directive === 'else') && top !== undefined) {
      const ownTruth = directive === 'else' ? true : conditionOf(rest, isDefined);
      top.truth = top.hasHeld === true ? false : top.hasHeld === undefined ? undefined : ownTruth;
      if (top.truth !== false) top.hasHeld = top.truth;
    } else if (directive === 'endif') stack.pop();
  }
  return lines;
}

/** Truth of a simple condition: `defined(A)`, `!defined(A)`, conjunctions of these, `0` and `1`. */
function conditionOf(text: string, isDefined: (name: string) => boolean | undefined): boolean | undefined {
  const parts = text
    .replace(/\/\/.*$/, '')
    .split('&&')
    .map((part): boolean | undefined => {
      const [, negation, name, other] = /^\s*\(?\s*(!?)\s*defined\s*(?:\(\s*(\w+)\s*\)|(\w+))\s*\)?\s*$/.exec(part) ?? [];
      const truth = name === undefined && other === undefined ? undefined : isDefined((name ?? other)!);
      if (truth !== undefined) return truth !== (negation === '!');
      const number = /^\s*([01])\s*$/.exec(part)?.[1];
      return number === undefined ? undefined : number === '1';
    });
  if (parts.includes(false)) return false;
  return parts.includes(undefined) ? undefined : true;
}
