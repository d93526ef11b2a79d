/**
 * HTTP: routes, streams and exports, through which clients reach all other folders. No other folder imports
 * this one.
 */
export { createApi } from './api.js';
export { createApp } from './app.js';
export { createCursors, cursorSecret } from './cursor.js';
export { createHttpServer } from './server.js';
export { clearUploads } from './uploads.js';
