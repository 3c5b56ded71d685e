#!/usr/bin/env node
import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{keepCompiledCode,loadCompiled}from"./chunk-DZUU5PR7.js";import"./chunk-OB476QXW.js";import"./chunk-NF5V3Q6W.js";keepCompiledCode(process.env);var{runProgram}=await loadCompiled(()=>import("./chunk-T6JP24MW.js"));process.exitCode=await runProgram(import.meta.url);
