/**
 * Access to the installation: limits of connections, and options of a connection to a broker. `credentials/` decides what
 * devices may do, and `http/` decides what people and programs may do. `tls/` has the certificates.
 */
export { brokerOptions } from './broker-options.ts';
export { boundConnections } from './connection-limits.ts';
