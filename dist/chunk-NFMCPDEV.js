import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
function distinctDiagnostics(diagnostics){return[...new Map(diagnostics.map(diagnostic=>[JSON.stringify(diagnostic),diagnostic])).values()]}export{distinctDiagnostics};
