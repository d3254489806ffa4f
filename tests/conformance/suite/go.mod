// Pins the Connect project's conformance suite, for the tests; build.sh builds its program. What it
// is built of is pinned by the suite's own go.sum. Nothing of Davit is written in Go.
module davit.test/conformance

go 1.26.0

require connectrpc.com/conformance v1.0.6
