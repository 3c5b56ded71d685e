import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import"./chunk-NF5V3Q6W.js";function renderJson(report){return JSON.stringify(report,null,2)+`
`}export{renderJson};
