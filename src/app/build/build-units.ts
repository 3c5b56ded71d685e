import { distinctDiagnostics, type Diagnostic } from '../../source/diagnostic.ts';
import type { Unit } from '../project/inputs.ts';
import type { BuildKind, UnitBuilder } from '../project/unit-builder.ts';
import type { BuiltUnit } from './kernel.ts';

/**
 * Builds every unit for every architecture, in both ways.
 * @returns as many promises as there are builds: who waits for one can go on while others are compiled
 */
export function buildUnits(
  units: readonly Unit[],
  architectures: readonly string[],
  builder: Pick<UnitBuilder, 'build'>,
): Promise<BuiltUnit>[] {
  // PTX is what it is, whatever architecture is asked for.
  return architectures.flatMap((arch, index) =>
    units.flatMap((unit) =>
      unit.kind === 'ptx' && index > 0 ? [] : [buildUnit(unit, arch, builder, architectures.length > 1)],
    ),
  );
}

async function buildUnit(
  unit: Unit,
  arch: string,
  builder: Pick<UnitBuilder, 'build'>,
  isOneOfSeveral: boolean,
): Promise<BuiltUnit> {
  const kinds: readonly BuildKind[] = unit.kind === 'ptx' ? ['verification'] : ['verification', 'production'];
  const [verification, production] = await Promise.all(kinds.map((kind) => builder.build(unit, kind, arch)));
  const diagnostics = distinctDiagnostics([...(verification?.diagnostics ?? []), ...(production?.diagnostics ?? [])]);
  const told = isOneOfSeveral ? diagnostics.map((diagnostic) => forArchitecture(diagnostic, arch)) : diagnostics;
  return {
    unit,
    arch,
    verification: verification?.ptx,
    production: production?.ptx,
    host: production?.host,
    diagnostics: told,
  };
}

/** A unit may compile for one architecture and not for another. */
function forArchitecture(diagnostic: Diagnostic, arch: string): Diagnostic {
  if (diagnostic.code !== 'compile/failed') return diagnostic;
  return { ...diagnostic, message: `${diagnostic.message} (${arch})` };
}
