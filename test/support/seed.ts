import { jest } from '@jest/globals';
import fc from 'fast-check';

/** Random values follow the seed of the run, so `--seed=N` repeats them. The runner of unit tests does the same for its files. */
fc.configureGlobal({ seed: jest.getSeed() });
