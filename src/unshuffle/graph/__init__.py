"""Documents to graphs: sentences and entities as nodes, links, mentions and relations as edges."""
