#!/usr/bin/env node
process.stderr.write('selvage serve, the webhook server of a GitHub App, is not available in this version.\n');
process.exitCode = 2;
