#!/usr/bin/env node
import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
process.stderr.write(`selvage serve, the webhook server of a GitHub App, is not available in this version.
`);process.exitCode=2;
