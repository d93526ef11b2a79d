import { defineSettings } from '../common/settings/group.ts';
import { webAddress } from '../common/settings/value-types.ts';

export const GRAPH_SETTINGS = defineSettings({
  title: 'The graph',
  shape: {
    GRAPH_URL: webAddress()
      .prefault('http://127.0.0.1:8182/gremlin')
      .describe('Gremlin Server of the JanusGraph that npm run graph fills and queries.'),
  },
  arrange: ({ GRAPH_URL: url }) => ({ url }),
});
