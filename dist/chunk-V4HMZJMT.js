import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{findKernel,kernelParameters}from"./chunk-TJXWNSVN.js";import"./chunk-BAPLSSWI.js";import"./chunk-NF5V3Q6W.js";export{findKernel,kernelParameters};
