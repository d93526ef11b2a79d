import { fileURLToPath } from 'node:url';
import base from '../../jest.config.js';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));

/** The tests for survivors. All runs share one database, so jest starts none. */
export default {
  ...base,
  rootDir,
  projects: base.projects
    .filter(({ displayName }) => displayName === 'integration' || displayName === 'thorough')
    .map((project) => ({ ...project, rootDir, globalSetup: undefined, globalTeardown: undefined })),
};
