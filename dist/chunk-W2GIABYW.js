import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{compareKernels}from"./chunk-WUFYJ7WE.js";import"./chunk-BG6ZQQTZ.js";import"./chunk-NF5V3Q6W.js";export{compareKernels};
