import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{analyseChange}from"./chunk-4XLSUYP6.js";import"./chunk-VKBNJLW4.js";import"./chunk-Y5PU75EN.js";import"./chunk-QC4AJJXE.js";import"./chunk-OB476QXW.js";import"./chunk-NF5V3Q6W.js";export{analyseChange};
