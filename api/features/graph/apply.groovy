// Applies items of the mirror in one transaction, and stores how far the mirror has come. An item may be applied twice.
// Bindings: owner, items, position. Times are epoch ms; END: still valid.
final END = Long.MAX_VALUE

def vertex = { kind, key -> g.V(key).tryNext().orElseGet { g.addV(kind).property(T.id, key).next() } }

// The values from `since` on become one value. Each value has its validity in `from` and `to`.
def change = { spans, since, isSame, add ->
  def earlier = spans.findAll { it.value('from') < since }
  spans.findAll { it.value('from') >= since }.each { it.remove() }
  def last = earlier.max { it.value('from') }
  if (last != null && last.value('to') >= since) {
    def same = isSame(last)
    last.property('to', same ? END : since as Long)
    if (same) return
  }
  add()
}

def named = { v, name, since ->
  change(v.properties('name').toList(), since, { it.value() == name }) {
    v.property(VertexProperty.Cardinality.list, 'name', name, 'from', since as Long, 'to', END)
  }
  v
}

// `above` null: nowhere.
def placed = { v, label, kind, above, since ->
  change(g.V(v).inE(label).toList(), since, { it.outVertex().id() == above }) {
    if (above != null) vertex(kind, above).addEdge(label, v, 'from', since as Long, 'to', END)
  }
}

def member = { item ->
  def device = vertex('device', item.device)
  if (item.name != null) named(device, item.name, 0)
  if (item.sensor == null) return device
  def sensor = vertex('sensor', item.sensor)
  if (item.sensor_name != null) named(sensor, item.sensor_name, 0)
  if (!g.V(sensor).inE('has').hasNext()) device.addEdge('has', sensor)
  sensor
}

def apply = [
  create: { item ->
    def asset = vertex('asset', item.asset)
    asset.property('level', item.level)
    if (asset.property('to').isPresent()) return
    asset.property('from', 0L)
    asset.property('to', END)
    named(asset, item.name, 0)
    placed(asset, 'child', 'root', item.parent ?: 'root', 0)
  },
  rename: { item -> named(vertex('asset', item.asset), item.name, item.since) },
  set_level: { item -> vertex('asset', item.asset).property('level', item.level) },
  move: { item -> placed(vertex('asset', item.asset), 'child', 'asset', item.parent ?: 'root', item.since) },
  retire: { item -> vertex('asset', item.asset).property('to', item.since as Long) },
  place: { item -> placed(member(item), 'holds', 'asset', item.asset, item.since) },
  register: member,
  alarm: { item ->
    def sensor = member(item)
    g.V(sensor).inE('alarm').has('episode', item.episode).toList().each { it.remove() }
    if (!item.withdrawn)
      vertex('hour', item.hour).addEdge('alarm', sensor, 'episode', item.episode, 'opened', item.opened as Long, 'rule', item.rule, 'severity', item.severity)
  },
]

// A request of a killed mirror may still run, or begin after its end. The lock and the owner exclude it.
synchronized (graph) {
  g.tx().rollback()
  def root = vertex('root', 'root')
  if (root.property('owner').orElse(null) != owner) throw new IllegalStateException('another mirror has begun')
  items.each { apply[it.do](it) }
  position.each { name, value -> root.property(name, value as Long) }
  g.tx().commit()
}
[items.size()]
