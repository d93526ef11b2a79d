import type { ToolName } from '../infra/bootstrap/tools.ts';

/** A suite of tests: the projects of jest.config.js that it runs, and the programs that it needs. */
export type Suite = { projects: string[]; tools: ToolName[] };

/** By the flag of `test/run.ts`. `main` has no flag. */
export const SUITES: Record<
  'main' | 'unit' | 'thorough' | 'browser' | 'infra' | 'contract' | 'cluster' | 'datacenters',
  Suite
> = {
  main: {
    projects: ['unit', 'integration'],
    tools: ['java', 'maven', 'mosquitto', 'mosquittoClients', 'openssl', 'alertmanager'],
  },
  unit: { projects: ['unit'], tools: ['openssl'] },
  thorough: {
    projects: ['thorough'],
    tools: ['java', 'maven', 'mosquitto', 'mosquittoClients', 'openssl', 'prometheus', 'spin', 'gcc'],
  },
  browser: { projects: ['browser'], tools: ['java', 'maven', 'chromium'] },
  infra: {
    projects: ['infra'],
    tools: [
      'java',
      'maven',
      'mosquitto',
      'mosquittoClients',
      'shellcheck',
      'openssl',
      'curl',
      'python',
      'prometheus',
      'alertmanager',
      'kubectl',
      'terraform',
    ],
  },
  contract: { projects: ['contract'], tools: ['java', 'maven', 'python'] },
  cluster: { projects: ['cluster'], tools: ['java', 'maven', 'mosquitto', 'mosquittoClients'] },
  datacenters: { projects: ['datacenters'], tools: ['java', 'maven'] },
};

/** A test file in such a folder takes long, or waits for real time. It runs with `--long`, or when it is named. */
export const LONG = /(^|\/)long\//;
