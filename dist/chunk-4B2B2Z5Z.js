import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
var sharedWindow=1n<<50n,localWindow=1n<<51n,windowBytes=1n<<32n;export{sharedWindow,localWindow,windowBytes};
