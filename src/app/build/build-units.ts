import { distinctDiagnostics, type Diagnostic } from '../../source/diagnostic.ts';
import type { Unit } from '../project/input-files.ts';
import type { BuildKind, UnitBuilder } from '../project/unit-builder.ts';
import type { BuiltUnit } from './phase-data.ts';

/** Builds that the verification of kernels needs. */
export const bothBuilds: readonly BuildKind[] = ['verification', 'production'];

/**
 * Builds every unit for every architecture.
 * @param wanted builds of CUDA units; PTX has one build
 * @returns a promise per build, so that a caller can continue with one while others are compiled
 */
export function buildUnits(
  units: readonly Unit[],
  architectures: readonly string[],
  builder: Pick<UnitBuilder, 'build'>,
  wanted: readonly BuildKind[] = bothBuilds,
): Promise<BuiltUnit>[] {
  const isOneOfSeveral = architectures.length > 1;
  // PTX does not depend on the requested architecture.
  return architectures.flatMap((arch, index) =>
    units.flatMap((unit) => (unit.kind === 'ptx' && index > 0 ? [] : [buildUnit(unit, arch, builder, wanted, isOneOfSeveral)])),
  );
}

async function buildUnit(
  unit: Unit,
  arch: string,
  builder: Pick<UnitBuilder, 'build'>,
  wanted: readonly BuildKind[],
  isOneOfSeveral: boolean,
): Promise<BuiltUnit> {
  const build = (kind: BuildKind) =>
    (unit.kind === 'ptx' ? kind === 'verification' : wanted.includes(kind)) ? builder.build(unit, kind, arch) : undefined;
  const [verification, production] = await Promise.all([build('verification'), build('production')]);
  const diagnostics = distinctDiagnostics([...(verification?.diagnostics ?? []), ...(production?.diagnostics ?? [])]);
  const told = isOneOfSeveral ? diagnostics.map((diagnostic) => forArchitecture(diagnostic, arch)) : diagnostics;
  return {
    unit,
    arch,
    ...(unit.kind !== 'ptx' && !wanted.includes('verification') && { isProductionAlone: true }),
    verification: verification?.ptx,
    production: production?.ptx,
    host: production?.host,
    ...(verification?.unoptimised && { unoptimised: verification.unoptimised }),
    diagnostics: told,
  };
}

/** A unit may compile for one architecture and fail for another. */
function forArchitecture(diagnostic: Diagnostic, arch: string): Diagnostic {
  if (diagnostic.code !== 'compile/failed') return diagnostic;
  return { ...diagnostic, message: `${diagnostic.message} (${arch})` };
}
