import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
function confinedEnvironment(searchPath,temporary){return{PATH:searchPath.join(":"),HOME:temporary,TMPDIR:temporary,LC_ALL:"C",SOURCE_DATE_EPOCH:"0"}}export{confinedEnvironment};
