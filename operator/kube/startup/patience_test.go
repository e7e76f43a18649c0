package startup

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func lostConnection(err error) error {
	return &url.Error{Op: "Get", URL: "https://api.example/version", Err: err}
}

// A failure of the API server does not end the start of the operator, a refusal does.
func TestInsist(t *testing.T) {
	of := schema.GroupResource{Resource: "selfsubjectaccessreviews"}
	for name, tc := range map[string]struct {
		err   error
		calls int
	}{
		"connection refused":  {lostConnection(errors.New("dial tcp 10.0.0.1:443: connect: connection refused")), 5},
		"no answer in time":   {context.DeadlineExceeded, 5},
		"too many requests":   {apierrors.NewTooManyRequests("slow down", 1), 5},
		"internal error":      {apierrors.NewInternalError(errors.New("etcd")), 5},
		"unavailable":         {apierrors.NewServiceUnavailable("starting"), 5},
		"gateway timeout":     {apierrors.NewTimeoutError("late", 0), 5},
		"page of a proxy":     {apierrors.NewGenericServerResponse(http.StatusBadGateway, "get", of, "", "<html>", 0, true), 5},
		"forbidden":           {apierrors.NewForbidden(of, "", errors.New("no")), 1},
		"unauthorized":        {apierrors.NewUnauthorized("no"), 1},
		"unknown certificate": {lostConnection(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				p := &Patience{Log: slog.New(slog.NewTextHandler(&log, nil))}
				calls := 0
				start := time.Now()
				got, err := Insist(t.Context(), p, func() (string, error) {
					if calls++; calls < 5 {
						return "", tc.err
					}
					return "v1.34.4", nil
				})
				if calls != tc.calls || (err == nil) != (calls == 5) || (got != "") != (calls == 5) {
					t.Errorf("%d requests, want %d; %q, %v", calls, tc.calls, got, err)
				}
				if took := time.Since(start); calls == 5 && took != 15*time.Second {
					t.Errorf("took %s", took)
				}
				if n := strings.Count(log.String(), "\n"); calls == 5 && n != 2 || calls == 1 && n != 0 {
					t.Errorf("log: %s", &log)
				}
			})
		})
	}
}

// An operator that is stopped does not wait for the API server.
func TestInsistUntilStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		start, calls := time.Now(), 0
		_, err := Insist(ctx, &Patience{Log: slog.New(slog.DiscardHandler)}, func() (bool, error) {
			calls++
			return false, lostConnection(errors.New("connection refused"))
		})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "refused") || time.Since(start) != time.Hour || calls > 250 {
			t.Errorf("%d requests, ended after %s: %v", calls, time.Since(start), err)
		}
	})
}

// Each request of a start is repeated by itself: with many of them, hardly ever all succeed at an API server that
// refuses every second request.
func TestStartAtABusyAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewClientset()
		serve(kube, "v1alpha1", "prometheusagents")
		serve(kube, "v1", "servicemonitors", "podmonitors", "probes")
		var requests atomic.Int32
		busy := func() error {
			if requests.Add(1)%2 == 1 {
				return apierrors.NewTooManyRequests("slow down", 1)
			}
			return nil
		}
		kube.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) {
			err := busy()
			return err != nil, nil, err
		})
		kube.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if err := busy(); err != nil {
				return true, nil, err
			}
			review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
			review.Status.Allowed = true
			return true, review, nil
		})
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		s := New(kube, scopesOf(t), logger, NewMissing(logger))
		if err := s.CheckOptional(t.Context(), Optionals()); err != nil {
			t.Error(err)
		}
		ready, err := s.Check(t.Context(), Controller("agents", resource("v1alpha1", "prometheusagents"), monitors, scopesOf(t), nil))
		if err != nil || !ready {
			t.Errorf("ready: %v, %v", ready, err)
		}
		if err := Require(t.Context(), kube, s.start, Permissions("apps", "daemonsets", []string{metav1.NamespaceAll}, "get", "list")); err != nil {
			t.Error(err)
		}
		if _, err := s.May(t.Context(), "secrets", "list", metav1.NamespaceAll); err == nil {
			t.Error("a check that is repeated later anyway waits")
		}
	})
}
