/** The options of each local server. */
export interface ServerOptions {
  /** created if it is missing */
  dataDir: string;
  /** for clients, on 127.0.0.1; further ports are free ones, which stay the same at the next start */
  port: number;
  /** folder of the jars; default: `engine` under the data directory */
  engineDir?: string;
  onStatus?: (text: string) => void;
  /** aborts the start, and ends the processes that were started */
  signal?: AbortSignal;
}
