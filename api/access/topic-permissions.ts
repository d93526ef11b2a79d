import { identifyDevice } from '../../schema/ids.ts';
import { OWN_TOPICS, type Topic } from '../../schema/topics.ts';

const WILDCARD = /[+#]/;

/** Permissions are checked by device id, so a device may use its name or its id. */
export interface Account {
  /** empty without authentication */
  name: string;
  /** may do everything: an account of the installation's programs, or any client while MQTT_AUTH is off */
  isInstallation: boolean;
  /** empty for the installation */
  deviceId: string;
  /** names and ids of devices, as the feature that knows the account lists them */
  speaksFor: Set<string>;
  /** ids of the devices in `speaksFor` */
  ids: Set<string>;
}

export const installationAccount = (name: string): Account => ({
  name,
  isInstallation: true,
  deviceId: '',
  speaksFor: new Set(),
  ids: new Set(),
});

export function deviceAccount({
  account,
  deviceId,
  devices,
}: {
  account: string;
  deviceId: string;
  /** further devices that the account may send for */
  devices: string[];
}): Account {
  const speaksFor = new Set<string>();
  const ids = new Set<string>();
  for (const text of [account, ...devices]) {
    const identity = identifyDevice(text);
    if (!identity) continue;
    speaksFor.add(text);
    ids.add(identity.id);
  }
  return { name: account, isInstallation: false, deviceId, speaksFor, ids };
}

/** A sender may also publish for its devices. A null topic belongs to no device. */
export const canPublish = (account: Account, topic: Topic | null) =>
  account.isInstallation || (topic !== null && isOwn(account, topic.sender ?? topic.device));

/** The device is the name or id that a handler found in a topic outside the contract, or in its payload. */
export const canSendFor = (account: Account, device: string) =>
  account.isInstallation || isOwn(account, device);

/** `isOwn`: the account may publish for the device */
type ReadRule = (filter: string, isOwn: (device: string) => boolean) => boolean;

/** A device may subscribe to its own level of `iot/v1`. `rules`: for topics of features */
export function canSubscribe(account: Account, filter: string, rules: ReadRule[]) {
  if (filter.startsWith('$')) return false;
  if (account.isInstallation) return true;
  if (filter.startsWith(OWN_TOPICS))
    return isOwn(account, filter.slice(OWN_TOPICS.length).split('/', 1)[0] ?? '');
  return rules.some((mayRead) => mayRead(filter, (device) => isOwn(account, device)));
}

/** A device may be named `+` or `#`. In a filter these are wildcards, so they never match. */
const isOwn = ({ speaksFor, ids }: Account, device: string) =>
  !WILDCARD.test(device) && (speaksFor.has(device) || ids.has(identifyDevice(device)?.id ?? ''));
