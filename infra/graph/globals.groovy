// The traversal source of all requests.
def globals = [g: traversal().withEmbedded(graph)]
