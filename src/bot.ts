#!/usr/bin/env node
import { interruptible } from './system/interruption.ts';
import { serve } from './serve/serve.ts';

process.exitCode = await interruptible((signal) =>
  serve(process.env, signal, (line) => void process.stderr.write(`selvage: ${line}\n`)),
);
