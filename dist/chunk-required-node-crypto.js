import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{__require}from"./chunk-empty.js";var all=__require("node:crypto"),part=name=>all[name];var createHash_=part("createHash");var randomBytes_=part("randomBytes");var randomUUID_=part("randomUUID");export{createHash_,randomBytes_,randomUUID_};
