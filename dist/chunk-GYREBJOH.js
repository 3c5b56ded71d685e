import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runIfSmall,runStaged}from"./chunk-MSEPUDBN.js";import"./chunk-KEP6C5FF.js";import"./chunk-IV3KAT5V.js";import"./chunk-4B2B2Z5Z.js";import"./chunk-MJMF7E7J.js";import"./chunk-GGPBSLOS.js";import"./chunk-NF5V3Q6W.js";export{runIfSmall,runStaged};
