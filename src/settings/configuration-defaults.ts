/** Merges the configuration of a repository with the defaults of its organisation. */
import type { Configuration } from './configuration.ts';

/**
 * A configuration merged with defaults. Single values, the architectures, and the files to include are those of the
 * repository if it sets them. Flags, excluded files, entries on kernels, and suppressions are those of both, the
 * defaults first, so that the repository takes precedence.
 * @param isGiven whether the repository sets a key, by its path in the file
 */
export function withDefaults(own: Configuration, defaults: Configuration, isGiven: (...path: readonly string[]) => boolean): Configuration {
  const { race, divergence, memory, repair, cost, idempotency } = own.checks;
  const general = defaults.checks;
  const take = <Value>(path: readonly string[], mine: Value, theirs: Value): Value => (isGiven(...path) ? mine : theirs);
  return {
    ...defaults,
    ...own,
    arch: take(['arch'], own.arch, defaults.arch),
    nvcc: {
      args: [...defaults.nvcc.args, ...own.nvcc.args],
      compileCommands: own.nvcc.compileCommands.length > 0 ? own.nvcc.compileCommands : defaults.nvcc.compileCommands,
      stubsMissingHeaders: take(['nvcc', 'stub-missing-headers'], own.nvcc.stubsMissingHeaders, defaults.nvcc.stubsMissingHeaders),
    },
    paths: {
      include: take(['paths', 'include'], own.paths.include, defaults.paths.include),
      exclude: [...defaults.paths.exclude, ...own.paths.exclude],
    },
    kernels: [...defaults.kernels, ...own.kernels],
    checks: {
      race: {
        severity: take(['checks', 'race', 'severity'], race.severity, general.race.severity),
        sameValueWrites: take(['checks', 'race', 'same-value-writes'], race.sameValueWrites, general.race.sameValueWrites),
        volatile: take(['checks', 'race', 'volatile'], race.volatile, general.race.volatile),
        undecided: take(['checks', 'race', 'undecided'], race.undecided, general.race.undecided),
        warpLockstep: take(['checks', 'race', 'warp-lockstep'], race.warpLockstep, general.race.warpLockstep),
      },
      divergence: {
        severity: take(['checks', 'divergence', 'severity'], divergence.severity, general.divergence.severity),
        earlyExit: take(['checks', 'divergence', 'early-exit'], divergence.earlyExit, general.divergence.earlyExit),
      },
      memory: {
        overflow: take(['checks', 'memory', 'overflow'], memory.overflow, general.memory.overflow),
        alignment: take(['checks', 'memory', 'alignment'], memory.alignment, general.memory.alignment),
      },
      repair: {
        suggest: take(['checks', 'repair', 'suggest'], repair.suggest, general.repair.suggest),
        gridLevel: take(['checks', 'repair', 'grid-level'], repair.gridLevel, general.repair.gridLevel),
        removeRedundant: take(['checks', 'repair', 'remove-redundant'], repair.removeRedundant, general.repair.removeRedundant),
        weights: {
          grid: take(['checks', 'repair', 'grid-weight'], repair.weights.grid, general.repair.weights.grid),
          loop: take(['checks', 'repair', 'loop-weight'], repair.weights.loop, general.repair.weights.loop),
        },
      },
      cost: { ...general.cost, ...cost },
      idempotency: take(['checks', 'idempotency'], idempotency, general.idempotency),
    },
    // Suppressions of the organisation are marked: authors of one repository cannot edit them.
    suppressions: [...defaults.suppressions.map((one) => ({ ...one, isShared: true as const })), ...own.suppressions],
  };
}
