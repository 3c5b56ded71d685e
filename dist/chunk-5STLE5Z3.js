import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runKernel}from"./chunk-SJ6MKZHB.js";import"./chunk-M76VZMT2.js";import"./chunk-H7TG3VQG.js";import"./chunk-RCN63IZA.js";import"./chunk-Y5PU75EN.js";import"./chunk-QC4AJJXE.js";import"./chunk-OB476QXW.js";import"./chunk-NF5V3Q6W.js";export{runKernel};
