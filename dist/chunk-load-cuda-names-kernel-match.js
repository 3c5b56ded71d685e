import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{findKernel,kernelParameters}from"./chunk-cuda-names-kernel-match.js";import"./chunk-core.js";import"./chunk-system-cache-folder.js";import"./chunk-required-node-url.js";import"./chunk-required-node-fs.js";import"./chunk-empty.js";export{findKernel,kernelParameters};
