/**
 * Limits of connections, and options of a connection to a broker. Who may do what is decided in `credentials/` for devices and in `http/`
 * for people and programs. `tls/` has the certificates.
 */
export { brokerOptions } from './broker-options.js';
export { boundConnections } from './connection-limits.js';
