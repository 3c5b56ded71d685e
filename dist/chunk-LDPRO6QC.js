import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runIfSmall,runStaged}from"./chunk-DEPP425U.js";import"./chunk-BH4A4PHT.js";import"./chunk-D3UVZWIX.js";import"./chunk-DZUU5PR7.js";import"./chunk-QC4AJJXE.js";import"./chunk-OB476QXW.js";import"./chunk-NF5V3Q6W.js";export{runIfSmall,runStaged};
