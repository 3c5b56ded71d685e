import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runIfSmall,runStaged}from"./chunk-UYPNUZUW.js";import"./chunk-J3X3SYDO.js";import"./chunk-FP3TNINI.js";import"./chunk-NF5V3Q6W.js";export{runIfSmall,runStaged};
