#!/usr/bin/env node
import { keepCompiledCode, loadCompiled } from './system/code-cache.ts';
import { collectAtOnce, loadNodeModules, optimiseLate } from './system/engine-flags.ts';

loadNodeModules();
optimiseLate();
collectAtOnce();
keepCompiledCode(process.env);
const { runProgram } = await loadCompiled(() => import('./program.ts'));
process.exitCode = await runProgram(import.meta.url);
