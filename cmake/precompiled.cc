// Nothing: a target needs a source, and this one exists for the headers that it compiles.
