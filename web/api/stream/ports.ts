import type { Connect, Listeners, Transport } from './messages.ts';

/** The hub runs in a shared worker. @param url of its script, which differs with each version */
export const viaWorker =
  (url: string): Connect =>
  ({ onMessage, onFailed }) => {
    const worker = new SharedWorker(url, { type: 'module', name: 'Millrace' });
    worker.onerror = onFailed;
    return overPort(worker.port, onMessage);
  };

export function overPort(port: MessagePort, onMessage: Listeners['onMessage']): Transport {
  port.onmessage = ({ data }) => onMessage(data);
  return {
    post: (state) => port.postMessage(state),
    close() {
      port.postMessage(null);
      port.onmessage = null;
    },
  };
}

/** Connects without the code of a hub at first, because few browsers need it. */
export const lazily =
  (load: () => Promise<Connect>): Connect =>
  (listeners) => {
    let transport: Transport | null = null;
    let isClosed = false;
    load().then((connect) => {
      if (isClosed) return;
      transport = connect(listeners);
      listeners.onNewHub();
    }, listeners.onFailed);
    return {
      post: (state) => transport?.post(state),
      close() {
        isClosed = true;
        transport?.close();
      },
    };
  };
