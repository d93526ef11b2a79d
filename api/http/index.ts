/** HTTP: the routes, streams and exports through which clients reach the other folders of `api/`. No other folder imports this folder. */
export { createApi } from './api.ts';
export { createApp } from './app.ts';
export { createCursors, cursorSecret } from './cursor.ts';
export { createConcurrencyLimits, MAX_CONCURRENT } from './long-requests.ts';
export { CORE_CONTRACT } from './routes/index.ts';
export { createHttpServer } from './server.ts';
export { clearUploads } from './uploads.ts';
