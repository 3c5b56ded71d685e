import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runKernel}from"./chunk-CKZRZIGY.js";import"./chunk-IQ6SHUYZ.js";import"./chunk-HQ34KZ3X.js";import"./chunk-7LJJI27S.js";import"./chunk-Y5PU75EN.js";import"./chunk-QC4AJJXE.js";import"./chunk-OB476QXW.js";import"./chunk-NF5V3Q6W.js";export{runKernel};
