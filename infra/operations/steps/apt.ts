/** `version` returns the pattern that matches all package versions of a release. */
const PACKAGES = {
  scylla: { name: 'scylla', version: (to: string) => `${to}-*` },
  cassandra: { name: 'cassandra', version: (to: string) => to },
};

/** For unattended use: keeps configuration files that the operator has changed, instead of asking. */
const APT = 'sudo env DEBIAN_FRONTEND=noninteractive apt-get -y -o Dpkg::Options::=--force-confold';

/**
 * The commands are separate, so that a node is down only during the installation. The packages of a database depend on each other in the
 * same version, but apt takes the newest version of each. So all packages are pinned. The pin stays, and prevents automatic updates to a
 * newer version.
 */
export function packages(engine: 'scylla' | 'cassandra', to: string): { fetch: string[]; install: string } {
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
