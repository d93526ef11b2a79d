/** HTTP: routes, streams and exports, a client's way to every other room. No room imports this one. */
export { createApi } from './api.js';
export { createApp } from './app.js';
export { createCursors, cursorSecret } from './cursor.js';
export { createHttpServer } from './server.js';
export { clearUploads } from './uploads.js';
