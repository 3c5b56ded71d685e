import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runIfSmall,runStaged}from"./chunk-5N6X7UOL.js";import"./chunk-J3X3SYDO.js";import"./chunk-HK4HHBMV.js";import"./chunk-NF5V3Q6W.js";export{runIfSmall,runStaged};
