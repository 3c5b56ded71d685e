import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{UsageError,codes,exitCodes,nearest}from"./chunk-core.js";import"./chunk-system-cache-folder.js";import"./chunk-required-node-url.js";import"./chunk-required-node-fs.js";import"./chunk-diff-libesm-convert-dmp.js";import"./chunk-empty.js";function codeList(){let groups=new Map;for(let[code,{title}]of Object.entries(codes)){let group=code.slice(0,code.indexOf("/"));groups.set(group,`${groups.get(group)??""}${code}
    ${title}
`)}return[...groups.values()].join(`
`)}async function explainCommand({paths},{stdout}){let[code]=paths,known=Object.keys(codes);if(paths.length>1)throw new UsageError("`selvage explain` explains one code; without a code it lists all.");if(code===void 0)return stdout.write(codeList()),exitCodes.success;if(!Object.hasOwn(codes,code)){let close=nearest(code,known);throw new UsageError(close?`${code} is not a code. Did you mean ${close}? \`selvage explain\` without a code lists all.`:`${code} is not a code. The codes are: ${known.join(", ")}.`)}let{severity,title,explanation,example,remedy}=codes[code],indented=example.split(`
`).map(line=>`    ${line}`);return stdout.write([`${code} (${severity})`,"",title,"",explanation,"",...indented,"",`Remedy: ${remedy}`,""].join(`
`)),exitCodes.success}export{explainCommand};
