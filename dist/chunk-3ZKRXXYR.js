import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{applyLineEdits,distinctEdits,editsByFile,lineEdits,repairedFiles}from"./chunk-7JEZVYKD.js";import"./chunk-LD5RLZEC.js";import"./chunk-3E2NH6NA.js";import"./chunk-NF5V3Q6W.js";export{applyLineEdits,distinctEdits,editsByFile,lineEdits,repairedFiles};
