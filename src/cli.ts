#!/usr/bin/env node
import { keepCompiledCode } from './driver/code-cache.ts';

keepCompiledCode(process.env);
const { runProgram } = await import('./program.ts');
process.exitCode = await runProgram(import.meta.url);
