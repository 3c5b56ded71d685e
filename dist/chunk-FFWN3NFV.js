import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runKernel}from"./chunk-O3Z3UQKO.js";import"./chunk-UYPNUZUW.js";import"./chunk-J3X3SYDO.js";import"./chunk-JIL45NDU.js";import"./chunk-FP3TNINI.js";import"./chunk-NF5V3Q6W.js";export{runKernel};
