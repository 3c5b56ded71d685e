import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{__require}from"./chunk-empty.js";var all=__require("node:child_process"),part=name=>all[name];var execFile_=part("execFile");var spawn_=part("spawn");export{execFile_,spawn_};
