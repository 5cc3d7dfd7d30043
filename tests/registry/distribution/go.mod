module breakwatch/tests/registry

go 1.23

require github.com/distribution/distribution/v3 v3.0.0
