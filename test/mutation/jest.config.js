import { fileURLToPath } from 'node:url';
import base from '../../jest.config.js';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));

/** The tests that survivors are tried on. One database serves all runs, so none is started here. */
export default {
  ...base,
  rootDir,
  projects: base.projects
    .filter(({ displayName }) => displayName === 'integration' || displayName === 'thorough')
    .map((project) => ({ ...project, rootDir, globalSetup: undefined, globalTeardown: undefined })),
};
