import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runKernel}from"./chunk-R4XMS6VU.js";import"./chunk-NBOJ3JUR.js";import"./chunk-Z57LPYLA.js";import"./chunk-VKBNJLW4.js";import"./chunk-Y5PU75EN.js";import"./chunk-QC4AJJXE.js";import"./chunk-OB476QXW.js";import"./chunk-NF5V3Q6W.js";export{runKernel};
