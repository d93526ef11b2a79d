/** A mirror of assets, devices, sensors and alarms in JanusGraph: the command reads the tables, and no process needs the graph. */
import { GRAPH_SETTINGS } from '../../../schema/graph.ts';
import { defineFeature } from '../../feature.ts';

export const graphFeature = defineFeature({
  name: 'graph',
  settings: [GRAPH_SETTINGS],
  create: () => ({}),
});
