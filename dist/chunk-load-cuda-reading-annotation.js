import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{commentProblems,readAnnotations}from"./chunk-core.js";import"./chunk-system-cache-folder.js";import"./chunk-required-node-url.js";import"./chunk-required-node-fs.js";import"./chunk-diff-libesm-convert-dmp.js";import"./chunk-empty.js";export{commentProblems,readAnnotations};
