package engine

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The status is written without the scale fields only if the CRD lacks them, as a
// HorizontalPodAutoscaler reads them.
func TestStatusWithoutScaleFields(t *testing.T) {
	kind := schema.GroupKind{Group: "monitoring.coreos.com", Kind: "Prometheus"}
	resource := schema.GroupResource{Group: kind.Group, Resource: "prometheuses"}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"none": {nil, false},
		// Response of an API server of version 1.34.
		"the CRD has no such field": {&apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "failed to create typed patch object (demo/main; monitoring.coreos.com/v1, Kind=Prometheus): .status.shards: field not declared in schema",
		}}, true},
		"bad request":     {apierrors.NewBadRequest("strict decoding error"), true},
		"invalid":         {apierrors.NewInvalid(kind, "main", nil), true},
		"internal error":  {apierrors.NewInternalError(errors.New("etcdserver: leader changed")), false},
		"timeout":         {apierrors.NewTimeoutError("try again", 1), false},
		"too many":        {apierrors.NewTooManyRequests("slow down", 1), false},
		"forbidden":       {apierrors.NewForbidden(resource, "main", errors.New("no")), false},
		"has gone":        {apierrors.NewNotFound(resource, "main"), false},
		"connection lost": {errors.New("connection refused"), false},
	} {
		if tc.err != nil {
			tc.err = fmt.Errorf("apply status: %w", tc.err)
		}
		if got := lacksFields(tc.err); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
