/** The command line of Selvage with all kernels in the main thread, which prints its CPU time, for `where.ts`. */
import { checkLimits } from '../../src/app/workers/check-pool.ts';
import { collectAtOnce, loadNodeModules, optimiseLate } from '../../src/system/engine-flags.ts';

loadNodeModules();
optimiseLate();
collectAtOnce();
Object.assign(checkLimits, { alone: 2 ** 30, stretch: 2 ** 30 });
const { runProgram } = await import('../../src/program.ts');
process.exitCode = await runProgram(new URL('../../src/cli.ts', import.meta.url).href);
const { user, system } = process.cpuUsage();
console.log(`CPU of the process: ${Math.round((user + system) / 1000)}`);
