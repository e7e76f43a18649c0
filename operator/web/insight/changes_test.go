package insight_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// A reader without watches cannot notify of changes and returns an error.
func TestChangesNeedAFeed(t *testing.T) {
	s := loaded(t, cluster(1, 1))
	if err := answers(t, s, nil).Changes(t.Context(), func(readers.Change) {}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got %v", err)
	}
	fed := struct {
		readers.Reader
		*readers.Broadcaster
	}{s, &readers.Broadcaster{}}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := answers(t, fed, nil).Changes(ctx, func(readers.Change) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
