/** Caches results of checks of kernels. */
import type { CheckRequest, CheckResult } from '../../check/request/check-request.ts';
import type { Departure } from '../../cuda/reading/early-return.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { Module } from '../../ptx/ast.ts';
import { parsePtx } from '../../ptx/parser.ts';
import type { Options } from '../../settings/options.ts';
import { clock } from '../../system/clock.ts';
import type { CheckTask, KernelSource } from '../workers/check-executor.ts';
import { isWhole, type KernelChecks } from '../workers/check-pool.ts';
import { textOfValue } from './encoding.ts';
import { canonicalKernelPtx } from './kernel-key.ts';
import { absolutePlaces, relativePlaces } from './relative-places.ts';
import { digest, type ResultStore } from './result-store.ts';

type Places = Parameters<NonNullable<CheckRequest['departure']>>;

/** Cached data of a check. */
interface KeptCheck {
  /** Results by launch, with line numbers relative to the first line of the kernel. */
  readonly results: readonly CheckResult[];
  /** Queries of the check about the source text, with their answers. */
  readonly asked: readonly { readonly places: Places; readonly answer: Departure | undefined }[];
  /** Name of the solver if the check started one. */
  readonly solver: string | null;
}

/**
 * Reuses results of checks if all their inputs are unchanged: the PTX of the kernel with everything it uses, launches,
 * assumptions, parameters, settings and the program itself. Queries of a check about the source text are repeated and
 * must have the same answers.
 *
 * Checks that the time limit, the memory or an internal error ended early are not cached.
 */
export function keepingChecks(
  checks: KernelChecks,
  store: ResultStore,
  { solver, effort }: Pick<Options, 'solver' | 'effort'>,
): KernelChecks {
  let keptSolver: string | null = null;
  return {
    ...checks,
    solverName: async () => (await checks.solverName()) ?? keptSolver,
    async check(task) {
      const key = keyOf(task, store, `${solver} ${effort}`);
      if (key === undefined) return checks.check(task);
      const origin = task.request.kernel.location;
      const kept = await keptCheck(store.read(key), task);
      if (kept) {
        keptSolver ??= kept.solver;
        return kept.results.map((result) => ({ result: absolutePlaces(result, origin) as CheckResult }));
      }
      const asked: { readonly places: Places; readonly answer: Departure | undefined }[] = [];
      let isAsked = false;
      const { departure } = task.request;
      const started = clock();
      const outcomes = await checks.check({
        ...task,
        onSolver: () => void (isAsked = true),
        request: {
          ...task.request,
          ...(departure && {
            departure: async (...places) => {
              const answer = await departure(...places);
              asked.push({ places, answer });
              return answer;
            },
          }),
        },
      });
      store.addCost(task.source.path, clock() - started);
      if (outcomes.every(isWhole)) {
        const results = outcomes.map((outcome) => ('result' in outcome ? outcome.result : undefined));
        const name = isAsked ? await checks.solverName() : null;
        store.write(key, { ...(relativePlaces({ results, asked }, origin) as object), solver: name });
      }
      return outcomes;
    },
  };
}

/** The cached check if it fits the task and its queries about the source still have the same answers. */
async function keptCheck(value: unknown, { request, launches }: CheckTask): Promise<KeptCheck | undefined> {
  if (!isKeptCheck(value) || value.results.length !== launches.length) return undefined;
  for (const { places, answer } of value.asked) {
    const now = absolutePlaces(places, request.kernel.location) as Places;
    if ((await request.departure?.(...now)) !== answer) return undefined;
  }
  return value;
}

function isKeptCheck(value: unknown): value is KeptCheck {
  if (typeof value !== 'object' || value === null) return false;
  const { results, asked, solver } = value as Partial<Record<keyof KeptCheck, unknown>>;
  const isResult = (one: unknown): boolean =>
    typeof one === 'object' && one !== null && 'race' in one && 'divergence' in one && 'open' in one;
  const isAnswer = (one: unknown): boolean => typeof one === 'object' && one !== null && 'places' in one && Array.isArray(one.places);
  return (
    Array.isArray(results) &&
    results.every(isResult) &&
    Array.isArray(asked) &&
    asked.every(isAnswer) &&
    (solver === null || typeof solver === 'string')
  );
}

function keyOf(task: CheckTask, store: ResultStore, means: string): string | undefined {
  const { request, launches, switches, source } = task;
  const { kernel, objectName, departure, ...asked } = request;
  void objectName;
  const origin = kernel.location;
  try {
    const parts = [digest(kernelStringOf(task)), headOf(kernel), asked, launches, switches, departure !== undefined];
    return store.keyOf('check', [means, source.path, ...(relativePlaces(parts, origin) as unknown[])]);
  } catch {
    return undefined;
  }
}

/** The code of the kernel as text. */
function kernelStringOf({ request: { kernel }, source, module }: CheckTask): string {
  // Locations and reasons of findings in PTX name its lines.
  const isPlaced = kernel.unsupported.length > 0 || kernel.location === undefined || source.path.endsWith('.ptx');
  if (isPlaced) return `${textOfValue([...source.files])}\n${kernel.symbol}\n${source.ptx}`;
  return canonicalKernelPtx(module ?? moduleOf(source), kernel);
}

const modules = new WeakMap<KernelSource, Module>();

function moduleOf(source: KernelSource): Module {
  const known = modules.get(source) ?? { ...parsePtx(source.ptx, source.path).module, files: source.files };
  modules.set(source, known);
  return known;
}

/** Results of lowering the kernel, other than its code. */
function headOf(kernel: Kernel): unknown {
  const { blocks, values, dominators, postdominators, loops, loopOf, unsupported, location, ...head } = kernel;
  void [blocks, values, dominators, postdominators, loops, loopOf, unsupported];
  return [head, location?.file];
}
