package web

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Workloads are the workloads of one kind that this operator manages.
type Workloads interface {
	// Workload returns an object and its desired status, in the type of the kind; ok is false for
	// an object that is not managed.
	Workload(key types.NamespacedName) (w v1.Workload, status any, ok bool)
}

// Object is any object of Kubernetes.
type Object struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       map[string]any `json:"spec"`
	Status     map[string]any `json:"status"`
}

// status returns a complete workload with its status, which is computed for the request.
func (h *Handler) status(q *request) (any, error) {
	row, key := q.object.Row, q.object.NamespacedName
	of, err := h.workloads(row)
	if err != nil {
		return nil, err
	}
	w, status, ok := of.Workload(key)
	if !ok {
		return nil, apierrors.NewNotFound(resource(row), key.Name)
	}
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", row.Kind, key, err)
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", row.Kind, key, err)
	}
	// Cached objects may lack their type.
	for field, v := range map[string]any{"kind": row.Kind, "apiVersion": row.GroupVersion().String(), "status": status} {
		if out[field], err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("encode %s %s: %w", row.Kind, key, err)
		}
	}
	return out, nil
}

// workloads returns the workloads of a kind.
//
// Errors: 503 if the controller of the kind has not started, for example because its CRD or a
// permission is missing.
func (h *Handler) workloads(row *catalog.Row) (Workloads, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if of, ok := h.kinds[row]; ok {
		return of, nil
	}
	return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("the operator does not watch %s: its controller has not started (see the log)", row.Resource))
}
