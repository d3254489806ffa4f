// Stands in the runner's package while it is built: see build.sh.

package connectconformance

import (
	"os"

	conformancev1 "connectrpc.com/conformance/internal/gen/proto/go/connectrpc/conformance/v1"
)

// authorization is the header that the server under test asks every caller for. It is no part of
// what a case expects to be echoed.
func authorization() []*conformancev1.Header {
	value := os.Getenv("DAVIT_CONFORMANCE_AUTHORIZATION")
	if value == "" {
		return nil
	}
	return []*conformancev1.Header{{Name: "authorization", Value: []string{value}}}
}
