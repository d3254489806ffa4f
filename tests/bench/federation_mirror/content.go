package main

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// On the upstream object: the version of the downstream object whose status it has.
const remoteVersionKey = "cr-syncer.cloudrobotics.com/remote-resource-version"

func annotationsOf(up *unstructured.Unstructured) map[string]string {
	annotations := up.GetAnnotations() // a copy
	delete(annotations, remoteVersionKey)
	if len(annotations) == 0 {
		return nil
	}
	return annotations
}

func created(up *unstructured.Unstructured) *unstructured.Unstructured {
	from, out := up.DeepCopy(), &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(from.GroupVersionKind())
	out.SetName(from.GetName())
	out.SetNamespace(from.GetNamespace())
	out.SetLabels(from.GetLabels())
	out.SetAnnotations(annotationsOf(from))
	out.Object["spec"], out.Object["status"] = from.Object["spec"], from.Object["status"]
	return out
}

func updated(up, down *unstructured.Unstructured) *unstructured.Unstructured {
	from, out := up.DeepCopy(), down.DeepCopy()
	out.SetLabels(from.GetLabels())
	out.SetAnnotations(annotationsOf(from))
	out.Object["spec"] = from.Object["spec"]
	return out
}

func withStatus(up, down *unstructured.Unstructured, subresource bool) *unstructured.Unstructured {
	out, status := up.DeepCopy(), down.DeepCopy().Object["status"]
	if members, ok := status.(map[string]any); ok {
		if observed, ok := members["observedGeneration"].(int64); ok {
			members["observedGeneration"] = int64(0)
			if observed == down.GetGeneration() {
				members["observedGeneration"] = up.GetGeneration()
			}
		}
	}
	if subresource {
		if status == nil {
			status = map[string]any{}
		}
	} else {
		annotations := out.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[remoteVersionKey] = down.GetResourceVersion()
		out.SetAnnotations(annotations)
	}
	out.Object["status"] = status
	return out
}
