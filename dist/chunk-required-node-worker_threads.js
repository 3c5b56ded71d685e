import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{__require}from"./chunk-empty.js";var all=__require("node:worker_threads"),part=name=>all[name];var Worker_=part("Worker"),parentPort_=part("parentPort");export{Worker_,parentPort_};
