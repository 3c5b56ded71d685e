import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
var always={kind:"always"},never={kind:"never"};export{always,never};
