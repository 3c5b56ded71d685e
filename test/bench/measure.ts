/** Shared by the benches: timed programs and work, and lines of figures. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findAssets } from '../../src/app/project/assets.ts';
import { defaultOptions, type Options } from '../../src/settings/options.ts';
import { openProject } from '../../src/app/build/open-project.ts';
import type { Job } from '../../src/app/project/job.ts';
import type { BuiltText, UnitBuilder } from '../../src/app/project/unit-builder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** In milliseconds. */
export interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

/** A job whose builder compiles and assembles each build once. */
export async function compiled(file: string, options: Partial<Options> = {}): Promise<Job> {
  const job = await openProject({
    paths: [file],
    nvccArguments: [],
    options: { ...defaultOptions(), ...options },
    progress: { log: () => undefined, defect: () => undefined },
    services: {
      cwd: root,
      environment: process.env,
      assets: findAssets(new URL('../../src/cli.ts', import.meta.url).href),
    },
  });
  const { builder } = job.project;
  const builds = new Map<string, Promise<BuiltText>>();
  const build: UnitBuilder['build'] = (unit, kind, arch) => {
    const key = `${unit.path} ${kind} ${arch}`;
    const known = builds.get(key) ?? builder.build(unit, kind, arch);
    builds.set(key, known);
    return known;
  };
  const assembled = new Map<string, ReturnType<NonNullable<UnitBuilder['resources']>>>();
  const resources: UnitBuilder['resources'] = (ptx, arch, unit) => {
    const key = `${unit?.path} ${arch} ${ptx.length}`;
    const known = assembled.get(key) ?? builder.resources!(ptx, arch, unit);
    assembled.set(key, known);
    return known;
  };
  const once = { ...builder, build, ...(builder.resources ? { resources } : {}) };
  return { ...job, project: { ...job.project, builder: once } };
}

/** Runs a program. Bash times it with all that it starts; its output goes to a file. */
export function timed(
  output: string,
  program: string,
  args: readonly string[],
  environment: Record<string, string> = {},
  cwd: string = process.cwd(),
): Cost {
  const script = 'TIMEFORMAT="%3R %3U %3S"; time "$@" > "$0" 2>&1';
  const { status, stderr, error } = spawnSync('bash', ['-c', script, output, program, ...args], {
    encoding: 'utf8',
    cwd,
    env: { ...process.env, ...environment },
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${status}; see ${output}\n${stderr}`);
  const [wall = NaN, user = NaN, system = NaN] = stderr.trim().split(' ').map(Number);
  return { wall: wall * 1000, cpu: (user + system) * 1000 };
}

/** The cost of work in this process, its worker threads included. */
export async function measured(work: () => Promise<unknown>): Promise<Cost> {
  const started = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wall: performance.now() - started, cpu: (user + system) / 1000 };
}

export function best(costs: readonly Cost[]): Cost {
  return { wall: Math.min(...costs.map(({ wall }) => wall)), cpu: Math.min(...costs.map(({ cpu }) => cpu)) };
}

export function sum(costs: readonly Cost[]): Cost {
  return costs.reduce((total, { wall, cpu }) => ({ wall: total.wall + wall, cpu: total.cpu + cpu }));
}

/** @param share of the numbers that are below the result; between two of them it is interpolated */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return below + (above - below) * (place - Math.floor(place));
}

export function line(first: string, ...cells: readonly string[]): void {
  console.log(first.padEnd(44) + cells.map((cell) => cell.padStart(14)).join(''));
}
