/**
 * How Node.js is started for ingest (`npm start`, the container and everything that starts `api/index.js`).
 *
 * Messages live until their commit, some tens of ms: in the 16 MiB in which V8 keeps young objects as it comes most of
 * them are copied, twice, before they die. With one sample a message and 512 in flight ingest spends this CPU on one, in
 * µs: 83 to 94 with 16 MiB, 53 to 56 with 32, 43 to 47 with 64, which may take 96 MB more memory than 32. Who only serves readers
 * (`npm run start:http`) has no use for them.
 */
export const INGEST_NODE_FLAGS = ['--max-semi-space-size=64'];
