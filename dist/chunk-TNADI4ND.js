import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
var UsageError=class extends Error{name="UsageError"};export{UsageError};
