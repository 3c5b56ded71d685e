import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runKernel}from"./chunk-3HUZYVDH.js";import"./chunk-MSEPUDBN.js";import"./chunk-KEP6C5FF.js";import"./chunk-IV3KAT5V.js";import"./chunk-4B2B2Z5Z.js";import"./chunk-DZVBVKCA.js";import"./chunk-MJMF7E7J.js";import"./chunk-GGPBSLOS.js";import"./chunk-NF5V3Q6W.js";export{runKernel};
