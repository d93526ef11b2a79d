/**
 * For ingest (`npm start`, the container, and all other code that starts `api/index.ts`). A message stays in memory until its commit, for
 * some tens of ms. In V8's default semi-space of 16 MiB the garbage collector copies most messages twice before they are released. CPU time
 * per message, measured with one sample per message and 512 messages in flight: 83 to 94 µs with 16 MiB, 53 to 56 µs with 32 MiB, 43 to 47
 * µs with 64 MiB. 64 MiB may take 96 MB more memory than 32 MiB.
 */
export const INGEST_NODE_FLAGS = ['--max-semi-space-size=64'];

/**
 * For a process that only serves readers (`npm run start:http`). The garbage of an export is large and short-lived. With 4 MiB an export of
 * five million samples takes as long as with 16 MiB, and needs at most 190 MB of memory instead of 225 MB.
 */
export const HTTP_NODE_FLAGS = ['--max-semi-space-size=4'];
