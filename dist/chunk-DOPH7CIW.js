import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
function compareText(a,b){return a<b?-1:a>b?1:0}export{compareText};
