// The cluster controller of Cluster API v0.1.10, as its module has it, with an actuator that is
// scripted by files. tests/e2e/scripted_actuator.py is scripted by the same files and says what is
// in them. So the same story can be told to both controllers.
//
//	cluster-api-controller KUBECONFIG SCRIPT NAMESPACE
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog"
	"sigs.k8s.io/cluster-api/pkg/apis"
	clusterv1 "sigs.k8s.io/cluster-api/pkg/apis/cluster/v1alpha1"
	"sigs.k8s.io/cluster-api/pkg/client/clientset_generated/clientset"
	"sigs.k8s.io/cluster-api/pkg/controller/cluster"
	controllererror "sigs.k8s.io/cluster-api/pkg/controller/error"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/runtime/signals"
)

const workers = 4

type entry struct {
	Answer struct {
		RequeueAfterSeconds float64         `json:"requeueAfterSeconds"`
		StatusPatch         json.RawMessage `json:"statusPatch"`
		Error               *struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"answer"`
	Mark  string  `json:"mark"`
	Exit  int     `json:"exit"`
	Sleep float64 `json:"sleep"`
}

type actuator struct {
	folder string
	client clientset.Interface
	files  sync.Mutex
}

func (a *actuator) note(line string) {
	calls, err := os.OpenFile(filepath.Join(a.folder, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	defer calls.Close()
	if _, err := calls.WriteString(line); err != nil {
		log.Fatal(err)
	}
}

// next takes the first entry of the script; the last one stays.
func (a *actuator) next(operation string, c *clusterv1.Cluster) (entry, error) {
	a.files.Lock()
	defer a.files.Unlock()
	mark := "-"
	defer func() { a.note(fmt.Sprintf("%s %s %s %s\n", operation, c.Name, c.UID, mark)) }()
	path := filepath.Join(a.folder, c.Name+"."+operation)
	text, err := os.ReadFile(path)
	if err != nil {
		return entry{}, nil
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return entry{}, err
	}
	var first entry
	if err := json.Unmarshal(entries[0], &first); err != nil {
		return entry{}, err
	}
	if first.Mark != "" {
		mark = first.Mark
	}
	if len(entries) > 1 {
		rest, err := json.Marshal(entries[1:])
		if err != nil {
			return entry{}, err
		}
		if err := os.WriteFile(path, rest, 0o644); err != nil {
			return entry{}, err
		}
	}
	return first, nil
}

func (a *actuator) call(operation string, c *clusterv1.Cluster) error {
	e, err := a.next(operation, c)
	if err != nil {
		return err
	}
	time.Sleep(time.Duration(e.Sleep * float64(time.Second)))
	// An actuator of this controller writes the status itself.
	if e.Answer.StatusPatch != nil {
		patch, err := json.Marshal(map[string]json.RawMessage{"status": e.Answer.StatusPatch})
		if err != nil {
			return err
		}
		clusters := a.client.ClusterV1alpha1().Clusters(c.Namespace)
		if _, err := clusters.Patch(c.Name, types.MergePatchType, patch, "status"); err != nil {
			return err
		}
	}
	if e.Exit != 0 {
		return fmt.Errorf("exit status %d", e.Exit)
	}
	if e.Answer.Error != nil {
		return errors.New(e.Answer.Error.Message)
	}
	if e.Answer.RequeueAfterSeconds > 0 {
		after := time.Duration(e.Answer.RequeueAfterSeconds * float64(time.Second))
		return &controllererror.RequeueAfterError{RequeueAfter: after}
	}
	return nil
}

func (a *actuator) Reconcile(c *clusterv1.Cluster) error { return a.call("reconcile", c) }
func (a *actuator) Delete(c *clusterv1.Cluster) error    { return a.call("delete", c) }

func run(kubeconfig, folder, namespace string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	m, err := manager.New(config, manager.Options{Namespace: namespace, MetricsBindAddress: "0"})
	if err != nil {
		return err
	}
	if err := apis.AddToScheme(m.GetScheme()); err != nil {
		return err
	}
	if err := cluster.AddWithActuator(m, &actuator{folder: folder, client: client}, workers); err != nil {
		return err
	}
	return m.Start(signals.SetupSignalHandler())
}

func main() {
	klog.InitFlags(nil)
	if len(os.Args) != 4 {
		log.Fatal("usage: cluster-api-controller KUBECONFIG SCRIPT NAMESPACE")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}
