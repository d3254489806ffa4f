// federation-mirror sends what cr-syncer sends, for one resource whose spec comes from the cloud: it
// has client-go's informers, queues and limits with cr-syncer's settings. ../README.md says what it
// is compared with. It says "synced" when it has listed both clusters, and ends with its stdin.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// Of lists and watches. The cloud's client gives each request, watches included, 5 s more.
const timeoutSeconds = 300

func client(kubeconfig string, timeout time.Duration) *dynamic.DynamicClient {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.Timeout = timeout
	made, err := dynamic.NewForConfig(config) // with client-go's own limits: 5 a second, 10 at once
	if err != nil {
		log.Fatal(err)
	}
	return made
}

func main() {
	cloud := flag.String("cloud", "", "kubeconfig of the cloud")
	robot := flag.String("robot", "", "kubeconfig of the robot")
	group := flag.String("group", "example.com", "of the resource")
	version := flag.String("version", "v1", "of the resource")
	plural := flag.String("plural", "", "of the resource")
	namespace := flag.String("namespace", "default", "whose objects take part")
	subresource := flag.Bool("status-subresource", true, "the resource has /status")
	resync := flag.Duration("resync", 5*time.Minute, "time between two events of an object that does not change")
	flag.Parse()

	resource := schema.GroupVersionResource{Group: *group, Version: *version, Resource: *plural}
	s := &syncer{
		upstream:    client(*cloud, (timeoutSeconds+5)*time.Second).Resource(resource).Namespace(*namespace),
		downstream:  client(*robot, 0).Resource(resource).Namespace(*namespace),
		subresource: *subresource,
		resync:      *resync,
	}
	s.start()
	fmt.Println("synced")
	_, _ = io.Copy(io.Discard, os.Stdin)
}
