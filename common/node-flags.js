/**
 * Flags of Node.js for ingest (`npm start`, the container, and everything else that starts `api/index.js`).
 *
 * A message lives until its commit, for some tens of ms. In V8's default semi-space of 16 MiB most messages are copied twice before
 * they die. Measured with one sample per message and 512 in flight, in µs of CPU per message: 83 to 94 with 16 MiB, 53 to 56 with 32,
 * 43 to 47 with 64. 64 MiB may take 96 MB more memory than 32.
 */
export const INGEST_NODE_FLAGS = ['--max-semi-space-size=64'];

/**
 * Flags of Node.js for a process that only serves readers (`npm run start:http`). The garbage of an export is large and short-lived.
 * With 4 MiB an export of five million samples takes as long as with 16, and needs at most 190 MB instead of 225.
 */
export const HTTP_NODE_FLAGS = ['--max-semi-space-size=4'];
