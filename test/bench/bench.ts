/**
 * `npm run bench -- check`: the time of the analysis against that of nvcc, see `check.ts`; the default.
 * `npm run bench -- machine`: thread-instructions a second of the interpreter, see `machine.ts`.
 * `npm run bench -- detector`: the same where locks and fences order accesses, see `detector.ts`.
 * `npm run bench -- repair`: the time of repairs, see `repair.ts`.
 * `npm run bench -- cost`: the time of cost analysis against that of nvcc, see `cost.ts`.
 * `npm run bench -- idempotency`: the time of validators of launches, see `idempotency.ts`.
 * `npm run bench -- sass`: the time of reading machine code against that of ptxas, see `sass.ts`.
 * `npm run bench -- serve`: many pull requests at once for the server of an App, see `serve.ts`.
 * `npm run bench -- process FILE…`: a whole check against nvcc, see `process.ts`.
 * `npm run bench -- repositories CHECKOUT…`: checks of all files of checkouts against nvcc, see `repositories.ts`.
 * `npm run bench -- where FILE`: where the CPU time of a check goes, see `where.ts`.
 */
if (process.argv[2] === 'machine') await import('./machine.ts');
else if (process.argv[2] === 'detector') await import('./detector.ts');
else if (process.argv[2] === 'repair') await import('./repair.ts');
else if (process.argv[2] === 'cost') await import('./cost.ts');
else if (process.argv[2] === 'idempotency') await import('./idempotency.ts');
else if (process.argv[2] === 'sass') await import('./sass.ts');
else if (process.argv[2] === 'serve') await import('./serve.ts');
else if (process.argv[2] === 'process') await import('./process.ts');
else if (process.argv[2] === 'repositories') await import('./repositories.ts');
else if (process.argv[2] === 'where') await import('./where.ts');
else await import('./check.ts');
