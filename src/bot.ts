#!/usr/bin/env node
import { runServer } from './serve/server-process.ts';

await runServer();
