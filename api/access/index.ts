/**
 * Access to the installation: accounts at the embedded broker and what they may do, and limits of connections. `http/` decides what people and programs may do. `tls/` has the certificates.
 */
export { Accounts } from './accounts.ts';
export { boundConnections } from './connection-limits.ts';
export { canPublish, canSendFor, canSubscribe, deviceAccount } from './topic-permissions.ts';
