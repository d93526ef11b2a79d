import { StreamHub } from './hub.ts';
import type { Connect, TabState } from './messages.ts';
import { overPort } from './ports.ts';

/** A message of a tab to a hub. null: the tab leaves */
type TabMessage = { id: string; state: TabState | null };

/** The hub runs in the tab itself, which has a stream of its own. */
export const alone =
  (EventSource: typeof globalThis.EventSource): Connect =>
  ({ onMessage }) => {
    const hub = new StreamHub({ EventSource });
    const { port1, port2 } = new MessageChannel();
    hub.serve(port1);
    const { post, close } = overPort(port2, onMessage);
    return {
      post,
      close() {
        close();
        hub.end();
      },
    };
  };

/** The hub runs in the shown tab that holds a lock, for browsers without shared workers. A closed or hidden tab passes the lock on. */
export const viaLeader =
  ({
    EventSource,
    locks,
    name,
  }: {
    EventSource: typeof globalThis.EventSource;
    locks: Pick<LockManager, 'request'>;
    name: string;
  }): Connect =>
  ({ onMessage, onNewHub }) => {
    const id = Math.random().toString(36).slice(2);
    const all = new BroadcastChannel(name);
    const ownChannel = new BroadcastChannel(`${name} ${id}`);
    let leadership: AbortController | null = null;
    let receive = (_message: TabMessage) => {};

    function lead(signal: AbortSignal): Promise<void> {
      const hub = new StreamHub({ EventSource });
      const channels = new Map<string, BroadcastChannel>();
      receive = (message) => {
        const channel = channels.get(message.id) ?? new BroadcastChannel(`${name} ${message.id}`);
        channels.set(message.id, channel);
        if (message.state)
          return hub.take(message.id, message.state, (answer) => channel.postMessage(answer));
        hub.remove(message.id);
        channels.delete(message.id);
        channel.close();
      };
      all.postMessage('new hub');
      onNewHub();
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          receive = () => {};
          hub.end();
          for (const channel of channels.values()) channel.close();
          resolve();
        });
      });
    }

    function campaign() {
      const abort = new AbortController();
      leadership = abort;
      locks
        .request(name, { signal: abort.signal }, () =>
          abort.signal.aborted ? undefined : lead(abort.signal),
        )
        // The request was withdrawn while it waited.
        .catch(() => {});
    }

    function withdraw() {
      leadership?.abort();
      leadership = null;
    }

    all.onmessage = ({ data }) => (data === 'new hub' ? onNewHub() : receive(data));
    ownChannel.onmessage = ({ data }) => onMessage(data);
    const post = (state: TabState | null) => {
      const message: TabMessage = { id, state };
      // A channel does not deliver to the object that sends.
      all.postMessage(message);
      receive(message);
    };
    return {
      post(state) {
        if (state.isShown && !leadership) campaign();
        if (!state.isShown) withdraw();
        post(state);
      },
      close() {
        post(null);
        withdraw();
        all.close();
        ownChannel.close();
      },
    };
  };
