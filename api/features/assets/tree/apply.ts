import type { Change, Place } from './change.ts';
import { AssetNode, Member, type Nodes } from './nodes.ts';
import type { ChangedPlacement } from './placement.ts';

type Of<Kind extends Change['do']> = Extract<Change, { do: Kind }>;

/**
 * Applies a change that was checked before it was stored. A second application changes nothing.
 * @returns the placements whose ancestors changed, or nothing if nobody listens
 */
export function applyChange(nodes: Nodes, change: Change, isObserved: boolean): ChangedPlacement[] {
  if (change.do === 'create') create(nodes, change);
  else if (change.do === 'place') return place(nodes, change, isObserved);
  else {
    const node = nodes.assets.get(change.asset);
    if (!node) return [];
    if (change.do === 'move') return move(nodes, node, change, isObserved);
    if (change.do === 'rename') rename(nodes, node, change);
    else if (change.do === 'set_level') node.level = change.level;
    else retire(nodes, node, change);
  }
  return [];
}

function create(nodes: Nodes, { asset, name, level, parent, site }: Of<'create'>) {
  if (nodes.assets.has(asset)) return;
  const node = new AssetNode(asset, level);
  node.names.set(name, 0);
  node.parents.set(parent, 0);
  nodes.assets.set(asset, node);
  nodes.branch(parent)?.enter(node);
  if (site !== undefined) nodes.sites.set(site, asset);
}

function rename(nodes: Nodes, node: AssetNode, { name, since }: Of<'rename'>) {
  const branch = nodes.branch(node.parent);
  branch?.leave(node);
  node.names.set(name, since);
  branch?.enter(node);
}

function retire(nodes: Nodes, node: AssetNode, { since }: Of<'retire'>) {
  node.retiredAt = since;
  nodes.branch(node.parent)?.leave(node);
}

function move(
  nodes: Nodes,
  node: AssetNode,
  { parent, since }: Of<'move'>,
  isObserved: boolean,
): ChangedPlacement[] {
  const before = [...node.parents.values(since)];
  nodes.branch(node.parent)?.leave(node);
  const isChanged = node.parents.set(parent, since);
  nodes.branch(parent)?.enter(node);
  if (!isChanged || !isObserved) return [];
  const assets = [...nodes.holders([...before, parent], since)];
  return Array.from(
    nodes.placements(node.id, { from: since, to: Number.POSITIVE_INFINITY }),
    (placement) => ({
      ...placement,
      assets,
    }),
  );
}

function place(nodes: Nodes, change: Place, isObserved: boolean): ChangedPlacement[] {
  const { asset, since } = change;
  const device = nodes.devices.get(change.device) ?? new Member(change.device, null, change.name);
  nodes.devices.set(change.device, device);
  device.name ??= change.name;
  const member = change.sensor === undefined ? device : sensorMember(device, change);
  if (member === device) device.site = { hand: null, site: change.site, retirement: undefined }[change.by];
  const before = [...member.places.values(since)];
  nodes.assets.get(member.places.newest ?? '')?.release(member);
  const isChanged = member.places.set(asset, since);
  nodes.assets.get(asset ?? '')?.hold(member);
  if (!isChanged || !isObserved) return [];
  // A sensor without an own place is where its device is.
  const ofDevice = member === device ? [] : device.places.values(since);
  const assets = [...nodes.holders([...before, asset, ...ofDevice], since)];
  return [
    { device: device.device, sensor: member.sensor, from: since, to: Number.POSITIVE_INFINITY, assets },
  ];
}

function sensorMember(device: Member, { sensor = '', sensor_name: name = null }: Place): Member {
  device.sensors ??= new Map();
  const member = device.sensors.get(sensor) ?? new Member(device.device, sensor, name);
  device.sensors.set(sensor, member);
  member.name ??= name;
  return member;
}
