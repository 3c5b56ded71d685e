#!/usr/bin/env node
import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{keepCompiledCode,loadCompiled}from"./chunk-4SBCKELT.js";import"./chunk-NF5V3Q6W.js";keepCompiledCode(process.env);var{runProgram}=await loadCompiled(()=>import("./chunk-QETX3PPV.js"));process.exitCode=await runProgram(import.meta.url);
