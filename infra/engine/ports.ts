import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { MillraceError } from '../../common/errors.ts';

export const HOST = '127.0.0.1';

/**
 * @param port 0: any free port
 * @returns the port; null: another process listens on it
 * @throws `port_taken`: this process may not listen there, as on port 80 without the privilege
 */
function tryPort(port: number, host: string = HOST): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return resolve(null);
      const message = `${host}:${port} cannot be used: ${error.message}. Choose another address or port.`;
      reject(new MillraceError('port_taken', message, { cause: error }));
    });
    server.listen({ port, host, exclusive: true }, () => {
      const { port: got } = server.address() as AddressInfo;
      server.close(() => resolve(got));
    });
  });
}

export const isPortFree = async (port: number, host?: string): Promise<boolean> =>
  (await tryPort(port, host)) !== null;

/** The port is on loopback and was free a moment ago. */
export const freePort = async (): Promise<number> => Number(await tryPort(0));

/** Below the ports that systems use for outgoing connections, because one of these could take the port of a server that restarts. */
const STEADY = { from: 20_000, to: 32_000 };

/**
 * @returns a port on which no process listened a moment ago at any of these addresses. It stays free while its server is stopped, unless
 * another process asks for it by number
 */
export async function steadyPort(hosts: string[] = [HOST]): Promise<number> {
  for (;;) {
    const port = STEADY.from + Math.floor(Math.random() * (STEADY.to - STEADY.from));
    if (await isFreeAtAll(port, hosts)) return port;
  }
}

async function isFreeAtAll(port: number, hosts: string[]) {
  for (const host of hosts) if (!(await isPortFree(port, host))) return false;
  return true;
}

/** `file` keeps the ports. A port of the last start that is taken is replaced. Each port must be free at all `hosts`. */
export async function rememberedPorts<Name extends string>(
  file: string,
  names: Name[],
  hosts: string[] = [HOST],
): Promise<Record<Name, number>> {
  const before = await readPorts(file);
  const ports = {} as Record<Name, number>;
  for (const name of names) {
    const known = before[name];
    ports[name] = known && (await isFreeAtAll(known, hosts)) ? known : await steadyPort(hosts);
  }
  await writeFile(file, `${JSON.stringify(ports)}\n`);
  return ports;
}

async function readPorts(file: string): Promise<Record<string, number | undefined>> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return {}; // The file is missing, or incomplete after a crash. Then new ports are chosen.
  }
}

/** @throws `port_taken` */
export async function checkEnginePort(port: number, host: string = HOST) {
  if (await isPortFree(port, host)) return;
  throw new MillraceError(
    'port_taken',
    `Something listens on ${host}:${port} already, where the local database should. If it is a database that you want to use, set CQL_CONTACT_POINTS=${host}:${port}; if not, choose another port: CQL_LOCAL_PORT=${await freePort()}`,
  );
}
