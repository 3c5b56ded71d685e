/** The environment variables of `selvage serve`, for its help, its documentation and the server. */
import { serverDefaults } from './defaults.ts';

const { host, port, folder, jobs, minutes, mebibytes, cacheMebibytes, serverUrl, apiUrl } = serverDefaults;

/** Meaning of each variable, by topic. */
export const serverVariables = {
  App: {
    SELVAGE_URL: 'address under which GitHub reaches the server; webhooks go to /webhook',
    SELVAGE_ORGANIZATION: 'organisation that is to own the App (default: whoever presses the button)',
    SELVAGE_APP_ID: 'ID of an App that was created manually; the next three variables belong to it',
    SELVAGE_PRIVATE_KEY_FILE: 'file with its private key (PEM)',
    SELVAGE_PRIVATE_KEY: 'the key itself, instead of a file; line ends may be written as \\n',
    SELVAGE_WEBHOOK_SECRET: 'secret of its webhook',
  },
  Server: {
    HOST: `address that it listens on (default ${host})`,
    PORT: `port that it listens on, 0 for any (default ${port})`,
    SELVAGE_DATA: `folder for the App's key, the queue, clones and results (default ${folder})`,
    SELVAGE_WRITE_INTERVAL: 'milliseconds between two requests that write to GitHub (default 1000)',
    GITHUB_SERVER_URL: `address of a GitHub Enterprise Server (default ${serverUrl})`,
    GITHUB_API_URL: `address of its API (default ${apiUrl})`,
  },
  Limits: {
    SELVAGE_JOBS: `how many pull requests to analyse at a time (default ${jobs})`,
    SELVAGE_MINUTES: `time limit of one analysis (default ${minutes})`,
    SELVAGE_MEBIBYTES: `memory limit of one analysis, with the compilers that it starts (default ${mebibytes})`,
    SELVAGE_CACHE_MEBIBYTES: `disk space for results of earlier analyses (default ${cacheMebibytes})`,
    SELVAGE_REQUIRE_CONFINEMENT: '1: do not start if the system cannot confine analyses (default 0)',
  },
} as const satisfies Record<string, Record<string, string>>;

type Topics = typeof serverVariables;
export type ServerVariable = { [Topic in keyof Topics]: keyof Topics[Topic] }[keyof Topics];
