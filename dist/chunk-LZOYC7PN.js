import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{compareKernels}from"./chunk-POEM2EZW.js";import"./chunk-OM6R2VKG.js";import"./chunk-NF5V3Q6W.js";export{compareKernels};
