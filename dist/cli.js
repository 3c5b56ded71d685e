#!/usr/bin/env node
import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{collectAtOnce,keepCompiledCode,loadCompiled,loadNodeModules,optimiseLate}from"./chunk-system-cache-folder.js";import"./chunk-required-node-fs.js";import"./chunk-empty.js";loadNodeModules();optimiseLate();collectAtOnce();keepCompiledCode(process.env);var{runProgram}=await loadCompiled(()=>import("./chunk-load-program.js"));process.exitCode=await runProgram(import.meta.url);
