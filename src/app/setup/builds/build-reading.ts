/** Results of reading build files: which flags each unit is compiled with. */
import { posix } from 'node:path';
import { isAllowedDefinition } from '../../../toolchain/flags.ts';
import { parseOptions, type OptionWord } from '../../../toolchain/nvcc-options.ts';

/** Represents text that only a build determines: the output of a program, a path of another machine. */
export const unknownText = '\uE000';
/** Represents the root of the repository in absolute paths of build files. */
export const rootPath = '/\uE001';

/** The repository, as build files see it. Paths are relative to its root. */
export interface BuildTree {
  /** Paths of `.cu` files. */
  readonly units: readonly string[];
  /** Paths of sources and headers, sorted. */
  readonly sources: readonly string[];
  readonly text: (path: string) => string | undefined;
  readonly isFile: (path: string) => boolean;
  readonly isFolder: (path: string) => boolean;
  /** Version of the toolkit that the workflow installs: `13.2`. */
  readonly toolkit: string;
}

/** A unit as one target of a build compiles it. */
export interface UnitCommand {
  readonly unit: string;
  /** For nvcc; paths are relative to the root. */
  readonly flags: readonly string[];
  readonly target: string;
  /** `CMakeLists.txt:12`. */
  readonly place: string;
}

/** Flags that the configuration does not contain, with the reason. */
export interface LeftOut {
  readonly place: string;
  readonly flags: readonly string[];
  /** `if WITH_MPI`. */
  readonly reason: string;
}

export interface BuildReading {
  readonly commands: readonly UnitCommand[];
  /** Flags of targets and rules without a `.cu` file, such as libraries of headers. */
  readonly general: readonly (readonly string[])[];
  /** `80` of `sm_80`. */
  readonly architectures: readonly number[];
  readonly leftOut: readonly LeftOut[];
  /** Variables that must be set for CUDA files to be compiled at all: `WITH_CUDA=ON`. */
  readonly switches: readonly string[];
}

