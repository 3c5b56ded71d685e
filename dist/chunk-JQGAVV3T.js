import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{declaredTypes,structLayout}from"./chunk-ORU6LDUU.js";import"./chunk-4TEOG2QE.js";import"./chunk-GYTBMRE3.js";import"./chunk-X7CK4VL7.js";import"./chunk-NF5V3Q6W.js";export{declaredTypes,structLayout};
