package main

import (
	"context"
	"log"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Conflicts without a write that succeeds; then both clusters are listed anew.
const conflictLimit = 5

type queue = workqueue.TypedRateLimitingInterface[string]

type syncer struct {
	upstream, downstream dynamic.ResourceInterface
	subresource          bool
	resync               time.Duration

	upstreamQueue, downstreamQueue queue

	mutex     sync.Mutex // of what a restart replaces
	up, down  cache.SharedIndexInformer
	stop      chan struct{}
	conflicts int
}

func (s *syncer) start() {
	s.upstreamQueue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second),
		&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Limit(10), 100)}))
	s.downstreamQueue = workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemFastSlowRateLimiter[string](500*time.Millisecond, 5*time.Second, 5))
	s.listAnew()
	go s.work(s.upstreamQueue, s.syncUpstream)
	go s.work(s.downstreamQueue, s.syncDownstream)
}

func (s *syncer) informer(resource dynamic.ResourceInterface) cache.SharedIndexInformer {
	timeout := int64(timeoutSeconds)
	return cache.NewSharedIndexInformer(&cache.ListWatch{
		ListFunc: func(options v1.ListOptions) (runtime.Object, error) {
			options.TimeoutSeconds = &timeout
			return resource.List(context.Background(), options)
		},
		WatchFunc: func(options v1.ListOptions) (watch.Interface, error) {
			options.TimeoutSeconds = &timeout
			return resource.Watch(context.Background(), options)
		},
	}, &unstructured.Unstructured{}, s.resync, cache.Indexers{})
}

// Handlers are attached when both lists are there. Each object comes to them once more then.
func (s *syncer) listAnew() {
	up, down, stop := s.informer(s.upstream), s.informer(s.downstream), make(chan struct{})
	go up.Run(stop)
	go down.Run(stop)
	cache.WaitForCacheSync(stop, up.HasSynced)
	cache.WaitForCacheSync(stop, down.HasSynced)
	s.mutex.Lock()
	s.up, s.down, s.stop, s.conflicts = up, down, stop, 0
	s.mutex.Unlock()
	attach(up, s.upstreamQueue)
	attach(down, s.downstreamQueue)
}

// Events, too, go through the limiter.
func attach(informer cache.SharedIndexInformer, to queue) {
	add := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			to.AddRateLimited(key)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, now any) { add(now) }, DeleteFunc: add})
	if err != nil {
		log.Fatal(err)
	}
}

func (s *syncer) work(from queue, sync func(key string) error) {
	for {
		key, ended := from.Get()
		if ended {
			return
		}
		s.restartAfterConflicts()
		if err := sync(key); err != nil {
			log.Printf("%s: %v", key, err)
			from.AddRateLimited(key)
		} else {
			from.Forget(key)
		}
		from.Done(key)
	}
}

func (s *syncer) restartAfterConflicts() {
	s.mutex.Lock()
	due := s.conflicts >= conflictLimit
	if due {
		s.conflicts = 0
		close(s.stop)
	}
	s.mutex.Unlock()
	if due {
		s.listAnew()
	}
}

// What the caches have of an object; nil: it is not there.
func (s *syncer) both(key string) (up, down *unstructured.Unstructured) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	find := func(in cache.SharedIndexInformer) *unstructured.Unstructured {
		object, exists, err := in.GetStore().GetByKey(key)
		if err != nil || !exists {
			return nil
		}
		return object.(*unstructured.Unstructured)
	}
	return find(s.up), find(s.down)
}

func (s *syncer) remove(key string) error {
	_, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	err = s.downstream.Delete(context.Background(), name, v1.DeleteOptions{})
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}

// Brings the spec down, whether it differs or not.
func (s *syncer) syncUpstream(key string) error {
	up, down := s.both(key)
	if up == nil && down == nil {
		return nil
	}
	if up == nil || up.GetDeletionTimestamp() != nil {
		return s.remove(key)
	}
	if down == nil {
		_, err := s.downstream.Create(context.Background(), created(up), v1.CreateOptions{})
		return err
	}
	_, err := s.downstream.Update(context.Background(), updated(up, down), v1.UpdateOptions{})
	return err
}

// Brings the status up, whether it differs or not.
func (s *syncer) syncDownstream(key string) error {
	up, down := s.both(key)
	if down == nil {
		s.upstreamQueue.Add(key)
		return nil
	}
	if up == nil {
		if down.GetDeletionTimestamp() != nil {
			return nil
		}
		return s.remove(key)
	}
	var err error
	if s.subresource {
		_, err = s.upstream.UpdateStatus(context.Background(), withStatus(up, down, true), v1.UpdateOptions{})
	} else {
		_, err = s.upstream.Update(context.Background(), withStatus(up, down, false), v1.UpdateOptions{})
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if errors.IsConflict(err) {
		s.conflicts++
	} else if err == nil {
		s.conflicts = 0
	}
	return err
}