/** A reading that grows target by target. */
export class GrowingReading implements BuildReading {
  readonly commands: UnitCommand[] = [];
  readonly general: (readonly string[])[] = [];
  readonly architectures: number[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly switches: readonly string[] = [];

  /** Adds what a target or a recipe passes to nvcc for units. */
  add(selected: SelectedFlags, units: readonly string[], target: string, place: string, subject = ''): void {
    const { flags } = selected;
    this.architectures.push(...selected.architectures);
    for (const unit of units) this.commands.push({ unit, flags, target, place });
    if (units.length === 0) this.general.push(flags);
    else this.note(selected, place, subject);
  }

  /** Notes definitions with a value that is unknown. */
  note({ open }: SelectedFlags, place: string, subject = ''): void {
    if (open.length > 0) this.leftOut.push({ place, flags: open, reason: `${subject}the value is not known here` });
  }
}

/** Options of nvcc that affect the meaning of device code. The others are left to the build. */
const wantedOptions = new Set([
  '-D',
  '-U',
  '-I',
  '-isystem',
  '-include',
  '-std',
  '-rdc',
  '-dc',
  '-use_fast_math',
  '-ftz',
  '-prec-div',
  '-prec-sqrt',
  '-fmad',
  '-expt-relaxed-constexpr',
  '-extended-lambda',
  '-default-stream',
  '-maxrregcount',
]);

interface SelectedFlags {
  readonly flags: readonly string[];
  readonly architectures: readonly number[];
  /** Definitions with a value that is unknown or that a pull request may not set. */
  readonly open: readonly string[];
}

/** Architectures that a text names: `sm_80`, `compute_80`. */
function namedArchitectures(text: string): number[] {
  return [...text.matchAll(/\b(?:sm|compute)_(\d{2,3})(?=[af]?\b)/g)].map(([, number]) => Number(number));
}

/**
 * The words of a command line that affect device code, without duplicates; include folders that do not exist in the
 * repository are left out.
 * @param folder to which relative paths refer
 */
export function selectBuildFlags(words: readonly string[], folder: string, tree: BuildTree): SelectedFlags {
  const flags = new Map<string, string>();
  const architectures: number[] = [];
  const open: string[] = [];
  let standard: string | undefined;
  const take = (word: OptionWord): void => {
    if (word.kind !== 'option') return;
    const { row, value } = word;
    if (row.role === 'architecture') architectures.push(...namedArchitectures(value));
    // The host compiler preprocesses device code, too.
    if (row.name === '-Xcompiler')
      parseOptions(value.split(/[,\s]+/))
        .filter((inner) => inner.kind === 'option' && /^-[DUI]$/.test(inner.row.name))
        .forEach(take);
    if (!wantedOptions.has(row.name)) return;
    if (row.name === '-D' && !isAllowedDefinition(value)) return void open.push(shownFlag(`-D${value}`));
    if (value.includes(unknownText)) return;
    if (row.value === 'path-list') {
      for (const path of value.split(',')) {
        const placed = placedPath(path, folder);
        if (placed === undefined || !(placed === '.' || tree.isFolder(placed))) continue;
        flags.set(`${row.name} ${placed}`, row.name === '-I' ? `-I${placed}` : `-isystem=${placed}`);
      }
    } else if (row.value === 'file-list') {
      const placed = placedPath(value, folder);
      const isOfTree = placed !== undefined && tree.isFile(placed);
      if (isOfTree || /^\w+(?:\.\w+)?$/.test(value)) flags.set(`-include ${value}`, `-include=${isOfTree ? placed : value}`);
    } else if (row.name === '-std') standard = `-std=${value}`;
    else if (row.name === '-dc' || (row.name === '-rdc' && value === 'true')) flags.set('-rdc', '-rdc=true');
    else if (row.name === '-D' || row.name === '-U') {
      // The last definition of a macro takes precedence.
      const macro = `macro ${value.replace(/=[^]*$/, '')}`;
      flags.delete(macro);
      flags.set(macro, `${row.name}${value}`);
    } // One spelling, so that targets can be compared.
    else if (row.value === 'none') flags.set(row.name, row.aliases[0] ?? row.name);
    else if (row.pattern?.test(value) === true) flags.set(row.name, `${row.name}=${value}`);
  };
  parseOptions(words.filter((word) => word !== '')).forEach(take);
  return { flags: [...(standard === undefined ? [] : [standard]), ...flags.values()], architectures, open };
}

/**
 * A path relative to the root; undefined if it is outside of the repository, unknown, or contains a character that the
 * configuration cannot repeat.
 * @param folder to which a relative path refers
 */
export function placedPath(path: string, folder: string): string | undefined {
  if (path.includes(unknownText) || /["'`;&|<>$*?\n]/.test(path)) return undefined;
  const isOfRoot = path === rootPath || path.startsWith(`${rootPath}/`);
  if (path.startsWith('/') && !isOfRoot) return undefined;
  const placed = isOfRoot ? posix.join('.', path.slice(rootPath.length)) : posix.join(folder, path);
  if (placed === '..' || placed.startsWith('../')) return undefined;
  return posix.normalize(placed === '' ? '.' : placed).replace(/(.)\/$/, '$1');
}

/** The units among the sources of a target. */
export function unitsAmong(sources: readonly string[], folder: string, { units }: BuildTree): readonly string[] {
  const paths = new Set(sources.flatMap((source) => placedPath(source, folder) ?? []));
  return [...paths].filter((path) => units.includes(path));
}

/** Whether a part of a text is unknown. */
export function hasUnknown(...texts: readonly string[]): boolean {
  return texts.some((text) => text.includes(unknownText));
}

/** Definitions that a text contains literally. */
export function literalDefinitions(text: string): string[] {
  return [...text.matchAll(/(?<![\w-])-D\s?([A-Za-z_]\w*(?:=[^\s;"'>)]*)?)/g)].map(([, definition]) => shownFlag(`-D${definition}`));
}

/** A flag for a comment: unknown parts are shown as `…`. */
export function shownFlag(flag: string): string {
  return flag
    .replaceAll(rootPath, '')
    .replaceAll(new RegExp(`${unknownText}+`, 'g'), '…')
    .replaceAll(/[^\x20-\x7e…]/g, '?')
    .slice(0, 80);
}
