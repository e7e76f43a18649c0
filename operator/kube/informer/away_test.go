package informer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestAway(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"no error":          {nil, false},
		"another error":     {errors.New("invalid"), false},
		"unavailable":       {fmt.Errorf("list: %w", apierrors.NewServiceUnavailable("starting")), true},
		"bad gateway":       {&apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusBadGateway, Reason: metav1.StatusReasonInternalError}}, true},
		"forbidden":         {apierrors.NewForbidden(pods, "", nil), false},
		"too many requests": {apierrors.NewTooManyRequests("later", 1), false},
		"too slow":          {apierrors.NewTimeoutError("slow", 1), false},
		"internal error":    {apierrors.NewInternalError(errors.New("webhook")), false},
	} {
		if got := Away(tc.err); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// broken is a connection that fails.
type broken struct{ err error }

func (b broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }

// The errors of clients are recognized if their API server is unreachable, or closes connections.
func TestAwayClient(t *testing.T) {
	for name, err := range map[string]error{
		"breaks off": io.EOF, "gone": syscall.ECONNREFUSED, "reset": syscall.ECONNRESET, "no route": syscall.EHOSTUNREACH,
		"slow": context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // clients pause between attempts
				kube, failed := kubernetes.NewForConfig(&rest.Config{Host: "https://api.example", Transport: broken{err}})
				if failed != nil {
					t.Fatal(failed)
				}
				if _, err := kube.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); !Away(err) {
					t.Errorf("list: %v", err)
				}
				if events, err := Timely(kube.CoreV1().Secrets("").Watch)(t.Context(), metav1.ListOptions{}); !Away(err) {
					t.Errorf("watch: %T, %v", events, err)
				}
			})
		})
	}
}
