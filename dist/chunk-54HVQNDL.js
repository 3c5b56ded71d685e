import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{repairedFiles}from"./chunk-7JEZVYKD.js";import{createTwoFilesPatch}from"./chunk-LD5RLZEC.js";function renderPatch({kernels},source){return[...repairedFiles(kernels,source)].map(([file,text])=>createTwoFilesPatch(`a/${file}`,`b/${file}`,source(file),text,void 0,void 0,{context:3}).replace(/^=+\n/,`diff --git a/${file} b/${file}
`)).join("")}export{renderPatch};
