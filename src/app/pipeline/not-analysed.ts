import { grouped } from '../../base/grouped.ts';
import type { FileDiff } from '../../source/diff.ts';
import type { KernelUnit } from '../build/phase-data.ts';
import type { NotAnalysed } from '../../report-model/report.ts';
import type { SourceFacts } from '../project/source-facts.ts';
import { isSource } from '../project/source-tree.ts';

/**
 * Parts of a change that were not checked: units that do not compile, kernels of changed files that no unit compiles,
 * code that other architectures select.
 */
export function unitsNotAnalysed(facts: SourceFacts, units: readonly KernelUnit[], diff: readonly FileDiff[]): NotAnalysed[] {
  const result: NotAnalysed[] = [];
  for (const { unit, compiled, arch } of units) {
    if (compiled) continue;
    result.push({ what: unit.path, reason: `it was not compiled for ${arch}`, location: { file: unit.path, line: 1 } });
  }
  const failed = new Set(units.filter(({ compiled }) => !compiled).map(({ unit }) => unit.path));
  const lines = compiledLines(units);
  for (const { path, status } of diff) {
    if (status === 'removed' || failed.has(path) || !isSource(path)) continue;
    const source = facts.source(path);
    // A header that no unit includes is itself listed as not analysed.
    if (!source || !units.some(({ unit, files }) => unit.path === path || files.has(path))) continue;
    for (const { qualified, firstLine, lastLine, signatureLine, templateParameters } of source.kernels) {
      const compiled = lines.get(path)?.some((line) => line >= firstLine && line <= lastLine);
      if (compiled) continue;
      const reason =
        templateParameters.length > 0
          ? 'no file instantiates this template'
          : 'the preprocessor removes it, or no compiled file contains it';
      result.push({ what: qualified, reason, location: { file: path, line: signatureLine } });
    }
    const conditional = source.text.split('\n').findIndex((line) => /^\s*#\s*(?:el)?if.*\b__CUDA_ARCH__\b/.test(line));
    if (conditional >= 0) {
      const arches = [...new Set(units.map(({ arch }) => arch))].join(', ');
      const reason = `it depends on __CUDA_ARCH__, and only ${arches} was analysed`;
      result.push({ what: path, reason, location: { file: path, line: conditional + 1 } });
    }
  }
  return result;
}

/** Lines of compiled kernels, by file. */
function compiledLines(units: readonly KernelUnit[]): Map<string, number[]> {
  const places = units.flatMap(({ kernels }) =>
    kernels.flatMap(({ kernel: { location, blocks } }) => [
      location,
      ...blocks.flatMap(({ instructions }) => instructions.map((one) => one.location)),
    ]),
  );
  const files = grouped(
    places.filter((place) => place !== undefined),
    ({ file }) => file,
  );
  return new Map([...files].map(([file, all]) => [file, all.map(({ line }) => line)]));
}
