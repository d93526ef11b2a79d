import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { ensurePython, readYaml } from '../../../infra/python/ensure.ts';

const run = promisify(execFile);

interface Service {
  image: string;
  restart: string;
  profiles?: string[];
  ports?: string[];
  volumes?: string[];
  secrets?: string[];
  depends_on?: Record<string, { condition: string }>;
  environment?: Record<string, string>;
  logging: { options: object };
  healthcheck?: unknown;
  command?: unknown;
  entrypoint?: unknown;
}

/** Timeout for the installation of the Python tools, in ms. */
export const INSTALLS_MS = 180_000;

/**
 * @param value of docker-compose.yml
 * @param variables of `.env`
 * @returns with `${NAME:-default}` put in, as Compose does
 */
export const interpolate = (value: unknown, variables: Record<string, string> = {}): string =>
  String(value).replace(/\$\{(\w+):-([^}]*)\}/g, (_, name, fallback) => variables[name] || fallback);

/**
 * Reads docker-compose.yml with anchors and merges resolved, and makes secrets by init.sh. No container engine runs here. The tests
 * check the files by schemas and linters, and their content against the application.
 */
export async function loadCompose() {
  const python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  const compose = await readYaml(python, 'docker-compose.yml');
  const secrets = mkdtempSync(join(tmpdir(), 'millrace-secrets-'));
  await run('/bin/sh', ['infra/compose/init.sh', secrets]);
  const services: [name: string, service: Service][] = Object.entries(compose.services);
  return {
    python,
    compose,
    services,
    secrets,
    /** @param path in a container, `/run/secrets/NAME` @returns the file that is mounted there */
    secretFile: (path: string): string => join(secrets, basename(compose.secrets[basename(path)].file)),
    remove: () => rmSync(secrets, { recursive: true, force: true }),
  };
}
