/** What stops and starts the database on a node that has it from its package; `--stop` and `--start` say otherwise. */
export const SERVICE = {
  scylla: { stop: 'sudo systemctl stop scylla-server', start: 'sudo systemctl start scylla-server' },
  cassandra: { stop: 'sudo systemctl stop cassandra', start: 'sudo systemctl start cassandra' },
};
