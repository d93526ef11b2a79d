import { StreamHub } from './hub.ts';

// The shared worker of all tabs of this origin and version. The types of a worker would contradict those of a page.
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void };
const hub = new StreamHub({ EventSource });

scope.onconnect = ({ ports }) => {
  for (const port of ports) hub.serve(port);
};
