// Pins the driver with which the example of plugins/intents/README.md is run. Nothing of Davit is written in Go.
module davit.test/intents

go 1.22

require github.com/lib/pq v1.10.9
