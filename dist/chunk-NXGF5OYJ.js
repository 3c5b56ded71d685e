import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{analyseChange}from"./chunk-7VLVISAJ.js";import"./chunk-D3UVZWIX.js";import"./chunk-DZUU5PR7.js";import"./chunk-QC4AJJXE.js";import"./chunk-OB476QXW.js";import"./chunk-NF5V3Q6W.js";export{analyseChange};
