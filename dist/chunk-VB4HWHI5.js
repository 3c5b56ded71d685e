import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{runKernel}from"./chunk-D2E6U242.js";import"./chunk-OPEOSQ4M.js";import"./chunk-SBRMOAUI.js";import"./chunk-JEFYE5HJ.js";import"./chunk-Y5PU75EN.js";import"./chunk-QC4AJJXE.js";import"./chunk-OB476QXW.js";import"./chunk-NF5V3Q6W.js";export{runKernel};
