import { EDGE_FILTERS } from '../../../schema/sparkplug-topics.ts';
import type { BrokerRights } from '../../feature.ts';

/** An edge node, `group/node`. The node ends lines of Mosquitto's `acl_file`, so its name must not end in white space. */
const NODE = /^([^/+#]+)\/([^/+#]*[^/+#\s])$/;

export const RIGHTS = {
  installation: [
    ...EDGE_FILTERS.map((filter) => `read ${filter}`),
    'write spBv1.0/+/NCMD/+',
    'readwrite spBv1.0/STATE/+',
  ],
  device(device: string): string[] {
    const [, group, node] = NODE.exec(device) ?? [];
    return group && node ? rightsOfNode(group, node) : [];
  },
  everyDevice: ['read spBv1.0/STATE/+'],
} satisfies BrokerRights;

const rightsOfNode = (group: string, node: string) => [
  ...EDGE_FILTERS.map((filter) => `write ${filter.replace('+', () => group).replace('+', () => node)}`),
  `read spBv1.0/${group}/NCMD/${node}`,
  `read spBv1.0/${group}/DCMD/${node}/+`,
];
