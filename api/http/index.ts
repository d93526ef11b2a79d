/** HTTP: the routes, streams and exports through which clients reach the other folders of `api/`. No other folder imports this folder. */
export { createApi } from './api.js';
export { createApp } from './app.js';
export { createCursors, cursorSecret } from './cursor.js';
export { createHttpServer } from './server.js';
export { clearUploads } from './uploads.js';
