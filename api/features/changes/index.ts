/** Change data capture over HTTP: what was committed, in order and complete. */
import { defineFeature } from '../../feature.ts';
import { createConcurrencyLimit } from '../../http/index.ts';
import { CommitMarks, createCommitMarkStore } from './commit-marks.ts';
import { routes } from './routes.ts';

const MAX_READERS = 64;

const BUSY = 'This process serves as many readers of changes as it can; try again later.';

export const changesFeature = defineFeature({
  name: 'changes',
  routes,
  openStamps: (session, clock, everywhere) =>
    new CommitMarks({ store: createCommitMarkStore(session, everywhere), clock }),
  create: () => ({ deps: { changeReaders: createConcurrencyLimit(MAX_READERS, BUSY) } }),
});
