/** Caches the compiled code of regions between runs. */
import type { Program } from '../core/program.ts';
import type { Plan } from './region/wasm-plan.ts';
import type { RegionCode } from './region/wasm-region.ts';

export interface CompiledRegion {
  readonly module: WebAssembly.Module;
  readonly arithmetic: RegionCode['arithmetic'];
}

/** Modules by the launch properties that the code depends on, oldest first. */
const compiled = new WeakMap<Program, Map<string, Map<number, CompiledRegion>>>();
const maxPlans = 8;

/**
 * The compiled modules of a plan, by the segment at which the region starts. Added modules are cached for later runs
 * with the same code.
 */
export function compiledRegions(plan: Plan): Map<number, CompiledRegion> {
  let plans = compiled.get(plan.program);
  if (!plans) compiled.set(plan.program, (plans = new Map<string, Map<number, CompiledRegion>>()));
  const { block, grid, detection, sifting, sites, places, pageTable, dynamicShared, frame, objectAddresses } = plan;
  const key = JSON.stringify([block, grid, detection, sifting, sites, places, pageTable, dynamicShared, frame, objectAddresses]);
  let regions = plans.get(key);
  if (!regions) {
    const [oldest] = plans.keys();
    if (plans.size >= maxPlans && oldest !== undefined) plans.delete(oldest);
    plans.set(key, (regions = new Map<number, CompiledRegion>()));
  }
  return regions;
}
