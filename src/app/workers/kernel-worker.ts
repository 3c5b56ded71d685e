/** Entry point of the worker threads that check kernels. */
import { parentPort } from 'node:worker_threads';
import { checkSteps } from '../../check/check-kernel.ts';
import { serveChecks } from './check-service.ts';

if (parentPort) serveChecks(parentPort, checkSteps);
