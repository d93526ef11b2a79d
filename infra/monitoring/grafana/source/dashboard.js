import { DATASOURCE, inRows } from './panels.js';

/** @import { Panel } from './panels.js' */

/**
 * A dashboard as Grafana imports it; its data source, installation and processes are chosen on top of it.
 *
 * @param {object} parts
 * @param {string} parts.uid its address: stays when the title changes
 * @param {string} parts.title
 * @param {string} parts.description
 * @param {Panel[]} parts.panels
 */
export const dashboard = ({ uid, title, description, panels }) => ({
  uid,
  title,
  description,
  tags: ['millrace'],
  editable: false,
  graphTooltip: 1,
  refresh: '30s',
  schemaVersion: 39,
  time: { from: 'now-3h', to: 'now' },
  timezone: 'browser',
  links: [{ type: 'dashboards', title: 'Millrace', tags: ['millrace'], asDropdown: true, keepTime: true }],
  templating: {
    list: [
      { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
      choice('job', 'Installation', 'label_values(iot_build_info, job)', false),
      choice('instance', 'Process', 'label_values(iot_build_info{job="$job"}, instance)', true),
    ],
  },
  panels: inRows(panels),
});

/** @param {string} name @param {string} label @param {string} query @param {boolean} several */
const choice = (name, label, query, several) => ({
  name,
  label,
  type: 'query',
  datasource: DATASOURCE,
  query: { query, refId: name },
  refresh: 2,
  multi: several,
  includeAll: several,
  allValue: several ? '.*' : undefined,
  current: several ? { text: 'All', value: '$__all' } : undefined,
});
