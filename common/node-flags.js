/**
 * How Node.js is started for ingest (`npm start`, the container and everything that starts `api/index.js`).
 *
 * Messages live until their commit, some tens of ms: in the 16 MiB in which V8 keeps young objects as it comes most of
 * them are copied, twice, before they die. With one sample a message and 512 in flight ingest spends this CPU on one, in
 * µs: 83 to 94 with 16 MiB, 53 to 56 with 32, 43 to 47 with 64, which may take 96 MB more memory than 32.
 */
export const INGEST_NODE_FLAGS = ['--max-semi-space-size=64'];

/**
 * How Node.js is started for a process that only serves readers (`npm run start:http`). An export's garbage is large and soon
 * over: with 4 MiB for young objects five million samples take as long as with 16, and 190 MB at most instead of 225.
 */
export const HTTP_NODE_FLAGS = ['--max-semi-space-size=4'];
