// Makes the schema, and takes the graph over from any other mirror. Returns how far the last one came. Bindings: owner.
synchronized (graph) {
  g.tx().rollback()
  def schema = graph.openManagement()
  [owner: String, name: String, level: String, episode: String, rule: String, severity: String,
   from: Long, to: Long, opened: Long, version: Long, registered: Long, alarms: Long].each { name, type ->
    if (schema.containsPropertyKey(name)) return
    schema.makePropertyKey(name).dataType(type).cardinality(name == 'name' ? Cardinality.LIST : Cardinality.SINGLE).make()
  }
  ['root', 'asset', 'device', 'sensor', 'hour'].each { if (!schema.containsVertexLabel(it)) schema.makeVertexLabel(it).make() }
  ['child', 'holds', 'has', 'alarm'].each { if (!schema.containsEdgeLabel(it)) schema.makeEdgeLabel(it).multiplicity(MULTI).make() }
  schema.commit()
  def root = g.V('root').tryNext().orElseGet { g.addV('root').property(T.id, 'root').next() }
  root.property('owner', owner)
  def position = ['version', 'registered', 'alarms'].collectEntries { [it, root.property(it).orElse(0L)] }
  g.tx().commit()
  [position]
}
