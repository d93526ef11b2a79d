/** The packages of each engine. `version` is the beginning that all versions of one release have in common. */
const PACKAGES = {
  scylla: { name: 'scylla', version: (/** @type {string} */ to) => `${to}-*` },
  cassandra: { name: 'cassandra', version: (/** @type {string} */ to) => to },
};

/** apt runs unattended, so a changed settings file stays as it is. */
const APT = 'sudo env DEBIAN_FRONTEND=noninteractive apt-get -y -o Dpkg::Options::=--force-confold';

/**
 * Installs a version from a source of packages, in two commands, so that a node is down only during the second one. The packages of
 * an engine depend on each other in the same version, while apt takes the newest of each, so all of them are pinned. The pin
 * stays, and prevents automatic updates to a newer version.
 *
 * @param {'scylla' | 'cassandra'} engine
 * @param {string} to
 * @returns {{ fetch: string[], install: string }} scripts
 */
export function packages(engine, to) {
  const { name, version } = PACKAGES[engine];
  const pin = `"Package: ${name}*" "Pin: version ${version(to)}" "Pin-Priority: 990"`;
  const wanted = `"${name}=${version(to)}"`;
  return {
    fetch: [
      `printf "%s\\n" ${pin} | sudo tee /etc/apt/preferences.d/millrace >/dev/null &&
  sudo apt-get update && ${APT} --download-only install ${wanted}`,
    ],
    install: `${APT} install ${wanted}`,
  };
}
