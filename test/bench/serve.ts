/**
 * Load on `selvage serve`: pull requests that are all opened at once, in repositories of which one is busier than the
 * others, against the GitHub of the tests. Prints the memory of the server and its child processes, whether each pull
 * request was answered, and in which order. `npm run bench -- serve [PULL REQUESTS]`, 50 by default.
 */
import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { memoryOfTree } from '../../src/system/process-memory.ts';
import { BotPull } from '../github/bot-fixture.ts';
import { pullRequestPayload } from '../github/payload.ts';
import { gitRepository } from '../github/repository.ts';
import { createWorkspace } from '../github/runner.ts';
import { appOptions, deliver, pressButton, startServing } from '../serve/app-fixture.ts';

const number = Number(process.argv[3] ?? 50);
const repositories = Math.min(10, number);
/** Deliveries of the first repository; the others share the remaining ones. */
const busy = Math.max(1, Math.round(number * 0.28));
const token = 'token-of-the-installation';
const idsOfEach = 10_000;

interface Opened {
  readonly repo: string;
  readonly pullNumber: number;
  readonly head: string;
  readonly pull: BotPull;
}

const kernel = (salt: number, isRacy: boolean): string => `__global__ void shift(const int *in, int *out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[threadIdx.x] + ${salt};
${isRacy ? '' : '  __syncthreads();\n'}  out[threadIdx.x] = s[255 - threadIdx.x];
}
void launch(const int *in, int *out) { shift<<<1, 256>>>(in, out); }
`;

const folder = mkdtempSync(join(tmpdir(), 'selvage-load-'));
const workspace = createWorkspace();
const baseSha = workspace.commit({ 'src/shift.cu': kernel(0, false) });
mkdirSync(join(folder, 'octo'));
for (let index = 0; index < repositories; index += 1) symlinkSync(workspace.root, join(folder, `octo/kernels${index}.git`));
const repository = gitRepository(workspace.root);

const opened: Opened[] = [];
for (let index = 0; index < number; index += 1) {
  const repo = `kernels${index < busy ? 0 : 1 + ((index - busy) % Math.max(1, repositories - 1))}`;
  const head = workspace.commit({ 'src/shift.cu': kernel(index + 1, index % 2 === 0) }, baseSha);
  const pullNumber = index + 1;
  const options = { owner: 'octo', repo, pullNumber, baseSha, headSha: head, repository, files: ['src/shift.cu'] };
  const pull = await BotPull.open({ ...appOptions(token), ...options, firstId: 1000 + index * idsOfEach });
  opened.push({ repo, pullNumber, head, pull });
}

/** The pull request that a request is about, by its number, its head, or a number that its GitHub gave out. */
function meant(path: string, body: string): Opened {
  const numbered = /\/(?:pulls|issues)\/(\d+)/.exec(path)?.[1];
  const given = /\/(?:check-runs|comments|reviews)\/(\d+)/.exec(path)?.[1];
  const byId = given === undefined ? undefined : opened[Math.floor((Number(given) - 1000) / idsOfEach)];
  const byNumber = numbered === undefined ? undefined : opened[Number(numbered) - 1];
  return byNumber ?? byId ?? opened.find(({ head }) => path.includes(head) || body.includes(head)) ?? opened[0]!;
}
const front = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts);
    const path = request.url ?? '/';
    const { authorization } = request.headers;
    const { method = 'GET' } = request;
    const asked = { method, headers: authorization === undefined ? {} : { authorization }, ...(body.length > 0 && { body }) };
    fetch(`${meant(path, body.toString()).pull.server.url}${path}`, asked)
      .then(async (answer) => {
        const headers = { 'content-type': answer.headers.get('content-type') ?? 'application/json' };
        response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
      })
      .catch(() => response.destroy());
  });
});
await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));

const app = startServing(
  fileURLToPath(new URL('../../dist/cli.js', import.meta.url)),
  {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    PORT: '0',
    SELVAGE_DATA: join(folder, 'data'),
    SELVAGE_WRITE_INTERVAL: '0',
    GITHUB_API_URL: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    GITHUB_SERVER_URL: `file://${folder}`,
  },
  folder,
);
const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);
const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
const peak = { server: 0, all: 0 };
try {
  const [, page = ''] = await app.line(/open (http\S+)/);
  await pressButton(page);
  const [, port = ''] = await app.line(/listening on port (\d+)/);
  const started = performance.now();
  // Repository by repository: in this order the busy one would come first.
  const statuses = await Promise.all(
    opened.map(({ repo, pullNumber, head }, index) =>
      deliver(
        port,
        `d${index}`,
        'pull_request',
        pullRequestPayload('opened', { owner: 'octo', repo, number: pullNumber, headSha: head, baseSha }),
      ),
    ),
  );
  const taken = performance.now() - started;
  const order = (): Opened[] =>
    app.lines.flatMap((line) => opened[Number(/delivery d(\d+): reviewed/.exec(line)?.[1] ?? Number.NaN)] ?? []);
  const pid = app.child.pid ?? 0;
  while (order().length < number && app.child.exitCode === null) {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    peak.server = Math.max(peak.server, Number(/process_resident_memory_bytes (\d+)/.exec(metrics)?.[1] ?? 0));
    peak.all = Math.max(peak.all, memoryOfTree(pid) ?? 0);
    if (!metrics.includes(`state="failed"} 0`)) throw new Error(`deliveries failed:\n${app.lines.join('\n')}`);
    await wait(200);
  }
  const whole = (performance.now() - started) / 1000;
  const answered = opened.filter(({ pull: { server } }, index) => {
    const [run] = server.checkRuns;
    return run !== undefined && (index % 2 === 0 ? server.reviewComments.length === 1 : run.conclusion === 'success');
  });
  // With turns, no repository gets its second answer before each has its first: all of them are within the first answers.
  const firsts = [
    ...new Map(
      order()
        .map((one, position) => [one.repo, position] as const)
        .reverse(),
    ).values(),
  ];
  const faults = opened.flatMap(({ pull: { server } }) => server.faults);
  writeLine(`${number} pull requests of ${repositories} repositories, ${busy} of them of one; two analyses at a time`);
  writeLine(
    `taken: ${statuses.filter((status) => status === 202).length} in ${Math.round(taken)} ms; answered: ${answered.length} in ${whole.toFixed(0)} s`,
  );
  writeLine(`memory at most: server ${mebibytes(peak.server)}, with all that it started ${mebibytes(peak.all)}`);
  writeLine(`every repository had its first answer among the first ${Math.max(...firsts) + 1}`);
  writeLine(
    `order: ${order()
      .map(({ repo }) => repo.replace('kernels', ''))
      .join(' ')}`,
  );
  for (const fault of new Set(faults)) writeLine(`fault: ${fault}`);
  process.exitCode = answered.length === number && faults.length === 0 ? 0 : 1;
} finally {
  app.child.kill('SIGTERM');
  await app.line(/the server ended/);
  front.close();
  front.closeAllConnections();
  await Promise.all(opened.map(({ pull }) => pull.server.close()));
  workspace.dispose();
  rmSync(folder, { recursive: true, force: true });
}
