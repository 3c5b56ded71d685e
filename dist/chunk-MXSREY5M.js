import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{findKernel,kernelParameters}from"./chunk-NBCFLHN3.js";import"./chunk-OP256Q2Y.js";import"./chunk-Y5PU75EN.js";import"./chunk-QC4AJJXE.js";import"./chunk-OB476QXW.js";import"./chunk-NF5V3Q6W.js";export{findKernel,kernelParameters};
