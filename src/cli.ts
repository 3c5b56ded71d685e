#!/usr/bin/env node
import { keepCompiledCode, loadCompiled } from './driver/code-cache.ts';

keepCompiledCode(process.env);
const { runProgram } = await loadCompiled(() => import('./program.ts'));
process.exitCode = await runProgram(import.meta.url);
