import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../base/usage-error.ts';
import { causeOf } from '../system/system-error.ts';

/**
 * Makes a server listen.
 * @returns the port
 * @throws UsageError if that is impossible, with the variable to change
 */
export async function listenOn(server: Server, host: string, port: number): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    throw new UsageError(listenProblem(causeOf(error), host, port));
  }
  return (server.address() as AddressInfo).port;
}

function listenProblem(cause: string, host: string, port: number): string {
  switch (cause) {
    case 'EADDRINUSE':
      return `PORT: port ${port} of ${host} is in use. Stop the program that uses it, or give another port.`;
    case 'EACCES':
      return `PORT: this user must not listen on port ${port}. Give a port from 1024 on.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST: ${JSON.stringify(host)} is not an address of this computer (${cause}).`;
    default:
      return `HOST, PORT: the server cannot listen on ${host}, port ${port} (${cause}).`;
  }
}
