#!/usr/bin/env node
import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import"./chunk-core.js";import"./chunk-system-cache-folder.js";import"./chunk-required-node-url.js";import"./chunk-required-node-fs.js";import"./chunk-diff-libesm-convert-dmp.js";import"./chunk-empty.js";process.stderr.write(`selvage serve, the webhook server of a GitHub App, is not available in this version.
`);process.exitCode=2;
